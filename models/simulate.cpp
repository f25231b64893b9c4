#include "models/simulate.hpp"

#include <algorithm>
#include <memory>

#include "experiments/studies/rfc2544.hpp"
#include "models/network/network.hpp"
#include "models/progress_clock.hpp"
#include "models/report/report.hpp"
#include "models/simulated_tester.hpp"

namespace linerate::models {

namespace {

using experiments::Experiment;
using experiments::Result;
using experiments::Test;
using experiments::TestResult;

// One simulation: a group of tests, or one frame size of a test over several.
struct Job {
  std::vector<Test> tests;
  std::vector<std::string> names;
};

std::string sized_name(const Test& test, Bytes size) {
  return test.name + "[" + std::to_string(size.count()) + "B]";
}

std::vector<Job> jobs_of(const Experiment& experiment) {
  std::vector<Job> jobs;
  std::map<std::string, std::size_t> by_group;
  for (const Test& test : experiment.tests) {
    if (!test.group.empty()) {
      const auto [found, fresh] = by_group.try_emplace(test.group, jobs.size());
      if (fresh) jobs.emplace_back();
      jobs[found->second].tests.push_back(test);
      jobs[found->second].names.push_back(test.name);
      continue;
    }
    if (test.frame_sizes.size() < 2 || test.imix || is_search(test.type)) {
      jobs.push_back({{test}, {test.name}});
      continue;
    }
    for (const Bytes size : test.frame_sizes) {
      Test one = test;
      one.frame_sizes = {size};
      jobs.push_back({{one}, {sized_name(test, size)}});
    }
  }
  return jobs;
}

Time expected_end(const Job& job) {
  Time end{};
  for (const Test& test : job.tests)
    end = std::max(end, test.bytes && !test.arrivals ? Time{} : test.start + test.duration);
  return end;
}

// Runs one job as often as it has repeats (once if nothing in it is random) and appends a result
// per test. Returns false if it was stopped.
bool run_job(const Experiment& experiment, const experiments::Topology& topology, const Job& job,
             const SimulationOptions& options, Result& result) {
  const std::size_t first = result.tests.size();
  std::vector<std::map<std::string, std::vector<double>>> samples(job.tests.size());
  int repeats = 1;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    auto progress = std::make_shared<ProgressClock>(options, job.names.front(), expected_end(job));
    NetworkConfig config;
    config.experiment = &experiment;
    config.topology = &topology;
    for (const Test& test : job.tests) config.tests.push_back(&test);
    config.seed = sim::RandomStream({.seed = experiment.seed,
                                     .entity = static_cast<std::uint64_t>(repeat),
                                     .name = "repeat"})
                      .bits();
    config.progress = [progress](Time now, std::uint64_t events) { (*progress)(now, events); };
    config.stop = options.stop;
    if (repeat == 0) config.capture = options.capture;
    config.job = job.tests.size() > 1 ? job.tests.front().group : job.names.front();
    Network network(config);
    const bool whole = network.run();
    if (network.random())
      for (const Test& test : job.tests) repeats = std::max(repeats, test.repeats);

    for (std::uint32_t i = 0; i < job.tests.size(); ++i) {
      const Subject subject{experiment, job.tests[i], i, network};
      const FigureValues values = figures_of(subject);
      for (const auto& [name, value] : values) samples[i][name].push_back(value);
      if (repeat > 0) continue;
      const auto goodput = values.find("goodput");
      const double rate = goodput == values.end() ? 0 : goodput->second;
      TestResult test;
      test.name = job.names[i];
      test.type = name_of(job.tests[i].type);
      report_layers(subject, rate, test);
      test.hosts = hosts_of(subject);
      test.ports = ports_of(subject);
      test.intervals = intervals_of(subject);
      test.limits = limits_of(subject, rate);
      if (network.gave_up())
        test.notes.push_back("no payload arrived for 600 s of simulated time: given up");
      result.tests.push_back(std::move(test));
    }
    if (!whole) {
      result.complete = false;
      break;
    }
  }
  for (std::size_t i = 0; i < job.tests.size(); ++i)
    for (auto& [name, values] : samples[i])
      result.tests[first + i].figures[name] = figure_from(name, std::move(values));
  return result.complete;
}

// A study runs the network many times. What it had found when it was stopped is kept.
bool run_study(const Experiment& experiment, const experiments::Topology& topology,
               const Test& test, const SimulationOptions& options, Result& result) {
  SimulatedTester tester(experiment, topology, test, options);
  try {
    experiments::run_rfc2544(test, tester, result.tests);
  } catch (const experiments::Interrupted&) {
    result.complete = false;
  }
  return result.complete;
}

}  // namespace

Result simulate(const Experiment& experiment, const SimulationOptions& options) {
  Result result;
  result.backend = experiments::Backend::simulated;
  result.provenance.experiment = experiment.resolved;
  result.provenance.set = experiment.set;
  result.provenance.seed = experiment.seed;
  const experiments::Topology topology(experiment);
  for (const Job& job : jobs_of(experiment)) {
    const bool whole = is_search(job.tests.front().type)
                           ? run_study(experiment, topology, job.tests.front(), options, result)
                           : run_job(experiment, topology, job, options, result);
    if (!whole) break;
  }
  return result;
}

}  // namespace linerate::models
