// The searches over a device known in closed form: what they find, and at what cost.
#include "experiments/studies/search.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "experiments/studies/multiple_loss.hpp"
#include "experiments/studies/rfc2544.hpp"

using namespace linerate;
using namespace linerate::experiments;

namespace {

// Forwards `capacity` frames a second and holds `buffer` frames; loses a share of all besides.
class KnownDevice : public Tester {
 public:
  double line = 1e6, capacity = 1e9, buffer = 0, random_loss = 0;
  double generator = 1e12;  ///< what the tester itself manages, frames/s
  std::vector<TrialRequest> trials;

  double line_rate(Bytes) const override { return line; }
  double port_rate(Bytes) const override { return line; }
  Time trial_duration() const override { return Time::seconds(1); }
  bool random() const override { return false; }
  TrialOutcome run(const TrialRequest& request) override {
    trials.push_back(request);
    const double rate = std::min(line * request.load, generator);
    TrialOutcome outcome;
    outcome.generator_limited = rate < line * request.load;
    outcome.seconds = request.duration.seconds();
    double sent = std::floor(rate * request.duration.seconds());
    double lost = std::max(0.0, (rate - capacity) * request.duration.seconds());
    if (request.burst > 0) {
      sent = static_cast<double>(request.burst);
      lost = std::max(0.0, sent * (1 - capacity / line) - buffer);
    }
    outcome.sent = static_cast<std::int64_t>(sent);
    outcome.received =
        outcome.sent - static_cast<std::int64_t>(std::floor(lost + sent * random_loss));
    return outcome;
  }
};

constexpr Bytes kSize{64};

}  // namespace

TEST_CASE("a device without a limit gives exactly the line rate, in one trial") {
  KnownDevice device;
  const SearchResult found = find_throughput(device, kSize, {});
  CHECK(found.load == 1.0);
  CHECK(found.trials == 1);
  CHECK_FALSE(found.failure);
}

TEST_CASE("bisection finds the capacity within the resolution, at the cost of its law") {
  const double share = GENERATE(0.9999, 0.83, 0.5, 0.31, 0.011);
  const double resolution = GENERATE(0.01, 0.001);
  KnownDevice device;
  device.capacity = share * device.line;
  const SearchResult found = find_throughput(device, kSize, {.resolution = resolution});
  // Two frames of the trial are the uncertainty of any loss.
  CHECK(found.load <= share + 2 / device.line);
  CHECK(found.load >= share * (1 - resolution) - 2 / device.line);
  CHECK(found.trials <= 2 + std::ceil(std::log2(1 / (resolution * share))));
}

TEST_CASE("a finer resolution never costs fewer trials") {
  int before = 0;
  for (const double resolution : {0.1, 0.03, 0.01, 0.003, 0.001, 0.0003}) {
    KnownDevice device;
    device.capacity = 0.377 * device.line;
    const int trials = find_throughput(device, kSize, {.resolution = resolution}).trials;
    CHECK(trials >= before);
    before = trials;
  }
}

TEST_CASE("a device that forwards nothing ends the search") {
  KnownDevice device;
  device.capacity = 0;
  const SearchResult found = find_throughput(device, kSize, {});
  CHECK(found.load == 0);
  CHECK_FALSE(found.best);
  CHECK(found.trials <= 2 + std::ceil(std::log2(device.line)));
}

TEST_CASE("an allowed loss raises the load found to capacity / (1 - loss)") {
  KnownDevice device;
  device.capacity = 0.6 * device.line;
  const double found = find_throughput(device, kSize, {.allowed_loss = 0.05}).load;
  CHECK(found == Approx(0.6 / 0.95).epsilon(0.001));
}

