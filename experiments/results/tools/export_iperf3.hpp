// Results in the shape of iperf3 --json, for what reads that already.
#pragma once

#include <stdexcept>
#include <string>

#include "experiments/results/result.hpp"

namespace linerate::experiments {

/// The result has no such test, or none that iperf3 could have run.
class ExportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The test `name` of `result` as a document of iperf3: its medians in `end`, its time series in
/// `intervals`. An empty name means the only test. What iperf3 would print and the result does not
/// know is left out. Throws ExportError.
std::string to_iperf3(const Result& result, const std::string& name);

}  // namespace linerate::experiments
