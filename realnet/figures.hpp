// From what the processes reported to the figures of a result.
#pragma once

#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"
#include "realnet/lab_plan.hpp"
#include "realnet/session.hpp"

namespace linerate::realnet {

/// One repeat of a test.
struct Repeat {
  std::vector<TransferOutcome> transfers;
  PortUse use;
};

/// How full each link was: what its ports sent on the wire over what they can.
void add_link_limits(const experiments::Experiment& experiment, const LabPlan& plan,
                     const PortUse& use, std::vector<experiments::Limit>& limits);
/// What binds first, then the fullest.
void rank_limits(std::vector<experiments::Limit>& limits);

/// The figures, intervals and limits of a test from its repeats. `alone`: nothing else ran, so the
/// ports' counters are the test's own.
experiments::TestResult test_result(const experiments::Experiment& experiment, const LabPlan& plan,
                                    const experiments::Test& test,
                                    const std::vector<Repeat>& repeats, bool alone);

}  // namespace linerate::realnet
