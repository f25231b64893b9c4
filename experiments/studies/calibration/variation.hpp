// One experiment with other values: what sweeps, calibrations and uncertain parameters run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"

namespace linerate::experiments {

/// What runs an experiment: the simulator or real sockets. May be called from several threads at
/// once if it simulates. Throws Interrupted when the user has asked to stop.
using Runner = std::function<Result(const Experiment&)>;

/// A resolved experiment (Experiment::resolved) as a file that needs no ./profiles: every value
/// stands in it, so the profiles it came from are not named any more.
std::string self_contained(const std::string& resolved);

/// The experiment with values set as by `--set`, "hosts.a.mtu=9000B". Throws DefinitionError.
Experiment varied(const Experiment& experiment, const std::vector<std::string>& set);

/// The experiment without the tests that nobody asks for. Tests of one group stay together.
Experiment only_tests(const Experiment& experiment, const std::vector<std::string>& names);

/// Calls work(0), work(1), … work(count - 1) from at most so many threads. Rethrows the exception
/// of the lowest index.
void in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace linerate::experiments
