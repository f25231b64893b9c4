// Flows leave a link that is down for another one, if there is one, and come back when it is up.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/lint.hpp"
#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::Result;
using experiments::TestResult;

namespace {

// Between two switches `cables` parallel links of 1 Gbit/s (l1, l2, ...), hosts by 10 Gbit/s.
std::string between(int cables, const std::string& events, const std::string& test) {
  std::string links;
  for (int i = 1; i <= cables; ++i) {
    const std::string n = std::to_string(i);
    links += "  - {name: l" + n + ", endpoints: [\"s:" + n + "\", \"t:" + n +
             "\"], medium: 1000BASE-T}\n";
  }
  const std::string ports = "{ports: {\"1-4\": 1Gbit/s, \"5\": 10Gbit/s}}";
  return R"(schema_version: 1
name: parallel
seed: 1
hosts:
  a: {stack: linux-6, nics: {eth0: {profile: generic-10g}}}
  b: {like: a}
switches:
  s: )" + ports +
         "\n  t: " + ports + R"(
links:
  - {name: a-s, endpoints: ["a:eth0", "s:5"], medium: 10GBASE-T}
  - {name: b-t, endpoints: ["b:eth0", "t:5"], medium: 10GBASE-T}
)" + links +
         "events: " + events + "\ntests:\n  - " + test + "\n";
}

TestResult between_switches(int cables, const std::string& events, const std::string& test) {
  const Result result =
      models::simulate(experiments::parse_experiment(between(cables, events, test), "test.yaml"));
  return result.tests.front();
}

double figure(const TestResult& test, const std::string& name) {
  INFO(name);
  REQUIRE(test.figures.count(name) == 1);
  return test.figures.at(name).median();
}

// 500 Mbit/s of frames for two seconds; both links fail one after the other, so that one failure
// meets the flow wherever its hash has put it.
const std::string kFlood =
    "{name: x, type: raw-frames, from: a, to: b, frame_size: 1518B, rate: 500Mbit/s, duration: 2s}";
const std::string kFailures = R"([{at: 500ms, link: l1, action: down, for: 400ms, reroute: 50ms},
  {at: 1200ms, link: l2, action: down, for: 400ms, reroute: 50ms}])";

}  // namespace

TEST_CASE("a flow on a link that goes down loses what it sends until it takes another way") {
  // 50 of 2000 ms: the flow moves once, and losing nothing on its way back.
  CHECK(figure(between_switches(2, kFailures, kFlood), "loss") == Approx(0.05 / 2).margin(2e-4));
}

TEST_CASE("without another way a flow waits until the link is up") {
  const std::string down = "[{at: 500ms, link: l1, action: down, for: 400ms, reroute: 50ms}]";
  CHECK(figure(between_switches(1, down, kFlood), "loss") == Approx(0.4 / 2).margin(2e-4));
}

TEST_CASE("an outage that ends before anybody notices moves no flow") {
  const std::string blinks = R"([{at: 500ms, link: l1, action: down, for: 30ms, reroute: 50ms},
    {at: 1200ms, link: l2, action: down, for: 30ms, reroute: 50ms}])";
  CHECK(figure(between_switches(2, blinks, kFlood), "loss") == Approx(0.03 / 2).margin(2e-4));
}

TEST_CASE("TCP goes on over the other link of a group") {
  // Both links are down for 1.5 of 4 s in turn. A flow that stayed would lose at least that share;
  // one that moves loses about 50 ms and a timeout (RFC 6298), which begins at 200 ms.
  const std::string turns = R"([{at: 500ms, link: l1, action: down, for: 1500ms, reroute: 50ms},
    {at: 2200ms, link: l2, action: down, for: 1500ms, reroute: 50ms}])";
  const std::string bulk = "{name: x, type: tcp-stream, from: a, to: b, duration: 4s}";
  const double full = 941.5e6;
  CHECK(figure(between_switches(2, turns, bulk), "goodput") > full * (4 - 2 * 0.7) / 4);
  CHECK(figure(between_switches(1, "[{at: 500ms, link: l1, action: down, for: 1500ms}]", bulk),
               "goodput") < full * 2.5 / 4);
}

TEST_CASE("check names the test for which there is no other way") {
  const auto warnings = [](int cables) {
    return experiments::lint(experiments::parse_experiment(
        between(cables, "[{at: 1s, link: l1, action: down, for: 1s}]", kFlood), "test.yaml"));
  };
  const auto alone = warnings(1), parallel = warnings(2);
  const auto tells = [](const experiments::Diagnostic& each) {
    return each.message.find("no other way from a to b: test x waits") != std::string::npos;
  };
  CHECK(std::count_if(alone.begin(), alone.end(), tells) == 1);
  CHECK(std::count_if(parallel.begin(), parallel.end(), tells) == 0);
}

TEST_CASE("only a carrier that comes or goes moves flows") {
  CHECK_THROWS_WITH(
      between_switches(2, "[{at: 1s, link: l1, action: loss, loss: 1%, reroute: 1s}]", kFlood),
      Catch::Contains("moves no flows"));
}
