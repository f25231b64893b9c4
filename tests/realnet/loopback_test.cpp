// Real traffic without privileges.
#include <algorithm>
#include <catch2/catch.hpp>

#include "realnet/measure.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

TEST_CASE("loopback: a test that depends on a link is inconclusive") {
  const auto result = measure(over_loopback(stream("bulk", Time::milliseconds(200), Time{})));
  REQUIRE(result.complete);
  CHECK(figure(result, "goodput") > 0);
  const auto& notes = result.tests[0].notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("inconclusive") == 0 && note.find("links.a-b.rate") != std::string::npos;
  }));
}

TEST_CASE("loopback: all bytes of a bounded transfer arrive, and its goodput is over its time") {
  for (const auto clock :
       {experiments::Clock::standard, experiments::Clock::netperf, experiments::Clock::nttcp}) {
    auto test = stream("bytes", Time::seconds(1), Time{});
    test.bytes = Bytes(30'000'001);
    test.write = Bytes(65536);
    test.clock = clock;
    const auto result = measure(over_loopback(test));
    INFO("clock " << static_cast<int>(clock));
    const double by_elapsed = figure(result, "goodput") * figure(result, "elapsed") / 8;
    if (clock == experiments::Clock::standard) {
      CHECK(by_elapsed >= 30'000'001);  // its goodput needs no handshake and no closing
    } else {
      CHECK(by_elapsed == Approx(30'000'001).epsilon(1e-6));
    }
    // 457 whole writes and the rest.
    CHECK(figure(result, "sender.calls") == 458);
  }
}

TEST_CASE("loopback: flows share, and fairness lies between 1/n and 1") {
  auto test = stream("flows", Time::milliseconds(500), Time::milliseconds(100));
  test.flows = 3;
  const auto result = measure(over_loopback(test));
  CHECK(figure(result, "fairness") > 1.0 / 3);
  CHECK(figure(result, "fairness") <= 1.0);
  CHECK(figure(result, "goodput.min") * 3 <= figure(result, "goodput") * (1 + 1e-9));
}

TEST_CASE("loopback: a paced sender does not exceed its pace") {
  auto test = stream("paced", Time::milliseconds(600), Time::milliseconds(100));
  test.pacing = BitRate::bits_per_second(40'000'000);
  const auto result = measure(over_loopback(test));
  // The kernel paces buffers of up to 64 KiB: one more may fall into the half second measured.
  CHECK(figure(result, "goodput") <= 40e6 + 65536 * 8 / 0.5);
  CHECK(figure(result, "goodput") >= 40e6 * 0.5);
}

TEST_CASE("loopback: background traffic lasts as long as what it is the background of") {
  auto load = stream("load", Time::seconds(30), Time{});
  load.background = true;
  load.group = "loaded";
  auto bulk = stream("bulk", Time::milliseconds(400), Time{});
  bulk.group = "loaded";
  bulk.direction = experiments::Direction::reverse;
  bulk.repeats = 2;
  auto experiment = over_loopback(load);
  experiment.tests.push_back(bulk);
  const auto result = measure(experiment);
  REQUIRE(result.tests.size() == 2);
  const auto& figures = result.tests[0].figures;
  CHECK(figures.at("goodput").samples.size() == 2);
  CHECK(figures.at("goodput").median() > 0);
  CHECK(figures.at("elapsed").median() >= 0.4);
  CHECK(figures.at("elapsed").median() < 3);
}

TEST_CASE("loopback: a reader that pauses holds the sender back") {
  auto test = stream("paused", Time::seconds(1), Time{});
  test.reader.pause_at = Time::milliseconds(100);
  test.reader.pause_for = Time::milliseconds(600);
  const auto result = measure(over_loopback(test));
  // Nothing is read while the reader sleeps.
  for (const auto& interval : result.tests[0].intervals) {
    if (interval.from > 0.199 && interval.to < 0.601) CHECK(interval.figures.at("goodput") < 30e6);
  }
  CHECK(result.tests[0].intervals.size() >= 9);
}

TEST_CASE("loopback: both directions at once are both counted") {
  auto test = stream("both", Time::milliseconds(300), Time{});
  test.direction = experiments::Direction::both;
  const auto result = measure(over_loopback(test));
  CHECK(figure(result, "goodput.forward") > 0);
  CHECK(figure(result, "goodput.reverse") > 0);
  CHECK(figure(result, "goodput.forward") + figure(result, "goodput.reverse") ==
        Approx(figure(result, "goodput")));
}

}  // namespace
}  // namespace linerate::realnet
