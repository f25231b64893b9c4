// When Linux 6.18 acknowledged in recorded traces, by count and time, and the kernel's rules.
#include <catch2/catch.hpp>

#include "receiver_stacks.hpp"
#include "script.hpp"

namespace linerate::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kSegment = 1448;

models::tcp::EndpointConfig fixed_buffer() {
  models::tcp::EndpointConfig config = linux_6();
  config.receive_buffer = Bytes(65536);
  return config;
}

// A connection past its quick ACKs, its window fully open: the reader has taken everything, nothing
// is owed. The clock stands at 80 ms, the next byte is returned.
Sequence settle(Script& host) {
  host.at(10ms).accept();
  Sequence next = 1;
  for (int i = 0; i < 60; ++i, next += kSegment)
    host.at(10ms + 1ms * i).inject(data(next, kSegment)).read();
  // Data above a gap opens the last bytes of the window.
  host.inject(data(next + kSegment, kSegment)).inject(data(next, kSegment)).read();
  next += 2 * kSegment;
  for (int i = 0; i < 2; ++i, next += kSegment) host.inject(data(next, kSegment)).read();
  host.at(80ms).drain();
  return next;
}

TEST_CASE("the first 22 segments are acknowledged one by one, then pairs", "[receiver]") {
  // 16 quick ACKs begin when the window stops growing, at the 6th segment.
  Script host = receiver_script(fixed_buffer());
  host.accept();
  for (Sequence i = 1; i <= 40; ++i) {
    host.inject(data(1 + (i - 1) * kSegment, kSegment)).read();
    if (i <= 22 || i % 2 == 0) host.expect(ack(1 + i * kSegment));
    host.expect_none();
  }
}

TEST_CASE("quick ACKs are no more than half a window of segments", "[receiver]") {
  // MTU 9000: min(16, 62636 / (2 x 8948)) = 3.
  models::tcp::EndpointConfig config = linux_6();
  config.mtu = Bytes(9000);
  Script host = receiver_script(config);
  host.accept(syn().max_segment(8960));
  for (Sequence i = 1; i <= 7; ++i) {
    host.inject(data(1 + (i - 1) * 8948, 8948)).read();
    if (i <= 3 || i == 5 || i == 7) host.expect(ack(1 + i * 8948));
    host.expect_none();
  }
}

TEST_CASE("a pushed segment is acknowledged as soon as it has been read", "[receiver]") {
  Script host = receiver_script(fixed_buffer());
  Sequence next = settle(host);
  SECTION("single segments, 50 ms apart") {
    for (int i = 1; i <= 10; ++i, next += kSegment) {
      host.at(80ms + 50ms * i).inject(data(next, kSegment).push()).expect_none();
      host.read().expect(ack(next + kSegment)).expect_none();
    }
  }
  SECTION("of a burst of three, after the second and the third") {
    for (int i = 1; i <= 10; ++i, next += 3 * kSegment) {
      host.at(80ms + 50ms * i).inject(data(next, kSegment)).read().expect_none();
      host.inject(data(next + kSegment, kSegment)).read().expect(ack(next + 2 * kSegment));
      host.inject(data(next + 2 * kSegment, kSegment).push()).expect_none();
      host.read().expect(ack(next + 3 * kSegment)).expect_none();
    }
  }
  SECTION("not while some of it is unread") {
    host.at(130ms).inject(data(next, kSegment).push()).read(1000).expect_none();
    host.read().expect(ack(next + kSegment));
  }
}

TEST_CASE("while nobody reads, one ACK in 40 ms covers a burst", "[receiver]") {
  Script host = receiver_script(fixed_buffer());
  const Sequence next = settle(host);
  host.at(131ms).inject(data(next, kSegment)).inject(data(next + kSegment, kSegment));
  host.inject(data(next + 2 * kSegment, kSegment).push()).expect_none();
  // 40 ms on the 4 ms tick, and never early: 131 + 40 is in the tick that ends at 172.
  host.expect_none_until(171ms).expect_at(172ms, ack(next + 3 * kSegment)).expect_none();
}

