// Scenarios S1 to S6: what a packet-hop (one frame on one link) costs. Prints one line a scenario;
// count the instructions of the run alone, without reading and reporting, with
//   valgrind --tool=callgrind --toggle-collect='linerate::models::Network::run()' bench_scenarios
//   S2
#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"
#include "sim/random.hpp"

namespace {

using namespace linerate;

// SACK and timestamps on, delayed ACKs, TSO off, no pacing: the rivals' settings.
constexpr const char* kHost = "profile: ideal, stack: linux-6, nics: {eth0: {profile: ideal}}";

std::string head(const char* name) { return fmt::format("schema_version: 1\nname: {}\n", name); }

// One flow through one switch; `delay` is added on each of the two links.
std::string single_flow(const char* name, const char* rate, const char* delay,
                        const char* duration) {
  return head(name) +
         fmt::format(
             "hosts:\n  a: {{{0}}}\n  b: {{{0}}}\n"
             "switches:\n  s1: {{ports: 2, rate: {1}}}\n"
             "links:\n"
             "  - {{endpoints: [\"a:eth0\", \"s1:1\"], rate: {1}, delay: {2}}}\n"
             "  - {{endpoints: [\"b:eth0\", \"s1:2\"], rate: {1}, delay: {2}}}\n"
             "tests:\n  - {{name: t, type: tcp-stream, from: a, to: b, duration: {3}}}\n",
             kHost, rate, delay, duration);
}

std::string dumbbell() {
  return head("s3") +
         fmt::format(
             "hosts:\n  a: {{{0}}}\n  b: {{{0}}}\n"
             "switches:\n"
             "  s1: {{ports: 2, rate: 10Gbit/s, buffer: {{total: 1250000B, policy: shared}}}}\n"
             "  s2: {{ports: 2, rate: 10Gbit/s, buffer: {{total: 1250000B, policy: shared}}}}\n"
             "links:\n"
             "  - {{endpoints: [\"a:eth0\", \"s1:1\"], rate: 10Gbit/s}}\n"
             "  - {{endpoints: [\"s1:2\", \"s2:1\"], rate: 10Gbit/s, delay: 500us}}\n"
             "  - {{endpoints: [\"s2:2\", \"b:eth0\"], rate: 10Gbit/s}}\n"
             "tests:\n"
             "  - {{name: t, type: tcp-stream, from: a, to: b, flows: 100, duration: 100ms}}\n",
             kHost);
}

std::string incast() {
  return head("s4") +
         fmt::format(
             "hosts:\n  \"h[1-32]\": {{{0}}}\n  r: {{{0}}}\n"
             "switches:\n"
             "  s1: {{ports: 33, rate: 10Gbit/s, buffer: {{total: 256kB, policy: per-port}}}}\n"
             "links:\n"
             "  - {{endpoints: [\"h[1-32]:eth0\", \"s1:{{i}}\"], rate: 10Gbit/s}}\n"
             "  - {{endpoints: [\"r:eth0\", \"s1:33\"], rate: 10Gbit/s}}\n"
             "tests:\n"
             "  - {{name: t, type: tcp-stream, from: \"h[1-32]\", to: r, duration: 100ms}}\n",
             kHost);
}

std::string line_rate_frames() {
  return head("s5") + fmt::format(
                          "hosts:\n  a: {{{0}}}\n  b: {{{0}}}\n"
                          "switches:\n  s1: {{ports: 2, rate: 10Gbit/s}}\n"
                          "links:\n"
                          "  - {{endpoints: [\"a:eth0\", \"s1:1\"], rate: 10Gbit/s}}\n"
                          "  - {{endpoints: [\"b:eth0\", \"s1:2\"], rate: 10Gbit/s}}\n"
                          "tests:\n"
                          "  - {{name: t, type: raw-frames, from: a, to: b, frame_size: 64B, "
                          "duration: 100ms}}\n",
                          kHost);
}

// A k-ary fat tree with a random permutation of flows: k pods of k/2 edge and k/2 aggregation
// switches, (k/2)^2 cores.
std::string fat_tree(int k, const char* duration) {
  const int half = k / 2, hosts = k * half * half;
  std::string text = head("s6") + "hosts:\n" +
                     fmt::format("  \"h[0-{}]\": {{{}}}\n", hosts - 1, kHost) + "switches:\n";
  auto add_switches = [&](const char* name, int count) {
    for (int i = 0; i < count; ++i)
      text += fmt::format(
          "  {}{}: {{ports: {}, rate: 10Gbit/s, buffer: {{total: 256kB, policy: per-port}}}}\n",
          name, i, k);
  };
  add_switches("e", k * half);
  add_switches("a", k * half);
  add_switches("c", half * half);
  text += "links:\n";
  auto link = [&](const std::string& x, const std::string& y) {
    text += fmt::format("  - {{endpoints: [\"{}\", \"{}\"], rate: 10Gbit/s, delay: 1us}}\n", x, y);
  };
  for (int edge = 0; edge < k * half; ++edge) {
    for (int i = 0; i < half; ++i) {
      link(fmt::format("h{}:eth0", edge * half + i), fmt::format("e{}:{}", edge, i + 1));
      const int aggregation = edge / half * half + i;
      link(fmt::format("e{}:{}", edge, half + i + 1),
           fmt::format("a{}:{}", aggregation, edge % half + 1));
    }
  }
  for (int aggregation = 0; aggregation < k * half; ++aggregation)
    for (int i = 0; i < half; ++i)
      link(fmt::format("a{}:{}", aggregation, half + i + 1),
           fmt::format("c{}:{}", aggregation % half * half + i, aggregation / half + 1));

  std::vector<int> target(static_cast<std::size_t>(hosts));
  std::iota(target.begin(), target.end(), 0);
  sim::RandomStream random({.seed = 1, .entity = 0, .name = "permutation"});
  for (std::size_t i = target.size() - 1; i > 0; --i)
    std::swap(target[i], target[random.below(i + 1)]);
  text += "tests:\n";
  for (int i = 0; i < hosts; ++i)
    if (target[static_cast<std::size_t>(i)] != i)
      text += fmt::format(
          "  - {{name: t{0}, group: all, type: tcp-stream, from: h{0}, to: h{1}, duration: {2}}}\n",
          i, target[static_cast<std::size_t>(i)], duration);
  return text;
}

std::string scenario(const std::string& name) {
  if (name == "S1") return single_flow("s1", "100Mbit/s", "0us", "10s");
  if (name == "S2") return single_flow("s2", "10Gbit/s", "25us", "200ms");
  if (name == "S3") return dumbbell();
  if (name == "S4") return incast();
  if (name == "S5") return line_rate_frames();
  if (name == "S6") return fat_tree(8, "5ms");
  if (name == "S6b") return fat_tree(16, "1ms");
  return {};
}

// CPU time, so that other work on the machine does not count.
double cpu_seconds() {
  std::timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void run(const std::string& name) {
  const experiments::Experiment experiment =
      experiments::parse_experiment(scenario(name), name + ".yaml");
  const double begun = cpu_seconds();
  const experiments::Result result = models::simulate(experiment);
  const double seconds = cpu_seconds() - begun;
  std::int64_t hops = 0;
  double goodput = 0;
  std::set<std::string> counted;  // tests of one group share ports
  for (const auto& test : result.tests) {
    for (const auto& [port, counters] : test.ports)
      if (counted.insert(port).second) hops += counters.frames_sent;
    const auto found = test.figures.find("goodput");
    if (found != test.figures.end()) goodput += found->second.median();
  }
  fmt::print("{:4} {:>10} packet-hops {:8.1f} ns/packet-hop {:7.2f} s CPU {:8.3f} Gbit/s goodput\n",
             name, hops, seconds * 1e9 / static_cast<double>(hops), seconds, goodput / 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = {"S1", "S2", "S3", "S4", "S5", "S6"};
  for (const std::string& name : names) {
    if (scenario(name).empty()) {
      fmt::print(stderr, "no scenario {}; there are S1 to S6 and S6b\n", name);
      return 2;
    }
    try {
      run(name);
    } catch (const experiments::DefinitionError& error) {
      fmt::print(stderr, "{}\n", error.what());
      return 2;
    }
  }
}
