// Traffic classes in front of a transmitter: strict priority and deficit round robin, against their
// bounds and the closed forms of queueing theory.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "models/queue/egress_queue.hpp"

using namespace linerate;
using namespace linerate::models;
using experiments::EgressSpec;
using experiments::Scheduler;

namespace {

constexpr BitRate kGigabit = BitRate::bits_per_second(1'000'000'000);

sim::RandomStream stream(const char* name) {
  return sim::RandomStream({.seed = 5, .entity = 0, .name = name});
}

/// Classes for the priorities 0, 1, … with these weights.
EgressQueue classes(Scheduler scheduler, std::initializer_list<std::int64_t> weights) {
  EgressSpec spec;
  spec.scheduler = scheduler;
  for (const std::int64_t weight : weights) {
    experiments::TrafficClass c;
    c.name = "class-" + std::to_string(spec.classes.size());
    c.priorities = {static_cast<std::int64_t>(spec.classes.size())};
    c.weight = weight;
    c.queue.limit = Bytes(1'000'000'000);
    spec.classes.push_back(c);
  }
  spec.classes.back().priorities.clear();  // and what is left
  return EgressQueue(spec, kGigabit, stream("queue"));
}

QueuedFrame frame(std::size_t priority, std::uint32_t bytes = 1538) {
  QueuedFrame f;
  f.packet = {1, 1};
  f.bytes = bytes;
  f.priority = static_cast<std::uint8_t>(priority);
  return f;
}

using Sizes = std::function<std::uint32_t(sim::RandomStream&)>;

/// Poisson arrivals of each priority at one transmitter of 1 Gbit/s. Mean waits of each class, one
/// for every batch.
struct Waits {
  static constexpr int kBatches = 30;
  std::array<std::array<double, kBatches>, 3> mean{};

  Waits(EgressQueue queue, std::array<Time, 3> interval, const Sizes& size, int per_batch) {
    std::array<sim::RandomStream, 3> random = {stream("a"), stream("b"), stream("c")};
    std::array<Time, 3> next;
    for (std::size_t i = 0; i < 3; ++i) next[i] = random[i].exponential(interval[i]);
    Time free{};
    for (int batch = 0; batch < kBatches; ++batch) {
      std::array<double, 3> waited{};
      std::array<int, 3> count{};
      for (int i = 0; i < per_batch;) {
        const std::size_t who = std::min_element(next.begin(), next.end()) - next.begin();
        if (queue.empty() || next[who] < free) {
          if (queue.empty()) free = later(free, next[who]);
          queue.enqueue(next[who], frame(who, size(random[who])));
          next[who] += random[who].exponential(interval[who]);
          continue;
        }
        const auto sent = queue.dequeue(free, 0);
        waited[sent->priority] += (free - sent->queued).seconds();
        ++count[sent->priority];
        free += serialization_time(Bytes(sent->bytes), kGigabit);
        ++i;
      }
      for (std::size_t c = 0; c < 3; ++c) mean[c][batch] = waited[c] / count[c];
    }
  }

  /// Mean over the batches of a function of the class means, and half of its 99 % interval.
  template <class F>
  std::pair<double, double> estimate(F&& of) const {
    double sum = 0, squares = 0;
    for (int b = 0; b < kBatches; ++b) {
      const double value = of(mean[0][b], mean[1][b], mean[2][b]);
      sum += value;
      squares += value * value;
    }
    const double average = sum / kBatches;
    const double variance = (squares - kBatches * average * average) / (kBatches - 1);
    return {average, 2.756 * std::sqrt(variance / kBatches)};  // Student t, 29 degrees of freedom
  }
};

}  // namespace

TEST_CASE("strict priority: the highest that waits goes first, and starves the rest") {
  EgressQueue queue = classes(Scheduler::strict, {1, 1, 1});
  for (const std::size_t priority : {0, 1, 2, 7, 0, 1}) queue.enqueue({}, frame(priority));
  // The last class has the priorities that no other names: 7 is in it, and it goes first.
  for (const int priority : {2, 7, 1, 1, 0, 0})
    CHECK(int(queue.dequeue({}, 0)->priority) == priority);
  queue.enqueue({}, frame(0));
  for (int i = 0; i < 1000; ++i) {
    queue.enqueue({}, frame(7));
    CHECK(queue.dequeue({}, 0)->priority == 7);
  }
}

TEST_CASE("a scheduler without classes has one for every priority") {
  EgressSpec spec;
  spec.scheduler = Scheduler::strict;
  EgressQueue queue(spec, kGigabit, stream("queue"));
  for (std::size_t priority = 0; priority < 8; ++priority) queue.enqueue({}, frame(priority));
  CHECK(queue.classes().size() == 8);
  for (int priority = 7; priority >= 0; --priority)
    CHECK(int(queue.dequeue({}, 0)->priority) == priority);
}

TEST_CASE("a paused priority waits and the others do not") {
  const Scheduler scheduler = GENERATE(Scheduler::strict, Scheduler::drr);
  EgressQueue queue = classes(scheduler, {1, 1, 1});
  for (std::size_t priority = 0; priority < 3; ++priority)
    for (int i = 0; i < 3; ++i) queue.enqueue({}, frame(priority));
  CHECK_FALSE(queue.dequeue({}, 0xff));
  for (int i = 0; i < 6; ++i) CHECK(queue.dequeue({}, 1u << 2)->priority != 2);
  CHECK_FALSE(queue.dequeue({}, 1u << 2));
  CHECK(queue.frames() == 3);
  CHECK(queue.bytes() == 3 * 1538);
  for (int i = 0; i < 3; ++i) CHECK(queue.dequeue({}, 0)->priority == 2);
  CHECK(queue.empty());
}

TEST_CASE("deficit round robin: backlogged classes differ by a quantum and two frames at most") {
  // Shreedhar and Varghese 1996, theorem 4.4: for shares normalised by their weight, over any
  // time in which both are backlogged, the difference is below Quantum + 2 Max.
  EgressQueue queue = classes(Scheduler::drr, {1, 2, 4});
  sim::RandomStream random = stream("sizes");
  const auto feed = [&](std::size_t c) {
    // One class has large frames, one small, one any.
    const std::uint32_t size = c == 0 ? 1538 : c == 1 ? 84 : 84 + std::uint32_t(random.below(1455));
    queue.enqueue({}, frame(c, size));
  };
  for (std::size_t c = 0; c < 3; ++c)
    for (int i = 0; i < 200; ++i) feed(c);
  std::array<double, 3> sent{};
  const std::array<double, 3> weight = {1, 2, 4};
  for (int i = 0; i < 50'000; ++i) {
    const QueuedFrame out = *queue.dequeue({}, 0);
    sent[out.priority] += out.bytes;
    feed(out.priority);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < a; ++b)
        REQUIRE(std::abs(sent[a] / weight[a] - sent[b] / weight[b]) <= 1538 + 2 * 1538);
  }
}

TEST_CASE("a disciplined class in deficit round robin is charged for what it sends") {
  EgressSpec spec;
  spec.scheduler = Scheduler::drr;
  for (int i = 0; i < 2; ++i) {
    experiments::TrafficClass c;
    c.name = i == 0 ? "plain" : "controlled";
    c.priorities = {i};
    if (i == 1) c.queue.discipline = experiments::Discipline::codel;
    c.queue.limit_frames = 1'000'000;
    spec.classes.push_back(c);
  }
  EgressQueue queue(spec, kGigabit, stream("queue"));
  Time now{};
  std::array<double, 2> sent{};
  for (int i = 0; i < 100'000; ++i) {
    // Both stay backlogged; the second waits so long that CoDel drops from it all the time.
    for (std::size_t c = 0; c < 2; ++c)
      for (int n = 0; n < (c == 1 && i % 8 == 0 ? 2 : 1); ++n) queue.enqueue(now, frame(c));
    const QueuedFrame out = *queue.dequeue(now, 0);
    sent[out.priority] += out.bytes;
    now += serialization_time(Bytes(out.bytes), kGigabit);
    queue.dropped().clear();
    REQUIRE(std::abs(sent[0] - sent[1]) <= 1538 + 2 * 1538);
  }
  CHECK(queue.counters().early_drops > 10);
}

TEST_CASE("priority M/D/1 and M/M/1: mean waits as Cobham's formula says") {
  // A. Cobham, "Priority assignment in waiting line problems", Operations Research 2, 1954:
  // W_k = R / ((1 - s_(k-1)) (1 - s_k)), R = sum of lambda E[S^2] / 2, s_k the load of class k and
  // those before it.
  const bool exponential = GENERATE(false, true);
  constexpr double kService = 100e-6;  // 12500 bytes at 1 Gbit/s
  const Sizes size = [&](sim::RandomStream& random) -> std::uint32_t {
    if (!exponential) return 12'500;
    // Whole bytes of an exponential size: their mean stays 12500 to a thousandth of a percent.
    return std::uint32_t(
        random.exponential(Time::nanoseconds(12'500'000)).picoseconds() / 1'000'000 + 1);
  };
  const std::array<double, 3> load = {0.35, 0.25, 0.2};  // by priority; 2 is served first
  std::array<Time, 3> interval;
  for (std::size_t i = 0; i < 3; ++i) interval[i] = Time::from_seconds(kService / load[i]);
  const Waits waits(classes(Scheduler::strict, {1, 1, 1}), interval, size, 10'000);
  const double residual = 0.8 * kService * (exponential ? 1.0 : 0.5);
  double before = 0;
  for (int priority = 2; priority >= 0; --priority) {
    const double upto = before + load[priority];
    const double law = residual / ((1 - before) * (1 - upto));
    before = upto;
    const auto [mean, half] = waits.estimate([&](double a, double b, double c) {
      return priority == 0 ? a : priority == 1 ? b : c;
    });
    INFO("priority " << priority << ": " << mean << " +- " << half << ", law " << law);
    CHECK(std::abs(mean - law) < half);
  }
}

TEST_CASE("deficit round robin only shares out the waiting that any order has") {
  // Kleinrock's conservation law (Naval Research Logistics Quarterly 12, 1965): whatever the order,
  // if it does not depend on service times, sum of rho W = rho R / (1 - rho). With equal frames
  // DRR is such an order.
  constexpr double kService = 100e-6;
  const std::array<double, 3> load = {0.3, 0.2, 0.3};
  std::array<Time, 3> interval;
  for (std::size_t i = 0; i < 3; ++i) interval[i] = Time::from_seconds(kService / load[i]);
  const Waits waits(
      classes(Scheduler::drr, {1, 20, 5}), interval, [](sim::RandomStream&) { return 12'500u; },
      10'000);
  const auto [mean, half] = waits.estimate(
      [&](double a, double b, double c) { return load[0] * a + load[1] * b + load[2] * c; });
  const double law = 0.8 * (0.8 * kService / 2) / (1 - 0.8);
  INFO(mean << " +- " << half << ", law " << law);
  CHECK(std::abs(mean - law) < half);
  // The class with the largest weight waits least.
  CHECK(waits.estimate([](double a, double b, double) { return a - b; }).first > 0);
}

TEST_CASE("waits are recorded within the span observed, their quantiles right within 1 %") {
  EgressQueue queue = classes(Scheduler::strict, {1});
  queue.observe(Time::milliseconds(1), Time::seconds(1));
  for (int i = 1; i <= 1000; ++i) {
    const Time now = Time::milliseconds(1) * i;
    queue.enqueue(now, frame(0));
    queue.dequeue(now + Time::microseconds(i), 0);
  }
  const DelayHistogram& delays = queue.classes()[0].delays();
  CHECK(delays.count() == 999);  // the last left after the span
  CHECK(delays.mean() == Time::microseconds(500));
  CHECK(delays.quantile(0.99).seconds() == Approx(990e-6).epsilon(0.01));
  CHECK(delays.quantile(0.5).seconds() == Approx(500e-6).epsilon(0.01));
}
