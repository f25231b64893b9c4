// Requests over real sockets, held against Little's law, and datagrams and frames that are refused.
#include <catch2/catch.hpp>

#include "realnet/measure.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

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

TEST_CASE("loopback: a client that waits for all its servers asks them in rounds") {
  auto test = typed(experiments::TestType::request_response, Time::seconds(20));
  test.no_delay = true;
  test.barrier = true;
  test.request = Bytes(100);
  test.response = Bytes(5000);
  test.flows = 2;
  test.pairs.push_back(test.pairs[0]);
  test.transactions = 300;
  const auto result = measure(over_loopback(test));
  REQUIRE(result.complete);
  // A round follows the other, so rounds and their length are one thing said twice.
  CHECK(figure(result, "transaction_rate") * figure(result, "latency.mean") ==
        Approx(1).epsilon(0.05));
  // Four answers a round.
  CHECK(figure(result, "goodput") ==
        Approx(figure(result, "transaction_rate") * 4 * 40'000).epsilon(1e-9));
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

}  // namespace
}  // namespace linerate::realnet
