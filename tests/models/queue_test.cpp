// Queue disciplines on their own: fed frames, told the time, asked what leaves. Expected values are
// those of the RFC or paper that defines each discipline.
#include <catch2/catch.hpp>
#include <cmath>

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

QueueSpec of(experiments::Discipline discipline) {
  QueueSpec spec;
  spec.discipline = discipline;
  return spec;
}

QueuedFrame frame(Time queued = {}, Ecn ecn = Ecn::not_ect, std::uint32_t flow = 0,
                  std::uint32_t bytes = kFull) {
  return {
      .packet = {1, 1}, .bytes = bytes, .flow = flow, .priority = 0, .ecn = ecn, .queued = queued};
}

Time ms(double n) { return Time::from_seconds(n * 1e-3); }

/// CoDel that is asked for a frame every `step` and always has four, which came `wait` ago when
/// they were put there: those that leave have waited up to three steps longer.
struct Standing {
  Codel queue;
  Time wait;
  std::vector<QueuedFrame> dropped{};
  std::vector<Time> punished{};  ///< when frames were dropped or marked

  void run(Time from, Time to, Time step, Ecn ecn = Ecn::not_ect) {
    for (Time now = from; now < to; now += step) {
      while (queue.frames() < 4) queue.enqueue(now, frame(now - wait, ecn));
      QueuedFrame out;
      REQUIRE(queue.dequeue(now, 0, out, dropped));
      if (!dropped.empty() || out.ecn == Ecn::ce) punished.push_back(now);
      dropped.clear();
    }
  }
};

Red red(QueueSpec spec) {
  spec = experiments::with_defaults(spec, kLine);
  return Red(spec, kLine, stream("red"));
}

QueueSpec red_frames(std::int64_t min, std::int64_t max, double weight) {
  QueueSpec spec = of(experiments::Discipline::red);
  spec.min_frames = min;
  spec.max_frames = max;
  spec.weight = weight;
  return spec;
}

/// Puts frames into a RED queue that follows its length at once until `frames` are there.
void fill(Red& queue, std::int64_t frames) {
  while (queue.frames() < frames) queue.enqueue(Time{}, frame());
}

}  // namespace

TEST_CASE("a fifo holds what its limit says, in bytes or in frames") {
  QueueSpec spec;
  spec.limit = Bytes(3 * kFull);
  Fifo bytes(experiments::with_defaults(spec, kLine));
  for (int i = 0; i < 3; ++i) CHECK(bytes.enqueue({}, frame()) == Drop::none);
  CHECK(bytes.enqueue({}, frame({}, Ecn::not_ect, 0, 84)) == Drop::queue);

  spec.limit.reset();
  spec.limit_frames = 2;
  Fifo frames(experiments::with_defaults(spec, kLine));
  CHECK(frames.enqueue({}, frame()) == Drop::none);
  CHECK(frames.enqueue({}, frame()) == Drop::none);
  CHECK(frames.enqueue({}, frame()) == Drop::queue);
  CHECK(frames.counters().full_drops == 1);
}

TEST_CASE("step marking: a frame that finds more than K queued is marked, if it can be") {
  // Alizadeh et al., "Data center TCP", SIGCOMM 2010, section 3.1: on arrival, by the length found.
  QueueSpec spec;
  spec.ecn_threshold_frames = 2;
  Fifo queue(experiments::with_defaults(spec, kLine));
  std::vector<QueuedFrame> none;
  for (int i = 0; i < 3; ++i) queue.enqueue({}, frame({}, Ecn::ect0));  // find 0, 1, 2
  queue.enqueue({}, frame({}, Ecn::ect0));                              // finds 3
  queue.enqueue({}, frame());                                           // finds 4, is not capable
  const Ecn expected[] = {Ecn::ect0, Ecn::ect0, Ecn::ect0, Ecn::ce, Ecn::not_ect};
  for (const Ecn ecn : expected) {
    QueuedFrame out;
    REQUIRE(queue.dequeue({}, 0, out, none));
    CHECK(out.ecn == ecn);
  }
  CHECK(queue.counters().marked == 1);
}

TEST_CASE("RED's mean approaches a constant length L as L (1 - (1-w)^n)") {
  // Floyd and Jacobson 1993, equation 2.
  Red queue = red(red_frames(50, 150, 0.1));
  std::vector<QueuedFrame> none;
  fill(queue, 20);
  const double before = queue.mean();
  for (int n = 1; n <= 30; ++n) {
    queue.enqueue({}, frame());
    QueuedFrame out;
    queue.dequeue({}, 0, out, none);
    CHECK(queue.mean() == Approx(20 - (20 - before) * std::pow(0.9, n)));
  }
}

