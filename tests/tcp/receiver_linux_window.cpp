// Windows that Linux 6.18 advertised in recorded traces, by value, and where they come from.
#include <catch2/catch.hpp>

#include "receiver_stacks.hpp"
#include "script.hpp"

namespace linerate::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kSegment = 1448;  // MSS 1460 less 12 bytes of timestamps

// Injects full segments one by one, each read at once, and returns the next sequence number.
Sequence stream(Script& host, Sequence from, int count) {
  for (int i = 0; i < count; ++i, from += kSegment) host.inject(data(from, kSegment)).read();
  return from;
}

TEST_CASE("the first windows are half the buffer in whole segments", "[receiver]") {
  SECTION("MTU 1500: a SYN knows no options yet, so segments are 1460 B; a SYN-ACK counts 1448 B") {
    Script active = receiver_script(linux_6());
    active.connect().expect(Want().window(64240).window_scale(10));  // 44 x 1460
    active.at(20ms).inject(syn_ack()).expect(ack(1).window(64512));
    Script passive = receiver_script(linux_6());
    passive.inject(syn()).expect(Want().window(65160).window_scale(10));  // 45 x 1448
  }
  SECTION("IPv6") {
    models::tcp::EndpointConfig config = linux_6();
    config.ip = 6;
    receiver_script(config).connect().expect(Want().window(64800));  // 45 x 1440
    receiver_script(config).inject(syn().max_segment(1440)).expect(Want().window(64260));
  }
  SECTION("MTU 9000: seven segments") {
    models::tcp::EndpointConfig config = linux_6();
    config.mtu = Bytes(9000);
    Script active = receiver_script(config);
    active.connect().expect(Want().window(62720));
    active.at(5ms).inject(syn_ack().max_segment(8960)).expect(ack(1).window(63488));
    receiver_script(config).inject(syn().max_segment(8960)).expect(Want().window(62636));
  }
}

TEST_CASE("the window opens by two segments each until the buffer is used", "[receiver]") {
  Script host = receiver_script(linux_6());
  host.accept();
  Sequence next = 1;
  // The limit grows by 2896 from 65160 up to (131072 - 2304) x 160 / 256 = 80480, and the scale of
  // 10 rounds what is shown up to multiples of 1024.
  for (const std::uint32_t window : {68608u, 71680u, 74752u, 76800u, 79872u, 80896u, 80896u}) {
    next = stream(host, next, 1);
    host.expect(ack(next).window(window));
  }
}

TEST_CASE("at MTU 9000 one segment opens the whole buffer", "[receiver]") {
  models::tcp::EndpointConfig config = linux_6();
  config.mtu = Bytes(9000);
  Script host = receiver_script(config);
  host.accept(syn().max_segment(8960));
  host.inject(data(1, 8948)).expect(ack(8949).window(80896));
}

TEST_CASE("SO_RCVBUF 32768 offers 31856, then 27 segments for ever", "[receiver]") {
  models::tcp::EndpointConfig config = linux_6();
  config.receive_buffer = Bytes(32768);
  Script host = receiver_script(config);
  host.listen().inject(syn()).expect(Want().window(31856).window_scale(0));
  host.inject(empty(1));
  Sequence next = 1;
  for (const std::uint32_t window : {34752u, 37648u, 39096u}) {
    next = stream(host, next, 1);
    host.expect(ack(next).window(window));
  }
  for (int round = 0; round < 200; ++round) {
    next = stream(host, next, 2);
    host.expect(Want().window(39096));
    host.drain();
  }
}

TEST_CASE("a larger SO_RCVBUF is capped, then doubled", "[receiver]") {
  models::tcp::EndpointConfig config = linux_6();
  config.stack.socket_buffer_limit = Bytes(212992);  // net.core.rmem_max of most distributions
  config.receive_buffer = Bytes(4'000'000);
  // 212992 x 2 / 2 = 212992 B of window: the field of a SYN-ACK shows 65535, the shift is 2.
  receiver_script(config).inject(syn()).expect(Want().window(65535).window_scale(2));
}

