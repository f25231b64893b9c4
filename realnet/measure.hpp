// realnet/: the experiment on real sockets. Knows the experiment and the result, never the models:
// a measured number cannot come from model code.
#pragma once

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"

namespace linerate::realnet {

/// The machine will not let the experiment run: missing permission, module, address or peer.
/// The message says what and how to get it; the command line exits with 3.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Progress {
  std::string test;
  int repeat = 0, repeats = 0;
};

struct MeasurementOptions {
  std::function<void(const Progress&)> progress;
  const std::atomic<bool>* stop = nullptr;  ///< set to end early, complete: false
};

/// What `measure` would build and send, a line each, without doing any of it.
std::vector<std::string> plan(const experiments::Experiment& experiment);

/// Builds the lab, runs every test, tears the lab down (also on error) and returns what was
/// measured. Throws EnvironmentError before any traffic if the machine cannot do it.
experiments::Result measure(const experiments::Experiment& experiment,
                            const MeasurementOptions& options = {});

}  // namespace linerate::realnet
