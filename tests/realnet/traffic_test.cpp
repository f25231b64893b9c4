// Datagrams, frames, requests and searches over real sockets, held against arithmetic and
// conservation.
#include <algorithm>
#include <catch2/catch.hpp>

#include "realnet/measure.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

bool noted(const experiments::TestResult& test, const std::string& words) {
  return std::any_of(test.notes.begin(), test.notes.end(), [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

experiments::Test typed(experiments::TestType type, Time duration) {
  experiments::Test test = stream("t", duration, Time{});
  test.type = type;
  return test;
}

experiments::Experiment over_loopback(const experiments::Test& test) {
  auto experiment = two_hosts(1000);
  experiment.lab = experiments::LabType::loopback;
  experiment.tests = {test};
  return experiment;
}

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

TEST_CASE("loopback: a request at a time, transactions and latency are one thing said twice") {
  auto test = typed(experiments::TestType::request_response, Time::milliseconds(300));
  test.request = Bytes(100);
  test.response = Bytes(2000);
  test.no_delay = true;
  const auto result = measure(over_loopback(test));
  // Little's law with one request under way.
  CHECK(figure(result, "transaction_rate") * figure(result, "latency.mean") ==
        Approx(1).epsilon(0.05));
  CHECK(figure(result, "goodput") == Approx(figure(result, "transaction_rate") * 800));
}

TEST_CASE("loopback: outstanding requests are under way at once, and so many transactions end it") {
  auto test = typed(experiments::TestType::request_response, Time::seconds(20));
  test.request = Bytes(64);
  test.response = Bytes(64);
  test.no_delay = true;
  test.outstanding = 8;
  test.transactions = 4000;
  const auto result = measure(over_loopback(test));
  CHECK(figure(result, "elapsed") < 20);
  CHECK(figure(result, "transaction_rate") * figure(result, "latency.mean") ==
        Approx(8).epsilon(0.1));
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

TEST_CASE("a datagram too small to be told from others is refused") {
  auto test = typed(experiments::TestType::udp_stream, Time::milliseconds(100));
  test.rate = BitRate::bits_per_second(1'000'000);
  test.datagram = Bytes(8);
  CHECK_THROWS_WITH(measure(over_loopback(test)), Catch::Contains("datagram: 16B"));
}

TEST_CASE("raw frames need an interface of the experiment's own") {
  auto test = typed(experiments::TestType::raw_frames, Time::milliseconds(100));
  test.frame_sizes = {Bytes(64)};
  CHECK_THROWS_WITH(measure(over_loopback(test)), Catch::Contains("netns"));
}

TEST_CASE("netns: frames pass a bridge at their rate, counted on the wire") {
  if (!is_root()) {
    WARN("not root: no interfaces to send frames on");
    return;
  }
  auto experiment = star(2, 100);
  auto test = typed(experiments::TestType::raw_frames, Time::milliseconds(600));
  test.omit = Time::milliseconds(100);
  test.frame_sizes = {Bytes(256)};
  test.frame_rate = 5000;
  experiment.tests = {test};
  const auto result = measure(experiment);
  CHECK(figure(result, "frame_rate") == Approx(5000).epsilon(0.02));
  CHECK(figure(result, "throughput") == Approx(5000 * 276 * 8).epsilon(0.02));
  CHECK(figure(result, "loss") == 0);
}

TEST_CASE("netns: a search finds the slower of two links, and a device without a limit its line") {
  if (!is_root()) {
    WARN("not root: no interfaces to send frames on");
    return;
  }
  auto experiment = star(2, 100);
  experiment.links[1].rate = BitRate::bits_per_second(10'000'000);  // from the device to b
  auto test = typed(experiments::TestType::rfc2544_throughput, Time::seconds(1));
  test.device = "s1";
  test.frame_sizes = {Bytes(1024)};
  test.resolution = 0.01;
  test.trial.measured = Time::milliseconds(500);
  test.trial.settle = Time::milliseconds(200);
  experiment.tests = {test};
  // The port is a token bucket that has saved 20 ms of the line: 4 % of such a trial. Other work on
  // the machine makes it late now and then, and a frame lost is a trial failed.
  const double truth = 10e6 / (1044 * 8);
  experiments::Result result;
  double found = 0;
  for (int attempt = 0; attempt < 4 && (found < truth * 0.97 || found > truth * 1.06); ++attempt) {
    result = measure(experiment);
    found = figure(result, "frame_rate");
  }
  CHECK(found > truth * 0.97);
  CHECK(found < truth * 1.06);
  CHECK_FALSE(noted(result.tests[0], "inconclusive"));
}

}  // namespace
}  // namespace linerate::realnet
