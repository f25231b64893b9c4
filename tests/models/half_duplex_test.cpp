// Networks with shared media: hubs, half-duplex cables, and ends that do not agree.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::PortCounters;
using experiments::Result;
using experiments::TestResult;

namespace {

TestResult predict(const std::string& yaml) {
  const Result result = models::simulate(experiments::parse_experiment(yaml, "test.yaml"));
  REQUIRE(result.complete);
  return result.tests.at(0);
}

double figure(const TestResult& test, const std::string& name) {
  INFO(name);
  REQUIRE(test.figures.count(name) == 1);
  return test.figures.at(name).median();
}

double counted(const TestResult& test, const std::string& port, const std::string& name) {
  return test.ports.at(port).figures.at(name);
}

std::int64_t drops(const TestResult& test, const std::string& port, const std::string& cause) {
  const auto& drops = test.ports.at(port).drops;
  const auto found = drops.find(cause);
  return found == drops.end() ? 0 : found->second;
}

// Three hosts at a hub of 10 Mbit/s.
std::string at_hub(const std::string& tests) {
  return R"(schema_version: 1
name: hub
hosts:
  a: {profile: ideal, stack: linux-6, nics: {eth0: {profile: ideal}}}
  b: {like: a}
  c: {like: a}
hubs:
  h: {ports: 4, rate: 10Mbit/s, latency: 2us}
links:
  - {endpoints: ["a:eth0", "h:1"], rate: 10Mbit/s, delay: 1us}
  - {endpoints: ["b:eth0", "h:2"], rate: 10Mbit/s, delay: 1us}
  - {endpoints: ["c:eth0", "h:3"], rate: 10Mbit/s, delay: 1us}
tests:
)" + tests;
}

