// FQ-CoDel and PIE on their own, by the rules of RFC 8290 and RFC 8033.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "models/queue/egress_queue.hpp"

using namespace linerate;
using namespace linerate::models;
using experiments::QueueSpec;
using tcp::Ecn;

namespace {

constexpr BitRate kLine = BitRate::bits_per_second(10'000'000);
constexpr std::uint32_t kFull = 1538;

sim::RandomStream stream(const char* name) {
  return sim::RandomStream({.seed = 3, .entity = 0, .name = name});
}

QueuedFrame frame(Time queued, std::uint32_t flow, std::uint32_t bytes = kFull,
                  std::uint8_t priority = 0, Ecn ecn = Ecn::not_ect) {
  return {.packet = {1, 1},
          .bytes = bytes,
          .flow = flow,
          .priority = priority,
          .ecn = ecn,
          .queued = queued};
}

Time ms(double n) { return Time::from_seconds(n * 1e-3); }

FqCodel fq_codel(std::int64_t limit = 1000) {
  QueueSpec spec;
  spec.discipline = experiments::Discipline::fq_codel;
  spec.limit_frames = limit;
  return FqCodel(experiments::with_defaults(spec, kLine), stream("flows"));
}

Pie pie(QueueSpec spec = {}, std::uint64_t seed = 3) {
  spec.discipline = experiments::Discipline::pie;
  return Pie(experiments::with_defaults(spec, kLine),
             sim::RandomStream({.seed = seed, .entity = 0, .name = "pie"}));
}

/// Feeds `queue` a frame every `gap` and takes one each time those that wait are more than
/// `frames`, so that what leaves has waited `frames` gaps. Returns the frames lost.
struct PieDrive {
  Pie queue;
  Time gap;
  std::int64_t frames;
  Ecn ecn = Ecn::not_ect;
  Time now{};
  std::int64_t offered = 0, lost = 0, marked = 0;

  void run_until(Time end) {
    std::vector<QueuedFrame> none;
    for (; now < end; now += gap) {
      ++offered;
      lost += queue.enqueue(now, frame(now, 0, kFull, 0, ecn)) != Drop::none;
      if (queue.frames() <= frames) continue;
      QueuedFrame out;
      queue.dequeue(now, 0, out, none);
      marked += out.ecn == Ecn::ce;
    }
  }
};

}  // namespace

TEST_CASE("FQ-CoDel: a flow that queues nothing passes those that do") {
  FqCodel queue = fq_codel();
  std::vector<QueuedFrame> dropped;
  for (int i = 0; i < 50; ++i) queue.enqueue({}, frame({}, 1), dropped);
  QueuedFrame out;
  for (int i = 0; i < 5; ++i) REQUIRE(queue.dequeue(ms(1), 0, out, dropped));
  queue.enqueue(ms(1), frame(ms(1), 2, 84), dropped);
  REQUIRE(queue.dequeue(ms(1), 0, out, dropped));
  CHECK(out.flow == 2);
}

