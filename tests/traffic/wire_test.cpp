// The user-space wire between two namespaces.
#include <catch2/catch.hpp>

#include "tests/traffic/lines.hpp"

namespace linerate::realnet {
namespace {

/// Two hosts on an emulated path of 100 Mbit/s.
experiments::Experiment path(Time delay) {
  auto experiment = two_hosts(100);
  experiment.links[0].delay = delay;
  experiment.links[0].queue = Bytes(200'000);
  return experiment;
}

TEST_CASE("wire: a window passes per round trip, so twice the delay halves the rate") {
  if (!lines_possible()) return;
  const auto run = [](Time delay) {
    auto experiment = path(delay);
    experiment.tests = {stream("window", Time::milliseconds(900), Time::milliseconds(300))};
    experiment.tests[0].receive_buffer = Bytes(32768);
    const auto result = measure(experiment);
    const auto& test = result.tests.at(0);
    CHECK(test.figures.at("retransmits").median() == 0);
    CHECK(test.notes.empty());
    CHECK(test.ports.at("a:eth0").figures.contains("late.p99"));
    return test.figures.at("goodput").median();
  };
  // Beside twice the delay a round trip has a full frame and an acknowledgment on the line.
  constexpr double kOnLine = 130e-6;
  constexpr double kExpected = (0.040 + kOnLine) / (0.020 + kOnLine);
  double ratio = 0, window = 0;
  for (int attempt = 0; attempt < 3 && ratio != Approx(kExpected).epsilon(0.1); ++attempt) {
    const double near = run(Time::milliseconds(10));
    ratio = near / run(Time::milliseconds(20));
    window = near / 8 * (0.020 + kOnLine);
  }
  // A tenth: other work on the machine adds wake-ups to a round trip.
  CHECK(ratio == Approx(kExpected).epsilon(0.1));
  // Linux stores twice the argument and announces a part of that (tcp(7), SO_RCVBUF).
  CHECK(window > 16384);
  CHECK(window < 65536);
}

TEST_CASE("wire: a full line is full, and its queue drops what does not fit") {
  if (!lines_possible()) return;
  auto experiment = path(Time::milliseconds(2));
  experiment.links[0].queue = Bytes(30 * 1538);
  experiment.tests = {stream("bulk", Time::milliseconds(1000), Time::milliseconds(300))};
  const auto result = measured_until(experiment, [](const experiments::Result& r) {
    return figure(r, "goodput") > 0.93 * 94.148e6;
  });
  // 30 frames are less than the 38 that are on their way, so Reno leaves the line idle for a while
  // after every loss, but never for long.
  CHECK(figure(result, "goodput") <= 94.148e6 * 1.002);
  CHECK(result.tests[0].ports.at("a:eth0").peak_queue <= 31 * 1538);
  CHECK(result.tests[0].ports.at("a:eth0").peak_queue > 29 * 1538);
}

TEST_CASE("wire: a rate that changes is kept to from then on") {
  if (!lines_possible()) return;
  auto experiment = two_hosts(40);
  experiments::LinkEvent slow;
  slow.at = Time::milliseconds(500);
  slow.action = experiments::LinkAction::rate;
  slow.rate = BitRate::bits_per_second(10'000'000);
  experiment.events = {slow};
  experiment.tests = {stream("bulk", Time::milliseconds(1000), Time{})};
  // Half a second at each rate; queues shift a few milliseconds from one to the other.
  const double expected = (40e6 + 10e6) / 2 * 1448 / 1538;
  const auto near = [&](const experiments::Result& result) {
    return figure(result, "goodput") == Approx(expected).epsilon(0.05);
  };
  CHECK(near(measured_until(experiment, near)));
}

}  // namespace
}  // namespace linerate::realnet