std::string on_cable(const std::string& duplex, const std::string& test,
                     const std::string& nic = "profile: ideal") {
  return R"(schema_version: 1
name: cable
hosts:
  a: {profile: ideal, stack: linux-6, nics: {eth0: {)" +
         nic + R"(}}}
  b: {like: a}
links:
  - {endpoints: ["a:eth0", "b:eth0"], medium: 100BASE-TX, length: 20m, duplex: )" +
         duplex + "}\ntests:\n  - {name: t, from: a, to: b, " + test + "}\n";
}

}  // namespace

TEST_CASE("a frame through a hub takes one serialization and the way of its bits") {
  const TestResult test = predict(
      at_hub("  - {name: t, type: raw-frames, from: a, to: b, frame_size: 64B, frame_rate: 100/s, "
             "duration: 100ms, repeats: 1}\n"));
  // 72 bytes of 800 ns, two cables of 1 us and the repeater's 2 us: it does not store the frame.
  CHECK(figure(test, "latency.max") == Approx(72 * 800e-9 + 4e-6).epsilon(1e-9));
  CHECK(figure(test, "loss") == 0);
}

TEST_CASE("a hub repeats every frame at all of its other ports") {
  const TestResult test = predict(
      at_hub("  - {name: t, type: raw-frames, from: a, to: b, frame_size: 512B, frame_rate: 100/s, "
             "duration: 100ms, repeats: 1}\n"));
  const PortCounters& sent = test.ports.at("a:eth0");
  CHECK(sent.frames_sent == 10);
  CHECK(sent.wire_bytes_sent == 10 * 532);
  for (const char* port : {"h:2", "h:3"}) {
    CHECK(test.ports.at(port).frames_sent == 10);
    CHECK(test.ports.at(port).wire_bytes_sent == 10 * 532);
  }
  CHECK(test.ports.at("h:1").frames_sent == 0);
  CHECK(test.ports.at("b:eth0").frames_sent == 0);
}

TEST_CASE("TCP over half duplex pays for its acknowledgments and collisions") {
  // Without collisions, one ACK of 90 bytes of wire for every second segment: 1448 / (1538 + 45).
  const double law = 1e8 * 1448 / (1538 + 45);
  const std::string stream = "type: tcp-stream, duration: 2s, omit: 200ms, repeats: 3";
  const TestResult half = predict(on_cable("half", stream));
  INFO(figure(half, "goodput"));
  CHECK(figure(half, "goodput") < law);
  CHECK(figure(half, "goodput") > 0.85 * law);
  CHECK(counted(half, "a:eth0", "collisions") > 0);
  CHECK(counted(half, "a:eth0", "late_collisions") == 0);
  const TestResult full = predict(on_cable("full", stream));
  CHECK(figure(full, "goodput") == Approx(1e8 * 1448 / 1538).epsilon(0.002));
  CHECK(full.ports.at("a:eth0").figures.empty());
}

TEST_CASE("one-way traffic on half duplex is as fast as on full") {
  const std::string flood =
      "type: raw-frames, frame_size: 1518B, duration: 500ms, omit: 50ms, repeats: 1";
  const double half = figure(predict(on_cable("half", flood)), "throughput");
  CHECK(half == Approx(figure(predict(on_cable("full", flood)), "throughput")).epsilon(1e-3));
}

TEST_CASE("both directions of half duplex share one rate") {
  const TestResult test = predict(on_cable(
      "half", "type: raw-frames, frame_size: 1518B, direction: both, duration: 1s, repeats: 3"));
  CHECK(figure(test, "throughput") < 1e8);
  CHECK(figure(test, "throughput") > 0.9e8);
}

TEST_CASE("the end that is full duplex spoils what the half-duplex end sends") {
  // Data from the half-duplex end: acknowledgments come while its next frames are under way, those
  // collide late and are gone, and TCP lives on timeouts. Clean half duplex has above 80 Mbit/s.
  const std::string stream = "type: tcp-stream, duration: 5s, repeats: 3";
  const std::string answering = "profile: generic-100m, coalesce: {rx: {delay: 20us}}";
  const TestResult upload = predict(on_cable("[half, full]", stream, answering));
  INFO(figure(upload, "goodput"));
  CHECK(figure(upload, "goodput") < 1e6);
  CHECK(counted(upload, "a:eth0", "late_collisions") > 10);
  CHECK(drops(upload, "a:eth0", "late-collision") ==
        static_cast<std::int64_t>(counted(upload, "a:eth0", "late_collisions")));
  CHECK(upload.hosts.at("a").figures.at("timeouts") > 10);
  CHECK(counted(upload, "b:eth0", "collisions") == 0);  // it does not know what that is

  // Data from the full-duplex end: acknowledgments wait for a gap and spoil the frame behind it.
  // Much is lost, each loss is soon repaired: slower than clean, by no power of ten.
  const TestResult download = predict(on_cable("[full, half]", stream, answering));
  INFO(figure(download, "goodput"));
  CHECK(figure(download, "goodput") > 10 * figure(upload, "goodput"));
  CHECK(figure(download, "goodput") < 0.9 * 1e8 * 1448 / (1538 + 45));
  CHECK(figure(download, "retransmits") > 100);
  CHECK(drops(download, "a:eth0", "collision") > 100);
  CHECK(counted(download, "b:eth0", "late_collisions") == 0);
}

TEST_CASE("a duplex mismatch hardly shows while only one end has something to say") {
  // Why nobody notices it with ping.
  const std::string calls =
      "type: request-response, request: 100B, response: 100B, duration: 200ms, repeats: 1";
  const double mismatch = figure(predict(on_cable("[half, full]", calls)), "transaction_rate");
  const double agreed = figure(predict(on_cable("full", calls)), "transaction_rate");
  CHECK(mismatch > 0.95 * agreed);
}

TEST_CASE("a switch port and a hub share a collision domain, other ports of the switch do not") {
  const TestResult test = predict(R"(schema_version: 1
name: mixed
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  b: {like: a}
  c: {like: a}
hubs: {h: {ports: 4, rate: 100Mbit/s}}
switches: {s: {ports: 4, rate: 100Mbit/s, latency: 2us}}
links:
  - {endpoints: ["a:eth0", "h:1"], medium: 100BASE-TX, length: 3m}
  - {endpoints: ["b:eth0", "h:2"], medium: 100BASE-TX, length: 3m}
  - {endpoints: ["h:3", "s:1"], medium: 100BASE-TX, length: 3m}
  - {endpoints: ["c:eth0", "s:2"], medium: 100BASE-TX, length: 3m}
tests:
  - {name: t, type: tcp-stream, from: a, to: c, bytes: 2MB, repeats: 3}
)");
  CHECK(figure(test, "goodput") > 60e6);
  CHECK(test.ports.at("s:1").figures.count("collisions") == 1);
  CHECK(test.ports.at("s:2").figures.empty());
  CHECK(test.ports.at("c:eth0").figures.empty());
  // What a sends is heard at b's port as well, and so is what comes from the switch.
  CHECK(test.ports.at("h:2").frames_sent ==
        test.ports.at("a:eth0").frames_sent + test.ports.at("s:1").frames_sent);
}

TEST_CASE("stations at a hub share its rate and the medium binds") {
  const TestResult test = predict(at_hub(
      "  - {name: t, group: g, type: udp-stream, from: a, to: c, rate: 9Mbit/s, duration: 3s, "
      "repeats: 3}\n"
      "  - {name: u, group: g, type: udp-stream, from: b, to: c, rate: 9Mbit/s, duration: 3s, "
      "repeats: 3}\n"));
  REQUIRE(!test.limits.empty());
  CHECK(test.limits[0].resource == "medium h");
  CHECK(test.limits[0].binds);
}

TEST_CASE("a medium with loss loses frames in both directions") {
  const TestResult test = predict(R"(schema_version: 1
name: lossy
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  b: {like: a}
links:
  - {endpoints: ["a:eth0", "b:eth0"], medium: 10BASE-T, length: 20m, duplex: half, loss: 10%}
tests:
  - {name: t, type: raw-frames, from: a, to: b, frame_size: 64B, frame_rate: 5000/s, duration: 1s, repeats: 1}
)");
  CHECK(figure(test, "loss") == Approx(0.1).epsilon(0.15));
  CHECK(drops(test, "a:eth0", "loss") > 400);
}
