// What to capture of a simulation, and where to. Files are the caller's: models know streams.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "sim/units.hpp"

namespace linerate::models {

struct CaptureOptions {
  std::vector<std::string> ports;   ///< "a:eth0", "s1:1"; empty: the NICs between which tests run
  std::uint32_t payload_bytes = 0;  ///< kept of each frame beside its headers
  Bytes limit{1 << 30};             ///< of one file; what comes later is not captured
  /// Opens the file for "bulk.a-eth0.pcapng". The stream must outlive the simulation.
  std::function<std::ostream&(const std::string& name)> open;
  std::function<void(const std::string& text)> note;  ///< says what is missing in a capture
};

/// The port called "a:eth0" or "s1:1", if there is one.
std::optional<experiments::PortRef> find_port(const experiments::Experiment& experiment,
                                              const std::string& name);

}  // namespace linerate::models
