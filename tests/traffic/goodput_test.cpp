// Goodput of one line, held against arithmetic of frames: payload over wire bytes of a full frame
// (RFC 9293, RFC 7323, IEEE 802.3).
#include <catch2/catch.hpp>

#include "tests/traffic/lines.hpp"

namespace linerate::realnet {
namespace {

/// Measures up to three times until `goodput`, summed over the tests, is within 1 % of `megabits`,
/// and returns the last result. Other work on the machine disturbs a run now and then; a wrong
/// account of the frames is wrong every time.
experiments::Result expect_goodput(const experiments::Experiment& experiment, double megabits) {
  const auto sum = [](const experiments::Result& result) {
    double goodput = 0;
    for (std::size_t i = 0; i < result.tests.size(); ++i)
      goodput += figure(result, "goodput", i) / 1e6;
    return goodput;
  };
  const auto result = measured_until(
      experiment, [&](const auto& r) { return sum(r) == Approx(megabits).epsilon(0.01); });
  CHECK(result.complete);
  CHECK(sum(result) == Approx(megabits).epsilon(0.01));
  return result;
}

TEST_CASE("netns: 100 Mbit/s carry 1448 of 1538 bytes, at once and again") {
  if (!lines_possible()) return;
  auto experiment = two_hosts(100);
  experiment.tests = {steady("bulk")};
  experiment.tests[0].repeats = 2;
  const auto result = expect_goodput(experiment, 94.148);
  REQUIRE(result.tests[0].figures.at("goodput").samples.size() == 2);
  // The wire carries 1538 bytes for 1448 of payload.
  CHECK(figure(result, "throughput") / figure(result, "goodput") ==
        Approx(1538.0 / 1448).epsilon(0.02));
  CHECK(figure(result, "retransmits") == 0);
}

TEST_CASE("netns: 10 Mbit/s through a switch") {
  if (!lines_possible()) return;
  auto experiment = star(2, 10);
  // 10 Mbit/s are 813 frames a second: a second's count is good to an eighth of a percent.
  experiment.tests = {stream("bulk", Time::milliseconds(1300), Time::milliseconds(300))};
  expect_goodput(experiment, 9.4148);
}

TEST_CASE("netns: small segments pay for every frame's overhead") {
  if (!lines_possible()) return;
  auto experiment = two_hosts(100);
  experiment.tests = {steady("small")};
  // RFC 6691: an MSS of 512 leaves 500 B beside 12 B of timestamps; 590 B on the wire.
  experiment.tests[0].max_segment = Bytes(512);
  const auto result = expect_goodput(experiment, 100.0 * 500 / 590);
  CHECK(result.tests[0].layers.front().bytes_per_frame == 500);
  CHECK(result.tests[0].layers.back().bytes_per_frame == 590);
}

TEST_CASE("netns: IPv6 without timestamps carries 1440 of 1538 bytes") {
  if (!lines_possible()) return;
  auto experiment = two_hosts(100);
  for (auto& host : experiment.hosts) host.stack.timestamps = false;
  experiment.tests = {steady("six")};
  experiment.tests[0].ip = 6;
  expect_goodput(experiment, 100.0 * 1440 / 1538);
}

TEST_CASE("netns: a VLAN's tag takes its four bytes of every frame") {
  if (!lines_possible()) return;
  auto experiment = star(2, 100);
  experiment.switches[0].vlans = {{10, {}, {0, 1}}};
  for (auto& host : experiment.hosts) host.nics[0].vlan = 10;
  experiment.tests = {steady("tagged")};
  expect_goodput(experiment, 100.0 * 1448 / 1542);
}

TEST_CASE("netns: two senders of one group share the receiver's link") {
  if (!lines_possible()) return;
  auto experiment = star(3, 100);
  experiment.tests = {steady("first"), steady("second")};
  experiment.tests[1].pairs[0].from_host = 2;
  for (auto& test : experiment.tests) test.group = "incast";
  const auto result = expect_goodput(experiment, 94.148);
  CHECK(result.tests.size() == 2);
}

TEST_CASE("netns: through a router, IPv4 and IPv6") {
  if (!lines_possible()) return;
  auto experiment = routed(100);
  experiment.tests = {steady("four")};
  experiment.tests[0].pairs[0].to_host = 2;
  expect_goodput(experiment, 94.148);
  experiment.tests[0].ip = 6;
  expect_goodput(experiment, 100.0 * 1428 / 1538);
}

TEST_CASE("netns: through a tree of switches") {
  if (!lines_possible()) return;
  // a and b on s1, c moves to s2 behind it.
  auto experiment = star(3, 100);
  experiment.switches.push_back(experiment.switches[0]);
  experiment.switches[1].name = "s2";
  experiment.links[2].ends[1] = {experiments::NodeKind::switch_, 1, 0};
  experiment.links.push_back(cable("s1-s2", 100));
  experiment.links.back().ends[0] = {experiments::NodeKind::switch_, 0, 2};
  experiment.links.back().ends[1] = {experiments::NodeKind::switch_, 1, 1};
  experiment.tests = {steady("far")};
  experiment.tests[0].pairs[0].to_host = 2;
  expect_goodput(experiment, 94.148);
}

}  // namespace
}  // namespace linerate::realnet
