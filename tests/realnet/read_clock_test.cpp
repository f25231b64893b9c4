#include "realnet/read_clock.hpp"

#include <catch2/catch.hpp>

namespace linerate::realnet {
namespace {

Time at(std::int64_t milliseconds) { return Time::milliseconds(milliseconds); }

Window second_second() { return {at(1000), at(2000), at(3000), at(500)}; }

TEST_CASE("what a window holds is interpolated between the reads around its edges") {
  ReadClock clock(second_second());
  clock.on_read(at(1900), Bytes(1000));
  clock.on_read(at(2100), Bytes(400));  // half of it before the window opens
  clock.on_read(at(2900), Bytes(5000));
  clock.on_read(at(3300), Bytes(800));  // a quarter of it before the window closes
  clock.finish(at(3300));
  CHECK(clock.window_bytes() == Approx(200 + 5000 + 200));
  CHECK(clock.total() == Bytes(7200));
}

TEST_CASE("late wake-ups do not change a steady flow's window") {
  const auto count = [](std::int64_t period) {
    ReadClock clock(second_second());
    for (std::int64_t ms = 1000 + period; ms <= 3000 + period; ms += period) {
      clock.on_read(at(ms), Bytes(12 * period));
    }
    clock.finish(at(3100));
    return clock.window_bytes();
  };
  CHECK(count(1) == Approx(12'000));
  CHECK(count(7) == Approx(12'000));
  CHECK(count(64) == Approx(12'000));
}

TEST_CASE("intervals add up to the total and a silent one brings nothing") {
  ReadClock clock(second_second());
  clock.on_read(at(1500), Bytes(100));
  clock.on_read(at(2499), Bytes(1));
  clock.finish(at(3050));
  REQUIRE(clock.by_interval().size() == 4);
  CHECK(clock.by_interval()[0] == Approx(100));
  CHECK(clock.by_interval()[3] == Approx(101));
  CHECK(clock.by_interval()[3] - clock.by_interval()[2] == Approx(0).margin(1e-9));
}

TEST_CASE("a stream that ends before the window closes counts to its end") {
  ReadClock clock({at(0), at(0), Time::never(), at(100)});
  clock.on_read(at(10), Bytes(70));
  clock.on_read(at(20), Bytes(30));
  clock.finish(at(25));
  CHECK(clock.window_bytes() == Approx(100));
  CHECK(clock.first_read() == at(10));
  CHECK(clock.by_interval().empty());
}

}  // namespace
}  // namespace linerate::realnet
