// The event queue against std::priority_queue, which it must match event for event.
#include "sim/event_queue.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <queue>
#include <vector>

#include "sim/random.hpp"
#include "tests/sim/allocations.hpp"
#include "tests/sim/stops.hpp"

using linerate::Time;
using namespace linerate::sim;

namespace {

struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
};
using Reference = std::priority_queue<Event, std::vector<Event>, Later>;

Event event(std::int64_t picoseconds, std::uint64_t order) {
  return {.at = Time::picoseconds(picoseconds),
          .order = order,
          .target = 0,
          .kind = 0,
          .argument = order};
}

// Both queues at once; a take compares them.
class Pair {
 public:
  void push(const Event& e) {
    queue_.push(e);
    reference_.push(e);
  }
  Event take() {
    const Event expected = reference_.top();
    reference_.pop();
    const Event shown = queue_.top();
    const Event got = queue_.take();
    agree_ = agree_ && same(shown, expected) && same(got, expected) &&
             queue_.size() == reference_.size() && queue_.empty() == reference_.empty();
    return got;
  }
  std::size_t size() const { return reference_.size(); }
  bool agree() const { return agree_; }

 private:
  static bool same(const Event& a, const Event& b) {
    return a.at == b.at && a.order == b.order && a.argument == b.argument;
  }
  EventQueue queue_;
  Reference reference_;
  bool agree_ = true;
};

// Each names a way in which a network spreads its events.
struct Spread {
  const char* name;
  std::function<std::int64_t(RandomStream&)> delay;  // ps
};

const std::vector<Spread>& spreads() {
  static const std::vector<Spread> all{
      {"all at once", [](RandomStream&) { return 0; }},
      {"one constant delay", [](RandomStream&) { return 1'230'400; }},
      {"two constant delays", [](RandomStream& r) { return r.below(2) ? 1'000'000 : 1'230'400; }},
      {"a few picoseconds", [](RandomStream& r) { return static_cast<int>(r.below(4)); }},
      {"uniform", [](RandomStream& r) { return static_cast<std::int64_t>(r.below(1'000'000)); }},
      {"exponential",
       [](RandomStream& r) { return r.exponential(Time::microseconds(1)).picoseconds(); }},
      {"packets and timers 10^6 times later",
       [](RandomStream& r) {
         return static_cast<std::int64_t>(r.below(10) == 0 ? 200'000'000'000 + r.below(1'000)
                                                           : r.below(100'000));
       }},
      {"every magnitude",
       [](RandomStream& r) {
         return static_cast<std::int64_t>(r.bits() >> (2 + r.below(62))) / 8;
       }},
      {"bursts at one time, then a pause",
       [](RandomStream& r) { return r.below(50) == 0 ? 10'000'000 : 0; }},
  };
  return all;
}

}  // namespace

