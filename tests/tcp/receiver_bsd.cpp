// The BSD receiver: buffers in whole segments, ACKs by window update, one timer for all.
#include <catch2/catch.hpp>

#include "receiver_stacks.hpp"
#include "script.hpp"

namespace linerate::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kSegment = 1448;

TEST_CASE("4.4BSD rounds a buffer up to whole segments of the full MSS", "[receiver]") {
  // Sizes as netperf reported them (multiples of 1460); the field holds at most 65535.
  const auto [asked, offered] = GENERATE(std::pair{8192, 8760}, std::pair{16384, 17520},
                                         std::pair{32768, 33580}, std::pair{65535, 65535});
  models::tcp::EndpointConfig config = bsd_4_4();
  config.receive_buffer = Bytes(asked);
  receiver_script(config).inject(syn()).expect(
      Want().window(static_cast<std::uint32_t>(offered)).window_scale(0));
}

TEST_CASE("4.4BSD acknowledges by the window update of 2 x t_maxseg", "[receiver]") {
  models::tcp::EndpointConfig config = bsd_4_4();
  SECTION("every third segment: 2 x 1460 is more than 2 x 1448 (RFC 2525)") {
    Script host = receiver_script(config);
    host.accept();
    for (Sequence i = 0; i < 30; ++i) {
      host.inject(data(1 + i * kSegment, kSegment)).expect_none().read();
      if (i % 3 == 2) host.expect(ack(1 + (i + 1) * kSegment).window(17520));
      host.expect_none();
    }
  }
  SECTION("every second segment where the threshold knows the options") {
    config.stack.ack_threshold_without_options = false;
    Script host = receiver_script(config);
    host.accept();
    for (Sequence i = 0; i < 30; ++i) {
      host.inject(data(1 + i * kSegment, kSegment)).expect_none().read();
      if (i % 2 == 1) host.expect(ack(1 + (i + 1) * kSegment).window(17520));
      host.expect_none();
    }
  }
  SECTION("or half of a small buffer") {
    config.receive_buffer = Bytes(2048);  // rounded up to 2920
    Script host = receiver_script(config);
    host.accept();
    host.inject(data(1, 1459)).read().expect_none();
    host.inject(data(1460, 1)).read().expect(ack(1461).window(2920));
  }
}

TEST_CASE("FreeBSD 2 and VxWorks acknowledge every second segment", "[receiver]") {
  Script host = receiver_script(every_second());
  host.accept();
  for (Sequence i = 0; i < 20; ++i) {
    host.inject(data(1 + i * kSegment, kSegment));
    if (i % 2 == 1) host.expect(ack(1 + (i + 1) * kSegment));
    host.read().expect_none();
  }
}

TEST_CASE("all connections of a BSD host share one 200 ms grid", "[receiver]") {
  models::tcp::EndpointConfig config = bsd_4_4();
  config.grid_phase = Time::milliseconds(70);
  const int arrival = GENERATE(10'000, 69'000, 70'000, 150'000, 269'999);
  Script host = receiver_script(config);
  host.accept();
  host.at(Moment(arrival)).inject(data(1, kSegment));
  const Moment tick = arrival < 70'000 ? 70ms : 270ms;
  host.expect_none_until(tick - 1us).expect_at(tick, ack(1449)).expect_none_until(2s);
}

TEST_CASE("a nearly full buffer offers nothing rather than a silly window", "[receiver]") {
  // RFC 1122 4.2.3.3: the edge stays until min(a fraction of the buffer, a segment) is free.
  models::tcp::EndpointConfig config = bsd_4_4();
  config.receive_buffer = Bytes(8192);  // 8760 after rounding
  Script host = receiver_script(config);
  host.accept();
  for (Sequence i = 0; i < 6; ++i) host.inject(data(1 + i * 1448, 1448));
  host.inject(data(1 + 6 * 1448, 72));
  host.expect_none().expect_at(200ms, ack(8761).window(0));
  host.read(1000).expect_none();
  host.read(1919).expect_none();
  host.read(1).expect(ack(8761).window(2920));
}

TEST_CASE("small segments also fill a BSD buffer by their clusters", "[receiver]") {
  // sbspace(): buffer memory is capped at twice the size, so 2176 B of mbufs count for each.
  models::tcp::EndpointConfig config = bsd_4_4();
  config.receive_buffer = Bytes(8192);
  Script host = receiver_script(config);
  host.accept();
  for (Sequence i = 0; i < 8; ++i) host.inject(data(1 + i * 10, 10));
  // 17520 - 8 x 2176 = 112: silly, so only what was already offered stays: 8760 - 80.
  host.expect_at(200ms, ack(81).window(8680));
  host.read(10).inject(data(81, 8680)).at(400ms);
  host.expect(ack(8761).window(0));
}

TEST_CASE("a FIN and a gap are acknowledged at once", "[receiver]") {
  const models::tcp::EndpointConfig config = GENERATE(bsd_4_4(), every_second());
  Script host = receiver_script(config);
  host.accept();
  host.inject(data(1, 1000)).expect_none();
  host.inject(data(2001, 1000)).expect(ack(1001).no_sack());  // RFC 5681 section 4.2
  host.inject(data(1001, 1000)).expect(ack(3001));
  host.inject(data(1, 1000)).expect(ack(3001));  // a duplicate
  host.inject(empty(3001).fin()).expect(ack(3002)).expect_none();
}

TEST_CASE("no stack delays an ACK by half a second (RFC 1122 4.2.3.2)", "[receiver]") {
  const models::tcp::EndpointConfig config =
      GENERATE(linux_6(), linux_2_4(), linux_2_2(), bsd_4_4(), every_second());
  Script host = receiver_script(config);
  host.accept();
  Sequence next = 1;
  for (int i = 0; i < 50; ++i, next += 700) {
    host.at(Moment(1'000'000 * (i + 1))).drain();
    host.inject(data(next, 700)).at(Moment(1'000'000 * (i + 1) + 499'999));
    host.expect(ack(next + 700)).read().drain();
  }
}

}  // namespace
}  // namespace linerate::tests
