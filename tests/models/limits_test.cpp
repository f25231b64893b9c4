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

TEST_CASE("relieving the named limit raises goodput, relieving another does not",
          "[whole-experiments]") {
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
