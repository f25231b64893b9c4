// models/: packet-level models of links, switches, NICs, hosts, TCP and applications, and the one
// way in. Knows the experiment and the result; does not know files, terminals or sockets.
#pragma once

#include <atomic>
#include <functional>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"
#include "models/capture/capture_options.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// How far a run has come.
struct Progress {
  std::string test;
  Time simulated{};
  Time total{};
  std::uint64_t events = 0;
};

struct SimulationOptions {
  std::function<void(const Progress&)> progress;  ///< called a few times a second at most
  const std::atomic<bool>* stop = nullptr;        ///< set to end early, complete: false
  const CaptureOptions* capture = nullptr;       ///< of each test's first run; not of searches
};

/// Runs every test of the experiment and returns what it would measure. Deterministic: the same
/// experiment gives the same result, byte for byte.
experiments::Result simulate(const experiments::Experiment& experiment,
                             const SimulationOptions& options = {});

}  // namespace linerate::models
