// Traffic that goes by the clock, and a search by trials of frames.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/traffic/lines.hpp"

namespace linerate::realnet {
namespace {

TEST_CASE("loopback: a UDP stream brings the rate it asks for, all of it and in order") {
  auto test = typed(experiments::TestType::udp_stream, Time::milliseconds(500));
  test.rate = BitRate::bits_per_second(8'000'000);
  test.datagram = Bytes(1000);
  const auto result = measure(over_loopback(test));
  REQUIRE(result.complete);
  CHECK(figure(result, "goodput") == Approx(8e6).epsilon(0.02));
  CHECK(figure(result, "loss") == 0);
  CHECK(figure(result, "reordered") == 0);
  CHECK(figure(result, "duplicates") == 0);
  CHECK(figure(result, "latency.p50") > 0);
  CHECK(figure(result, "latency.p50") <= figure(result, "latency.max"));
}

TEST_CASE("loopback: two flows in both directions carry four times one") {
  auto test = typed(experiments::TestType::udp_stream, Time::milliseconds(500));
  test.rate = BitRate::bits_per_second(4'000'000);
  test.datagram = Bytes(500);
  test.flows = 2;
  test.direction = experiments::Direction::both;
  const auto result = measure(over_loopback(test));
  CHECK(figure(result, "goodput") == Approx(16e6).epsilon(0.02));
  CHECK(figure(result, "loss") == 0);
}

TEST_CASE("loopback: a volume arrives to the last datagram") {
  auto test = typed(experiments::TestType::udp_stream, Time::seconds(1));
  test.rate = BitRate::bits_per_second(80'000'000);
  test.datagram = Bytes(1000);
  test.bytes = Bytes(500'000);
  const auto result = measure(over_loopback(test));
  CHECK(figure(result, "loss") == 0);
  CHECK(figure(result, "goodput") == Approx(80e6).epsilon(0.1));
}

TEST_CASE("loopback: requests that come by the clock are answered as often as they come") {
  auto test = typed(experiments::TestType::request_response, Time::milliseconds(500));
  test.no_delay = true;
  test.arrivals = experiments::Arrivals{.poisson = {}, .periodic = 1000};
  test.sizes = experiments::Sizes{};
  test.sizes->exponential = Bytes(3000);  // both ends draw the same sizes, else it would hang
  const auto result = measure(over_loopback(test));
  CHECK(figure(result, "transaction_rate") == Approx(1000).epsilon(0.02));
}

TEST_CASE("loopback: flows that arrive are as many as the schedule says, each whole") {
  auto test = stream("t", Time::milliseconds(500), Time{});
  test.arrivals = experiments::Arrivals{.poisson = {}, .periodic = 200};
  test.bytes = Bytes(20'000);
  const auto result = measure(over_loopback(test));
  CHECK(figure(result, "flows") == 100);
  CHECK(figure(result, "flow_elapsed.p50") <= figure(result, "flow_elapsed.p99"));
  CHECK(figure(result, "flow_elapsed.small.p50") == figure(result, "flow_elapsed.p50"));
  // One flow of 20 kB in 5 ms; the last one ends with its own.
  CHECK(figure(result, "goodput") == Approx(200 * 20'000 * 8).epsilon(0.05));
}

TEST_CASE("loopback: writes on a schedule take the schedule's time") {
  auto test = stream("rows", Time::seconds(1), Time{});
  test.writes = {{Bytes(1000), 4, Time::milliseconds(50), Time::milliseconds(20)}};
  const auto result = measure(over_loopback(test));
  CHECK(figure(result, "sender.calls") == 4);
  CHECK(figure(result, "elapsed") >= 0.170);
  CHECK(figure(result, "elapsed") < 0.5);
}

TEST_CASE("netns: frames pass a bridge at their rate, counted on the wire") {
  if (!lines_possible()) return;
  auto experiment = star(2, 100);
  auto test = typed(experiments::TestType::raw_frames, Time::milliseconds(500));
  test.omit = Time::milliseconds(100);
  test.frame_sizes = {Bytes(256)};
  test.frame_rate = 5000;
  experiment.tests = {test};
  const auto result = measure(experiment);
  CHECK(figure(result, "frame_rate") == Approx(5000).epsilon(0.02));
  CHECK(figure(result, "throughput") == Approx(5000 * 276 * 8).epsilon(0.02));
  CHECK(figure(result, "loss") == 0);
}

TEST_CASE("netns: a search finds the slower of two links") {
  if (!lines_possible()) return;
  auto experiment = star(2, 100);
  // From the device to b: a line with a queue of ten frames, which saves nothing up for a trial as
  // a token bucket does.
  experiment.links[1].rate = BitRate::bits_per_second(10'000'000);
  experiment.links[1].queue = Bytes(10 * 1044);
  auto test = typed(experiments::TestType::rfc2544_throughput, Time::seconds(1));
  test.device = "s1";
  test.frame_sizes = {Bytes(1024)};
  test.resolution = 0.02;
  test.trial.measured = Time::milliseconds(200);
  test.trial.settle = Time::milliseconds(100);
  experiment.tests = {test};
  const double truth = 10e6 / (1044 * 8);
  // Other work on the machine makes a frame late now and then, and one lost is a trial failed.
  const auto near = [&](const experiments::Result& result) {
    return figure(result, "frame_rate") == Approx(truth).epsilon(0.03);
  };
  const auto result = measured_until(experiment, near);
  CHECK(near(result));
  const auto& notes = result.tests[0].notes;
  CHECK(std::none_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("inconclusive") != std::string::npos;
  }));
}

}  // namespace
}  // namespace linerate::realnet
