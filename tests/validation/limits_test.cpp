// `explain` by experiment: relieving the limit it names raises goodput, relieving any other does
// not. One file of experiments/library/limits for each kind of limit.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;

namespace {

// How to relieve each limit of a file by a tenth (a switch that is off or on is flipped), as
// --set would.
struct Case {
  std::string file;
  std::string binds;      ///< resource that must be named as the binding one
  std::string parameter;  ///< and the parameter to change
  std::vector<std::string> relief;
  std::vector<std::vector<std::string>> others;
};

experiments::TestResult run(const std::string& file, std::vector<std::string> set) {
  experiments::ParseOptions options;
  options.set = std::move(set);
  const std::string path =
      std::string(LINERATE_SOURCE_DIR) + "/experiments/library/limits/" + file + ".yaml";
  return models::simulate(experiments::load_experiment(path, options)).tests.front();
}

double goodput(const experiments::TestResult& test) { return test.figures.at("goodput").median(); }

const std::vector<Case> kCases{
    {"link",
     "link a-b",
     "links.a-b.rate",
     {"links.a-b.rate=110Mbit/s"},
     {{"tests.t.socket_buffer.send=1153434B"},
      {"tests.t.socket_buffer.receive=1153434B"},
      {"tests.t.no_delay=on"}}},
    {"receive-window",
     "receive window",
     "tests.t.socket_buffer.receive",
     {"tests.t.socket_buffer.receive=288358B"},
     {{"links.a-b.rate=1100Mbit/s"},
      {"tests.t.socket_buffer.send=2306867B"},
      {"tests.t.no_delay=on"}}},
    {"send-buffer",
     "send buffer",
     "tests.t.socket_buffer.send",
     {"tests.t.socket_buffer.send=1153434B"},
     {{"links.a-b.rate=11Gbit/s"},
      {"tests.t.socket_buffer.receive=4194304B"},
      {"tests.t.no_delay=on"}}},
    {"congestion-window",
     "congestion window",
     "links.a-b.loss",
     {"links.a-b.loss=[{from: a, probability: 0.18%}]"},
     {{"links.a-b.rate=1100Mbit/s"},
      {"tests.t.socket_buffer.send=2306867B"},
      {"tests.t.socket_buffer.receive=2306867B"}}},
    {"pacing",
     "pacing",
     "tests.t.pacing",
     {"tests.t.pacing=44Mbit/s"},
     {{"links.a-b.rate=110Mbit/s"},
      {"tests.t.socket_buffer.send=1153434B"},
      {"tests.t.socket_buffer.receive=1153434B"}}},
    {"application",
     "application",
     "tests.t.writes",
     {"tests.t.writes=[{size: 11kB, count: 1000, interval: 5ms}]"},
     {{"links.a-b.rate=110Mbit/s"},
      {"tests.t.socket_buffer.send=1153434B"},
      {"tests.t.socket_buffer.receive=1153434B"}}},
    {"nagle",
     "nagle",
     "tests.t.no_delay",
     {"tests.t.no_delay=on"},
     {{"links.a-b.rate=110Mbit/s"}, {"tests.t.socket_buffer.receive=72089B"}}},
    {"switch-fabric",
     "switch s1 fabric",
     "switches.s1.fabric_rate",
     {"switches.s1.fabric_rate=440Mbit/s"},
     {{"links.a-s1.rate=1100Mbit/s", "links.b-s1.rate=1100Mbit/s", "switches.s1.rate=1100Mbit/s"},
      {"tests.t.socket_buffer.send=1153434B"},
      {"tests.t.socket_buffer.receive=1153434B"}}},
};

}  // namespace

TEST_CASE("a line's capacity is what the whole test could have through it") {
  // Two senders share the line of one receiver: each one's own line has room for half the test.
  const auto experiment = experiments::parse_experiment(
      "schema_version: 1\n"
      "name: incast\n"
      "hosts:\n"
      "  \"h[1-3]\": {profile: ideal, stack: linux-6, nics: {eth0: {profile: generic-100m}}}\n"
      "switches: {s1: {ports: 3, rate: 100Mbit/s}}\n"
      "links: [{endpoints: [\"h[1-3]:eth0\", \"s1:{i}\"], medium: 100BASE-TX}]\n"
      "tests: [{name: t, type: tcp-stream, from: \"h[1-2]\", to: h3, bytes: 1MB, repeats: 1}]\n",
      "test");
  const auto test = models::simulate(experiment).tests.front();
  for (const auto& limit : test.limits) {
    INFO(limit.resource << ": " << limit.formula);
    if (limit.resource.find("link ") != 0) {
      CHECK_FALSE(limit.capacity);
    } else if (limit.resource.find("h3") != std::string::npos) {
      CHECK(limit.capacity == 100e6);
    } else {
      // 1 % for what is sent again.
      CHECK(limit.capacity.value_or(0) == Approx(200e6).epsilon(0.01));
    }
  }
}

TEST_CASE("relieving the named limit raises goodput, relieving another does not", ) {
  const Case& c = GENERATE(from_range(kCases));
  INFO(c.file);
  const experiments::TestResult base = run(c.file, {});
  REQUIRE_FALSE(base.limits.empty());
  CHECK(base.limits.front().binds);
  CHECK(base.limits.front().resource == c.binds);
  CHECK(base.limits.front().parameter == c.parameter);

  // By at least half of the tenth: Mathis' law gives 5 % for a tenth less loss.
  const double before = goodput(base);
  CHECK(goodput(run(c.file, c.relief)) > before * 1.03);
  for (const auto& other : c.others) {
    INFO("relieved instead: " << other.front());
    CHECK(goodput(run(c.file, other)) < before * 1.015);
  }
}