TEST_CASE("FQ-CoDel: flows share by bytes, whatever the size of their frames") {
  FqCodel queue = fq_codel(100'000);
  std::vector<QueuedFrame> dropped;
  const std::map<std::uint32_t, std::uint32_t> size = {{1, 1538}, {2, 300}, {3, 84}};
  for (const auto& [flow, bytes] : size)
    for (int i = 0; i < 20'000; ++i) queue.enqueue({}, frame({}, flow, bytes), dropped);
  std::map<std::uint32_t, std::int64_t> sent;
  for (int i = 0; i < 20'000; ++i) {
    QueuedFrame out;
    REQUIRE(queue.dequeue({}, 0, out, dropped));
    sent[out.flow] += out.bytes;
    // Between two backlogged flows: a quantum, and a largest frame each beyond (RFC 8290 4.2; the
    // bound is that of deficit round robin).
    for (const auto& [flow, bytes] : sent) REQUIRE(std::abs(bytes - sent[1]) <= 1538 + 2 * 1538);
  }
}

TEST_CASE("FQ-CoDel: coming back at once gives a flow no more than its share") {
  // RFC 8290 4.2: an emptied new flow goes to the old list first.
  FqCodel queue = fq_codel();
  std::vector<QueuedFrame> dropped;
  for (int i = 0; i < 500; ++i) queue.enqueue({}, frame({}, 1), dropped);
  std::map<std::uint32_t, std::int64_t> sent;
  queue.enqueue({}, frame({}, 2), dropped);
  for (int i = 0; i < 400; ++i) {
    QueuedFrame out;
    REQUIRE(queue.dequeue({}, 0, out, dropped));
    sent[out.flow] += out.bytes;
    if (out.flow == 2) queue.enqueue({}, frame({}, 2), dropped);
  }
  CHECK(sent[2] <= sent[1] + 2 * 1538);
}

TEST_CASE("FQ-CoDel: what exceeds the limit is taken from the fattest flow") {
  FqCodel queue = fq_codel(100);
  std::vector<QueuedFrame> dropped;
  for (int i = 0; i < 90; ++i) queue.enqueue({}, frame({}, 1), dropped);
  for (int i = 0; i < 10; ++i) queue.enqueue({}, frame({}, 2, 84), dropped);
  CHECK(dropped.empty());
  queue.enqueue({}, frame({}, 2, 84), dropped);
  // RFC 8290 4.1: up to half of its packets.
  CHECK(dropped.size() == 45);
  for (const QueuedFrame& f : dropped) CHECK(f.flow == 1);
  CHECK(queue.frames() == 101 - 45);
  CHECK(queue.bytes() == 45 * 1538 + 11 * 84);
  CHECK(queue.counters().full_drops == 45);
}

TEST_CASE("FQ-CoDel: a flow whose priority is paused keeps its frames, the others go on") {
  FqCodel queue = fq_codel();
  std::vector<QueuedFrame> dropped;
  for (int i = 0; i < 10; ++i) queue.enqueue({}, frame({}, 1, kFull, 3), dropped);
  for (int i = 0; i < 10; ++i) queue.enqueue({}, frame({}, 2, kFull, 0), dropped);
  QueuedFrame out;
  for (int i = 0; i < 10; ++i) {
    REQUIRE(queue.dequeue({}, 1u << 3, out, dropped));
    CHECK(out.flow == 2);
  }
  CHECK_FALSE(queue.dequeue({}, 1u << 3, out, dropped));
  CHECK(queue.frames() == 10);
  for (int i = 0; i < 10; ++i) REQUIRE(queue.dequeue({}, 0, out, dropped));
  CHECK(queue.frames() == 0);
}

TEST_CASE(
    "PIE corrects its probability by alpha x error + beta x change, scaled down while small") {
  // RFC 8033 4.2. A frame a millisecond, 30 in the queue: from 30 ms on the delay is 30 ms.
  PieDrive drive{.queue = pie(), .gap = ms(1), .frames = 30};
  const double error = 0.125 * (0.030 - 0.015);
  drive.run_until(ms(45));
  CHECK(drive.queue.probability() == 0);  // at 15 and 30 ms nothing had waited
  drive.run_until(ms(60));                // 45 ms: from 0 to 30 ms, p < 0.000001
  double p = (error + 1.25 * 0.030) / 2048;
  CHECK(drive.queue.probability() == Approx(p));
  drive.run_until(ms(75));  // no change any more; 0.00001 <= p < 0.0001
  p += error / 128;
  CHECK(drive.queue.probability() == Approx(p));
  drive.run_until(ms(75 + 15 * 20));
  for (int i = 0; i < 20; ++i) p += error / (p < 1e-4 ? 128 : p < 1e-3 ? 32 : 8);
  CHECK(drive.queue.probability() == Approx(p));
}

TEST_CASE("PIE drops nothing from the first 150 ms of congestion, nor from two frames") {
  QueueSpec spec;
  spec.alpha = 100;  // at once far above the probability it would need
  PieDrive drive{.queue = pie(spec), .gap = ms(1), .frames = 30};
  drive.run_until(ms(150));
  CHECK(drive.lost == 0);
  drive.run_until(ms(1000));
  CHECK(drive.lost > 0);
  PieDrive two{.queue = pie(spec), .gap = ms(40), .frames = 1};
  two.run_until(ms(20'000));
  CHECK(two.queue.probability() > 0.5);  // the wait is 40 ms
  CHECK(two.lost == 0);
}

TEST_CASE("PIE drops arrivals with its probability, and marks instead while that is below 10 %") {
  QueueSpec spec;
  spec.ecn = GENERATE(false, true);
  // Each arrival is a coin of its own, so the number is within 2.58 deviations of the sum (99 %).
  double expected = 0, variance = 0;
  std::int64_t punished = 0, lost_below = 0, lost = 0, marked = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    PieDrive drive{.queue = pie(spec, seed), .gap = ms(1), .frames = 30, .ecn = Ecn::ect0};
    while (drive.queue.probability() < 0.2) {
      const std::int64_t before = drive.lost;
      drive.run_until(drive.now + ms(1));
      const double p = drive.now < ms(500) ? 0 : drive.queue.probability();
      expected += p;
      variance += p * (1 - p);
      if (p == 0) punished -= drive.lost - before;
      if (drive.queue.probability() < 0.1) lost_below += drive.lost - before;
    }
    const QueueCounters counters = drive.queue.counters();
    punished += counters.early_drops + counters.marked;
    lost += counters.early_drops;
    marked += counters.marked;
  }
  CHECK(std::abs(double(punished) - expected) < 2.58 * std::sqrt(variance));
  CHECK(lost > 0);
  CHECK((lost_below == 0) == spec.ecn);
  CHECK((marked > 0) == spec.ecn);
}

TEST_CASE("PIE's departure rate is that of the line, measured over 16 KiB") {
  // RFC 8033 5.3. A frame of 1538 bytes each millisecond is 1.538 MB/s.
  QueueSpec spec;
  spec.delay_estimator = experiments::DelayEstimator::departure_rate;
  PieDrive drive{.queue = pie(spec), .gap = ms(1), .frames = 30};
  drive.run_until(ms(200));
  CHECK(drive.queue.departure_rate() == Approx(1.538e6).epsilon(0.001));
  // Fewer bytes than that in the queue are no measurement.
  PieDrive few{.queue = pie(spec), .gap = ms(1), .frames = 5};
  few.run_until(ms(200));
  CHECK(few.queue.departure_rate() == 0);
}

TEST_CASE("PIE makes up for the updates of an idle time") {
  // A timer would have fired every 15 ms; a queue at rest must come out the same, and quickly.
  PieDrive idle{.queue = pie(), .gap = ms(1), .frames = 30};
  idle.now = Time::seconds(1'000'000) + ms(2);
  const Time base = Time::seconds(1'000'000);
  idle.run_until(base + ms(75));
  PieDrive fresh{.queue = pie(), .gap = ms(1), .frames = 30};
  fresh.now = ms(2) + base % ms(15);
  fresh.run_until(ms(75) + base % ms(15));
  CHECK(idle.queue.probability() == fresh.queue.probability());
  CHECK(idle.queue.probability() > 0);
}
