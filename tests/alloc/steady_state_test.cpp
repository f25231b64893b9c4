// A packet allocates nothing: twice the simulated time does not mean more calls of operator new.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"
#include "tests/sim/allocations.hpp"

using namespace linerate;

namespace {

struct Cost {
  std::int64_t frames = 0;
  std::size_t allocations = 0;
};

// What simulating the experiment costs, reading and reporting left out as far as they do not depend
// on its length. "DURATION" in the text stands for the duration of its tests.
Cost cost_of(std::string text, const std::string& duration) {
  const std::string word = "DURATION";
  text.replace(text.find(word), word.size(), duration);
  const experiments::Experiment experiment = experiments::parse_experiment(text, "alloc.yaml");
  const std::size_t before = tests::allocations();
  const experiments::Result result = models::simulate(experiment);
  Cost cost;
  cost.allocations = tests::allocations() - before;
  for (const auto& [port, counters] : result.tests.front().ports)
    cost.frames += counters.frames_sent;
  return cost;
}

// Rings and pools may still double now and then when a queue is longer than ever before: a few
// calls among a hundred thousand frames.
void check_steady(const std::string& text, const std::string& once, const std::string& twice) {
  constexpr std::size_t kDoublings = 40;
  const Cost shorter = cost_of(text, once);
  const Cost longer = cost_of(text, twice);
  INFO(shorter.allocations << " for " << shorter.frames << " frames, then " << longer.allocations
                           << " for " << longer.frames);
  REQUIRE(longer.frames > shorter.frames + 50'000);
  CHECK(longer.allocations < shorter.allocations + kDoublings);
}

const std::string kPair =
    "schema_version: 1\nname: alloc\n"
    "hosts:\n  a: {nics: {eth0: {profile: generic-1g}}}\n  b: {like: a}\n"
    "switches:\n  s1: {ports: 2, rate: 1Gbit/s, buffer: {total: 128KiB, policy: shared}}\n"
    "links:\n"
    "  - {endpoints: [\"a:eth0\", \"s1:1\"], rate: 1Gbit/s, delay: 20us}\n";

const std::string kClean = "  - {endpoints: [\"b:eth0\", \"s1:2\"], rate: 1Gbit/s}\n";

}  // namespace

TEST_CASE("raw frames at line rate through a switch allocate nothing") {
  check_steady(kPair + kClean +
                   "tests:\n  - {name: t, type: raw-frames, from: a, to: b, frame_size: 64B, "
                   "duration: DURATION}\n",
               "50ms", "100ms");
}

TEST_CASE("a bulk TCP flow allocates nothing per packet") {
  check_steady(kPair + kClean +
                   "tests:\n  - {name: t, type: tcp-stream, from: a, to: b, duration: DURATION}\n",
               "1s", "2s");
}

TEST_CASE("competing TCP flows that lose packets in a small buffer allocate nothing per packet") {
  check_steady(kPair + kClean +
                   "tests:\n  - {name: t, type: tcp-stream, from: a, to: b, flows: 8, "
                   "duration: DURATION}\n",
               "1s", "2s");
}

TEST_CASE("SACK, retransmission and undo on a lossy link allocate nothing per packet") {
  check_steady(kPair +
                   "  - {endpoints: [\"b:eth0\", \"s1:2\"], rate: 1Gbit/s, loss: 0.1%}\n"
                   "tests:\n  - {name: t, type: tcp-stream, from: a, to: b, repeats: 1, "
                   "duration: DURATION}\n",
               "1s", "2s");
}

TEST_CASE("transactions allocate nothing but the list of their latencies") {
  check_steady(kPair + kClean +
                   "tests:\n  - {name: t, type: request-response, from: a, to: b, request: 128B, "
                   "response: 16KiB, duration: DURATION}\n",
               "2s", "4s");
}
