// Whole transfers over the paths of recorded Linux 6.18 connections, against what the kernel did
// there: completion within 2 %, the same retransmissions, flights and window. The numbers are the
// recordings' medians; ranges are those over three runs of each.
#include <algorithm>
#include <catch2/catch.hpp>

#include "sender_stacks.hpp"
#include "two_hosts.hpp"

namespace linerate::tests {
namespace {

using models::tcp::Info;

const BitRate kTwentyMegabit = BitRate::bits_per_second(20'000'000);

// Highest congestion window seen.
struct WindowWatch {
  explicit WindowWatch(TwoHosts& hosts) {
    hosts.watch = [this, &hosts](Time) { highest = std::max(highest, hosts.sender().info().cwnd); };
  }
  std::int64_t highest = 0;
};

void check_completion(const TwoHosts& hosts, double kernel_milliseconds) {
  CHECK(hosts.completion().seconds() * 1e3 == Approx(kernel_milliseconds).epsilon(0.02));
}

// Data segments sent from one time to the next.
std::int64_t sent_between(const TwoHosts& hosts, Time from, Time to) {
  std::int64_t count = 0;
  for (const Sighting& s : hosts.data()) count += s.at >= from && s.at < to ? 1 : 0;
  return count;
}

TEST_CASE("slow start doubles flights from 10 until HyStart finds the path full", "[sender]") {
  // Recorded: 10, 20, 40, 80 segments at 20.2, 40.4, 60.7, 81 ms; HyStart's ACK train at 139 ms
  // with cwnd 242..248, then one segment per 20 acknowledged up to 299..305.
  TwoHosts hosts(linux_6_sender(), linux_6(), {}, {.total = Bytes(2'000'000)});
  WindowWatch window(hosts);
  hosts.run(Time::milliseconds(100));
  CHECK(sent_between(hosts, Time::milliseconds(20), Time::milliseconds(38)) == 10);
  CHECK(sent_between(hosts, Time::milliseconds(38), Time::milliseconds(58)) == 20);
  CHECK(sent_between(hosts, Time::milliseconds(58), Time::milliseconds(79)) == 40);
  CHECK(sent_between(hosts, Time::milliseconds(79), Time::milliseconds(100)) == 80);
  hosts.run();
  check_completion(hosts, 274.4);
  const Info info = hosts.sender().info();
  CHECK(info.ssthresh == Approx(247).epsilon(0.02));
  CHECK(window.highest == Approx(304).epsilon(0.01));
  CHECK(info.retransmits == 0);
  CHECK(info.data_segments_out == 1382);
}

TEST_CASE("Reno has no HyStart: one segment per acknowledged one to the end", "[sender]") {
  models::tcp::EndpointConfig config = linux_6_sender();
  config.congestion = "reno";
  TwoHosts hosts(config, linux_6(), {}, {.total = Bytes(2'000'000)});
  hosts.run();
  check_completion(hosts, 273.5);
  CHECK(hosts.sender().info().cwnd == 1392);
}

TEST_CASE("one loss: repaired on the third SACK, window times 0.7 by PRR", "[sender]") {
  PathSetup path;
  path.lost_data = {40};
  TwoHosts hosts(linux_6_sender(), linux_6(), path, {.total = Bytes(2'000'000)});
  hosts.run(Time::milliseconds(103));
  // The retransmission left at 82.3 ms (our hosts take no time: 0.1 ms less per round trip);
  // ssthresh 34 = 0.7 x 49.
  const std::vector<Sighting> sent = hosts.data();
  const auto again = std::find_if(sent.begin(), sent.end(),
                                  [](const Sighting& s) { return s.segment.retransmission; });
  REQUIRE(again != sent.end());
  CHECK(again->segment.sequence == 56473);
  CHECK(again->at.seconds() * 1e3 == Approx(82.3).margin(0.5));
  CHECK(hosts.sender().info().ssthresh == 34);
  hosts.run(Time::milliseconds(106));
  CHECK(hosts.sender().info().state == "open");
  CHECK(hosts.sender().info().cwnd == 34);
  hosts.run();
  check_completion(hosts, 752.4);
  // The Reno-friendly region: +0.54 segments per round trip, 34 to 50.
  CHECK(hosts.sender().info().cwnd == Approx(50).margin(1));
  CHECK(hosts.sender().info().retransmits == 1);
}

TEST_CASE("a lost tail is probed at the capped PTO and costs no window", "[sender]") {
  // Recorded: the probe 226 ms after the last ACK (2 srtt + 200 ms, capped at the RTO of 224 ms);
  // its ACK ends at the probe exactly, so the window stays 80.
  PathSetup path;
  path.lost_data = {70};
  TwoHosts hosts(linux_6_sender(), linux_6(), path, {.total = Bytes(100'000)});
  hosts.run();
  check_completion(hosts, 332.2);
  const std::vector<Sighting> sent = hosts.data();
  CHECK(sent.back().segment.length == 88);
  CHECK(sent.back().segment.retransmission);
  const Info info = hosts.sender().info();
  CHECK(info.tail_probes == 1);
  CHECK(info.timeouts == 0);
  CHECK(info.cwnd == 80);
}

TEST_CASE("a 39096-byte window freezes the congestion window at twice what is in flight",
          "[sender]") {
  models::tcp::EndpointConfig receiver = linux_6();
  receiver.receive_buffer = Bytes(32768);
  PathSetup path;
  path.delay = Time::milliseconds(5);
  TwoHosts hosts(linux_6_sender(), receiver, path, {.stop_writing = Time::seconds(5)});
  hosts.run(Time::seconds(5));
  CHECK(hosts.sender().info().cwnd == Approx(54).margin(1));
  // Recorded: 5.03 of 5.06 s limited by the receive window.
  CHECK(hosts.sender().info().blocked.receive_window.seconds() > 4.9);
  hosts.run();
  check_completion(hosts, 5074.5);
}

TEST_CASE("Nagle: one segment a round trip when writes are small and slow", "[sender]") {
  // Recorded with one 100 B write per 1 ms over 10.6 ms: 1000 or 1100 B per round trip, all PSH;
  // per 5 ms: 200 B, sometimes 300 B.
  PathSetup path;
  path.rate = kTwentyMegabit;
  path.delay = Time::milliseconds(5);
  Job job{.write = Bytes(100),
          .period = Time::milliseconds(1),
          .first_write = Time::milliseconds(11),
          .writes = 2000};
  std::int64_t low = 1000;
  std::int64_t high = 1100;
  SECTION("per 5 ms") {
    job.period = Time::milliseconds(5);
    job.writes = 400;
    low = 200;
    high = 300;
  }
  TwoHosts hosts(linux_6_sender(), linux_6(), path, job);
  hosts.run();
  const std::vector<Sighting> sent = hosts.data();
  REQUIRE(sent.size() > 100);
  for (std::size_t i = 1; i + 1 < sent.size(); ++i) {
    CHECK(sent[i].segment.length >= low);
    CHECK(sent[i].segment.length <= high);
    CHECK(sent[i].segment.has(models::tcp::kPush));
  }
}

TEST_CASE("writes of 100 bytes back to back leave as full segments", "[sender]") {
  // Recorded: 3612 of 3614 segments are full, the first is 100 B.
  PathSetup path;
  path.rate = kTwentyMegabit;
  path.delay = Time::milliseconds(5);
  path.queue = Bytes(250'000);
  TwoHosts hosts(linux_6_sender(), linux_6(), path,
                 {.stop_writing = Time::milliseconds(500), .write = Bytes(100)});
  hosts.run();
  std::int64_t shorter = 0;
  for (const Sighting& s : hosts.data()) shorter += s.segment.length < 1448 ? 1 : 0;
  CHECK(hosts.data().front().segment.length == 100);
  CHECK(shorter <= 3);
}

TEST_CASE("a closed window is probed from the RTO on, doubling", "[sender]") {
  // Recorded: the reader sleeps at 0.515 s; 1240 B of window left are filled 247 ms after the ACK
  // that offered them; probes 241 ms after the zero window and 496 ms later.
  models::tcp::EndpointConfig receiver = linux_6();
  receiver.receive_buffer = Bytes(65536);
  PathSetup path;
  path.rate = kTwentyMegabit;
  path.delay = Time::milliseconds(5);
  path.queue = Bytes(250'000);
  TwoHosts hosts(linux_6_sender(), receiver, path,
                 {.stop_writing = Time::seconds(3),
                  .pause_from = Time::milliseconds(515),
                  .pause_to = Time::milliseconds(2016)});
  hosts.run(Time::milliseconds(2016));
  std::vector<Time> probes;
  for (const Sighting& s : hosts.log())
    if (s.direction == 0 && s.at > Time::milliseconds(600)) probes.push_back(s.at);
  REQUIRE(probes.size() == 3);
  // RTO of about 240 ms, then the same from the zero window's ACK (11 ms later), then twice it on
  // the coarse timer wheel.
  CHECK((probes[1] - probes[0]).seconds() * 1e3 == Approx(252).margin(6));
  CHECK((probes[2] - probes[1]).seconds() * 1e3 == Approx(496).margin(32));
  hosts.run();
  check_completion(hosts, 3125.7);
  CHECK(hosts.sender().info().retransmits == 0);
}

TEST_CASE("CUBIC at a shallow queue: the recorded sawtooth", "[sender]") {
  // Recorded over 30 s: 25 drops, one per 1.39 s after the first four, window 66 to 46.
  PathSetup path;
  path.rate = kTwentyMegabit;
  path.queue = Bytes(50'000);
  TwoHosts hosts(linux_6_sender(), linux_6(), path, {.stop_writing = Time::seconds(30)});
  WindowWatch window(hosts);
  hosts.run();
  check_completion(hosts, 30134.8);
  const Info info = hosts.sender().info();
  CHECK(info.retransmits == hosts.drops());
  CHECK(info.retransmits == Approx(25).margin(1));
  CHECK(info.ssthresh == Approx(46).margin(1));
  CHECK(window.highest == Approx(68).margin(1));
  CHECK(info.timeouts == 0);
}

TEST_CASE("an outage of a second: probe, two timeouts, undo, repair", "[sender]") {
  // Recorded: TLP with new data 185 ms after the last ACK, RTO 316 ms after it (292 on the coarse
  // wheel), the next 608 ms later (584); the D-SACK undoes the reduction; 19..21 retransmissions.
  PathSetup path;
  path.rate = kTwentyMegabit;
  path.queue = Bytes(250'000);
  path.black_from = Time::milliseconds(1500);
  path.black_to = Time::milliseconds(2500);
  TwoHosts hosts(linux_6_sender(), linux_6(), path, {.total = Bytes(8'000'000)});
  WindowWatch window(hosts);
  hosts.run();
  std::vector<Time> lonely;  // sent more than 100 ms after anything else
  Time last{};
  for (const Sighting& s : hosts.data()) {
    if (s.at - last > Time::milliseconds(100)) lonely.push_back(s.at);
    last = s.at;
  }
  REQUIRE(lonely.size() == 3);
  CHECK((lonely[0] - Time::milliseconds(1510)).seconds() * 1e3 == Approx(185).margin(8));
  CHECK((lonely[1] - lonely[0]).seconds() * 1e3 == Approx(316).margin(4));
  CHECK((lonely[2] - lonely[1]).seconds() * 1e3 == Approx(608).margin(4));
  const Info info = hosts.sender().info();
  CHECK(info.tail_probes == 1);
  CHECK(info.timeouts == 2);
  CHECK(info.undos >= 1);
  CHECK(window.highest == Approx(160).margin(2));
  CHECK(info.retransmits == Approx(20).margin(2));
  check_completion(hosts, 4529.3);
}

TEST_CASE("MTU 9000: the first flight is what the window holds", "[sender]") {
  // Recorded: 7 segments of 8948 B (window 62636), HyStart with cwnd 23, 78 at the end.
  models::tcp::EndpointConfig sender = linux_6_sender();
  models::tcp::EndpointConfig receiver = linux_6();
  sender.mtu = receiver.mtu = Bytes(9000);
  PathSetup path;
  path.delay = Time::microseconds(2500);
  TwoHosts hosts(sender, receiver, path, {.total = Bytes(10'000'000)});
  hosts.run(Time::milliseconds(9));
  CHECK(hosts.data().size() == 7);
  hosts.run();
  check_completion(hosts, 819.8);
  CHECK(hosts.sender().info().ssthresh == Approx(23).margin(1));
  CHECK(hosts.sender().info().cwnd == Approx(78).margin(1));
}

TEST_CASE("the same calls give the same segments", "[sender]") {
  PathSetup path;
  path.lost_data = {40, 300, 301, 302, 900};
  const auto run = [&] {
    TwoHosts hosts(linux_6_sender(), linux_6(), path, {.total = Bytes(3'000'000)});
    hosts.run();
    return hosts.log();
  };
  const std::vector<Sighting> first = run();
  const std::vector<Sighting> second = run();
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    REQUIRE(first[i].at == second[i].at);
    REQUIRE(first[i].segment.sequence == second[i].segment.sequence);
    REQUIRE(first[i].segment.acknowledgment == second[i].segment.acknowledgment);
  }
}

TEST_CASE("every stack delivers every byte, whatever is lost", "[sender]") {
  using experiments::Recovery;
  const models::tcp::EndpointConfig configs[] = {linux_6_sender(),
                                                 plain_sender(Recovery::reno),
                                                 plain_sender(Recovery::newreno),
                                                 plain_sender(Recovery::sack),
                                                 linux_2_4_sender(),
                                                 bsd_4_4_sender()};
  for (const models::tcp::EndpointConfig& config : configs) {
    for (std::uint32_t seed = 1; seed <= 8; ++seed) {
      PathSetup path;
      path.delay = Time::milliseconds(2);
      std::uint32_t draw = seed;
      for (int n = 1; n < 2000; ++n) {  // about 3 % of first transmissions
        draw = draw * 1664525u + 1013904223u;
        if ((draw >> 8) % 32 == 0) path.lost_data.insert(n);
      }
      TwoHosts hosts(config, config, path, {.total = Bytes(1'000'000), .close = true});
      hosts.run(Time::seconds(2000));
      CHECK(hosts.delivered() == Bytes(1'000'000));
      CHECK(hosts.completion() != Time::never());
      CHECK(hosts.receiver().peer_closed());
      CHECK(hosts.sender().info().bytes_acked == 1'000'000);
      CHECK(hosts.sender().next_timer() == Time::never());
    }
  }
}

}  // namespace
}  // namespace linerate::tests
