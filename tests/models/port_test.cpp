// Ports that decide late: they must do exactly what a plain wire does where there is nothing to
// decide, PAUSE frames must keep frames from being lost, and links must change when they are told.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::Result;
using experiments::TestResult;

namespace {

Result predict(const std::string& yaml) {
  return models::simulate(experiments::parse_experiment(yaml, "test.yaml"));
}

double figure(const TestResult& test, const std::string& name) {
  INFO(test.name << " " << name);
  REQUIRE(test.figures.count(name) == 1);
  return test.figures.at(name).median();
}

std::int64_t drops(const TestResult& test, const std::string& port, const std::string& cause) {
  const auto& drops = test.ports.at(port).drops;
  const auto found = drops.find(cause);
  return found == drops.end() ? 0 : found->second;
}

// a and b send to c through one switch.
std::string three(const std::string& nic, const std::string& device, const std::string& rest) {
  return R"(schema_version: 1
name: three
hosts:
  a: {stack: linux-6, nics: {eth0: {profile: generic-1g)" +
         nic + R"(}}}
  b: {like: a}
  c: {like: a}
switches:
  s: {ports: 3, rate: 1Gbit/s, latency: 2us)" +
         device + R"(}
links:
  - {name: a-s, endpoints: ["a:eth0", "s:1"], medium: 1000BASE-T, length: 10m}
  - {name: b-s, endpoints: ["b:eth0", "s:2"], medium: 1000BASE-T}
  - {name: c-s, endpoints: ["c:eth0", "s:3"], medium: 1000BASE-T}
)" + rest;
}

const std::string kTwoStreams = R"(tests:
  - {name: one, group: g, type: tcp-stream, from: a, to: c, duration: 300ms}
  - {name: two, group: g, type: tcp-stream, from: b, to: c, bytes: 3MB}
)";

const std::string kTwoFloods = R"(tests:
  - {name: one, group: g, type: raw-frames, from: a, to: c, frame_size: 512B, rate: 900Mbit/s, duration: 20ms}
  - {name: two, group: g, type: raw-frames, from: b, to: c, frame_size: 512B, rate: 900Mbit/s, duration: 20ms}
)";

}  // namespace

TEST_CASE("a port that decides late does what a plain wire does where there is nothing to decide") {
  for (const std::string memory : {"", ", buffer: {total: 64KiB, policy: per-port}",
                                   ", buffer: {total: 128KiB, policy: shared, alpha: 2}"}) {
    INFO(memory);
    const Result plain = predict(three("", memory, kTwoStreams));
    // Nobody ever holds so much that a PAUSE frame is sent.
    const std::string never = memory.empty() ? ", pause: {xoff: 1GB, xon: 1GB}" : "";
    const Result late = predict(three(", pause: on", memory + never, kTwoStreams));
    for (const std::size_t test : {0u, 1u}) {
      for (const auto& [name, value] : plain.tests[test].figures) {
        INFO(name);
        CHECK(value.samples == late.tests[test].figures.at(name).samples);
      }
      for (const auto& [name, port] : plain.tests[test].ports) {
        INFO(name);
        CHECK(port.frames_sent == late.tests[test].ports.at(name).frames_sent);
        CHECK(port.drops == late.tests[test].ports.at(name).drops);
      }
    }
  }
}

TEST_CASE("a switch that pauses its senders loses nothing, and they share the line") {
  const std::string memory = ", buffer: {total: 96KiB, policy: shared, alpha: 8}";
  const Result drops_frames = predict(three("", memory, kTwoFloods));
  CHECK(drops(drops_frames.tests[0], "s:3", "queue") > 0);

  const Result pauses =
      predict(three(", pause: on", memory + ", pause: {xoff: 30KiB, xon: 20KiB}", kTwoFloods));
  CHECK(drops(pauses.tests[0], "s:3", "queue") == 0);
  for (const TestResult& test : pauses.tests)
    CHECK(figure(test, "throughput") == Approx(500e6).epsilon(0.02));
  // What was refused waits with the senders now.
  CHECK(pauses.tests[0].ports.at("a:eth0").peak_queue > 30 * 1024);
}

TEST_CASE("a NIC that does not heed PAUSE frames goes on and its frames are lost") {
  const Result result = predict(three("",
                                      ", buffer: {total: 96KiB, policy: shared, alpha: 8}"
                                      ", pause: {xoff: 30KiB, xon: 20KiB}",
                                      kTwoFloods));
  CHECK(drops(result.tests[0], "s:3", "queue") > 0);
}

TEST_CASE("a link that goes down loses what it holds, and TCP comes back with its timer") {
  const Result result = predict(three("", "", R"(events:
  - {at: 1s, link: c-s, action: down, for: 500ms}
tests:
  - {name: bulk, type: tcp-stream, from: a, to: c, duration: 4s}
)"));
  const TestResult& bulk = result.tests[0];
  CHECK(drops(bulk, "s:3", "down") > 0);
  // RFC 6298 5.5: timers of about 200, 400 ms run out while the link is down or right after; the
  // next retransmission is at most 800 ms away, so the wait after the link is up is below that.
  const double recovery = figure(bulk, "recovery");
  CHECK(recovery > 0);
  CHECK(recovery < 0.8);
  CHECK(figure(bulk, "goodput") < 941.5e6 * 3.5 / 4);
}

TEST_CASE("a rate that changes is kept to from then on") {
  // 1 s at 1 Gbit/s and 1 s at 100 Mbit/s of the frames of a source that always has one.
  const Result result = predict(three("", ", buffer: {total: 16KiB, policy: per-port}", R"(events:
  - {at: 1s, link: c-s, action: rate, rate: 100Mbit/s}
tests:
  - {name: raw, type: raw-frames, from: a, to: c, frame_size: 1518B, duration: 2s}
)"));
  CHECK(figure(result.tests[0], "throughput") == Approx((1e9 + 1e8) / 2).epsilon(0.001));
}

TEST_CASE("loss and delay that change") {
  const Result result = predict(three("", "", R"(events:
  - {at: 10ms, link: c-s, action: loss, loss: 50%, for: 20ms}
  - {at: 40ms, link: c-s, action: delay, delay: 5ms}
tests:
  - {name: raw, type: raw-frames, from: a, to: c, frame_size: 64B, frame_rate: 100000/s, duration: 100ms, repeats: 1}
)"));
  const TestResult& raw = result.tests[0];
  // A fifth of the time every second frame: 1,000 of 10,000, with a standard deviation of 22.
  CHECK(figure(raw, "loss") == Approx(0.1).margin(0.01));
  CHECK(figure(raw, "latency.max") > 5e-3);
  CHECK(figure(raw, "latency.max") < 5.1e-3);
}

TEST_CASE("events and flow control that make no sense are refused with a remedy") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(
      predict(three("", "", "events: [{at: 1s, link: c-x, action: down}]\n" + kTwoStreams)),
      Contains("no link `c-x`"));
  CHECK_THROWS_WITH(
      predict(three("", "", "events: [{at: 1s, link: c-s, action: rate}]\n" + kTwoStreams)),
      Contains("needs the key `rate`"));
  CHECK_THROWS_WITH(
      predict(
          three("", "", "events: [{at: 1s, link: c-s, action: down, loss: 1%}]\n" + kTwoStreams)),
      Contains("takes no `loss`"));
  CHECK_THROWS_WITH(predict(three("", ", pause: {xoff: 10KiB, xon: 20KiB}", kTwoStreams)),
                    Contains("above xoff"));
}
