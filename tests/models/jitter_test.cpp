// Frames overtake each other on a link whose jitter reorders, and keep their order on any other.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::TestResult;

namespace {

// Two hosts on 1 Gbit/s with a jitter of 10 ms.
TestResult over_jitter(const std::string& link, const std::string& test) {
  const std::string text = R"(schema_version: 1
name: jitter
hosts:
  a: {profile: ideal, stack: linux-6, nics: {eth0: {profile: ideal}}}
  b: {like: a}
links:
  - {endpoints: ["a:eth0", "b:eth0"], rate: 1Gbit/s, delay: 20ms)" +
                           link + "}\ntests:\n  - " + test + "\n";
  return models::simulate(experiments::parse_experiment(text, "test.yaml")).tests.front();
}

double figure(const TestResult& test, const std::string& name) {
  INFO(name);
  REQUIRE(test.figures.count(name) == 1);
  return test.figures.at(name).median();
}

const std::string kKept = ", jitter: 10ms", kFree = ", jitter: 10ms, jitter_reorders: true";

}  // namespace

TEST_CASE("each frame has the delay of its own jitter where that may reorder") {
  const std::string probe =
      "{name: x, type: raw-frames, from: a, to: b, frame_size: 64B, frame_rate: 10000/s, "
      "duration: 2s, repeats: 1}";
  const TestResult free = over_jitter(kFree, probe), kept = over_jitter(kKept, probe);
  // The quantiles of a uniform distribution, 20 to 30 ms; of 20 000 frames the median has a
  // standard deviation of 35 us.
  CHECK(figure(free, "latency.p50") == Approx(25e-3).margin(0.15e-3));
  CHECK(figure(free, "latency.p99") == Approx(29.9e-3).margin(0.05e-3));
  CHECK(figure(free, "loss") == 0);
  // In order, a frame waits for the latest of those before it: with 100 frames in a jitter's time,
  // the largest of many draws, less what has passed since.
  CHECK(figure(kept, "latency.p50") > 28e-3);
  CHECK(figure(kept, "loss") == 0);
}

TEST_CASE("a sender takes what overtakes for lost, and its receiver still reads every byte") {
  const std::string bulk =
      "{name: x, type: tcp-stream, from: a, to: b, bytes: 20MiB, congestion: reno, repeats: 1}";
  const TestResult free = over_jitter(kFree, bulk), kept = over_jitter(kKept, bulk);
  CHECK(figure(kept, "retransmits") == 0);
  CHECK(figure(free, "retransmits") > 0);
  CHECK(figure(free, "goodput") > 0);
}

TEST_CASE("reordering by jitter needs some, and no script beside it") {
  using Catch::Contains;
  const std::string probe = "{name: x, type: udp-stream, from: a, to: b, rate: 1Mbit/s}";
  CHECK_THROWS_WITH(over_jitter(", jitter_reorders: true", probe), Contains("without jitter"));
  CHECK_THROWS_WITH(over_jitter(kFree + ", reorder: [{from: a, segment: 3, positions: 2}]", probe),
                    Contains("which frame is late"));
}