TEST_CASE(
    "every order of six events, two of them tied, comes out sorted however takes interleave") {
  // Times 0 0 1 1 2 3; the order key tells the tied ones apart.
  const std::array<Event, 6> events{event(0, 7), event(0, 3), event(1, 9),
                                    event(1, 1), event(2, 0), event(3, 0)};
  std::array<int, 6> permutation{};
  std::iota(permutation.begin(), permutation.end(), 0);
  bool agree = true;
  do {
    // Bit i of the pattern: whether a take follows push i.
    for (unsigned pattern = 0; pattern < 64; ++pattern) {
      Pair pair;
      for (unsigned i = 0; i < 6; ++i) {
        pair.push(events[permutation[i]]);
        if (pattern >> i & 1) pair.take();
      }
      while (pair.size() > 0) pair.take();
      agree = agree && pair.agree();
    }
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  CHECK(agree);
}

TEST_CASE("the queue agrees with std::priority_queue while its population swells and shrinks") {
  for (const Spread& spread : spreads()) {
    for (const std::size_t peak : {20u, 900u, 1100u, 6000u}) {
      DYNAMIC_SECTION(spread.name << ", up to " << peak << " pending") {
        RandomStream random({.seed = 5, .entity = peak, .name = spread.name});
        Pair pair;
        std::int64_t now = 0;
        const auto push = [&] {
          // Random order keys: a push may tie with the event just taken and still precede others.
          pair.push(event(now + spread.delay(random), random.below(1u << 20)));
        };
        const auto take = [&] { now = pair.take().at.picoseconds(); };
        for (int swing = 0; swing < 4; ++swing) {
          while (pair.size() < peak) {
            push();
            if (pair.size() > 1 && random.below(3) == 0) take();
          }
          for (std::size_t i = 0; i < 3 * peak; ++i) {
            take();
            push();
          }
          const std::size_t low = swing % 2 == 0 ? peak / 3 : 0;
          while (pair.size() > low) {
            take();
            if (random.below(4) == 0) push();
          }
        }
        CHECK(pair.agree());
      }
    }
  }
}

TEST_CASE("an event pushed at the current time with a smaller order key comes next") {
  for (const std::size_t others : {3u, 5000u}) {
    Pair pair;
    for (std::size_t i = 0; i < others; ++i) pair.push(event(1000 + static_cast<int>(i / 2), i));
    for (std::size_t i = 0; i < others; ++i) {
      const Event e = pair.take();
      if (e.order == 0 || e.order > others) continue;
      pair.push(event(e.at.picoseconds(), e.order - 1));
      const Event next = pair.take();
      REQUIRE(next.at == e.at);
      REQUIRE(next.order == e.order - 1);
    }
    CHECK(pair.agree());
  }
}

TEST_CASE("a burst of near events is sorted in while a ladder is in use") {
  // 4000 events a nanosecond apart engage the ladder; the burst then exceeds what the heap holds.
  Pair pair;
  const int start = 1'000'000'000;
  for (int i = 0; i < 4000; ++i) pair.push(event(start + 1000 * i, 0));
  pair.take();
  SECTION("before everything") {
    for (int i = 0; i < 3000; ++i) pair.push(event(i * 7919 % 3000, i));
  }
  SECTION("just behind the next event") {
    for (int i = 0; i < 3000; ++i) pair.push(event(start + 1001 + i * 7919 % 900, i));
  }
  SECTION("at the time of the next event, some with smaller order keys") {
    for (int i = 0; i < 3000; ++i) pair.push(event(start + 1000, i * 7919 % 3000));
  }
  while (pair.size() > 0) pair.take();
  CHECK(pair.agree());
}

TEST_CASE("steady pushing and taking allocates nothing") {
  for (const std::size_t pending : {100u, 1000u, 3000u, 30'000u}) {
    EventQueue queue;
    RandomStream random({.seed = 1, .entity = pending, .name = "steady"});
    std::uint64_t order = 0;
    const auto hold = [&](std::size_t times) {
      for (std::size_t i = 0; i < times; ++i) {
        Event e = queue.take();
        e.at += random.exponential(Time::microseconds(1));
        e.order = order++;
        queue.push(e);
      }
    };
    for (std::size_t i = 0; i < pending; ++i)
      queue.push({.at = random.exponential(Time::microseconds(1)),
                  .order = order++,
                  .target = 0,
                  .kind = 0,
                  .argument = 0});
    hold(20 * pending);
    const std::size_t before_steady = linerate::tests::allocations();
    hold(20 * pending);
    const std::size_t more = linerate::tests::allocations() - before_steady;
    INFO(pending << " pending");
    CHECK(more == 0);
  }
}

TEST_CASE("order keys rank by source, then by that source's own history") {
  CHECK(order_key(0, 1) < order_key(1, 0));
  CHECK(order_key(3, 8) < order_key(3, 9));
  CHECK(order_key(2, (std::uint64_t{1} << 40) - 1) < order_key(3, 0));
  CHECK(linerate::tests::stops([] { order_key(1u << 24, 0); }));
  CHECK(linerate::tests::stops([] { order_key(0, std::uint64_t{1} << 40); }));
}

TEST_CASE("taking from an empty queue and scheduling for never are bugs") {
  CHECK(linerate::tests::stops([] { EventQueue().take(); }));
  CHECK(linerate::tests::stops([] {
    EventQueue queue;
    queue.push({.at = Time::never(), .order = 0, .target = 0, .kind = 0, .argument = 0});
  }));
}
