// Small experiments, built by hand.
#pragma once

#include <unistd.h>

#include <string>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"

namespace linerate::realnet {

inline experiments::Host host(const std::string& name) {
  experiments::Host host;
  host.name = name;
  host.stack.preset = "linux-6";
  host.nics.emplace_back();
  host.nics.back().name = "eth0";
  return host;
}

inline experiments::Link cable(const std::string& name, std::int64_t megabits) {
  experiments::Link link;
  link.name = name;
  link.rate = BitRate::bits_per_second(megabits * 1'000'000);
  return link;
}

inline experiments::Test stream(const std::string& name, Time duration, Time omit) {
  experiments::Test test;
  test.name = name;
  test.pairs.push_back({0, 0, 1, 0});
  test.congestion = "reno";
  test.duration = duration;
  test.omit = omit;
  test.repeats = 1;
  return test;
}

/// One of another type, called "t".
inline experiments::Test typed(experiments::TestType type, Time duration) {
  experiments::Test test = stream("t", duration, Time{});
  test.type = type;
  return test;
}

/// Hosts a and b on one cable, without tests.
inline experiments::Experiment two_hosts(std::int64_t megabits) {
  experiments::Experiment experiment;
  experiment.name = "two-hosts";
  experiment.hosts = {host("a"), host("b")};
  experiment.links = {cable("a-b", megabits)};
  experiment.links[0].ends[1].node = 1;
  return experiment;
}

/// Hosts a, b, … around switch s1, without tests.
inline experiments::Experiment star(int hosts, std::int64_t megabits) {
  experiments::Experiment experiment;
  experiment.name = "star";
  experiments::Switch middle;
  middle.name = "s1";
  middle.port_rates.assign(hosts, BitRate::bits_per_second(megabits * 1'000'000));
  experiment.switches = {middle};
  for (int i = 0; i < hosts; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    experiment.hosts.push_back(host(name));
    auto link = cable(name + "-s1", megabits);
    link.ends[0].node = i;
    link.ends[1] = {experiments::NodeKind::switch_, 0, i};
    experiment.links.push_back(link);
  }
  return experiment;
}

/// Host a, router r, host c, on two cables; c is host 2. Without tests.
inline experiments::Experiment routed(std::int64_t megabits) {
  auto experiment = two_hosts(megabits);
  experiment.name = "routed";
  experiment.hosts[1].name = "r";
  experiment.hosts[1].forwarding = experiments::Forwarding::kernel;
  experiment.hosts[1].nics.push_back(experiment.hosts[1].nics[0]);
  experiment.hosts[1].nics[1].name = "eth1";
  experiment.hosts.push_back(host("c"));
  experiment.links.push_back(cable("r-c", megabits));
  experiment.links[1].ends[0] = {experiments::NodeKind::host, 1, 1};
  experiment.links[1].ends[1] = {experiments::NodeKind::host, 2, 0};
  return experiment;
}

/// One test of two hosts of this machine.
inline experiments::Experiment over_loopback(const experiments::Test& test) {
  auto experiment = two_hosts(1000);
  experiment.lab = experiments::LabType::loopback;
  experiment.tests = {test};
  return experiment;
}

inline double figure(const experiments::Result& result, const std::string& name,
                     std::size_t test = 0) {
  return result.tests.at(test).figures.at(name).median();
}

inline bool is_root() { return ::geteuid() == 0; }

}  // namespace linerate::realnet
