// What leaves in which segments: initial window, Nagle's variants, silly-window avoidance, write
// boundaries, PSH, pacing, small queues, end of stream.
#include <catch2/catch.hpp>

#include "script.hpp"
#include "sender_stacks.hpp"

namespace linerate::tests {
namespace {

using namespace std::chrono_literals;
using experiments::Nagle;
using experiments::Recovery;
using models::tcp::Endpoint;
using models::tcp::kFin;
using models::tcp::kPush;
using models::tcp::kSyn;

constexpr std::uint32_t kFull = 1448;  // MSS 1460 less timestamps

/// Connected at 20 ms over a 20 ms path.
Script connected(const EndpointConfig& config, const Packet& answer = syn_ack()) {
  Script host = endpoint_script(config);
  host.connect().expect(Want().flag(kSyn).sequence(0));
  host.at(20ms).inject(answer).expect(ack(1));
  return host;
}

TEST_CASE("RFC 6928: ten segments at once, the eleventh waits", "[sender]") {
  Script host = connected(linux_6_sender());
  host.write(65536);
  for (Sequence i = 0; i < 10; ++i) host.expect(sent(1 + i * kFull, kFull));
  host.expect_none();
}

TEST_CASE("the initial window is the stack's: 1 for 4.4BSD, 3 for Linux 2.4", "[sender]") {
  Script bsd = connected(bsd_4_4_sender(), syn_ack().no_sack());
  CHECK(bsd.write(16384).drain() == 1);
  Script linux_old = connected(linux_2_4_sender());
  CHECK(linux_old.write(16384).drain() == 3);
}

TEST_CASE("slow start: two segments for each acknowledged (RFC 5681 3.1)", "[sender]") {
  Script host = connected(plain_sender(Recovery::newreno), syn_ack().no_sack());
  host.write(65536).drain();
  host.at(40ms).inject(empty(1).acknowledges(1461)).expect(sent(14601, 1460));
  host.expect(sent(16061, 1460)).expect_none();
}

TEST_CASE("a lost SYN is sent again after 1 s, 3 s, 7 s (RFC 6298 5.5)", "[sender]") {
  models::tcp::EndpointConfig config = linux_6_sender();
  config.stack.timer_tick = Time{};
  Script host = endpoint_script(config);
  host.connect().expect(Want().flag(kSyn));
  host.expect_at(1000ms, Want().flag(kSyn)).expect_at(3000ms, Want().flag(kSyn));
  host.expect_at(7000ms, Want().flag(kSyn)).expect_none();
}

TEST_CASE("the smaller MSS option holds, options come off it", "[sender]") {
  Script host = connected(linux_6_sender(), syn_ack().max_segment(1000));
  host.write(5000).expect(sent(1, 988)).expect(sent(989, 988));
  Script plain = connected(linux_6_sender(), syn_ack().max_segment(1000).no_timestamps());
  plain.write(5000).expect(sent(1, 1000));
}

TEST_CASE("RFC 896: a short segment waits while anything is unacknowledged", "[sender]") {
  models::tcp::EndpointConfig config = plain_sender(Recovery::newreno);
  config.stack.nagle = Nagle::rfc896;
  Script host = connected(config, syn_ack().no_sack());
  host.write(100).expect(sent(1, 100));       // nothing in flight
  host.write(1000).write(300).expect_none();  // 1300 B wait
  host.write(200).expect(sent(101, 1460));    // now a full segment may leave
  host.expect_none();
  host.at(40ms).inject(empty(1).acknowledges(101)).expect_none();  // 1460 B still out
  host.at(41ms).inject(empty(1).acknowledges(1561)).expect(sent(1561, 40));
}

TEST_CASE("Linux 2.2: a segment of half an MSS does not wait", "[sender]") {
  models::tcp::EndpointConfig config = plain_sender(Recovery::newreno);
  config.stack.nagle = Nagle::half_segment;
  Script host = connected(config, syn_ack().no_sack());
  host.write(100).expect(sent(1, 100));
  host.write(700).expect_none();  // below 730
  host.write(30).expect(sent(101, 730));
}

TEST_CASE("Minshall: a short segment waits only behind another short one", "[sender]") {
  Script host = connected(linux_6_sender());
  host.write(kFull).expect(sent(1, kFull));
  host.write(100).expect(sent(1449, 100));  // only a full segment is out
  host.write(100).expect_none();
  host.at(40ms).inject(empty(1).acknowledges(1449)).expect_none();
  host.at(41ms).inject(empty(1).acknowledges(1549)).expect(sent(1549, 100));
}

TEST_CASE("TCP_NODELAY: nothing waits", "[sender]") {
  models::tcp::EndpointConfig config = linux_6_sender();
  config.no_delay = true;
  Script host = connected(config);
  for (Sequence i = 0; i < 5; ++i) host.write(100).expect(sent(1 + 100 * i, 100));
}

TEST_CASE("4.4BSD: a write reaches TCP cluster by cluster", "[sender]") {
  // sosend hands over 2048 B at a time, and tcp_output asks once whether the connection is idle: it
  // sends 1448 and 600. The second cluster's 600 wait for an acknowledgment.
  models::tcp::EndpointConfig config = bsd_4_4_sender();
  config.stack.initial_window = 8;
  Script host = connected(config, syn_ack().no_sack());
  host.write(4096).expect(sent(1, kFull)).expect(sent(1449, 600).flag(kPush));
  host.expect(sent(2049, kFull)).expect_none();
  host.at(40ms).inject(empty(1).acknowledges(3497)).expect(sent(3497, 600).flag(kPush));
}

TEST_CASE("RFC 1122 4.2.3.4: half of the largest window is worth a short segment", "[sender]") {
  models::tcp::EndpointConfig config = bsd_4_4_sender();
  config.stack.initial_window = 8;
  Script host = connected(config, syn_ack().no_sack().window(2000));
  host.write(8192).expect(sent(1, kFull)).expect_none();  // 552 B of window are less than half
  host.at(40ms).inject(empty(1).acknowledges(1449).window(1000)).expect(sent(1449, 1000));
  host.at(60ms).inject(empty(1).acknowledges(2449).window(999)).expect_none();
}

TEST_CASE("Linux 2.4 does not cut a segment to the window", "[sender]") {
  Script host = connected(linux_2_4_sender(), syn_ack().window(2000));
  host.write(8192).expect(sent(1, kFull)).expect_none();
  host.at(40ms).inject(empty(1).acknowledges(1449).window(1400)).expect_none();
  host.at(41ms).inject(empty(1).acknowledges(1449).window(1448)).expect(sent(1449, kFull));
}

TEST_CASE("PSH ends a write and every send buffer of several segments", "[sender]") {
  // Linux: the initial pacing rate makes buffers of two segments at an RTT of 20 ms.
  Script host = connected(linux_6_sender());
  host.write(3 * kFull);
  host.expect(sent(1, kFull)).expect(sent(1449, kFull).flag(kPush));
  host.expect(sent(2897, kFull).flag(kPush)).expect_none();
}

TEST_CASE("Linux 6 cuts to the window when at least a full segment fits", "[sender]") {
  Script host = connected(linux_6_sender(), syn_ack().window(8 * kFull + 2048));
  host.write(60000);
  for (Sequence i = 0; i < 9; ++i) host.expect(sent(1 + i * kFull, kFull));
  host.expect(sent(1 + 9 * kFull, 600)).expect_none();
  // With less than a segment of window it waits (RFC 1122 4.2.3.4).
  Script small = connected(linux_6_sender(), syn_ack().window(8 * kFull + 600));
  CHECK(small.write(60000).drain() == 8);
}

TEST_CASE("the FIN follows the data and is acknowledged like it", "[sender]") {
  Script host = connected(linux_6_sender());
  host.write(2000).shutdown();
  host.expect(sent(1, kFull)).expect(sent(1449, 552)).expect(sent(2001, 0).flag(kFin));
  host.at(40ms).inject(empty(1).acknowledges(2002)).expect_none_until(10000ms);
}

TEST_CASE("a full send buffer refuses, and wakes its writer at two thirds (Linux 2.4 on)",
          "[sender]") {
  models::tcp::EndpointConfig config = linux_6_sender();
  config.send_buffer = Bytes(20000);  // doubled
  Endpoint end(config);
  end.connect(Time{});
  end.output().clear();
  end.on_packet(Time::milliseconds(20), syn_ack().segment());
  const Bytes taken = end.write(Time::milliseconds(20), Bytes(200000));
  CHECK(taken >= Bytes(30000));
  CHECK(taken < Bytes(80000));
  end.take_signals();
  Sequence acked = 1;
  while (!end.take_signals().writable) {
    acked += kFull;
    REQUIRE(acked <= 1 + static_cast<Sequence>(taken.count()));
    end.on_packet(Time::milliseconds(40), empty(1).acknowledges(acked).segment());
  }
  // At two thirds of 40000 what is queued, with its overhead, is below 26667 B.
  const std::int64_t queued = taken.count() - static_cast<std::int64_t>(acked - 1);
  CHECK(queued <= 26667);
  CHECK(queued >= 26667 - 3 * 1448 - 20 * 832);
}

TEST_CASE("4.4BSD wakes its writer when 2048 bytes are free", "[sender]") {
  models::tcp::EndpointConfig config = bsd_4_4_sender();
  config.stack.initial_window = 20;
  Endpoint end(config);
  end.connect(Time{});
  end.on_packet(Time::milliseconds(20), syn_ack().no_sack().segment());
  // tcp_mss rounds 16384 up to whole segments of 1460, 17520; sosend, once under way, fills them.
  CHECK(end.write(Time::milliseconds(20), Bytes(100000)).count() == 17520);
  end.take_signals();
  end.on_packet(Time::milliseconds(40), empty(1).acknowledges(2048).segment());
  CHECK_FALSE(end.take_signals().writable);  // 2047 B
  end.on_packet(Time::milliseconds(40), empty(1).acknowledges(2049).segment());
  CHECK(end.take_signals().writable);
}

TEST_CASE("SO_MAX_PACING_RATE spaces buffers after the initial window", "[sender]") {
  // 1448000 B/s: a buffer of 2 segments each 2 ms.
  models::tcp::EndpointConfig config = linux_6_sender();
  config.pacing = BitRate::bits_per_second(1'448'000 * 8);
  Script host = connected(config);
  host.write(65536);
  CHECK(host.drain() == 10);
  host.at(40ms).inject(empty(1).acknowledges(1 + 10 * kFull)).drain();
  std::size_t paced = 0;
  for (auto t = 42ms; t <= 60ms; t += 2ms) {
    const std::size_t count = host.at(t).drain();
    CHECK(count <= 2);
    paced += count;
  }
  CHECK(paced >= 16);
}

TEST_CASE("small queues: no more below the socket than the limit", "[sender]") {
  models::tcp::EndpointConfig config = linux_6_sender();
  config.stack.initial_window = 100;
  config.stack.small_queue_limit = Bytes(10000);
  Endpoint end(config);
  end.connect(Time{});
  end.output().clear();
  end.on_transmitted(Time{}, Bytes(60));
  end.on_packet(Time::milliseconds(20), syn_ack().window(65000).segment());
  end.output().clear();
  end.on_transmitted(Time::milliseconds(20), Bytes(52));
  end.write(Time::milliseconds(20), Bytes(60000));
  // 10000 B are passed by the first buffer of 9 segments (2 x 100 x 1448 B / 20 ms / 1024); Linux
  // lets a second one go, so that a late completion does not idle the device.
  const std::size_t first = end.output().size();
  CHECK(first == 18);
  CHECK(end.info().blocked.device == Time{});
  end.output().clear();
  end.on_transmitted(Time::milliseconds(21), Bytes(static_cast<std::int64_t>(first) * 1500));
  CHECK(end.output().size() > 0);
  CHECK(end.info().blocked.device == Time::milliseconds(1));
}

}  // namespace
}  // namespace linerate::tests