TEST_CASE("a reader that stops closes the window without taking back what was offered",
          "[receiver]") {
  models::tcp::EndpointConfig config = linux_6();
  config.receive_buffer = Bytes(65536);
  Script host = receiver_script(config);
  host.listen().inject(syn()).expect(Want().window(65160).window_scale(1));
  host.inject(empty(1));
  host.at(470ms);
  Sequence next = stream(host, 1, 200);
  host.at(516ms).drain();
  next = stream(host, next, 2);
  host.expect(ack(next).window(80480)).expect_none();

  // From here on nobody reads. 51 frames count 51 x 2304 B, which leaves 13568 x 160 / 256 B.
  const Sequence stopped = next;
  for (int i = 0; i < 50; ++i, next += kSegment) {
    host.at(Moment(517'300 + 614 * i)).expect_none();
    host.inject(data(next, kSegment));
  }
  host.at(548ms).inject(data(next, 840).push());
  next += 840;
  // The timer of the first frame is due within a quarter of 40 ms, so the ACK leaves now.
  host.expect(ack(next).window(8480)).expect_none();
  for (int i = 0; i < 5; ++i, next += kSegment)
    host.at(Moment(548'600 + 600 * i)).inject(data(next, kSegment));
  host.expect_none_until(591ms).expect_at(592ms, ack(next).window(1240));
  host.at(848ms).inject(data(next, 1240).push());
  next += 1240;
  host.expect(ack(next).window(0)).expect_none();
  CHECK(next == stopped + 73240 + 8480);  // up to the last byte offered

  // Probes carry an old sequence number; answers come at most every 500 ms.
  host.at(1095ms).inject(empty(next - 1)).expect(ack(next).window(0));
  host.at(1591ms).inject(empty(next - 1)).expect_none();

  // A read of 64 KiB leaves 12 frames: (131072 - 12 x 2304) x 160 / 256.
  host.at(2016ms).read(65536).expect(ack(next).window(64640)).expect_none();
  host.at(2027ms).read().expect_none();
}

TEST_CASE("the buffer follows what the reader takes in one RTT", "[receiver]") {
  // Flights of 10, 20 and 40 segments, one RTT of 20 ms apart, as slow start sends them.
  Script host = receiver_script(linux_6(), 20ms);
  host.at(30ms).accept();
  host.drain();
  Sequence next = 1;
  std::uint32_t stamp = 10;
  for (const auto& [start, count] : {std::pair{30'300, 10}, {50'500, 20}, {70'900, 40}}) {
    for (int i = 0; i < count; ++i, next += kSegment) {
      host.at(Moment(start + 123 * i));
      host.inject(data(next, kSegment).stamp(stamp + 10, stamp)).at(Moment(start + 123 * i + 60));
      host.read();
    }
    stamp += 20;
    if (count < 40) host.drain();
  }
  // 28960 B in an RTT after 15928 B: a buffer of 244316 B, of which (244316 - 2304) x 160 / 256 =
  // 151257 B are offered, 25 segments later; until then 2896 B more with every segment.
  for (int i = 1; i <= 24; ++i) {
    const auto limit = static_cast<std::uint32_t>(80480 + 2896 * i);
    host.expect(Want().window((limit + 1023) / 1024 * 1024).no_sack());
  }
  host.expect(Want().window(151552));
}

TEST_CASE("an explicit buffer does not grow", "[receiver]") {
  models::tcp::EndpointConfig config = linux_6();
  config.receive_buffer = Bytes(65536);
  Script host = receiver_script(config, 20ms);
  host.accept();
  Sequence next = 1;
  for (int flight = 0; flight < 20; ++flight) {
    host.at(Moment(20'000 * (flight + 2)));
    const auto clock = static_cast<std::uint32_t>(20 * (flight + 2));
    for (int i = 0; i < 40; ++i, next += kSegment)
      host.inject(data(next, kSegment).stamp(clock, clock - 20)).read();
  }
  host.drain();
  host.at(500ms).inject(data(next, kSegment).push()).read();
  host.expect(Want().window(80480));
}

TEST_CASE("Linux 2.4 offers four segments first and three quarters of the buffer later",
          "[receiver]") {
  Script host = receiver_script(linux_2_4());
  host.listen().inject(syn()).expect(Want().window(5792).window_scale(0));  // 4 x 1448
  host.inject(empty(1));
  stream(host, 1, 100);
  const std::size_t before = host.drain();
  CHECK(before > 0);
  host.at(50ms).inject(data(1 + 100 * kSegment, kSegment).push()).read();
  // The limit stops at 3/4 x (87380 - 2304) = 63807; whole segments of that are offered.
  host.expect(Want().window(44 * kSegment));
}

TEST_CASE("Linux 2.2 offers half the free memory in whole segments", "[receiver]") {
  Script host = receiver_script(linux_2_2());
  host.listen().inject(syn()).expect(Want().window(22 * kSegment));  // 65535 / 2 = 32767
  host.inject(empty(1));
  // An ACK leaves with one or two frames still in memory: (65535 - 2304) / 2 = 31615.
  Sequence next = 1;
  for (int i = 0; i < 50; ++i, next += 2 * kSegment) {
    host.inject(data(next, kSegment)).read().inject(data(next + kSegment, kSegment)).read();
    host.expect(Want().window(21 * kSegment));
    host.drain();
  }
}

TEST_CASE("nothing within the offered window is refused, however small the segments",
          "[receiver]") {
  // 651 segments of 100 B would count 1.5 MB against 128 KiB; Linux packs such a queue into pages.
  models::tcp::EndpointConfig config = linux_6();
  config.receive_buffer = Bytes(65536);
  Script host = receiver_script(config);
  host.accept();
  for (Sequence next = 1; next + 100 <= 65160; next += 100) host.inject(data(next, 100));
  host.at(50ms);
  host.read();
  CHECK(host.taken() == 65100);
}

}  // namespace
}  // namespace linerate::tests