TEST_CASE("RED's mean falls while the line is idle as if small frames found it empty") {
  // Floyd and Jacobson 1993, section 11: avg (1-w)^m, m frames of the mean size fit into the gap.
  QueueSpec spec = red_frames(50, 150, 0.01);
  spec.mean_frame = Bytes(1250);  // 1 ms at 10 Mbit/s
  Red queue = red(spec);
  std::vector<QueuedFrame> none;
  fill(queue, 40);
  QueuedFrame out;
  while (queue.dequeue(ms(10), 0, out, none)) {
  }
  const double before = queue.mean();
  const Time idle = ms(10) + serialization_time(Bytes(kFull), kLine);  // the last frame is sent
  queue.enqueue(idle + ms(70), frame());
  CHECK(queue.mean() == Approx(before * std::pow(0.99, 70)));
}

TEST_CASE("RED drops with 0 at min, max_p at max, 1 at max or, gentle, at twice max") {
  const bool gentle = GENERATE(true, false);
  QueueSpec spec = red_frames(10, 30, 1.0);  // the mean is the length found
  spec.gentle = gentle;
  spec.max_probability = 0.1;
  spec.ecn = true;
  const auto probability_at = [&](std::int64_t length) {
    Red queue = red(spec);
    while (queue.frames() < length) queue.enqueue({}, frame({}, Ecn::ect0));
    queue.enqueue({}, frame({}, Ecn::ect0));
    return queue.probability();
  };
  CHECK(probability_at(9) == 0);
  CHECK(probability_at(10) == 0);
  CHECK(probability_at(20) == Approx(0.05));
  CHECK(probability_at(29) == Approx(0.095));
  if (gentle) {
    // Floyd, "Recommendation on using the gentle variant of RED", 2000: a line from max_p to 1.
    CHECK(probability_at(30) == Approx(0.1));
    CHECK(probability_at(45) == Approx(0.55));
  } else {
    Red queue = red(spec);
    while (queue.frames() < 30) queue.enqueue({}, frame({}, Ecn::ect0));
    // At max and beyond every frame is dropped, a capable one too (RFC 3168 7).
    CHECK(queue.enqueue({}, frame({}, Ecn::ect0)) == Drop::early);
    CHECK(queue.probability() == 1);
  }
}

TEST_CASE("gaps between RED's drops are uniform from 1 to 1/p") {
  // Floyd and Jacobson 1993, section 7, method 2; with p = 1/20 twenty gaps are equally likely.
  QueueSpec spec = red_frames(10, 30, 1.0);
  spec.max_probability = 0.1;
  Red queue = red(spec);
  std::vector<QueuedFrame> none;
  fill(queue, 20);
  constexpr int kGaps = 20, kDrops = 20'000;
  std::vector<int> seen(kGaps + 1);
  int gap = 0, drops = -1;  // the first gap began before
  while (drops < kDrops) {
    ++gap;
    if (queue.enqueue({}, frame()) == Drop::none) {
      QueuedFrame out;
      queue.dequeue({}, 0, out, none);
      continue;
    }
    REQUIRE(gap <= kGaps);
    if (++drops > 0) ++seen[gap];
    gap = 0;
  }
  double chi_square = 0;
  for (int g = 1; g <= kGaps; ++g) {
    const double expected = double(kDrops) / kGaps;
    chi_square += (seen[g] - expected) * (seen[g] - expected) / expected;
  }
  CHECK(chi_square < 43.8);  // 19 degrees of freedom, 99.9 %
}

TEST_CASE("adaptive RED moves max_p up by at most a quarter or 0.01, and down to nine tenths") {
  // Floyd, Gummadi and Shenker 2001, figure 1, every half second.
  QueueSpec spec = red_frames(10, 30, 1.0);
  spec.adaptive = true;
  spec.max_probability = 0.02;
  spec.ecn = true;
  std::vector<QueuedFrame> none;
  Red high = red(spec);
  while (high.frames() < 25) high.enqueue({}, frame({}, Ecn::ect0));  // above 30 - 8
  high.enqueue(ms(500), frame({}, Ecn::ect0));
  CHECK(high.max_probability() == Approx(0.025));  // a quarter of 0.02 is less than 0.01
  high.enqueue(ms(999), frame({}, Ecn::ect0));
  CHECK(high.max_probability() == Approx(0.025));
  Red low = red(spec);
  while (low.frames() < 12) low.enqueue({}, frame({}, Ecn::ect0));  // below 10 + 8
  low.enqueue(ms(500), frame({}, Ecn::ect0));
  CHECK(low.max_probability() == Approx(0.018));
}

