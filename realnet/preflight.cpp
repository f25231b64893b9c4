#include "realnet/preflight.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include "realnet/lab_plan.hpp"
#include "realnet/measure.hpp"
#include "realnet/report.hpp"
#include "realnet/socket.hpp"

namespace linerate::realnet {
namespace {

using experiments::Experiment;
using experiments::Test;
using experiments::TestType;

/// The value of "key:" in a file of such lines, or empty.
std::string field(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

/// What a datagram carries so that it can be told from others (traffic/datagram_io.hpp).
constexpr Bytes kLeastDatagram{16};

bool has_capability(int capability) {
  const std::string mask = field("/proc/self/status", "CapEff");
  return !mask.empty() && (std::stoull(mask, nullptr, 16) >> capability & 1) != 0;
}

std::set<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Whether a part of the lab, or of a test, reads and writes whole frames.
bool needs_frames(const Experiment& experiment) {
  const auto links = plan_lab(experiment).links;
  return std::any_of(links.begin(), links.end(), [](const auto& link) { return link.wire; }) ||
         std::any_of(experiment.tests.begin(), experiment.tests.end(), [](const Test& test) {
           return test.type == TestType::raw_frames || is_search(test.type);
         });
}

void check_privileges(const Experiment& experiment) {
  if (has_capability(CAP_NET_ADMIN) && has_capability(CAP_SYS_ADMIN)) {
    if (has_capability(CAP_NET_RAW) || !needs_frames(experiment)) return;
    throw EnvironmentError(
        "a link with delay, loss or a queue of its own, and tests of raw frames, need packet "
        "sockets and so CAP_NET_RAW, which this process lacks: give it to the container "
        "(--cap-add NET_RAW), or run linerate outside");
  }
  throw EnvironmentError(
      "the netns lab makes network namespaces and virtual links, which needs CAP_NET_ADMIN and "
      "CAP_SYS_ADMIN: run it as root (sudo linerate measure …), or choose lab {type: loopback}, "
      "which needs no privilege and realises no links");
}

void check_test(const Test& test) {
  if (test.flows > kMostFlows) {
    throw EnvironmentError(fmt::format("test {}: at most {} flows a pair of hosts, not {}",
                                       test.name, kMostFlows, test.flows));
  }
  if (test.type == TestType::udp_stream && !test.sizes && test.datagram < kLeastDatagram) {
    throw EnvironmentError(fmt::format(
        "test {}: a datagram of {} B has no room for the ordinal and time of {} B by which loss "
        "and "
        "delay are measured: write datagram: {}B or more",
        test.name, test.datagram.count(), kLeastDatagram.count(), kLeastDatagram.count()));
  }
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (test.core && *test.core >= cores) {
    throw EnvironmentError(fmt::format("test {}: core {} does not exist; this machine has {}",
                                       test.name, *test.core, cores));
  }
}

/// Whether connections are made.
bool connects(const Test& test) {
  return test.type == TestType::tcp_stream || test.type == TestType::file_transfer ||
         test.type == TestType::request_response;
}

/// Whether this machine reaches itself by the test's version of IP.
void check_family(const Experiment& experiment, const Test& test) {
  if (experiment.lab == experiments::LabType::netns) {
    if (test.ip == 4 || std::filesystem::exists("/proc/sys/net/ipv6")) return;
    throw EnvironmentError(fmt::format(
        "test {}: this kernel has no IPv6: start it without `ipv6.disable=1`, or write `ip: 4`",
        test.name));
  }
  const auto& stack = experiment.hosts[test.pairs.front().from_host].stack;
  try {
    // Nothing is sent: a way is looked up.
    connect_udp({test.ip == 6 ? "::1" : "127.0.0.1", 9}, {&test, &stack, false});
  } catch (const std::system_error& error) {
    throw EnvironmentError(fmt::format(
        "test {}: the loopback device cannot be used ({}): {}", test.name, error.what(),
        test.ip == 6 ? "allow IPv6 with `sysctl net.ipv6.conf.lo.disable_ipv6=0`, or write `ip: 4`"
                     : "start it with `ip link set lo up`"));
  }
}

/// What senders may use: all the kernel has with CAP_NET_ADMIN, else only what it allows everyone.
void check_congestion(const Experiment& experiment, const Test& test) {
  const bool privileged = has_capability(CAP_NET_ADMIN);
  const std::string name = privileged ? "available" : "allowed";
  const std::string usable =
      first_line(fmt::format("/proc/sys/net/ipv4/tcp_{}_congestion_control", name));
  for (const auto& pair : test.pairs) {
    for (const int host : {pair.from_host, pair.to_host}) {
      const std::string& wanted = congestion_of({&test, &experiment.hosts[host].stack, false});
      if (words(usable).contains(wanted)) continue;
      throw EnvironmentError(fmt::format(
          "test {}: congestion control {} is not {} here (there is: {}); load it with `modprobe "
          "tcp_{}`{}",
          test.name, wanted, name, usable, wanted,
          privileged ? "" : ", or run as root, which may use any that is loaded"));
    }
  }
}

std::string congestions(const Experiment& experiment) {
  std::set<std::string> used;
  for (const Test& test : experiment.tests) {
    for (const auto& pair : test.pairs) {
      used.insert(congestion_of({&test, &experiment.hosts[pair.from_host].stack, false}));
    }
  }
  return fmt::format("{}", fmt::join(used, " "));
}

}  // namespace

std::string obstacle_of(const Experiment& experiment, const Test& test) {
  const bool frames = test.type == TestType::raw_frames || is_search(test.type);
  if (frames && experiment.lab == experiments::LabType::loopback) {
    return fmt::format(
        "{} needs an interface of the experiment's own: lab {{type: netns}} makes one",
        name_of(test.type));
  }
  if (is_search(test.type) && experiment.lab == experiments::LabType::hosts) {
    // A trial is a test that the agents' copy of the experiment does not have.
    return fmt::format("{} is searched for in lab {{type: netns}} alone", name_of(test.type));
  }
  if (test.barrier && experiment.lab == experiments::LabType::hosts) {
    return "the clients of a test with `barrier` wait for one another in one machine's memory: lab "
           "{type: netns} runs it";
  }
  return {};
}

void check_machine(const Experiment& experiment) {
  std::vector<const Test*> runnable;
  for (const Test& test : experiment.tests) {
    if (obstacle_of(experiment, test).empty()) runnable.push_back(&test);
  }
  if (runnable.empty() && !experiment.tests.empty()) {
    const Test& first = experiment.tests.front();
    throw EnvironmentError(
        fmt::format("nothing to measure: test {}: {}", first.name, obstacle_of(experiment, first)));
  }
  // Real hosts check themselves: what their kernels have need not be here.
  if (experiment.lab == experiments::LabType::hosts) return;
  for (const Test* test : runnable) {
    check_test(*test);
    check_family(experiment, *test);
  }
  if (experiment.lab == experiments::LabType::netns) check_privileges(experiment);
  for (const Test* test : runnable) {
    if (connects(*test)) check_congestion(experiment, *test);
  }
}

std::map<std::string, std::string> machine_facts() {
  utsname system{};
  ::uname(&system);
  return {{"kernel", fmt::format("{} {}", system.sysname, system.release)},
          {"machine", system.machine},
          {"cpu", field("/proc/cpuinfo", "model name")},
          {"cores", std::to_string(std::thread::hardware_concurrency())},
          {"load", first_line("/proc/loadavg")}};
}

std::map<std::string, std::string> describe_machine(const Experiment& experiment) {
  std::map<std::string, std::string> facts = machine_facts();
  facts["congestion"] = congestions(experiment);
  switch (experiment.lab) {
    case experiments::LabType::netns:
      facts["lab"] = "netns";
      facts["qdisc"] = "tbf";
      break;
    case experiments::LabType::loopback:
      facts["lab"] = "loopback";
      facts["qdisc"] = "none (loopback)";
      break;
    case experiments::LabType::hosts:
      facts["lab"] = "hosts";
      break;
  }
  return facts;
}

}  // namespace linerate::realnet
