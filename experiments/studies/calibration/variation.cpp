#include "experiments/studies/calibration/variation.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "experiments/definition/parse.hpp"

namespace linerate::experiments {

std::string self_contained(const std::string& resolved) {
  auto json = nlohmann::ordered_json::parse(resolved);
  for (const char* kind : {"hosts", "switches"}) {
    if (!json.contains(kind)) continue;
    for (auto& [name, device] : json[kind].items()) {
      device.erase("profile");
      if (!device.contains("nics")) continue;
      for (auto& [nic_name, nic] : device["nics"].items()) nic.erase("profile");
    }
  }
  return json.dump();
}

Experiment varied(const Experiment& experiment, const std::vector<std::string>& set) {
  ParseOptions options;
  options.set = set;
  return parse_experiment(self_contained(experiment.resolved), experiment.name, options);
}

Experiment only_tests(const Experiment& experiment, const std::vector<std::string>& names) {
  std::set<std::string> wanted(names.begin(), names.end()), groups;
  for (const Test& test : experiment.tests)
    if (wanted.contains(test.name) && !test.group.empty()) groups.insert(test.group);
  Experiment part = experiment;
  std::erase_if(part.tests, [&](const Test& test) {
    return !wanted.contains(test.name) && !groups.contains(test.group);
  });
  return part;
}

void in_parallel(std::size_t count, unsigned threads,
                 const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < std::min<std::size_t>(threads, count); ++i) others.emplace_back(run);
  run();
  others.clear();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace linerate::experiments
