// What must hold before a lab is built, and what the machine is.
#pragma once

#include <map>
#include <string>

#include "experiments/definition/experiment.hpp"

namespace linerate::realnet {

/// Why the labs cannot run this test ("request-response is not run by …"), or "".
std::string obstacle_of(const experiments::Experiment& experiment, const experiments::Test& test);

/// Throws EnvironmentError, which says what is missing and how to get it, when this machine (or
/// this program) cannot run the experiment's tests. A test with an obstacle is passed over, as long
/// as another can be run.
void check_machine(const experiments::Experiment& experiment);

/// What this machine is, whatever the experiment: kernel, processor, load.
std::map<std::string, std::string> machine_facts();

/// Facts about this machine that a measurement depends on.
std::map<std::string, std::string> describe_machine(const experiments::Experiment& experiment);

}  // namespace linerate::realnet
