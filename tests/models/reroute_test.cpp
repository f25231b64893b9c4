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

TEST_CASE("what a link that fails for good costs is the time until its flows have another way") {
  // Eight flows of 50 Mbit/s over two links: those of one of them lose what they send for 50 ms.
  const std::string load =
      "{name: x, type: udp-stream, from: a, to: b, flows: 8, rate: 50Mbit/s, datagram: 1000B, "
      "duration: 1s}";
  const auto frames = [](const TestResult& test, const char* port) {
    return static_cast<double>(test.ports.at(port).frames_sent);
  };
  const TestResult whole = between_switches(2, "[]", load);
  const double first = frames(whole, "s:1"), all = first + frames(whole, "s:2");
  REQUIRE(first > 0);
  REQUIRE(first < all);
  const TestResult after =
      between_switches(2, "[{at: 200ms, link: l1, action: down, reroute: 50ms}]", load);
  // To a frame or two of every flow.
  CHECK(figure(after, "loss") == Approx(first / all * 0.05).margin(16 / all));
  CHECK(frames(after, "s:1") == Approx(first * 0.2).margin(16));
  CHECK(frames(after, "s:2") == Approx(all - first + first * 0.75).margin(16));
  // To one sampling interval of 1 ms and what is left of the one before.
  CHECK(figure(after, "recovery") == Approx(0.05).margin(0.002));
}

TEST_CASE("a bond's flows leave the NIC whose link is down, and all ports they used are listed") {
  const Result result = models::simulate(experiments::parse_experiment(R"(schema_version: 1
name: bonded
hosts:
  a: {stack: linux-6, nics: {eth0: {profile: generic-1g}, eth1: {profile: generic-1g}}, bonds: {bond0: {nics: [eth0, eth1]}}}
  b: {stack: linux-6, nics: {eth0: {profile: generic-10g}}}
switches:
  s: {ports: {"1-2": 1Gbit/s, "3": 10Gbit/s}}
links:
  - {name: one, endpoints: ["a:eth0", "s:1"], medium: 1000BASE-T}
  - {name: two, endpoints: ["a:eth1", "s:2"], medium: 1000BASE-T}
  - {endpoints: ["b:eth0", "s:3"], medium: 10GBASE-T}
events: [{at: 300ms, link: one, action: down, reroute: 10ms}]
tests:
  - {name: up, group: g, type: tcp-stream, from: a, to: b, flows: 8, duration: 2s, omit: 1s}
  - {name: down, group: g, type: tcp-stream, from: b, to: a, flows: 8, duration: 2s, omit: 1s}
)",
                                                                       "test.yaml"));
  // One gigabit each way is left; a tenth of it may be the acknowledgments of the other way and
  // flows that still wait for a timer (RFC 6298 5.5).
  for (const TestResult& test : result.tests) {
    INFO(test.name);
    CHECK(figure(test, "goodput.min") > 0);
    CHECK(figure(test, "goodput") > 0.85 * 941.5e6);
    CHECK(figure(test, "goodput") < 941.5e6);
    CHECK(test.ports.count("a:eth0") == 1);
    CHECK(test.ports.count("a:eth1") == 1);
  }
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
