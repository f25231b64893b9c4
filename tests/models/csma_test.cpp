// A shared medium as a passive device: the rules of IEEE 802.3 clause 4, and what comes of many
// stations that all have frames to send.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "models/link/collision_domain.hpp"

using namespace linerate;
using models::CollisionDomain;
using models::MacReport;

namespace {

constexpr std::uint32_t kOverhead = 20;  // preamble and gap

BitRate megabits(std::int64_t n) { return BitRate::bits_per_second(n * 1'000'000); }

// Stations at equal distances.
models::DomainConfig medium(BitRate rate, std::size_t stations, Time delay) {
  models::DomainConfig config{.rate = rate, .separate_pairs = false, .stations = {}, .delays = {}};
  for (std::size_t i = 0; i < stations; ++i)
    config.stations.push_back({true, sim::RandomStream({.seed = 7, .entity = i, .name = "csma"})});
  config.delays.assign(stations * stations, delay);
  return config;
}

// What happens on a medium, one report after the other.
struct Bench {
  struct Entry {
    Time at;
    MacReport report;
  };

  explicit Bench(models::DomainConfig config) : domain(std::move(config)) {}

  void offer(Time at, std::uint32_t from, std::uint32_t to, std::uint32_t frame_size) {
    run(at);
    domain.offer(at, from, {sim::Handle{from, ++frames}, frame_size + kOverhead, to});
  }
  // Everything that happens until `end`.
  void run(Time end) {
    while (domain.deadline() <= end) step();
  }
  void run() {
    while (domain.deadline() != Time::never()) step();
  }
  void step() {
    const Time now = domain.deadline();
    while (const auto report = domain.next(now)) log.push_back({now, *report});
  }
  std::vector<Entry> of(MacReport::Kind kind) const {
    std::vector<Entry> found;
    std::copy_if(log.begin(), log.end(), std::back_inserter(found),
                 [&](const Entry& entry) { return entry.report.kind == kind; });
    return found;
  }
  std::size_t count(MacReport::Kind kind) const { return of(kind).size(); }

  CollisionDomain domain;
  std::vector<Entry> log;
  std::uint32_t frames = 0;
};

// All stations always have a frame for their neighbour.
struct Saturated {
  Saturated(const models::DomainConfig& config, std::uint32_t frame_size, Time span)
      : domain(config), stations(config.stations.size()) {
    const auto give = [&](Time at, std::uint32_t from) {
      const auto to = static_cast<std::uint32_t>((from + 1) % stations);
      domain.offer(at, from, {sim::Handle{from, 1}, frame_size + kOverhead, to});
    };
    for (std::uint32_t i = 0; i < stations; ++i) give(Time{}, i);
    while (domain.deadline() < span) {
      const Time now = domain.deadline();
      while (const auto report = domain.next(now)) {
        if (report->kind == MacReport::Kind::sent) ++sent;
        if (report->kind == MacReport::Kind::sent && report->station != last) {
          ++turns;
          last = report->station;
        }
        if (report->kind <= MacReport::Kind::excessive_collisions) give(now, report->station);
      }
    }
    const double bits = static_cast<double>(sent) * 8 * (frame_size + kOverhead);
    efficiency =
        bits / span.seconds() / static_cast<double>(domain.timing().rate.bits_per_second());
  }

  CollisionDomain domain;
  std::size_t stations;
  std::int64_t sent = 0, turns = 0;
  std::uint32_t last = ~0u;
  double efficiency = 0;  // share of the time for whole frames with preamble and gap
};

// Metcalfe and Boggs, CACM 1976: with Q stations of which each sends in a slot with probability
// 1/Q, acquiring the medium takes W slots for a frame of `bits`.
double metcalfe_boggs(double stations, double bits, double slot_bits) {
  const double acquires = std::pow(1 - 1 / stations, stations - 1);
  const double waits = (1 - acquires) / acquires;
  return bits / (bits + waits * slot_bits);
}

constexpr Time kNear = Time::nanoseconds(500);

}  // namespace

