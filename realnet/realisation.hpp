// How faithfully each element of an experiment is realised, in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "realnet/lab_plan.hpp"

namespace linerate::realnet {

/// Kernel parameters (path below /proc/sys, value) that make a namespace behave as `stack` as far
/// as Linux can be told to.
std::vector<std::pair<std::string, std::string>> stack_parameters(const experiments::Stack& stack);

/// Every element of the experiment that asks for something, with how `plan` realises it.
std::vector<PlannedElement> list_elements(const experiments::Experiment& experiment,
                                          const LabPlan& plan);

}  // namespace linerate::realnet
