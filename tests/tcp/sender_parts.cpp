// The sender's parts alone: estimator, timers, congestion windows, scoreboard, send buffer.
#include <catch2/catch.hpp>
#include <vector>

#include "models/tcp/congestion.hpp"
#include "models/tcp/rtt.hpp"
#include "models/tcp/scoreboard.hpp"
#include "models/tcp/timer_grid.hpp"

namespace linerate::tests {
namespace {

using namespace models::tcp;

Time ms(std::int64_t n) { return Time::milliseconds(n); }

TEST_CASE("RFC 6298 2.2 and 2.3: first and second sample", "[sender]") {
  // R = 100 ms: SRTT 100, RTTVAR 50. R' = 140: RTTVAR 3/4 x 50 + 1/4 x 40 = 47.5, SRTT 105.
  RttEstimator rtt({ms(0), ms(1000), ms(120000), Time{}, Time{}});
  CHECK(rtt.timeout() == ms(1000));
  rtt.sample(ms(100), {1, 1});
  CHECK(rtt.smoothed() == ms(100));
  CHECK(rtt.timeout() == ms(300));
  rtt.sample(ms(140), {1, 100});
  CHECK(rtt.smoothed() == ms(105));
  CHECK(rtt.variation() == Time::microseconds(47500));
}

TEST_CASE("Linux: RTO = srtt + max(200 ms, 4 rttvar) in steps of 4 ms", "[sender]") {
  // Recorded: 224 ms after a handshake of 20.1 ms.
  RttEstimator rtt({ms(200), ms(1000), ms(120000), ms(4), Time{}});
  rtt.sample(Time::microseconds(20128), {1, 1});
  CHECK(rtt.timeout() == ms(224));
  rtt.back_off();
  CHECK(rtt.timeout() == ms(448));
}

TEST_CASE("timers on 4 ms jiffies: 0..4 ms late, far ones on a coarser wheel", "[sender]") {
  const TimerGrid grid{ms(4), Time{}, TimerWheel::levels};
  for (std::int64_t us = 0; us < 40000; us += 137) {
    const Time now = Time::microseconds(1'000'000 + us);
    const Time near = grid.expiry(now, ms(40)) - now;
    CHECK(near >= ms(40));
    CHECK(near <= ms(44));
    // Recorded: 292 fires after 316, 584 after 608; the wheel's slots are 32 ms wide.
    const Time far = grid.expiry(now, ms(292)) - now;
    CHECK(far >= ms(292));
    CHECK(far <= ms(292 + 36));
    CHECK(grid.expiry(now, ms(292)) % ms(32) == Time{});
  }
}

TEST_CASE("BSD counters expire at the n-th tick, up to one tick early", "[sender]") {
  const TimerGrid grid{ms(500), ms(100), TimerWheel::counted};
  CHECK(grid.expiry(ms(120), ms(1000)) == ms(1100));
  CHECK(grid.expiry(ms(590), ms(1000)) == ms(1100));
  CHECK(grid.expiry(ms(600), ms(1000)) == ms(1600));
}

TEST_CASE("A grid that remembers its last answer gives the answers of one that does not") {
  for (const TimerWheel wheel : {TimerWheel::flat, TimerWheel::levels, TimerWheel::counted}) {
    for (const Time phase : {Time{}, ms(3), ms(15)}) {
      for (const Time tick : {Time{}, ms(4), ms(10)}) {
        const TimerGrid grid{tick, phase, wheel};
        RememberingGrid remembering(grid);
        // Steps far below a tick, and two delays in turns of nine calls.
        bool agree = true;
        Time now{};
        for (int i = 0; i < 2000; ++i) {
          const Time delay = i / 9 % 2 == 0 ? ms(40) : ms(333);
          agree = agree && remembering.expiry(now, delay) == grid.expiry(now, delay);
          now += Time::microseconds(i * 7919 % 1000);
        }
        CHECK(agree);
      }
    }
  }
}

CongestionWindow cubic(std::int64_t window) {
  return CongestionWindow({CongestionAlgorithm::cubic, experiments::HyStart::on, window, ms(4)});
}

/// Acknowledges round trips of `rtt` for `span`, one segment at a time.
void run_round_trips(CongestionWindow& window, Time start, Time span, Time rtt) {
  for (Time at = start; at < start + span; at += rtt) {
    const std::int64_t flight = window.size();
    for (std::int64_t i = 0; i < flight; ++i) window.grow(at + rtt * i / flight, 1);
  }
}

TEST_CASE("CUBIC before any loss grows by at most 5 % a round trip", "[sender]") {
  CongestionWindow window = cubic(100);
  window.set_threshold(100);
  run_round_trips(window, ms(0), ms(20), ms(20));
  CHECK(window.size() == 105);
}

TEST_CASE("RFC 9438 4.6: the window after a loss is 0.7 of it", "[sender]") {
  CongestionWindow window = cubic(10);
  CHECK(window.threshold_after_loss(100) == 70);
  CHECK(window.threshold_after_loss(49) == 34);  // recorded
  CHECK(window.threshold_after_loss(66) == 46);  // recorded
}

TEST_CASE("RFC 9438 4.2: W_max is reached again after K = cbrt(0.3 W_max / 0.4)", "[sender]") {
  // W_max 1000 at 100 ms: K = 9.09 s; Reno's estimate is far below.
  CongestionWindow window = cubic(10);
  const std::int64_t reduced = window.threshold_after_loss(1000);
  window.set_threshold(reduced);
  window.set_size(reduced);
  run_round_trips(window, ms(0), ms(9000), ms(100));
  CHECK(window.size() == Approx(1000).epsilon(0.01));
  // Half way in time the cubic has covered 7/8 of the gap.
  CongestionWindow half = cubic(10);
  half.set_threshold(half.threshold_after_loss(1000));
  half.set_size(700);
  run_round_trips(half, ms(0), ms(4500), ms(100));
  CHECK(half.size() == Approx(700 + 300 * 7 / 8).epsilon(0.02));
}

TEST_CASE("RFC 9438 4.3: on a short path CUBIC keeps Reno's pace", "[sender]") {
  // Recorded: 34 to 50 in 640 ms of 20 ms round trips, +0.54 a round trip (3 x 0.3 / 1.7 = 0.53).
  CongestionWindow window = cubic(10);
  window.set_threshold(window.threshold_after_loss(49));
  window.set_size(34);
  run_round_trips(window, ms(0), ms(640), ms(20));
  CHECK(window.size() == Approx(50).margin(1));
}

TEST_CASE("RFC 9438 4.7: a flow that did not regain its maximum gives way", "[sender]") {
  // W_max becomes 0.85 of the window at the second loss, so K is shorter than without.
  CongestionWindow window = cubic(10);
  window.threshold_after_loss(1000);
  window.set_threshold(window.threshold_after_loss(800));
  window.set_size(560);
  // K = cbrt((0.85 x 800 - 560) / 0.4) = 6.7 s up to 680.
  run_round_trips(window, ms(0), ms(6700), ms(100));
  CHECK(window.size() == Approx(680).epsilon(0.02));
}

TEST_CASE("HyStart: an ACK train longer than half the round trip ends slow start", "[sender]") {
  CongestionWindow window = cubic(20);
  window.on_sample(ms(100), {ms(20), 2, 1000});
  for (std::int64_t at = 101; at <= 110; ++at) window.on_sample(ms(at), {ms(20), 3, 1000});
  CHECK(window.in_slow_start());
  window.on_sample(Time::microseconds(111'000), {ms(20), 3, 1000});
  CHECK_FALSE(window.in_slow_start());
  CHECK(window.threshold() == 20);
}

TEST_CASE("HyStart: below 16 segments nothing is judged", "[sender]") {
  CongestionWindow window = cubic(15);
  for (std::int64_t at = 100; at <= 150; ++at) window.on_sample(ms(at), {ms(20), 2, 1000});
  CHECK(window.in_slow_start());
}

TEST_CASE("HyStart: a round trip longer by 4 ms or an eighth ends slow start", "[sender]") {
  CongestionWindow window = cubic(30);
  window.on_sample(ms(1), {ms(20), 2, 100});
  Time at = ms(200);
  for (int i = 0; i < 8; ++i) window.on_sample(at += ms(3), {ms(25), 101, 1000});
  CHECK(window.in_slow_start());  // eight samples are taken first
  window.on_sample(at += ms(3), {ms(25), 101, 1000});
  CHECK_FALSE(window.in_slow_start());
}

TEST_CASE("the scoreboard agrees with a plain list under random marks", "[sender]") {
  struct Plain {
    Sequence begin;
    std::uint32_t length;
    bool sacked = false, lost = false, again = false;
  };
  Scoreboard board;
  std::vector<Plain> plain;
  std::uint32_t draw = 12345;
  const auto random = [&](std::uint32_t below) {
    draw = draw * 1664525u + 1013904223u;
    return (draw >> 8) % below;
  };
  Sequence next = 1;
  Scoreboard::Index first = 0;
  for (int step = 0; step < 20000; ++step) {
    const std::uint32_t what = random(10);
    if (what < 4 || plain.empty()) {
      const std::uint32_t length = random(5) == 0 ? 1 + random(1447) : 1448;
      board.push({next, Time{}, length, 0, 0});
      plain.push_back({next, length});
      next += length;
    } else if (what < 6) {
      board.pop();
      plain.erase(plain.begin());
      ++first;
    } else {
      const std::uint32_t at = random(static_cast<std::uint32_t>(plain.size()));
      Plain& p = plain[at];
      if (what < 8 && !p.sacked) {
        board.mark_sacked(first + at);
        p = {p.begin, p.length, true, false, false};
      } else if (what == 8 && !p.sacked) {
        board.mark_lost(first + at);
        p.lost = true;
        p.again = false;
      } else if (what == 9 && p.lost && !p.again) {
        board.mark_sent_again(first + at, Time{}, true);
        p.again = true;
      }
    }
    std::int64_t sacked = 0, lost = 0, again = 0;
    for (const Plain& p : plain) sacked += p.sacked, lost += p.lost, again += p.again;
    REQUIRE(board.size() == static_cast<std::int64_t>(plain.size()));
    REQUIRE(board.sacked() == sacked);
    REQUIRE(board.in_flight() == board.size() - sacked - lost + again);
    if (plain.empty()) continue;
    const std::uint32_t at = random(static_cast<std::uint32_t>(plain.size()));
    REQUIRE(board.find(plain[at].begin + random(plain[at].length)) == first + at);
    std::size_t free = at;
    while (free < plain.size() && plain[free].sacked) ++free;
    REQUIRE(board.next_unsacked(first + at) == first + free);
  }
}

}  // namespace
}  // namespace linerate::tests