TEST_CASE("a frame on a free medium leaves at once and arrives after its bits and its way") {
  Bench bench(medium(megabits(10), 3, kNear));
  bench.offer(Time::microseconds(100), 0, 2, 64);
  bench.run();
  REQUIRE(bench.log.size() == 2);
  // Preamble and 64 bytes: 576 bit times of 100 ns.
  CHECK(bench.log[0].at == Time::microseconds(100) + Time::nanoseconds(57'600));
  CHECK(bench.log[0].report.kind == MacReport::Kind::sent);
  CHECK(bench.log[1].at == bench.log[0].at + kNear);
  CHECK(bench.log[1].report.kind == MacReport::Kind::delivered);
  CHECK(bench.log[1].report.station == 2);
  CHECK(bench.domain.counters(0).deferred == 0);
  CHECK(bench.domain.holds() == 0);
}

TEST_CASE("a station defers to a carrier and sends 96 bit times after it has gone") {
  Bench bench(medium(megabits(10), 2, kNear));
  bench.offer(Time{}, 0, 1, 1518);
  bench.offer(Time::microseconds(50), 1, 0, 64);
  bench.run();
  const auto sent = bench.of(MacReport::Kind::sent);
  REQUIRE(sent.size() == 2);
  const Time carrier_gone = Time::nanoseconds((8 + 1518) * 800) + kNear;
  CHECK(sent[1].at == carrier_gone + Time::nanoseconds(9'600 + 57'600));
  CHECK(bench.domain.counters(1).deferred == 1);
  CHECK(bench.domain.counters(1).collisions == 0);
}

TEST_CASE("frames of one station follow each other after the gap") {
  Bench bench(medium(megabits(10), 2, kNear));
  bench.offer(Time{}, 0, 1, 64);
  bench.run(Time::nanoseconds(57'600));  // ready again at the end of the first
  bench.offer(Time::nanoseconds(57'600), 0, 1, 64);
  bench.run();
  CHECK(bench.of(MacReport::Kind::sent).back().at == Time::nanoseconds(2 * 57'600 + 9'600));
  CHECK(bench.domain.counters(0).deferred == 0);
}

TEST_CASE("stations that start within a signal's way of each other collide, back off and succeed") {
  Bench bench(medium(megabits(10), 2, Time::microseconds(5)));
  bench.offer(Time{}, 0, 1, 64);
  bench.offer(Time::microseconds(3), 1, 0, 64);
  // Station 1 hears the other 2 us after it began and finishes preamble (6.4 us) and jam (3.2 us).
  bench.run(Time::nanoseconds(3'000 + 9'600));
  CHECK(bench.domain.counters(1).collisions == 1);
  bench.run();
  CHECK(bench.count(MacReport::Kind::sent) == 2);
  CHECK(bench.count(MacReport::Kind::delivered) == 2);
  CHECK(bench.domain.counters(0).collisions == bench.domain.counters(1).collisions);
  CHECK(bench.domain.counters(0).collisions >= 1);
  CHECK(bench.domain.holds() == 0);
}

TEST_CASE("a station that hears a carrier before it would begin does not collide") {
  Bench bench(medium(megabits(10), 2, Time::microseconds(5)));
  bench.offer(Time{}, 0, 1, 64);
  bench.offer(Time::nanoseconds(5'001), 1, 0, 64);
  bench.run();
  CHECK(bench.domain.counters(0).collisions == 0);
  CHECK(bench.domain.counters(1).deferred == 1);
}

TEST_CASE(
    "a carrier in the first two thirds of the gap restarts it, in the last third it does not") {
  // Station 2 waits behind station 0's frame; station 1, which does not heed carriers, begins
  // within the gap that station 2 waits for.
  for (const bool early : {true, false}) {
    models::DomainConfig config = medium(megabits(10), 3, kNear);
    config.stations[1].half_duplex = false;
    Bench bench(std::move(config));
    bench.offer(Time{}, 0, 1, 64);
    bench.offer(Time::microseconds(10), 2, 0, 64);
    const Time gap_begins = Time::nanoseconds(57'600);  // and kNear later where it is heard
    bench.offer(gap_begins + Time::nanoseconds(early ? 6'300 : 6'500), 1, 0, 64);
    bench.run();
    CHECK(bench.domain.counters(2).collisions == (early ? 0 : 1));
    CHECK(bench.domain.counters(2).frames == 1);
  }
}

TEST_CASE("sixteen attempts that collide are given up") {
  // Station 1 sends without a pause and without heeding anything.
  models::DomainConfig config = medium(megabits(10), 2, Time::nanoseconds(100));
  config.stations[1].half_duplex = false;
  Bench bench(std::move(config));
  bench.domain.offer(Time{}, 1, {sim::Handle{1, 1}, 1538, 0});
  bench.domain.offer(Time::microseconds(100), 0, {sim::Handle{0, 1}, 84, 1});
  while (bench.count(MacReport::Kind::excessive_collisions) == 0) {
    bench.step();
    REQUIRE(bench.domain.deadline() < Time::seconds(10));
    if (bench.domain.ready(1))
      bench.domain.offer(bench.log.back().at, 1, {sim::Handle{1, 1}, 1538, 0});
  }
  CHECK(bench.domain.counters(0).collisions == 16);
  CHECK(bench.domain.counters(0).excessive_collisions == 1);
  CHECK(bench.domain.counters(0).late_collisions == 0);
  CHECK(bench.domain.ready(0));
}

TEST_CASE("a collision beyond the slot is late, and the frame is given up at once") {
  models::DomainConfig config = medium(megabits(10), 2, kNear);
  config.separate_pairs = true;
  config.stations[1].half_duplex = false;
  Bench bench(std::move(config));
  bench.offer(Time{}, 0, 1, 1518);
  bench.offer(Time::microseconds(100), 1, 0, 64);  // beyond 57.6 us
  bench.run();
  CHECK(bench.count(MacReport::Kind::late_collision) == 1);
  CHECK(bench.domain.counters(0).late_collisions == 1);
  CHECK(bench.domain.counters(1).collisions == 0);
  // The full-duplex end has sent its frame and knows of nothing; it is lost all the same.
  CHECK(bench.domain.counters(1).frames == 1);
  CHECK(bench.count(MacReport::Kind::destroyed) == 1);
  CHECK(bench.count(MacReport::Kind::delivered) == 0);
  CHECK(bench.domain.holds() == 0);
}

TEST_CASE("a medium too long for its slot loses a frame that its sender believes sent") {
  // 60 us each way: a 64-byte frame is over before its sender can hear of the collision.
  Bench bench(medium(megabits(10), 2, Time::microseconds(60)));
  bench.offer(Time{}, 0, 1, 64);
  bench.offer(Time::microseconds(30), 1, 0, 64);
  bench.run();
  CHECK(bench.domain.counters(0).collisions == 0);
  CHECK(bench.domain.counters(1).collisions >= 1);
  CHECK(bench.count(MacReport::Kind::sent) == 2);
  CHECK(bench.count(MacReport::Kind::destroyed) == 1);
  CHECK(bench.count(MacReport::Kind::delivered) == 1);  // station 1 tried again
}

TEST_CASE("gigabit half duplex extends short frames to 4096 bits, but not those within a burst") {
  const Time near = Time::nanoseconds(10);
  Bench single(medium(megabits(1000), 2, near));
  single.offer(Time{}, 0, 1, 64);
  single.run();
  CHECK(single.of(MacReport::Kind::sent).at(0).at == Time::nanoseconds(64 + 4096));

  // In a burst only the first is: 1 ns a bit, 576 bits and a gap for each that follows.
  const models::DomainConfig config = medium(megabits(1000), 2, near);
  CollisionDomain domain(config);
  domain.offer(Time{}, 0, {sim::Handle{0, 1}, 84, 1});
  std::vector<Time> ends;
  while (ends.size() < 200) {
    const Time now = domain.deadline();
    while (const auto report = domain.next(now)) {
      if (report->kind != MacReport::Kind::sent) continue;
      ends.push_back(now);
      domain.offer(now, 0, {sim::Handle{0, 1}, 84, 1});
    }
  }
  CHECK(ends[1] - ends[0] == Time::nanoseconds(96 + 576));
  // A frame may begin while fewer than 65536 bits of the burst have passed.
  std::size_t in_burst = 1;
  while (ends[in_burst] - ends[in_burst - 1] == Time::nanoseconds(96 + 576)) ++in_burst;
  CHECK(in_burst == 1 + (65'536 - 4'160 + 671) / 672);
  CHECK(ends[in_burst] - ends[in_burst - 1] == Time::nanoseconds(96 + 64 + 4096));
}

TEST_CASE("the same seeds give the same history") {
  const auto history = [] {
    Saturated run(medium(megabits(10), 5, kNear), 512, Time::seconds(1));
    std::vector<std::int64_t> counts;
    for (std::uint32_t i = 0; i < 5; ++i) {
      counts.push_back(run.domain.counters(i).frames);
      counts.push_back(run.domain.counters(i).collisions);
    }
    return counts;
  };
  CHECK(history() == history());
}

TEST_CASE("many saturated stations come close to Metcalfe and Boggs's estimate for long frames") {
  // The estimate charges every contention a whole slot, which is the round trip of the longest
  // medium the standard allows: so long is this one (25.6 us less what clause 13 allots to ports).
  for (const std::size_t stations : {8u, 16u, 32u})
    for (const std::uint32_t size : {1024u, 1518u}) {
      const Saturated run(medium(megabits(10), stations, Time::microseconds(22)), size,
                          Time::seconds(2));
      const double estimate =
          metcalfe_boggs(static_cast<double>(stations), 8 * (size + kOverhead), 512);
      INFO(stations << " stations, " << size << " B: " << run.efficiency << ", estimate "
                    << estimate);
      CHECK(run.efficiency == Approx(estimate).epsilon(0.10));
    }
}

TEST_CASE("short frames use far more of a short medium than the estimate allows") {
  // Boggs, Mogul and Kent (SIGCOMM 1988, figure 12) measured 8 to 8.5 Mbit/s with 24 hosts that
  // send nothing but 64-byte frames over 3,000 feet (910 m, 4 us): the estimate has 4.4 Mbit/s.
  const Saturated run(medium(megabits(10), 24, Time::microseconds(4)), 64, Time::seconds(2));
  CHECK(run.efficiency > 2 * metcalfe_boggs(24, 8 * 84, 512) * 0.9);
  CHECK(run.efficiency == Approx(0.825).epsilon(0.10));
}

TEST_CASE("efficiency falls with more stations and rises with longer frames") {
  const auto efficiency = [](std::size_t stations, std::uint32_t size) {
    return Saturated(medium(megabits(10), stations, kNear), size, Time::seconds(1)).efficiency;
  };
  CHECK(efficiency(2, 1518) > efficiency(8, 1518));
  CHECK(efficiency(8, 1518) > efficiency(32, 1518));
  CHECK(efficiency(32, 1518) > efficiency(32, 512));
  CHECK(efficiency(32, 512) > efficiency(32, 64));
}

TEST_CASE("the winner of a collision captures the medium") {
  // Ramakrishnan and Yang (LCN 1994): the winner of a collision starts the next one from its first
  // attempt, the loser from its n-th, so that two stations do not take turns: after a first win the
  // next is won with probability 5/8 and more.
  const Saturated two(medium(megabits(10), 2, kNear), 1518, Time::seconds(10));
  const double run_length = static_cast<double>(two.sent) / static_cast<double>(two.turns);
  CHECK(run_length > 20);
  // With many it matters less, and over a long time every station has its share.
  const Saturated many(medium(megabits(10), 16, kNear), 1518, Time::seconds(10));
  CHECK(static_cast<double>(many.sent) / static_cast<double>(many.turns) < run_length / 3);
  std::int64_t least = many.sent, most = 0;
  for (std::uint32_t i = 0; i < 16; ++i) {
    least = std::min(least, many.domain.counters(i).frames);
    most = std::max(most, many.domain.counters(i).frames);
  }
  CHECK(most < 3 * least);
}

TEST_CASE("back-off doubles its range with every collision, up to ten times") {
  // The mean wait before attempt n + 1 is (2^n - 1) / 2 slots, n at most 10 (4.2.3.2.5). Station 1
  // collides with everything and is always there, so station 0 tries sixteen times; the waits of
  // many frames add up to the sum of the means.
  double expected_slots = 0;
  for (int n = 1; n < 16; ++n) expected_slots += (std::pow(2, std::min(n, 10)) - 1) / 2;
  models::DomainConfig config = medium(megabits(10), 2, Time::nanoseconds(100));
  config.stations[1].half_duplex = false;
  CollisionDomain domain(config);
  domain.offer(Time{}, 0, {sim::Handle{0, 1}, 84, 1});
  domain.offer(Time{}, 1, {sim::Handle{1, 1}, 84, 0});
  int given_up = 0;
  Time end{};
  while (given_up < 300) {
    end = domain.deadline();
    while (const auto report = domain.next(end)) {
      given_up += report->kind == MacReport::Kind::excessive_collisions ? 1 : 0;
      if (report->kind <= MacReport::Kind::excessive_collisions)
        domain.offer(end, report->station,
                     {sim::Handle{report->station, 1}, 84, 1 - report->station});
    }
  }
  const double slots = end.seconds() / 300 / domain.timing().slot.seconds();
  // Every attempt also waits for the end of a frame of station 1 (up to 84 B) and takes 96 bits.
  const double attempts = 16 * (84 * 8.0 + 96) / 512;
  CHECK(slots > expected_slots * 0.9);
  CHECK(slots < (expected_slots + attempts) * 1.1);
}
