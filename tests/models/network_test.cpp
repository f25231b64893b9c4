// Laws of whole simulated networks, from an experiment file to its figures.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "experiments/definition/parse.hpp"
#include "experiments/results/json.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::Result;

namespace {

Result predict(const std::string& yaml) {
  return models::simulate(experiments::parse_experiment(yaml, "test.yaml"));
}

double figure(const Result& result, const std::string& test, const std::string& name) {
  for (const auto& t : result.tests)
    if (t.name == test) return t.figures.at(name).median();
  FAIL("no test " << test);
  return 0;
}

// Two ideal hosts on one cable.
std::string pair_of_hosts(const std::string& link, const std::string& test,
                          const std::string& stack = "linux-6") {
  return R"(schema_version: 1
name: pair
hosts:
  a: {profile: ideal, stack: )" +
         stack + R"(, nics: {eth0: {profile: ideal}}}
  b: {like: a}
links:
  - {endpoints: ["a:eth0", "b:eth0"], )" +
         link + R"(}
tests:
  - {name: t, from: a, to: b, )" +
         test + "}\n";
}

std::string through_switch(const std::string& options, const std::string& test) {
  return R"(schema_version: 1
name: switched
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  b: {like: a}
switches:
  s1: {ports: 2, rate: 1Gbit/s, )" +
         options + R"(}
links:
  - {endpoints: ["a:eth0", "s1:1"], medium: 1000BASE-T}
  - {endpoints: ["b:eth0", "s1:2"], medium: 1000BASE-T}
tests:
  - {name: t, from: a, to: b, )" +
         test + "}\n";
}

}  // namespace

TEST_CASE(
    "an unloaded frame takes the sum of its serializations and latencies, to the picosecond") {
  // One 64-byte frame a millisecond: 72 byte times of 8 ns on each of two links, 2 us in the
  // switch.
  const Result stored = predict(
      through_switch("forwarding: store-and-forward, latency: 2us",
                     "type: raw-frames, frame_size: 64B, frame_rate: 1000/s, duration: 10ms"));
  CHECK(figure(stored, "t", "latency.max") == Approx(2 * 72 * 8e-9 + 2e-6).epsilon(1e-12));

  // A large frame that is cut through: it waits for 64 bytes of it, not for all.
  const Result cut = predict(
      through_switch("forwarding: cut-through, latency: 2us",
                     "type: raw-frames, frame_size: 1518B, frame_rate: 1000/s, duration: 10ms"));
  CHECK(figure(cut, "t", "latency.max") ==
        Approx((8 + 64) * 8e-9 + 2e-6 + (8 + 1518) * 8e-9).epsilon(1e-12));
}

TEST_CASE("raw frames fill a line at its frame rate") {
  // 1 Gbit/s / (84 B x 8) = 1,488,095 frames/s (RFC 2544 and IEEE 802.3).
  const Result result =
      predict(through_switch("forwarding: store-and-forward",
                             "type: raw-frames, frame_size: 64B, duration: 20ms, omit: 1ms"));
  CHECK(figure(result, "t", "frame_rate") == Approx(1e9 / (84 * 8)).epsilon(1e-4));
  CHECK(figure(result, "t", "loss") == 0);
}

TEST_CASE("a long TCP flow fills the wire up to its framing") {
  // 1448 of 1538 bytes, 1428 of 1538 over IPv6, 8948 of 9038 with jumbo frames.
  struct Row {
    const char* keys;
    const char* mtu;
    double share;
  };
  const Row row =
      GENERATE(Row{"ip: 4", "1500B", 1448.0 / 1538}, Row{"ip: 6", "1500B", 1428.0 / 1538},
               Row{"ip: 4", "9000B", 8948.0 / 9038});
  std::string yaml = pair_of_hosts(
      "medium: 1000BASE-T",
      std::string("type: tcp-stream, congestion: reno, duration: 1s, omit: 200ms, ") + row.keys);
  yaml.replace(yaml.find("eth0: {profile: ideal}"), 22,
               std::string("eth0: {profile: ideal, mtu: ") + row.mtu + "}");
  CHECK(figure(predict(yaml), "t", "goodput") == Approx(1e9 * row.share).epsilon(5e-4));
}

