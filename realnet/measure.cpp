#include "realnet/measure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/studies/rfc2544.hpp"
#include "realnet/figures.hpp"
#include "realnet/lab.hpp"
#include "realnet/lab_plan.hpp"
#include "realnet/preflight.hpp"
#include "realnet/session.hpp"
#include "realnet/traffic/measured_tester.hpp"

namespace linerate::realnet {
namespace {

using experiments::Experiment;
using experiments::Test;

/// Tests that run at the same time: those of one group, in the order of the file.
std::vector<std::vector<const Test*>> groups_of(const Experiment& experiment) {
  std::vector<std::vector<const Test*>> groups;
  for (const Test& test : experiment.tests) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return !test.group.empty() && group.front()->group == test.group;
    });
    if (same != groups.end()) {
      same->push_back(&test);
    } else {
      groups.push_back({&test});
    }
  }
  return groups;
}

/// Why a group cannot be measured, or "". One test that cannot be run takes its whole group with
/// it: the others would be measured without the traffic they are meant to meet.
std::string obstacle_of_group(const Experiment& experiment, const std::vector<const Test*>& group) {
  for (const Test* test : group) {
    const std::string obstacle = obstacle_of(experiment, *test);
    if (!obstacle.empty()) return fmt::format("test {}: {}", test->name, obstacle);
  }
  return {};
}

/// A group is repeated as often as its most demanding foreground test.
int repeats_of(const std::vector<const Test*>& group) {
  int repeats = 0;
  for (const Test* test : group) {
    if (!test->background) repeats = std::max(repeats, test->repeats);
  }
  return repeats > 0 ? repeats : 1;
}

std::string amount(const Test& test) {
  if (is_search(test.type)) {
    return fmt::format("{} frame size(s), trials of {} s and at most {} s to settle",
                       test.frame_sizes.size(), test.trial.measured.seconds(),
                       test.trial.settle.seconds());
  }
  return test.bytes ? fmt::format("{} B a flow", test.bytes->count())
                    : fmt::format("{} s after the first {} s",
                                  (test.duration - test.omit).seconds(), test.omit.seconds());
}

class Measurement {
 public:
  Measurement(const Experiment& experiment, const MeasurementOptions& options)
      : experiment_(experiment),
        options_(options),
        plan_(plan_lab(experiment)),
        lab_(experiment, plan_) {}

  void run(experiments::Result& result) {
    for (auto& tests : groups_of(experiment_)) groups_.push_back({std::move(tests), {}, {}});
    for (const Turn& turn : turns()) {
      if (!result.complete) break;
      take(groups_[turn.group], turn.repeat, result);
    }
    for (const Group& group : groups_) conclude(group, result);
    for (const auto& [name, value] : lab_.facts()) result.environment[name] = value;
    for (auto& observation : lab_.observations())
      result.realisation.push_back(std::move(observation));
  }

 private:
  /// Tests that run together, what their repeats have given, and what needs no repeats.
  struct Group {
    std::vector<const Test*> tests;
    std::vector<std::vector<Repeat>> by_test;
    std::vector<experiments::TestResult> results;
  };
  struct Turn {
    int repeat = 0;
    std::size_t group = 0;
  };