TEST_CASE("a tester at its limit is not taken for the device's") {
  KnownDevice device;
  device.generator = 0.7 * device.line;
  const SearchResult found = find_throughput(device, kSize, {});
  CHECK(found.generator_limited);

  Test test;
  test.name = "fwd";
  test.type = TestType::rfc2544_throughput;
  test.frame_sizes = {kSize};
  std::vector<TestResult> results;
  run_rfc2544(test, device, results);
  REQUIRE(results.size() == 1);
  REQUIRE_FALSE(results.front().notes.empty());
  CHECK(results.front().notes.front().starts_with("inconclusive:"));
  // What was really offered, not what was asked for.
  CHECK(results.front().figures.at("frame_rate").median() == Approx(0.7 * device.line));
}

TEST_CASE("the loss curve is 1 - capacity / offered and ends after two loads without loss") {
  KnownDevice device;
  device.capacity = 0.65 * device.line;
  const std::vector<LossPoint> curve = loss_curve(device, kSize);
  REQUIRE(curve.size() == 6);  // 100, 90, 80, 70 with loss; 60 and 50 without
  for (const LossPoint& point : curve)
    CHECK(point.outcome.loss() ==
          Approx(std::max(0.0, 1 - 0.65 / point.load)).margin(2 / device.line));
  CHECK(curve.back().load == Approx(0.5));
}

TEST_CASE("the longest burst is buffer / (1 - capacity / line)") {
  KnownDevice device;
  device.capacity = 0.75 * device.line;
  device.buffer = 1000;
  const BurstResult found = find_burst(device, kSize, 1e-5);
  CHECK(std::abs(static_cast<double>(found.frames) - 1000 / 0.25) <= 4);
  CHECK_FALSE(found.unbounded);
  CHECK(found.trials <= 1 + std::ceil(std::log2(device.line)));
}

TEST_CASE("a device at line rate has no longest burst") {
  KnownDevice device;
  const BurstResult found = find_burst(device, kSize, 0.001);
  CHECK(found.unbounded);
  CHECK(found.trials == 1);
}

TEST_CASE("NDR and PDR in one search agree with each alone, and take less time") {
  const double share = GENERATE(1.5, 0.97, 0.42, 0.03);
  KnownDevice device;
  device.capacity = share * device.line;
  const LossGoals goals{.allowed = {0, 0.005}, .resolution = 0.001};
  const LossSearch both = find_loads(device, kSize, goals);
  REQUIRE(both.goals.size() == 2);
  double alone_seconds = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const double law = std::min(1.0, share / (1 - goals.allowed[i]));
    CHECK(both.goals[i].load <= law * 1.0001);
    CHECK(both.goals[i].load >= law * (1 - goals.resolution) - 2 / device.line);
    alone_seconds +=
        find_throughput(device, kSize, {.allowed_loss = goals.allowed[i]}).trials * 1.0;
  }
  CHECK(both.counted.seconds() < alone_seconds);
  // Each goal and phase: its two bounds again, one halving between them, a guess or two.
  CHECK(both.trials <= 1 + 2 * 3 * 5);
}

TEST_CASE("what is reported rests on trials of full length") {
  KnownDevice device;
  device.capacity = 0.42 * device.line;
  const LossSearch both = find_loads(device, kSize, {.allowed = {0, 0.005}});
  for (const SearchResult& goal : both.goals) {
    REQUIRE(goal.best);
    REQUIRE(goal.failure);
    CHECK(goal.best->seconds == 1.0);
    CHECK(goal.failure->seconds == 1.0);
    CHECK(goal.load < goal.failed);
  }
}

TEST_CASE(
    "random loss that never stops leaves the loss-free rate at nothing, and PDR at line rate") {
  KnownDevice device;
  device.random_loss = 0.001;
  const LossSearch both = find_loads(device, kSize, {.allowed = {0, 0.005}});
  CHECK(both.goals[1].load == 1.0);
  CHECK(both.goals[0].load < 0.01);
}

TEST_CASE("trials send enough frames to tell loads apart that differ by the resolution") {
  KnownDevice device;
  device.capacity = 0.2 * device.line;
  find_throughput(device, kSize, {.resolution = 0.01});
  for (const TrialRequest& trial : device.trials) CHECK(trial.frames_least >= 300);
}
