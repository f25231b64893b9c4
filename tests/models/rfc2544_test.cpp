// RFC 2544 on simulated devices whose answers are known: lines, fabrics, buffers.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "experiments/definition/parse.hpp"
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

const char* const kTesters = R"(schema_version: 1
name: bench
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  b: {like: a}
)";

std::string wire(const std::string& rate, const std::string& test) {
  return kTesters + (R"(links: [{endpoints: ["a:eth0", "b:eth0"], rate: )" + rate + R"(}]
tests: [{name: fwd, from: a, to: b, )" +
                     test + "}]\n");
}

// Two testers on a switch, at rates of their own.
std::string device(const std::string& options, const std::string& in, const std::string& out,
                   const std::string& test) {
  return kTesters + ("switches: {s1: {ports: 2, " + options + R"(}}
links:
  - {endpoints: ["a:eth0", "s1:1"], rate: )" +
                     in + R"(}
  - {endpoints: ["b:eth0", "s1:2"], rate: )" +
                     out + R"(}
tests: [{name: fwd, from: a, to: b, device: s1, )" +
                     test + "}]\n");
}

}  // namespace

TEST_CASE("a wire alone gives line rate at every frame size of RFC 2544, in one trial each") {
  const Result result = predict(wire("100Mbit/s", "type: rfc2544-throughput"));
  REQUIRE(result.tests.size() == 7);
  // RFC 2544 appendix B: maximum frame rates at 100 Mbit/s, 100e6 / (8 (size + 20)).
  const std::pair<int, double> rates[] = {{64, 148809.52}, {128, 84459.46},  {256, 45289.86},
                                          {512, 23496.24}, {1024, 11973.18}, {1280, 9615.38},
                                          {1518, 8127.44}};
  for (const auto& [size, rate] : rates) {
    const std::string name = "fwd[" + std::to_string(size) + "B]";
    CHECK(figure(result, name, "frame_rate") == Approx(rate).margin(0.005));
    CHECK(figure(result, name, "throughput") == Approx(100e6).epsilon(1e-12));
    CHECK(figure(result, name, "trials") == 1);
    CHECK(figure(result, name, "loss") == 0);
  }
}

TEST_CASE("a device is as fast as its fabric, whatever its memory swallows meanwhile") {
  // 60 kB of memory take up a quarter of a trial of 10 ms at this rate; without end they take
  // everything.
  const std::string memory = GENERATE("buffer: {total: 60kB, policy: per-port}, ", "");
  const double law = 300'000;
  const Result result = predict(
      device(memory + "rate: 1Gbit/s, fabric_frame_rate: 300000/s", "1Gbit/s", "1Gbit/s",
             "type: rfc2544-throughput, frame_sizes: [64B, 128B], trial: {simulated: 10ms}"));
  for (const char* name : {"fwd[64B]", "fwd[128B]"}) {
    CHECK(figure(result, name, "frame_rate") <= law * 1.001);
    CHECK(figure(result, name, "frame_rate") >= law * 0.999);
  }
}

TEST_CASE("in both directions two ports share the fabric") {
  const Result result = predict(
      device("rate: 1Gbit/s, fabric_frame_rate: 300000/s", "1Gbit/s", "1Gbit/s",
             "type: rfc2544-throughput, direction: both, frame_size: 64B, resolution: 0.2%, "
             "trial: {simulated: 10ms}"));
  CHECK(figure(result, "fwd", "frame_rate") == Approx(300'000).epsilon(0.002));
}

TEST_CASE("NDR and PDR of a fabric differ by the loss allowed") {
  const Result result = predict(
      device("rate: 1Gbit/s, buffer: {total: 16KiB, policy: per-port}, "
             "fabric_frame_rate: 300000/s",
             "1Gbit/s", "1Gbit/s", "type: rfc2544-throughput, frame_size: 64B, partial_loss: 1%"));
  CHECK(figure(result, "fwd", "frame_rate") == Approx(300'000).epsilon(0.001));
  CHECK(figure(result, "fwd", "pdr.frame_rate") == Approx(300'000 / 0.99).epsilon(0.001));
  CHECK(figure(result, "fwd", "pdr.loss") <= 0.01);
}

TEST_CASE("the loss curve of a slower port is 1 - capacity / offered") {
  const Result result =
      predict(device("buffer: {total: 32KiB, policy: per-port}, rate: 1Gbit/s", "1Gbit/s",
                     "500Mbit/s", "type: rfc2544-frame-loss, frame_size: 512B"));
  for (const int load : {100, 90, 80, 70, 60})
    CHECK(figure(result, "fwd", "loss." + std::to_string(load) + "%") ==
          Approx(1 - 50.0 / load).margin(0.001));
  CHECK(figure(result, "fwd", "loss.50%") == 0);
  CHECK(figure(result, "fwd", "loss.40%") == 0);
  CHECK(result.tests.front().figures.count("loss.30%") == 0);
}

TEST_CASE("back-to-back frames fill the memory at the difference of the two rates") {
  // Frames of 512 B take 532 B of line time each; memory holds what has not left yet.
  const Result result =
      predict(device("buffer: {total: 64KiB, policy: per-port}, rate: 1Gbit/s", "1Gbit/s",
                     "600Mbit/s", "type: rfc2544-back-to-back, frame_size: 512B"));
  const double held = std::floor(65536.0 / 532);
  const double burst = figure(result, "fwd", "burst");
  CHECK(burst == Approx(held / (1 - 0.6)).margin(4));
  // RFC 9004: the time in which the memory alone would have filled.
  CHECK(figure(result, "fwd", "buffer_time") == Approx(burst * 532 * 8 / 1e9 * 0.4).epsilon(0.002));
}

TEST_CASE("latency is serialization, cables and the device's own, to the picosecond") {
  const Result result =
      predict(device("rate: 1Gbit/s, forwarding: store-and-forward, latency: 3us", "1Gbit/s",
                     "1Gbit/s", "type: rfc2544-latency, frame_sizes: [64B, 1518B]"));
  // Preamble and frame on both links, and the device between them.
  CHECK(figure(result, "fwd[64B]", "latency.max") == Approx(2 * 72 * 8e-9 + 3e-6).epsilon(1e-12));
  CHECK(figure(result, "fwd[1518B]", "latency.max") ==
        Approx(2 * 1526 * 8e-9 + 3e-6).epsilon(1e-12));
  // RFC 1242: from the last bit in to the first bit out.
  CHECK(figure(result, "fwd[64B]", "latency.device") == Approx(3e-6).epsilon(1e-9));
  CHECK(figure(result, "fwd[1518B]", "latency.device") == Approx(3e-6).epsilon(1e-9));
}

TEST_CASE("a device that cuts through is timed from the first bit in to the first bit out") {
  const Result result =
      predict(device("rate: 1Gbit/s, forwarding: cut-through, latency: 1us", "1Gbit/s", "1Gbit/s",
                     "type: rfc2544-latency, frame_size: 1518B"));
  // It has seen preamble and 64 bytes before it decides.
  CHECK(figure(result, "fwd", "latency.device") == Approx(72 * 8e-9 + 1e-6).epsilon(1e-9));
}

TEST_CASE("random loss makes a search repeat, and is named as what limits") {
  const Result result = predict(wire("1Gbit/s, loss: 1%",
                                     "type: rfc2544-throughput, frame_size: 512B, repeats: 2, "
                                     "partial_loss: 5%, trial: {simulated: 10ms}"));
  const auto& test = result.tests.front();
  CHECK(test.figures.at("trials").samples.size() == 2);
  // A twentieth may be lost and a hundredth is.
  CHECK(figure(result, "fwd", "pdr.throughput") == Approx(1e9));
  CHECK(figure(result, "fwd", "pdr.loss") == Approx(0.01).margin(0.005));
  // Without loss there is no load at all.
  CHECK(figure(result, "fwd", "frame_rate") == 0);
  CHECK(test.notes == std::vector<std::string>{"every load lost more than is allowed",
                                               "limited by a:eth0 (loss)"});
}

TEST_CASE("a search repeats to the byte") {
  const std::string yaml =
      device("rate: 1Gbit/s, fabric_frame_rate: 200000/s", "1Gbit/s", "1Gbit/s",
             "type: rfc2544-throughput, frame_size: 64B, "
             "trial: {simulated: 10ms}");
  CHECK(predict(yaml) == predict(yaml));
}
