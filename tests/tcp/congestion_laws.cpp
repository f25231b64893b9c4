// Windows in steady state against the published laws, over round trips and losses.
#include <catch2/catch.hpp>
#include <cmath>

#include "sender_stacks.hpp"
#include "two_hosts.hpp"

namespace linerate::tests {
namespace {

constexpr double kSegment = 1448;

models::tcp::EndpointConfig sender(const char* congestion) {
  models::tcp::EndpointConfig config = linux_6_sender();
  config.congestion = congestion;
  config.send_buffer = Bytes(8'000'000);
  config.stack.socket_buffer_limit = Bytes(16'000'000);
  return config;
}

models::tcp::EndpointConfig receiver(const char* congestion) {
  models::tcp::EndpointConfig config = linux_6();
  config.congestion = congestion;
  return config;
}

/// Segments a round trip carries on average from `from` to `to`.
double mean_window(const char* congestion, const PathSetup& path, Time rtt, Time from, Time to) {
  TwoHosts hosts(sender(congestion), receiver(congestion), path, {.stop_writing = to});
  hosts.run(from);
  const Bytes before = hosts.delivered();
  hosts.run(to);
  const double rate =
      static_cast<double>((hosts.delivered() - before).count()) / kSegment / (to - from).seconds();
  return rate * rtt.seconds();
}

/// A line so fast that only losses hold the window down.
PathSetup lossy_path(Time rtt, std::int64_t every) {
  PathSetup path;
  path.rate = BitRate::bits_per_second(10'000'000'000);
  path.delay = rtt / 2;
  path.queue = Bytes(100'000'000);
  path.lose_every = every;
  return path;
}

/// A loss takes a round trip to repair, in which the window does not grow; the laws leave that out.
double with_repair(double window, std::int64_t every) {
  const auto segments = static_cast<double>(every);  // of a cycle, over so many round trips:
  return segments / (segments / window + 1);
}

struct Case {
  std::int64_t ms, every;
};

/// The mean window over six cycles, one loss each.
double steady_window(const char* congestion, const Case& c, double law) {
  const Time rtt = Time::milliseconds(c.ms);
  const Time cycle = rtt.scaled(static_cast<double>(c.every) / law);
  return mean_window(congestion, lossy_path(rtt, c.every), rtt, cycle * 4, cycle * 10);
}

TEST_CASE("Reno: Mathis et al. 1997, window sqrt(3 / (2 p)) whatever the round trip", "[laws]") {
  for (const Case& c : {Case{1, 100}, Case{10, 100}, Case{100, 100}, Case{1, 1000}, Case{10, 1000},
                        Case{100, 1000}, Case{10, 10'000}}) {
    CAPTURE(c.ms, c.every);
    const double law = std::sqrt(1.5 * static_cast<double>(c.every));
    CHECK(steady_window("reno", c, law) == Approx(with_repair(law, c.every)).epsilon(0.10));
  }
}

TEST_CASE("CUBIC: RFC 9438 5.1, window 1.054 RTT^0.75 / p^0.75, or Reno's if that is larger",
          "[laws]") {
  for (const Case& c : {Case{10, 100}, Case{100, 100}, Case{10, 1000}, Case{10, 10'000}}) {
    const double reno = std::sqrt(1.5 * static_cast<double>(c.every));
    const double cubic = 1.054 * std::pow(1e-3 * static_cast<double>(c.ms * c.every), 0.75);
    const double law = std::max(reno, cubic);
    CAPTURE(c.ms, c.every, reno, cubic);
    CHECK(steady_window("cubic", c, law) == Approx(with_repair(law, c.every)).epsilon(0.12));
  }
  // Where both are alike (33 and 39) the window follows the larger in turn, and is above either.
  const double both = steady_window("cubic", {100, 1000}, 38.7);
  CHECK(both > 38.7);
  CHECK(both < 1.25 * 38.7);
  // Where the cubic function leads, fast convergence (RFC 9438 4.7), which the law leaves out, and
  // the aim at the next round trip's window make it grow sooner.
  const double law = 1.054 * std::pow(0.1 * 10'000, 0.75);
  const double window = steady_window("cubic", {100, 10'000}, law);
  CHECK(window > law);
  CHECK(window < 1.2 * law);
}

/// One DCTCP flow at 1 Gbit/s and 1 ms, C x RTT = 81 segments, marked above `threshold` segments.
struct Marked {
  Marked(double threshold, bool bursts) {
    PathSetup path;
    path.rate = BitRate::bits_per_second(1'000'000'000);
    path.delay = Time::microseconds(500);
    path.queue = Bytes(4'000'000);
    path.mark_above = Bytes(static_cast<std::int64_t>(threshold * 1538));
    models::tcp::EndpointConfig config = sender("dctcp");
    config.stack.tso_autosize = bursts;
    TwoHosts hosts(config, receiver("dctcp"), path, {.stop_writing = Time::seconds(1)});
    hosts.run(Time::milliseconds(300));
    hosts.forget_peak();
    const Bytes before = hosts.delivered();
    const std::int64_t earlier = hosts.sender().info().mark_reductions;
    hosts.run(Time::milliseconds(1000));
    share = static_cast<double>((hosts.delivered() - before).count()) * 8 / 0.7 /
            (1e9 * kSegment / 1538);
    peak = static_cast<double>(hosts.peak_queue().count()) / 1538;
    reductions = static_cast<double>(hosts.sender().info().mark_reductions - earlier) / 0.7;
    CHECK(hosts.sender().info().retransmits == 0);
  }
  double share = 0, peak = 0, reductions = 0;
};

TEST_CASE("DCTCP: Alizadeh et al. 2010, a full line and a queue of K segments", "[laws]") {
  for (const double threshold : {20.0, 65.0}) {
    CAPTURE(threshold);
    const Marked run(threshold, false);
    // Equation 13: K > C x RTT / 7 = 12 suffices. Equation 10: K + N, and a delayed ACK's pair.
    CHECK(run.share == Approx(1).epsilon(0.005));
    CHECK(run.peak > threshold - 1);
    CHECK(run.peak < threshold + 4);
    // Equation 9: reductions are sqrt(2 (C x RTT + K)) / 2 round trips apart; PRR's gentler
    // reduction leaves a smaller alpha and makes them more frequent.
    const double period = 0.5 * std::sqrt(2 * (81.3 + threshold));
    const double round_trip = 1e-3 + threshold * 1538 * 8e-9;
    CHECK(run.reductions > 1 / (period * round_trip));
    CHECK(run.reductions < 1.7 / (period * round_trip));
  }
}

TEST_CASE("DCTCP: bursts larger than K are marked whatever the load (Alizadeh 2010 3.5)",
          "[laws]") {
  CHECK(Marked(20, true).share < 0.8);
  CHECK(Marked(65, true).share == Approx(1).epsilon(0.005));
}

constexpr double kLine = 10e6 / 8 / 1538;  ///< 10 Mbit/s, segments a second

PathSetup slow_line(std::int64_t ms, std::int64_t queue) {
  PathSetup path;
  path.rate = BitRate::bits_per_second(10'000'000);
  path.delay = Time::milliseconds(ms) / 2;
  path.queue = Bytes(queue);
  return path;
}

TEST_CASE("BBR: losses of 1 % cost what is lost, not the rate", "[laws]") {
  for (const std::int64_t ms : {1, 10, 100}) {
    for (const std::int64_t every : {0, 100}) {
      PathSetup path = slow_line(ms, 500'000);
      path.lose_every = every;
      const double window =
          mean_window("bbr", path, Time::seconds(1), Time::seconds(2), Time::seconds(12));
      const double lost = every > 0 ? 1.0 / static_cast<double>(every + 1) : 0;
      // PROBE_RTT, 200 ms of every ten seconds with four segments a round trip, costs up to 2 %.
      CAPTURE(ms, every);
      CHECK(window < kLine * (1 - lost) * 1.002);
      CHECK(window > kLine * (1 - lost) * 0.95);
    }
  }
}

TEST_CASE("a line whose queue holds a round trip stays full", "[laws]") {
  for (const char* congestion : {"reno", "cubic", "vegas"}) {
    for (const std::int64_t ms : {1, 10, 100}) {
      const auto queue = static_cast<std::int64_t>(10e6 / 8 * 1e-3 * static_cast<double>(ms));
      const double window = mean_window(congestion, slow_line(ms, queue + 20'000), Time::seconds(1),
                                        Time::seconds(10), Time::seconds(25));
      CAPTURE(congestion, ms);
      CHECK(window == Approx(kLine).epsilon(0.05));
    }
  }
}

}  // namespace
}  // namespace linerate::tests