  /// In which order the repeats are run: one group after the other, or going round them.
  std::vector<Turn> turns() const {
    std::vector<Turn> turns;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      const auto& tests = groups_[group].tests;
      const bool once =
          is_search(tests.front()->type) || !obstacle_of_group(experiment_, tests).empty();
      const int repeats = once ? 1 : repeats_of(tests);
      for (int repeat = 0; repeat < repeats; ++repeat) turns.push_back({repeat, group});
    }
    if (experiment_.lab_in_turn)
      std::stable_sort(turns.begin(), turns.end(),
                       [](const Turn& a, const Turn& b) { return a.repeat < b.repeat; });
    return turns;
  }

  void take(Group& group, int repeat, experiments::Result& result) {
    const std::string obstacle = obstacle_of_group(experiment_, group.tests);
    if (!obstacle.empty())
      pass_over(group, obstacle);
    else if (is_search(group.tests.front()->type))
      result.complete = run_search(*group.tests.front(), group.results);
    else
      result.complete = run_group(group, repeat);
  }

  static void pass_over(Group& group, const std::string& obstacle) {
    for (const Test* test : group.tests) {
      experiments::TestResult passed_over;
      passed_over.name = test->name;
      passed_over.type = name_of(test->type);
      passed_over.notes.push_back("inconclusive: not measured: " + obstacle);
      group.results.push_back(std::move(passed_over));
    }
  }

  /// One repeat; false if it was stopped.
  bool run_group(Group& group, int repeat) {
    group.by_test.resize(group.tests.size());
    if (options_.progress)
      options_.progress({group.tests.front()->name, repeat, repeats_of(group.tests)});
    auto outcome = run_together(experiment_, lab_, group.tests, repeat, options_.stop);
    if (!outcome) return false;
    for (std::size_t i = 0; i < group.tests.size(); ++i)
      group.by_test[i].push_back({std::move(outcome->transfers[i]), outcome->use});
    return true;
  }

  void conclude(const Group& group, experiments::Result& result) const {
    for (const auto& done : group.results) result.tests.push_back(done);
    for (std::size_t i = 0; i < group.by_test.size(); ++i) {
      if (group.by_test[i].empty()) continue;
      const Test& test = *group.tests[i];
      result.tests.push_back(
          test_result(experiment_, plan_, test, group.by_test[i], group.tests.size() == 1));
      note_missing(test, result.tests.back());
    }
  }

  /// RFC 2544: the search that a prediction uses too, over trials of real frames. False if it was
  /// stopped.
  bool run_search(const Test& test, std::vector<experiments::TestResult>& results) {
    if (options_.progress) options_.progress({test.name, 0, 1});
    MeasuredTester tester(experiment_, lab_, test, options_.stop);
    std::vector<experiments::TestResult> done;
    bool complete = true;
    try {
      run_rfc2544(test, tester, done);
    } catch (const experiments::Interrupted&) {
      complete = false;
    }
    for (auto& size : done) {
      size.notes.push_back("frames went from " + tester.method());
      if (tester.repeated() > 0) {
        size.notes.push_back(
            fmt::format("{} trials of the search were run again: frames were lost after the "
                        "generator had been late",
                        tester.repeated()));
      }
      note_missing(test, size);
      results.push_back(std::move(size));
    }
    return complete;
  }

  void note_missing(const Test& test, experiments::TestResult& result) const {
    const auto missing = unrealised_for(plan_, experiment_, test);
    if (missing.empty()) return;
    result.notes.push_back(
        fmt::format("inconclusive: the lab does not realise {}", fmt::join(missing, ", ")));
  }

  const Experiment& experiment_;
  const MeasurementOptions& options_;
  LabPlan plan_;
  Lab lab_;
  std::vector<Group> groups_;
};

std::string describe(const PlannedPort& port) {
  std::string text = fmt::format("port {}: MTU {} B", port.label, port.mtu.count());
  if (!port.ipv4.empty()) text += fmt::format(", {}, {}", port.ipv4, port.ipv6);
  if (port.shaper) {
    text += fmt::format(", token bucket {} bit/s, burst {} B, limit {} B, overhead {} B",
                        port.shaper->rate.bits_per_second(), port.shaper->burst.count(),
                        port.shaper->limit.count(), port.shaper->overhead.count());
  }
  return text;
}

std::string describe(const LineConfig& line) {
  std::string text = fmt::format("{} bit/s, latency {} us", line.rate.bits_per_second(),
                                 line.latency.seconds() * 1e6);
  if (line.jitter > Time{}) text += fmt::format(", jitter {} us", line.jitter.seconds() * 1e6);
  if (line.loss > 0) text += fmt::format(", loss {} of frames", line.loss);
  if (line.bit_error_rate > 0) text += fmt::format(", bit error rate {}", line.bit_error_rate);
  if (line.queue) text += fmt::format(", queue {} B", line.queue->count());
  return text;
}