TEST_CASE("CoDel drops after an interval above target, then at gaps of interval / sqrt(count)") {
  // RFC 8289 5.3: the first drop comes an interval after the wait was first above the target, the
  // next an interval later, then interval / sqrt(2), / sqrt(3), ...
  Standing standing{
      .queue = Codel(experiments::with_defaults(of(experiments::Discipline::codel), kLine)),
      .wait = ms(6)};
  const Time step = Time::microseconds(10);
  standing.run(ms(1000), ms(2000), step);
  std::vector<double> law = {100, 200};
  for (int count = 2; law.back() < 950; ++count)
    law.push_back(law.back() + 100 / std::sqrt(double(count)));
  REQUIRE(standing.punished.size() >= law.size() - 1);
  for (std::size_t i = 0; i + 1 < law.size(); ++i) {
    const double at = standing.punished[i].seconds() * 1e3 - 1000;
    CHECK(at >= law[i] - 1e-6);
    CHECK(at <= law[i] + step.seconds() * 1e3 + 1e-6);
  }
}

TEST_CASE("CoDel marks capable frames at the times at which it would drop others") {
  QueueSpec spec = of(experiments::Discipline::codel);
  Standing drops{.queue = Codel(experiments::with_defaults(spec, kLine)), .wait = ms(6)};
  spec.ecn = true;
  Standing marks{.queue = Codel(experiments::with_defaults(spec, kLine)), .wait = ms(6)};
  drops.run({}, ms(1000), ms(1));
  marks.run({}, ms(1000), ms(1), Ecn::ect0);
  CHECK(drops.punished.size() > 10);
  CHECK(marks.punished == drops.punished);
  CHECK(marks.queue.counters().early_drops == 0);
  CHECK(marks.queue.counters().marked == std::int64_t(marks.punished.size()));
}

TEST_CASE("CoDel lets a short wait, a last frame and a burst shorter than an interval pass") {
  const QueueSpec spec = experiments::with_defaults(of(experiments::Discipline::codel), kLine);
  Standing below{.queue = Codel(spec), .wait = ms(4.9)};
  below.run({}, ms(1000), Time::microseconds(10));
  CHECK(below.punished.empty());
  Standing burst{.queue = Codel(spec), .wait = ms(6)};
  for (int i = 0; i < 10; ++i) {
    burst.wait = ms(6);
    burst.run(ms(i * 200), ms(i * 200 + 95), ms(1));
    burst.wait = ms(1);
    burst.run(ms(i * 200 + 95), ms(i * 200 + 200), ms(1));
  }
  CHECK(burst.punished.empty());
  // However long it has waited, what leaves no more than a frame behind is no standing queue (4.4).
  Codel single(spec);
  std::vector<QueuedFrame> dropped;
  for (int i = 0; i < 1000; ++i) {
    single.enqueue({}, frame({}));
    QueuedFrame out;
    REQUIRE(single.dequeue(ms(1000 + i), 0, out, dropped));
  }
  CHECK(dropped.empty());
}

TEST_CASE("CoDel that begins to drop again soon goes on with the rate that had sufficed") {
  // RFC 8289 5.4: with count - lastcount, if less than 16 intervals have passed since.
  const QueueSpec spec = experiments::with_defaults(of(experiments::Discipline::codel), kLine);
  const bool soon = GENERATE(true, false);
  Standing standing{.queue = Codel(spec), .wait = ms(6)};
  standing.run({}, ms(1000), ms(0.1));
  const auto drops = double(standing.punished.size());
  const double pause = soon ? 200 : 2000;
  standing.wait = ms(1);
  standing.run(ms(1000), ms(1000 + pause), ms(1));
  REQUIRE(double(standing.punished.size()) == drops);
  standing.wait = ms(6);
  standing.run(ms(1000 + pause), ms(2000 + pause), ms(0.1));
  const auto at = [&](double i) { return standing.punished[std::size_t(i)].seconds() * 1e3; };
  CHECK(at(drops) == Approx(1000 + pause + 100).margin(0.4));
  // lastcount was 1, so dropping starts over with count = drops - 1.
  const double first_gap = soon ? 100 / std::sqrt(drops - 1) : 100;
  CHECK(at(drops + 1) - at(drops) == Approx(first_gap).margin(0.2));
}