TEST_CASE("an unread short segment is acknowledged 40 to 44 ms after it arrived", "[receiver]") {
  const int arrival = GENERATE(128'000, 129'000, 130'345, 131'999);
  Script host = receiver_script(fixed_buffer());
  const Sequence next = settle(host);
  host.at(Moment(arrival)).inject(data(next, 100));
  host.expect_none_until(Moment(arrival + 40'000 - 1));
  host.at(Moment(arrival + 44'000)).expect(ack(next + 100));
}

TEST_CASE("merged frames are one decision", "[receiver]") {
  Script host = receiver_script(fixed_buffer());
  const Sequence next = settle(host);
  host.inject(data(next, 10 * kSegment).merged(10)).expect_none();
  host.read().expect(ack(next + 10 * kSegment)).expect_none();
}

TEST_CASE("a gap draws an ACK for each segment at first, then one a millisecond", "[receiver]") {
  Script host = receiver_script(fixed_buffer(), 20ms);
  const Sequence next = settle(host);
  const Sequence held = next + kSegment;
  SECTION("5 % of the RTT, at most 1 ms, and 0.1 ms of slack") {
    for (Sequence i = 1; i <= 3; ++i)
      host.inject(data(next + i * kSegment, kSegment))
          .expect(ack(next).sack({{held, held + i * kSegment}}));
    for (Sequence i = 4; i <= 8; ++i) host.inject(data(next + i * kSegment, kSegment));
    host.expect_none_until(81099us)
        .expect_at(81100us, ack(next).sack({{held, held + 8 * kSegment}}))
        .expect_none_until(90ms);
  }
  SECTION("no more than 44 are merged") {
    for (Sequence i = 1; i <= 3; ++i) host.inject(data(next + i * 10, 5));
    CHECK(host.drain() == 3);
    for (Sequence i = 4; i < 4 + 44; ++i) host.inject(data(next + i * 10, 5));
    host.expect_none();
    host.inject(data(next + 48 * 10, 5)).expect(ack(next));
  }
  SECTION("filling it draws an ACK at once (RFC 5681 section 4.2)") {
    for (Sequence i = 1; i <= 6; ++i) host.inject(data(next + i * kSegment, kSegment));
    CHECK(host.drain() == 3);
    host.inject(data(next, kSegment)).expect(ack(next + 7 * kSegment).no_sack()).expect_none();
  }
}

TEST_CASE("without SACK duplicate ACKs are not merged", "[receiver]") {
  Script host = receiver_script(fixed_buffer());
  host.accept(syn().no_sack());
  host.inject(data(1, kSegment)).read().drain();
  for (Sequence i = 1; i <= 20; ++i)
    host.inject(data(1 + (i + 1) * kSegment, kSegment)).expect(ack(1 + kSegment)).expect_none();
}

TEST_CASE("a retransmission makes Linux acknowledge quickly again", "[receiver]") {
  Script host = receiver_script(fixed_buffer());
  Sequence next = settle(host);
  host.inject(data(next - kSegment, kSegment)).expect(ack(next).sack({{next - kSegment, next}}));
  for (int i = 0; i < 15; ++i, next += kSegment)
    host.inject(data(next, kSegment)).read().expect(ack(next + kSegment));
}

TEST_CASE("a FIN waits for the application to close, but no longer than the timer", "[receiver]") {
  // In the traces the ACK of the FIN travels with the other side's FIN, 20 to 30 ms later.
  Script host = receiver_script(fixed_buffer());
  const Sequence next = settle(host);
  host.at(88ms).inject(empty(next).fin()).expect_none_until(128ms);
  host.expect_at(132ms, ack(next + 1)).expect_none();
}

TEST_CASE("requests and responses carry each other's ACK after the first", "[receiver]") {
  Script server = endpoint_script(linux_6());
  server.listen().inject(syn()).expect(Want().flag(models::tcp::kSyn));
  server.at(10ms).inject(empty(1));
  server.at(10100us).inject(data(1, 100).push()).expect(ack(101).window(65536));
  server.read().write(1000).expect(sent(1, 1000).acknowledges(101).window(65536)).expect_none();
  server.at(20ms).inject(data(101, 100).acknowledges(1001).push()).expect_none();
  server.read().expect_none().write(1000).expect(sent(1001, 1000).acknowledges(201));
  server.at(30ms).inject(data(201, 100).acknowledges(2001).push()).read().expect_none();
  // No response this time: the timer acknowledges, and ends the mode.
  server.expect_none_until(69ms).expect_at(72ms, ack(301)).expect_none();
}

TEST_CASE("data that leaves carries the ACK that was owed", "[receiver]") {
  Script host = endpoint_script(fixed_buffer());
  host.listen().inject(syn()).expect(Want().flag(models::tcp::kSyn));
  host.at(10ms).inject(empty(1));
  Sequence next = 1;
  for (int i = 0; i < 60; ++i, next += kSegment) host.inject(data(next, kSegment)).read();
  host.at(12ms).drain();
  host.inject(data(next, 100)).expect_none();
  host.write(500).expect(sent(1, 500).acknowledges(next + 100)).expect_none();
  host.inject(empty(next + 100).acknowledges(501)).expect_none_until(500ms);
}

TEST_CASE("Linux 2.2 acknowledges two full segments, or after 20 to 30 ms", "[receiver]") {
  Script host = receiver_script(linux_2_2());
  host.accept();
  Sequence next = 1;
  for (int i = 0; i < 40; ++i, next += kSegment) host.inject(data(next, kSegment)).read();
  host.at(50ms).drain();
  for (int i = 0; i < 10; ++i, next += 2 * kSegment) {
    host.inject(data(next, kSegment)).read().expect_none();
    host.inject(data(next + kSegment, kSegment)).expect(ack(next + 2 * kSegment)).read();
    host.expect_none();
  }
  host.at(51ms).inject(data(next, kSegment)).read().expect_none_until(70ms);
  host.at(81ms).expect(ack(next + kSegment));
}

}  // namespace
}  // namespace linerate::tests
