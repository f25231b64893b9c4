// Loss and its repair, as packet scripts: fast retransmit, NewReno, RFC 6675, RACK, PRR, timeouts,
// undo.
#include <catch2/catch.hpp>

#include "models/tcp/congestion.hpp"
#include "script.hpp"
#include "sender_stacks.hpp"

namespace linerate::tests {
namespace {

using namespace std::chrono_literals;
using experiments::Recovery;
using models::tcp::Endpoint;
using models::tcp::kSyn;

constexpr Sequence kFull = 1460;  // no timestamps in these scripts

/// First byte of the n-th segment, from 0.
constexpr Sequence segment(Sequence n) { return 1 + n * kFull; }

Packet acknowledge(Sequence n) { return empty(1).acknowledges(segment(n)).window(64240); }
Packet selective(Sequence n, Sequence from, Sequence to) {
  return acknowledge(n).sack({segment(from), segment(to)});
}

/// Ten segments in flight at 20 ms, many more written.
Script flight_of_ten(Recovery recovery, std::int64_t bytes = 200000) {
  models::tcp::EndpointConfig config = plain_sender(recovery);
  config.send_buffer = Bytes(2000000);
  if (recovery == Recovery::rack) {
    config.stack.sack = true;
    config.stack.tso_autosize = true;
  }
  Script host = endpoint_script(config);
  host.connect().expect(Want().flag(kSyn));
  const bool sack = config.stack.sack;
  host.at(20ms).inject(sack ? syn_ack().no_timestamps() : syn_ack().no_timestamps().no_sack());
  host.expect(ack(1)).write(bytes);
  for (Sequence i = 0; i < 10; ++i) host.expect(sent(segment(i), kFull));
  return host;
}

TEST_CASE("RFC 5681 3.2: the third duplicate ACK retransmits, the window halves", "[sender]") {
  Script host = flight_of_ten(Recovery::reno);
  host.at(40ms);
  for (int i = 0; i < 2; ++i) host.inject(acknowledge(0)).expect_none();
  host.inject(acknowledge(0)).expect(sent(segment(0), kFull)).expect_none();
  // cwnd = ssthresh + 3 = 8 of 10 in flight: the sixth duplicate opens the window.
  host.inject(acknowledge(0)).inject(acknowledge(0)).expect_none();
  host.inject(acknowledge(0)).expect(sent(segment(10), kFull));
  host.inject(acknowledge(0)).expect(sent(segment(11), kFull)).expect_none();
  // The new ACK ends it: cwnd = ssthresh = 5, two in flight.
  host.at(60ms).inject(acknowledge(10));
  CHECK(host.drain() == 3);
}

TEST_CASE("RFC 3042: limited transmit sends new data on the first two duplicates", "[sender]") {
  Script host = flight_of_ten(Recovery::newreno);
  host.at(40ms);
  host.inject(acknowledge(0)).expect(sent(segment(10), kFull));
  host.inject(acknowledge(0)).expect(sent(segment(11), kFull));
  host.inject(acknowledge(0)).expect(sent(segment(0), kFull)).expect_none();
}

TEST_CASE("RFC 6582: a partial ACK retransmits the next hole at once", "[sender]") {
  Script host = flight_of_ten(Recovery::newreno);
  host.at(40ms);
  for (int i = 0; i < 3; ++i) host.inject(acknowledge(0));
  host.drain();
  host.at(60ms).inject(acknowledge(4)).expect(sent(segment(4), kFull));
  host.drain();
  host.at(80ms).inject(acknowledge(7)).expect(sent(segment(7), kFull));
}

TEST_CASE("Reno leaves recovery at a partial ACK and waits for the timeout", "[sender]") {
  Script host = flight_of_ten(Recovery::reno, 14600);
  host.at(40ms);
  for (int i = 0; i < 3; ++i) host.inject(acknowledge(0));
  host.expect(sent(segment(0), kFull));
  host.at(60ms).inject(acknowledge(4)).expect_none_until(200ms);
  host.at(1000ms).expect(sent(segment(4), kFull));
}

TEST_CASE("RFC 6675: three SACKed segments above mark a loss, in order of sequence", "[sender]") {
  Script host = flight_of_ten(Recovery::sack);
  host.at(40ms);
  host.inject(selective(0, 1, 2)).expect(sent(segment(10), kFull));
  host.inject(selective(0, 1, 3)).expect(sent(segment(11), kFull));
  host.inject(selective(0, 1, 4)).expect(sent(segment(0), kFull)).expect_none();
  // Segment 4 is not lost until three above it are held; then both holes are.
  host.inject(selective(0, 5, 6).sack({segment(1), segment(4)}));
  host.inject(selective(0, 5, 7).sack({segment(1), segment(4)}));
  host.drain();
  host.inject(selective(0, 5, 8).sack({segment(1), segment(4)}));
  host.inject(selective(0, 5, 10).sack({segment(1), segment(4)}));
  host.expect(sent(segment(4), kFull));
}

TEST_CASE("RACK: three SACKs repair at once, no reordering having been seen", "[sender]") {
  // RFC 8985 6.2 step 4: reo_wnd is 0 once the SACKed segments reach the threshold.
  Script host = flight_of_ten(Recovery::rack);
  host.at(40ms).inject(selective(0, 1, 2)).inject(selective(0, 1, 3)).drain();
  host.inject(selective(0, 1, 4)).expect(sent(segment(0), kFull));
}

TEST_CASE("RACK: one SACK above a hole waits min_rtt / 4, then repairs", "[sender]") {
  Script host = flight_of_ten(Recovery::rack, 14600);
  host.at(40ms).inject(selective(0, 1, 2)).expect_none();
  // min_rtt 20 ms: 5 ms of reordering, 2 ms of timer margin.
  host.expect_at(47ms, sent(segment(0), kFull)).expect_none();
}

TEST_CASE("RFC 6937: PRR sends in proportion to what arrives", "[sender]") {
  // Window 10, ssthresh 5 (Reno): after the loss one segment for two delivered.
  Script host = flight_of_ten(Recovery::rack);
  host.at(40ms).inject(selective(0, 1, 2)).inject(selective(0, 1, 3)).drain();
  host.inject(selective(0, 1, 4)).expect(sent(segment(0), kFull));
  host.drain();
  std::size_t out = 0;
  for (Sequence upto = 5; upto <= 10; ++upto) {
    host.inject(selective(0, 1, upto));
    out += host.drain();
  }
  CHECK(out == 3);
  // The ACK of all ends recovery with the window at ssthresh.
  host.at(60ms).inject(acknowledge(12));
  host.drain();
}

TEST_CASE("Reno halves and grows by one segment a round trip", "[sender]") {
  using models::tcp::CongestionAlgorithm;
  models::tcp::CongestionWindow window(
      {CongestionAlgorithm::reno, experiments::HyStart::off, 10, Time{}});
  window.set_threshold(window.threshold_after_loss(20));
  CHECK(window.threshold() == 10);
  for (int round = 0; round < 5; ++round) {
    const std::int64_t before = window.size();
    for (std::int64_t i = 0; i < before; ++i) window.grow(Time::seconds(1), 1);
    CHECK(window.size() == before + 1);
  }
}

TEST_CASE("RFC 6298 5: the timeout fires after the RTO and doubles", "[sender]") {
  // First sample R = 20 ms: RTO = R + max(200 ms, 4 R/2) = 220 ms.
  models::tcp::EndpointConfig config = plain_sender(Recovery::newreno);
  Script host = endpoint_script(config);
  host.connect().drain();
  host.at(20ms).inject(syn_ack().no_timestamps().no_sack()).write(1460).drain();
  host.expect_at(240ms, sent(1, kFull));
  host.expect_at(680ms, sent(1, kFull));
  host.expect_at(1560ms, sent(1, kFull)).expect_none();
}

TEST_CASE("after a timeout one segment leaves, then two for each acknowledged", "[sender]") {
  Script host = flight_of_ten(Recovery::newreno, 14600);
  host.expect_at(240ms, sent(segment(0), kFull)).expect_none();
  host.at(260ms).inject(acknowledge(1)).expect(sent(segment(1), kFull));
  host.expect(sent(segment(2), kFull)).expect_none();
}

TEST_CASE("4.4BSD counts the timeout in ticks of 500 ms, at least two", "[sender]") {
  Script host = endpoint_script(bsd_4_4_sender());
  host.connect().drain();
  host.at(20ms).inject(syn_ack().no_sack()).write(1448).drain();
  // RTO of an RTT within one tick: 1 tick + 4 x 1/2 tick = 3 ticks, the third one from now.
  host.expect_at(1500ms, sent(1, 1448)).expect_none();
}

TEST_CASE("RFC 3522: an ACK that echoes the original undoes a timeout's reduction", "[sender]") {
  models::tcp::EndpointConfig config = linux_6();
  config.stack.timer_tick = Time{};
  config.stack.coarse_timers = false;
  Endpoint end(config);
  end.connect(Time{});
  end.on_packet(Time::milliseconds(20), syn_ack().segment());
  end.write(Time::milliseconds(20), Bytes(10 * 1448));
  end.on_timer(Time::milliseconds(64));  // the probe at 2 srtt + margin
  while (end.info().timeouts == 0) end.on_timer(end.next_timer());
  CHECK(end.info().state == "loss");
  CHECK(end.info().ssthresh == 7);
  // TSecr 20: the answer to what was sent at 20 ms.
  end.on_packet(Time::seconds(1), empty(1).acknowledges(1 + 10 * 1448).stamp(1000, 20).segment());
  CHECK(end.info().state == "open");
  CHECK(end.info().undos == 1);
  CHECK(end.info().cwnd >= 10);
}

TEST_CASE("RFC 3708: D-SACKs for every retransmission undo the reduction", "[sender]") {
  Script host = flight_of_ten(Recovery::rack);
  host.at(40ms).inject(selective(0, 1, 2)).inject(selective(0, 1, 3)).drain();
  host.inject(selective(0, 1, 4)).expect(sent(segment(0), kFull));
  host.drain();
  // The original arrives late, then its copy is reported: the window is 10 again and more leaves
  // than the halved one would allow.
  host.at(44ms).inject(acknowledge(10));
  host.drain();
  host.at(60ms).inject(acknowledge(12).sack({segment(0), segment(1)}));
  CHECK(host.drain() >= 2);
}

TEST_CASE("RFC 5682: originals that arrive after a timeout prove it spurious", "[sender]") {
  models::tcp::EndpointConfig config = plain_sender(Recovery::rack);
  config.stack.sack = config.stack.tso_autosize = true;
  Endpoint end(config);
  end.connect(Time{});
  end.on_packet(Time::milliseconds(20), syn_ack().no_timestamps().segment());
  end.write(Time::milliseconds(20), Bytes(40 * 1460));
  while (end.info().timeouts == 0) end.on_timer(end.next_timer());
  REQUIRE(end.info().state == "loss");
  end.output().clear();
  // Step 2b: the first ACK advances, so new data leaves and nothing is sent again.
  end.on_packet(Time::milliseconds(401), acknowledge(1).segment());
  REQUIRE(end.output().size() >= 1);
  for (const Segment& segment : end.output()) CHECK_FALSE(segment.retransmission);
  // Step 3b: data that was sent only once is acknowledged.
  end.on_packet(Time::milliseconds(402), acknowledge(5).segment());
  CHECK(end.info().state == "open");
  CHECK(end.info().undos == 1);
  CHECK(end.info().cwnd >= 10);
  CHECK(end.info().retransmits == 1);
}

TEST_CASE("RFC 5682 2.1: F-RTO without SACK", "[sender]") {
  for (const bool spurious : {true, false}) {
    CAPTURE(spurious);
    models::tcp::EndpointConfig config = plain_sender(Recovery::newreno);
    config.stack.frto = true;
    Endpoint end(config);
    end.connect(Time{});
    end.on_packet(Time::milliseconds(20), syn_ack().no_timestamps().no_sack().segment());
    end.write(Time::milliseconds(20), Bytes(40 * 1460));
    while (end.info().timeouts == 0) end.on_timer(end.next_timer());
    end.output().clear();
    // Step 2b: two new segments instead of repairs.
    end.on_packet(Time::milliseconds(401), acknowledge(1).segment());
    REQUIRE(end.output().size() == 2);
    for (const Segment& segment : end.output()) CHECK_FALSE(segment.retransmission);
    end.output().clear();
    // Step 3: a second advance means that the originals were only late, a duplicate that they were
    // lost.
    end.on_packet(Time::milliseconds(402), acknowledge(spurious ? 2 : 1).segment());
    CHECK(end.info().state == (spurious ? "open" : "loss"));
    CHECK(end.info().undos == (spurious ? 1 : 0));
    if (!spurious) {
      REQUIRE_FALSE(end.output().empty());
      CHECK(end.output().front().retransmission);
    }
  }
}

TEST_CASE("RFC 8985 7.2: the probe comes after two round trips", "[sender]") {
  // PTO = 2 x 20 ms + 2 ms with ten segments out; new data goes first (7.3).
  Script more = flight_of_ten(Recovery::rack);
  more.expect_at(62ms, sent(segment(10), kFull)).expect_none();
  Script none = flight_of_ten(Recovery::rack, 14600);
  none.expect_at(62ms, sent(segment(9), kFull)).expect_none();
}

TEST_CASE("RFC 8985 7.4: a probe that repaired a loss costs window", "[sender]") {
  models::tcp::EndpointConfig config = plain_sender(Recovery::rack);
  config.stack.sack = true;
  config.stack.tso_autosize = true;
  Endpoint end(config);
  end.connect(Time{});
  end.on_packet(Time::milliseconds(20), syn_ack().no_timestamps().segment());
  end.write(Time::milliseconds(20), Bytes(10 * 1460));
  end.on_packet(Time::milliseconds(40), acknowledge(9).segment());
  while (end.info().tail_probes == 0) end.on_timer(end.next_timer());
  const std::int64_t before = end.info().cwnd;
  // The probe's ACK alone ends at its mark; that of the next segment shows the loss.
  end.on_packet(Time::milliseconds(300), acknowledge(10).segment());
  CHECK(end.info().ssthresh > 1000);
  end.write(Time::milliseconds(300), Bytes(1460));
  end.on_packet(Time::milliseconds(320), acknowledge(11).segment());
  CHECK(end.info().ssthresh <= before / 2 + 1);
}

TEST_CASE("RFC 5681 4.1: idle for longer than the RTO, the window shrinks", "[sender]") {
  models::tcp::EndpointConfig config = plain_sender(Recovery::newreno);
  Endpoint end(config);
  end.connect(Time{});
  end.on_packet(Time::milliseconds(20), syn_ack().no_timestamps().no_sack().segment());
  end.write(Time::milliseconds(20), Bytes(30 * 1460));
  for (Sequence n = 1; n <= 30; ++n)
    end.on_packet(Time::milliseconds(40), acknowledge(n).segment());
  REQUIRE(end.info().cwnd > 20);
  end.write(Time::seconds(10), Bytes(1460));
  CHECK(end.info().cwnd == 10);
}

}  // namespace
}  // namespace linerate::tests