void describe_agent(const Experiment& experiment, const PlannedAgent& agent,
                    std::vector<std::string>& lines) {
  const auto& how = *agent.how;
  lines.push_back(fmt::format(
      "agent on host {} through {}", experiment.hosts[agent.host].name,
      how.ssh.empty() ? fmt::format("{}", fmt::join(how.command, " ")) : "ssh " + how.ssh));
  for (const auto& interface : agent.setup.interfaces) {
    lines.push_back(fmt::format("  interface {}: {}, MTU of {} B or more", interface.device,
                                fmt::join(interface.addresses, ", "), interface.mtu.count()));
  }
  for (const auto& [parameter, value] : agent.setup.parameters) {
    lines.push_back(fmt::format("  {} = {} is {}", parameter, value,
                                agent.setup.apply ? "set and restored" : "compared"));
  }
}

}  // namespace

std::vector<std::string> plan(const Experiment& experiment) {
  const LabPlan lab = plan_lab(experiment);
  std::vector<std::string> lines;
  if (experiment.lab == experiments::LabType::loopback) {
    lines.push_back("lab loopback: both ends of every test on 127.0.0.1; nothing is set up");
  } else if (experiment.lab == experiments::LabType::hosts) {
    for (const PlannedAgent& agent : lab.agents) describe_agent(experiment, agent, lines);
  } else {
    for (const PlannedNode& node : lab.nodes) {
      lines.push_back(fmt::format("network namespace for {} {}", node.is_switch ? "switch" : "host",
                                  node.name));
      for (const auto& [parameter, value] : node.parameters) {
        lines.push_back(fmt::format("  {} = {}", parameter, value));
      }
      for (const PlannedRoute& route : node.routes) {
        lines.push_back(fmt::format("  route to {} by {} on {}", route.destination, route.gateway,
                                    route.device));
      }
    }
    for (const PlannedLink& link : lab.links) {
      lines.push_back("virtual Ethernet pair for link " + link.name);
      for (const PlannedPort& port : link.ends) lines.push_back("  " + describe(port));
      if (!link.wire) continue;
      for (int end = 0; end < 2; ++end) {
        lines.push_back(fmt::format("  user-space wire from {}: {}", link.ends[end].label,
                                    describe(link.wire->lines[end])));
      }
    }
  }
  for (const auto& group : groups_of(experiment)) {
    const std::string obstacle = obstacle_of_group(experiment, group);
    for (const Test* test : group) {
      if (!obstacle.empty()) {
        lines.push_back(fmt::format("test {}: not run, because {}", test->name, obstacle));
        continue;
      }
      lines.push_back(fmt::format("test {}: {} x {} {} flow(s) on {} pair(s), {}", test->name,
                                  repeats_of(group), test->flows, name_of(test->type),
                                  test->pairs.size(), amount(*test)));
    }
  }
  for (const PlannedElement& element : lab.elements) {
    const auto& [name, how, why] = element.realisation;
    lines.push_back(fmt::format("{} {}: {}", how, name, why));
  }
  return lines;
}

experiments::Result measure(const Experiment& experiment, const MeasurementOptions& options) {
  check_machine(experiment);
  experiments::Result result;
  result.backend = experiments::Backend::measured;
  result.provenance.experiment = experiment.resolved;
  result.provenance.set = experiment.set;
  result.provenance.seed = experiment.seed;
  result.environment = describe_machine(experiment);
  for (const PlannedElement& element : plan_lab(experiment).elements) {
    result.realisation.push_back(element.realisation);
  }
  try {
    Measurement(experiment, options).run(result);
  } catch (const EnvironmentError&) {
    throw;
  } catch (const std::runtime_error& error) {
    // A call the kernel refused, or an end that failed: the machine's doing, not the experiment's.
    throw EnvironmentError(error.what());
  }
  return result;
}

}  // namespace linerate::realnet
