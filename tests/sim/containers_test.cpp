// Slot pool, ring and timer.
#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <vector>

#include "sim/random.hpp"
#include "sim/ring.hpp"
#include "sim/slot_pool.hpp"
#include "sim/timer.hpp"
#include "tests/sim/allocations.hpp"
#include "tests/sim/stops.hpp"

using linerate::Time;
using namespace linerate::sim;
using linerate::tests::allocations;
using linerate::tests::stops;

TEST_CASE("a pool accounts for every slot and never moves one") {
  SlotPool<int> pool;
  std::vector<Handle> handles;
  const Handle first = pool.acquire(-1);
  const int* const where = &pool.get(first);
  for (int i = 0; i < 10'000; ++i) handles.push_back(pool.acquire(i));
  CHECK(&pool.get(first) == where);
  CHECK(pool.live() == 10'001);
  for (int i = 0; i < 10'000; ++i) REQUIRE(pool.get(handles[i]) == i);

  for (int i = 0; i < 10'000; i += 2) pool.release(handles[i]);
  int live = 0;
  long sum = 0;
  pool.for_each_live([&](Handle handle, int value) {
    CHECK(pool.get(handle) == value);
    ++live;
    sum += value;
  });
  CHECK(live == 5'001);
  CHECK(sum == 5'000L * 5'000 - 1);  // the odd numbers below 10000, and the first
}

TEST_CASE("a handle is refused once its slot was released, also when the slot is used again") {
  SlotPool<int> pool;
  const Handle old = pool.acquire(1);
  pool.release(old);
  CHECK(stops([&] { pool.get(old); }));
  CHECK(stops([&] { pool.release(old); }));
  const Handle next = pool.acquire(2);
  REQUIRE(next.index == old.index);
  CHECK(stops([&] { pool.get(old); }));
  CHECK(pool.get(next) == 2);
  CHECK(stops([&] { pool.get(Handle{}); }));
  CHECK(stops([&] { pool.get(Handle{.index = 1u << 30, .generation = 1}); }));
}

TEST_CASE("a slot released with its value is free; with another's it is refused") {
  SlotPool<int> pool;
  const Handle one = pool.acquire(1);
  const Handle two = pool.acquire(2);
  CHECK(stops([&] { pool.release(one, pool.get(two)); }));
  const int& value = pool.get(one);
  pool.release(one, value);
  CHECK(pool.live() == 1);
  CHECK(stops([&] { pool.get(one); }));
  CHECK(stops([&] { pool.release(one, value); }));
  CHECK(pool.acquire(3).index == one.index);
  CHECK(pool.get(two) == 2);
}

TEST_CASE("a handle survives the way through an event's argument") {
  const Handle handle{.index = 0xfedcba98, .generation = 0x80000001};
  CHECK(Handle::unpack(handle.packed()) == handle);
}

TEST_CASE("a ring is a queue") {
  Ring<int> ring;
  std::deque<int> reference;
  RandomStream random({.seed = 2, .entity = 0, .name = "ring"});
  bool agree = true;
  for (int i = 0; i < 100'000; ++i) {
    // Drifts up to some hundred elements and down again.
    const bool filling = i / 1000 % 2 == 0;
    if (reference.empty() || random.below(10) < (filling ? 7u : 3u)) {
      ring.push_back(i);
      reference.push_back(i);
    } else {
      ring.pop_front();
      reference.pop_front();
    }
    agree = agree && ring.size() == reference.size();
    if (!reference.empty()) {
      const std::size_t any = random.below(reference.size());
      agree = agree && ring.front() == reference.front() && ring.back() == reference.back() &&
              ring[any] == reference[any];
    }
  }
  CHECK(agree);
  CHECK(stops([] { Ring<int>().pop_front(); }));
  CHECK(stops([] { Ring<int>().front(); }));
}

TEST_CASE("a ring carries values that only move, and can be moved itself") {
  Ring<std::unique_ptr<int>> ring;
  for (int i = 0; i < 20; ++i) ring.push_back(std::make_unique<int>(i));
  Ring<std::unique_ptr<int>> other = std::move(ring);
  CHECK(*other.back() == 19);
  ring = std::move(other);
  CHECK(other.empty());
  other.push_back(std::make_unique<int>(5));
  CHECK(*other.front() == 5);
  CHECK(*ring.front() == 0);
}

TEST_CASE("pool and ring allocate nothing once they have been full") {
  SlotPool<int> pool;
  Ring<Handle> ring;
  const auto cycle = [&] {
    for (int i = 0; i < 1000; ++i) ring.push_back(pool.acquire(i));
    for (; !ring.empty(); ring.pop_front()) pool.release(ring.front());
  };
  cycle();
  const std::size_t before_steady = allocations();
  for (int i = 0; i < 5; ++i) cycle();
  CHECK(allocations() == before_steady);
  CHECK(pool.live() == 0);
}

TEST_CASE("a deadline pushed back a thousand times needs no new event until the first is due") {
  LazyTimer timer;
  const auto ms = [](int n) { return Time::milliseconds(n); };
  REQUIRE(timer.set(ms(200)) == ms(200));
  for (int i = 201; i < 1200; ++i) REQUIRE(timer.set(ms(i)) == Time::never());

  const auto early = timer.on_event(ms(200), timer.generation());
  CHECK_FALSE(early.expired);
  CHECK(early.again == ms(1199));

  const auto due = timer.on_event(ms(1199), timer.generation());
  CHECK(due.expired);
  CHECK(due.again == Time::never());
  CHECK_FALSE(timer.armed());
}

TEST_CASE("an earlier deadline replaces the pending event, which then does nothing") {
  LazyTimer timer;
  timer.set(Time::milliseconds(200));
  const std::uint64_t late = timer.generation();
  REQUIRE(timer.set(Time::milliseconds(40)) == Time::milliseconds(40));
  CHECK(timer.on_event(Time::milliseconds(40), timer.generation()).expired);
  REQUIRE(timer.set(Time::milliseconds(500)) == Time::milliseconds(500));
  const auto stale = timer.on_event(Time::milliseconds(200), late);
  CHECK_FALSE(stale.expired);
  CHECK(stale.again == Time::never());
  CHECK(timer.on_event(Time::milliseconds(500), timer.generation()).expired);
}

TEST_CASE("a cancelled timer does not expire, and set again it uses the event still pending") {
  LazyTimer timer;
  timer.set(Time::milliseconds(10));
  timer.cancel();
  CHECK_FALSE(timer.armed());
  SECTION("left alone") {
    const auto fired = timer.on_event(Time::milliseconds(10), timer.generation());
    CHECK_FALSE(fired.expired);
    CHECK(fired.again == Time::never());
    CHECK(timer.set(Time::milliseconds(20)) == Time::milliseconds(20));
  }
  SECTION("set again") {
    CHECK(timer.set(Time::milliseconds(15)) == Time::never());
    const auto fired = timer.on_event(Time::milliseconds(10), timer.generation());
    CHECK_FALSE(fired.expired);
    CHECK(fired.again == Time::milliseconds(15));
  }
}