TEST_CASE("flows that begin one after another fill a line no less and no more") {
  // The first alone fills it; whoever comes later shares it, so the line is full all the time.
  const Result result = predict(pair_of_hosts(
      "rate: 100Mbit/s, delay: 1ms, queue: 100kB",
      "type: tcp-stream, flows: 8, start_spread: 2s, duration: 5s, omit: 500ms, repeats: 1"));
  CHECK(figure(result, "t", "goodput") == Approx(100e6 * 1448 / 1538).epsilon(0.01));
}

TEST_CASE("mirrored networks give mirrored results") {
  const std::string keys = "type: tcp-stream, duration: 500ms, omit: 100ms";
  std::string forward = pair_of_hosts("rate: 50Mbit/s, delay: 3ms, queue: 60000B", keys);
  std::string mirrored = forward;
  mirrored.replace(mirrored.find("from: a, to: b"), 14, "from: b, to: a");
  CHECK(figure(predict(forward), "t", "goodput") == figure(predict(mirrored), "t", "goodput"));
}

TEST_CASE("what was sent was delivered, or lost at the rate of the link") {
  const Result result = predict(pair_of_hosts(
      "medium: 1000BASE-T, loss: 2%",
      "type: raw-frames, frame_size: 512B, frame_rate: 100000/s, duration: 1s, repeats: 1"));
  const double n = 100'000, p = 0.02;
  const double sigma = std::sqrt(p * (1 - p) / n);
  CHECK(std::abs(figure(result, "t", "loss") - p) < 4 * sigma);
  const auto& port = result.tests.front().ports.at("a:eth0");
  CHECK(port.frames_sent == 100'000);
  CHECK(static_cast<double>(port.drops.at("loss")) == Approx(figure(result, "t", "loss") * n));
}

TEST_CASE("Reno under random loss follows Mathis' law within its known range") {
  // M. Mathis et al., CCR 27(3), 1997: rate = MSS/RTT x C/sqrt(p), C = sqrt(3/2) when every segment
  // is acknowledged and less with delayed ACKs; RFC 3155 and later work find 0.6 to 1.1 of it.
  const Result result = predict(
      pair_of_hosts("rate: 1Gbit/s, delay: 10ms, loss: [{from: a, probability: 0.1%}], queue: 10MB",
                    "type: tcp-stream, congestion: reno, duration: 60s, omit: 5s, repeats: 3"));
  const double law = 1448 * 8 / 0.020 * std::sqrt(1.5 / 0.001);
  const double ratio = figure(result, "t", "goodput") / law;
  INFO("ratio to the law " << ratio);
  CHECK(ratio > 0.6);
  CHECK(ratio < 1.15);
}

TEST_CASE("equal flows share a bottleneck fairly") {
  const Result result = predict(
      pair_of_hosts("rate: 100Mbit/s, delay: 5ms, queue: 125000B",
                    "type: tcp-stream, congestion: reno, flows: 4, duration: 60s, omit: 10s"));
  CHECK(figure(result, "t", "fairness") > 0.9);
  CHECK(figure(result, "t", "goodput") == Approx(100e6 * 1448 / 1538).epsilon(0.02));
}

TEST_CASE("a window below bandwidth x delay gives one window a round trip") {
  // BSD counts payload: 32768 B rounded up to whole segments (23 x 1448 = 33304 B) every 20 ms.
  const Result result = predict(pair_of_hosts(
      "rate: 100Mbit/s, delay: 10ms, queue: 1MB",
      "type: tcp-stream, socket_buffer: {send: 262144B, receive: 32768B}, duration: 10s, omit: 2s",
      "bsd-4.4"));
  const double window = figure(result, "t", "goodput") * 0.0205 / 8;
  INFO("bytes per round trip " << window);
  CHECK(window > 31'000);
  CHECK(window < 34'500);
}

TEST_CASE("the same file and seed give the same bytes, another seed others") {
  const std::string yaml =
      pair_of_hosts("rate: 100Mbit/s, delay: 2ms, loss: 0.5%, queue: 100kB",
                    "type: tcp-stream, flows: 3, duration: 2s, omit: 200ms, repeats: 2");
  const auto json = [&](std::uint64_t seed) {
    experiments::ParseOptions options;
    options.seed = seed;
    return experiments::to_json(
        models::simulate(experiments::parse_experiment(yaml, "test.yaml", options)));
  };
  CHECK(json(1) == json(1));
  CHECK(json(1) != json(2));
}
