// Mechanisms behind the netperf rows of experiments/library/published: how 4.4BSD's sosend fills a
// small buffer, the clock VxWorks programs read, slow start on a local network, bursts of losses.
#include <catch2/catch.hpp>

#include "models/apps/stream.hpp"
#include "models/link/impairment.hpp"
#include "script.hpp"
#include "sender_stacks.hpp"

namespace linerate::tests {
namespace {

using namespace std::chrono_literals;
using models::LocalClock;
using models::tcp::Endpoint;

constexpr std::uint32_t kFull = 1448;  // MSS 1460 less timestamps
constexpr Time kNow = Time::milliseconds(20);

EndpointConfig netperf_sender() {
  EndpointConfig config = bsd_4_4_sender();
  config.stack.initial_window = 8;
  config.send_buffer = Bytes(8192);  // 8760 once rounded up to six segments of 1460
  return config;
}

void open(Endpoint& end) {
  end.connect(Time{});
  end.on_packet(kNow, syn_ack().no_sack().segment());
}

TEST_CASE("sosend leaves less than sb_lowat unfilled between two messages, nothing within one") {
  SECTION("messages of 8192: the next one finds 568 B and sleeps") {
    Endpoint end(netperf_sender());
    open(end);
    CHECK(end.write(kNow, Bytes(8192)).count() == 8192);
    CHECK(end.write(kNow, Bytes(8192)).count() == 0);
    end.on_packet(kNow, empty(1).acknowledges(1 + kFull).segment());
    CHECK_FALSE(end.take_signals().writable);  // 2016 B are free
    end.on_packet(kNow, empty(1).acknowledges(1 + 2 * kFull).segment());
    CHECK(end.take_signals().writable);
    CHECK(end.write(kNow, Bytes(8192)).count() == 568 + 2 * kFull);  // sosend takes all of it
  }
  SECTION("one message of 16384: the 568 B are filled") {
    Endpoint end(netperf_sender());
    open(end);
    CHECK(end.write(kNow, Bytes(16384)).count() == 8760);
  }
}

TEST_CASE("the end of a message that fits needs no sb_lowat") {
  Endpoint end(netperf_sender());
  open(end);
  CHECK(end.write(kNow, Bytes(10000)).count() == 8760);
  end.on_packet(kNow, empty(1).acknowledges(1 + kFull).segment());
  CHECK(end.take_signals().writable);  // 1448 B hold the other 1240
  CHECK(end.write(kNow, Bytes(1240)).count() == 1240);
}

TEST_CASE("RFC 5681 4.2: what fills part of a gap is acknowledged at once by BSD too") {
  EndpointConfig config = bsd_4_4();
  config.stack.ack_rule = experiments::AckRule::every_second;
  Script host = receiver_script(config);
  host.accept();
  host.inject(data(1 + 2 * kFull, kFull)).expect(ack(1));
  host.inject(data(1 + 4 * kFull, kFull)).expect(ack(1));
  host.inject(data(1, kFull)).expect(ack(1 + kFull));
  host.inject(data(1 + kFull, kFull)).expect(ack(1 + 3 * kFull));
  host.inject(data(1 + 3 * kFull, kFull)).expect(ack(1 + 5 * kFull));
}

TEST_CASE("FreeBSD 2 starts slowly only where a router lies in between") {
  EndpointConfig config = bsd_4_4_sender();
  config.stack.local_slow_start = false;
  config.local = GENERATE(true, false);
  Script host = endpoint_script(config);
  host.connect().drain();
  host.at(20ms).inject(syn_ack().no_sack()).expect(ack(1));
  CHECK(host.write(8 * kFull).drain() == (config.local ? 8 : 1));
}

TEST_CASE("a coarse clock shows the last tick, and its timers count ticks") {
  const LocalClock clock{Time::milliseconds(10), Time::milliseconds(203)};  // ticks at 3, 13, …
  CHECK(clock.read(Time::milliseconds(13)) == Time::milliseconds(13));
  CHECK(clock.read(Time::milliseconds(22)) == Time::milliseconds(13));
  CHECK(clock.read(Time::milliseconds(1)) == Time::milliseconds(-7));
  // Set 9 ms into a tick, a timer of 50 ms lasts 41; read by the same clock it lasts 50.
  const Time fires = clock.expiry(Time::milliseconds(22), Time::milliseconds(50));
  CHECK(fires == Time::milliseconds(63));
  CHECK(clock.read(fires) - clock.read(Time::milliseconds(22)) == Time::milliseconds(50));
  // Without ticks it is time itself.
  CHECK(LocalClock{}.expiry(kNow, kNow) == kNow * 2);
  CHECK(LocalClock{}.read(kNow) == kNow);
}

TEST_CASE("a scripted burst loses so many first transmissions in a row, again and again") {
  experiments::Link link;
  link.script[0].burst_every = Bytes(10 * kFull);
  link.script[0].burst_frames = 3;
  models::Impairment impairment(link, 0, sim::RandomStream({.seed = 1, .entity = 0, .name = "x"}));
  CHECK(impairment.any());
  CHECK_FALSE(impairment.random());
  models::Packet packet;
  packet.segment.length = kFull;
  models::Packet again = packet;
  again.segment.retransmission = true;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) CHECK(impairment.judge(kNow, packet) == models::Drop::none);
    for (int i = 0; i < 3; ++i) {
      CHECK(impairment.judge(kNow, packet) == models::Drop::script);
      CHECK(impairment.judge(kNow, again) == models::Drop::none);
      CHECK(impairment.judge(kNow, models::Packet{}) == models::Drop::none);  // a pure ACK
    }
  }
}

}  // namespace
}  // namespace linerate::tests
