// What the datagram engine counts and when it sends, without a network.
#include <catch2/catch.hpp>
#include <cmath>

#include "realnet/traffic/datagram_schedule.hpp"
#include "realnet/traffic/datagram_tally.hpp"
#include "realnet/traffic/latency_histogram.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

sim::RandomStream stream_named(const char* name) {
  return sim::RandomStream({.seed = 1, .entity = 2, .name = name});
}

DatagramSchedule schedule_of(const experiments::Test& test, const DatagramFraming& framing) {
  return DatagramSchedule({test, BitRate::bits_per_second(1'000'000'000), framing, Bytes(1518),
                           stream_named("arrivals"), stream_named("sizes")});
}

experiments::Test frames_of(Bytes size) {
  experiments::Test test;
  test.type = experiments::TestType::raw_frames;
  test.frame_sizes = {size};
  test.duration = Time::seconds(1);
  return test;
}

Arrival arrival_of(std::int64_t ordinal, Time sent, Time at) {
  return {DatagramStamp::of(0, ordinal, sent), at, Bytes(100)};
}

DatagramTally tally_from_zero() {
  DatagramTally tally(1, {});
  tally.start({Time{}, Time{}, Time::seconds(1), Time::milliseconds(100)});
  return tally;
}

TEST_CASE("frames without a rate go at the line's: 1488095 of 64 bytes a second at 1 Gbit/s") {
  DatagramSchedule schedule = schedule_of(frames_of(Bytes(64)), {.raw = true});
  schedule.start(Time{});
  std::int64_t frames = 0;
  for (; schedule.due() < Time::milliseconds(100); schedule.advance()) ++frames;
  CHECK(frames == 148'810);  // IEEE 802.3: 84 bytes a frame on the wire
}

TEST_CASE("a schedule keeps its rate to the datagram, whatever its interval rounds to") {
  experiments::Test test;
  test.type = experiments::TestType::udp_stream;
  test.rate = BitRate::bits_per_second(7'000'003);  // 1.2 ms and a fraction a datagram
  test.datagram = Bytes(1000);
  test.duration = Time::seconds(100);
  DatagramSchedule schedule = schedule_of(test, {});
  schedule.start(Time{});
  std::int64_t sent = 0;
  for (; schedule.due() != Time::never(); schedule.advance()) ++sent;
  CHECK(sent == static_cast<std::int64_t>(std::ceil(100 * 7'000'003.0 / 8000)));
}

TEST_CASE("a test by volume sends as many datagrams as hold it") {
  experiments::Test test;
  test.type = experiments::TestType::udp_stream;
  test.bytes = Bytes(10'001);
  test.datagram = Bytes(1000);
  DatagramSchedule schedule = schedule_of(test, {});
  schedule.start(Time{});
  while (schedule.due() != Time::never()) schedule.advance();
  CHECK(schedule.passed() == 11);
}

TEST_CASE("a datagram above the MTU is counted as the frames that carry it") {
  // RFC 791: 3008 B after the IP header in fragments of 1480, 1480 and 48 B.
  const DatagramFraming framing{.raw = false, .ip = 4, .mtu = Bytes(1500)};
  CHECK(framing.frames(Bytes(3000)) == 3);
  CHECK(framing.wire_size(Bytes(3000)) == Bytes(2 * 1538 + 48 + 20 + 38));
  CHECK(framing.wire_size(Bytes(1)) == Bytes(84));  // the smallest frame with preamble and gap
}

TEST_CASE("a frame that was overtaken is reordered, the same again a duplicate, neither lost") {
  DatagramTally tally = tally_from_zero();
  for (const std::int64_t ordinal : {1, 2, 4, 3, 3, 5, 1}) {
    tally.add(arrival_of(ordinal, Time{}, Time::milliseconds(ordinal)));
  }
  CHECK(tally.received() == 5);
  CHECK(tally.counts().reordered == 1);
  CHECK(tally.counts().duplicates == 2);
}

TEST_CASE("a flow nobody announced and an ordinal of nothing are not counted") {
  DatagramTally tally = tally_from_zero();
  tally.add({DatagramStamp::of(7, 1, Time{}), Time::milliseconds(1), Bytes(100)});
  tally.add(arrival_of(0, Time{}, Time::milliseconds(1)));  // a learning frame
  CHECK(tally.received() == 0);
}

TEST_CASE("a queue that grows shows in the least delay, a late frame now and then does not") {
  DatagramTally still = tally_from_zero(), growing = tally_from_zero();
  for (std::int64_t i = 1; i <= 999; ++i) {
    const Time sent = Time::milliseconds(i);
    const Time noise = i % 3 == 0 ? Time::microseconds(400) : Time{};
    still.add(arrival_of(i, sent, sent + Time::microseconds(50) + noise));
    growing.add(arrival_of(i, sent, sent + Time::microseconds(50 + i) + noise));
  }
  CHECK(still.counts().growth == Time{});
  // From the first to the last quarter of a second in which it grows by 1 us a millisecond.
  CHECK(growing.counts().growth.seconds() == Approx(750e-6).epsilon(0.01));
}

TEST_CASE("jitter is that of RFC 3550: a constant delay has none, a change counts a sixteenth") {
  DatagramTally tally = tally_from_zero();
  for (std::int64_t i = 1; i <= 10; ++i) {
    tally.add(arrival_of(i, Time::milliseconds(i), Time::milliseconds(i + 1)));
  }
  CHECK(tally.counts().jitter == Time{});
  tally.add(
      arrival_of(11, Time::milliseconds(11), Time::milliseconds(12) + Time::microseconds(160)));
  CHECK(tally.counts().jitter.seconds() == Approx(10e-6).epsilon(1e-6));
}

TEST_CASE("percentiles of a histogram lie within a 512th of the spans, the ends are exact") {
  LatencyHistogram histogram;
  for (std::int64_t i = 1; i <= 100'000; ++i) histogram.record(Time::nanoseconds(i * 10));
  CHECK(histogram.count() == 100'000);
  CHECK(histogram.least() == Time::nanoseconds(10));
  CHECK(histogram.largest() == Time::milliseconds(1));
  CHECK(histogram.mean().seconds() == Approx(500.005e-6).epsilon(1e-9));
  for (const double share : {0.001, 0.1, 0.5, 0.99, 0.999}) {
    CHECK(histogram.percentile(share).seconds() == Approx(share * 1e-3).epsilon(1.0 / 512));
  }
  CHECK(histogram.percentile(1) == Time::milliseconds(1));
}

}  // namespace
}  // namespace linerate::realnet
