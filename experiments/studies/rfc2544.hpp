// The tests of RFC 2544 as an experiment asks for them: which searches a test takes, and what its
// results say.
#pragma once

#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"
#include "experiments/studies/trial.hpp"

namespace linerate::experiments {

/// Runs the searches of an rfc2544 test, one frame size after the other, and returns a result a
/// size: "fwd[64B]", or "fwd" when it has but one. Figures: frame_rate and throughput (on the wire,
/// all ports together), loss, latency.*, and by type loss.100%, loss.90% … or burst, burst_time and
/// buffer_time. Throws Interrupted, after which `done` holds the sizes that were finished.
void run_rfc2544(const Test& test, Tester& tester, std::vector<TestResult>& done);

}  // namespace linerate::experiments
