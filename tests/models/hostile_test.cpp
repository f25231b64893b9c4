// Laws that hold for experiments nobody would call sensible: figures stay physical, runs end, and
// what is not known is not stated.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::Result;
using experiments::TestResult;

namespace {

Result predict(const std::string& yaml) {
  return models::simulate(experiments::parse_experiment(yaml, "test.yaml"));
}

// Two ideal hosts on one cable.
std::string pair_of_hosts(const std::string& link, const std::vector<std::string>& tests) {
  std::string text = R"(schema_version: 1
name: pair
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  b: {like: a}
links:
  - {endpoints: ["a:eth0", "b:eth0"], )" +
                     link + "}\ntests:\n";
  for (std::size_t i = 0; i < tests.size(); ++i)
    text += "  - {name: t" + std::to_string(i) + ", from: a, to: b, " + tests[i] + "}\n";
  return text;
}

// a - r - b, where the router's second NIC and b have MTUs of their own.
std::string routed(const std::string& router_mtu, const std::string& receiver_mtu,
                   const std::string& test) {
  const auto nic = [](const std::string& mtu) { return "{profile: ideal, mtu: " + mtu + "}"; };
  return R"(schema_version: 1
name: routed
hosts:
  a: {profile: ideal, nics: {eth0: )" +
         nic("9000B") + R"(}}
  b: {profile: ideal, nics: {eth0: )" +
         nic(receiver_mtu) + R"(}}
  r: {profile: ideal, forwarding: kernel, nics: {eth0: )" +
         nic("9000B") + ", eth1: " + nic(router_mtu) + R"(}}
links:
  - {endpoints: ["a:eth0", "r:eth0"], rate: 1Gbit/s}
  - {endpoints: ["r:eth1", "b:eth0"], rate: 1Gbit/s}
tests:
  - {name: t0, from: a, to: b, )" +
         test + "}\n";
}

double figure(const TestResult& test, const std::string& name) {
  INFO(test.name << " " << name);
  REQUIRE(test.figures.count(name) == 1);
  return test.figures.at(name).median();
}

bool has(const TestResult& test, const std::string& name) { return test.figures.count(name) == 1; }

}  // namespace

TEST_CASE("neither goodput nor throughput exceeds the line, however short or staggered the flows") {
  for (const char* test : {"type: tcp-stream, bytes: 1B", "type: tcp-stream, bytes: 10B",
                           "type: tcp-stream, bytes: 1kB", "type: tcp-stream, bytes: 5MB, flows: 3",
                           "type: tcp-stream, bytes: 1MB, close: drained",
                           "type: tcp-stream, duration: 1ms, flows: 2000"}) {
    INFO(test);
    const Result result = predict(pair_of_hosts("rate: 1Gbit/s", {test}));
    CHECK(figure(result.tests[0], "goodput") < 1e9 * 1448 / 1538 * 1.001);
    CHECK(figure(result.tests[0], "throughput") < 1e9 * 1.001);
  }
  // Both directions have a line each.
  const Result both = predict(
      pair_of_hosts("rate: 1Gbit/s", {"type: tcp-stream, bytes: 5MB, direction: both, flows: 3"}));
  CHECK(figure(both.tests[0], "goodput") < 2e9 * 1448 / 1538);
}

TEST_CASE("frames still on their way when a run ends are not lost") {
  // 50 ms of frames are in flight when the last one has been sent.
  const Result result = predict(
      pair_of_hosts("rate: 1Gbit/s, delay: 50ms",
                    {"type: raw-frames, frame_size: 64B, frame_rate: 100000/s, duration: 100ms"}));
  CHECK(figure(result.tests[0], "loss") == 0);
}

TEST_CASE("background load is counted for as long as it was simulated") {
  const Result result = predict(pair_of_hosts(
      "rate: 1Gbit/s",
      {"type: tcp-stream, bytes: 20MB, group: g",
       "type: udp-stream, rate: 100Mbit/s, duration: 1000000s, group: g, background: true",
       "type: tcp-stream, duration: 1000000s, group: g, background: true"}));
  CHECK(figure(result.tests[1], "goodput") == Approx(100e6).epsilon(0.05));
  CHECK(figure(result.tests[2], "goodput") > 100e6);
}

TEST_CASE("the time of a transfer that never ends is absent, not 0") {
  const Result result =
      predict(pair_of_hosts("rate: 1Gbit/s, blackholes: [{from: 100us, to: 1000000s}]",
                            {"type: tcp-stream, bytes: 1MB"}));
  CHECK_FALSE(has(result.tests[0], "elapsed"));
  CHECK(figure(result.tests[0], "goodput") >= 0);
  CHECK(result.tests[0].notes.size() == 1);
}

TEST_CASE("a test that starts late is not given up before it has begun") {
  const Result result = predict(
      pair_of_hosts("rate: 1Gbit/s", {"type: tcp-stream, bytes: 1MB, group: g",
                                      "type: tcp-stream, bytes: 1MB, start: 1000s, group: g"}));
  CHECK(result.tests[1].notes.empty());
  // Alone on the same line, each takes as long as the other.
  CHECK(figure(result.tests[1], "elapsed") == Approx(figure(result.tests[0], "elapsed")));
}

TEST_CASE("a reader that sleeps between reads waits for data when there is none") {
  // Faster than the line delivers: the rate is the line's, and the run ends.
  for (const char* sleep : {"1ps", "1us", "3ms"}) {
    const Result result = predict(
        pair_of_hosts("rate: 10Mbit/s", {std::string("type: tcp-stream, bytes: 200kB, reader: "
                                                     "{interval: ") +
                                         sleep + "}"}));
    CHECK(figure(result.tests[0], "goodput") == Approx(10e6 * 1448 / 1538).epsilon(0.05));
  }
}

TEST_CASE("a paced sender keeps to its rate though a segment takes longer than its timers") {
  // 10 kbit/s: a segment a second, the persist timer is 200 ms. What is not paced is the initial
  // window of 10 segments and one buffer of at most 64 KiB.
  const Result result =
      predict(pair_of_hosts("rate: 1Gbit/s", {"type: tcp-stream, bytes: 1MB, pacing: 10kbit/s"}));
  CHECK(figure(result.tests[0], "elapsed") > (1e6 - 14'600 - 65'536) * 8 / 10e3);
}

TEST_CASE("no segment is larger than the smallest MTU on its way") {
  // RFC 1191: 1448 B and 524 B of payload in 1538 and 614 B on the wire.
  const Result router = predict(routed("1500B", "9000B", "type: tcp-stream, bytes: 20MB"));
  CHECK(figure(router.tests[0], "goodput") == Approx(1e9 * 1448 / 1538).epsilon(0.005));
  const Result receiver = predict(routed("9000B", "576B", "type: tcp-stream, bytes: 20MB"));
  CHECK(figure(receiver.tests[0], "goodput") == Approx(1e9 * 524 / 614).epsilon(0.005));
}

TEST_CASE("datagrams and frames that a NIC on the way cannot take are refused") {
  using Catch::Matchers::Contains;
  using experiments::DefinitionError;
  CHECK_THROWS_WITH(
      predict(routed("9000B", "1500B", "type: raw-frames, frame_size: 1519B, duration: 1ms")),
      Contains("MTU of 1500 B of b:eth0"));
}
