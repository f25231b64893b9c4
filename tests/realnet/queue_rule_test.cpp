// Queues of the user-space wire that decide: what their RFCs and papers say of them.
#include "realnet/wire/queue_rule.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "realnet/measure.hpp"
#include "realnet/wire/ecn.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

using experiments::Discipline;
using experiments::QueueSpec;
using Verdict = QueueRule::Verdict;

const BitRate kLine = BitRate::bits_per_second(100'000'000);

QueueRule rule_of(QueueSpec spec) {
  return {with_defaults(std::move(spec), kLine), kLine, sim::RandomStream({1, 2, "queue"})};
}

QueueSpec codel(bool ecn) {
  QueueSpec spec;
  spec.discipline = Discipline::codel;
  spec.ecn = ecn;
  return spec;
}

/// When the rule does something to one of the frames that come out every millisecond after 10 ms in
/// a long queue.
std::vector<Time> interventions(QueueRule rule, bool capable, Verdict expected) {
  std::vector<Time> times;
  for (int i = 0; i < 1000; ++i) {
    const Time now = Time::milliseconds(i);
    Verdict verdict = rule.leaves(now, Time::milliseconds(10), {100'000, 70}, capable);
    if (verdict == Verdict::keep) continue;
    CHECK(verdict == expected);
    times.push_back(now);
    // Another one comes out in its place.
    if (verdict == Verdict::drop)
      CHECK(rule.leaves(now, Time::milliseconds(10), {100'000, 70}, capable) == Verdict::keep);
  }
  return times;
}

TEST_CASE("codel: the first drop after an interval above the target, the next by the root law") {
  const auto times = interventions(rule_of(codel(false)), true, Verdict::drop);
  REQUIRE(times.size() > 10);
  CHECK(times[0] == Time::milliseconds(100));
  // RFC 8289 5.3: after the n-th drop the next is interval / sqrt(n) later, here to the millisecond
  // at which a frame comes out.
  double due = 0.1;
  for (std::size_t n = 1; n < 10; ++n) {
    due += 0.1 / std::sqrt(static_cast<double>(n));
    CHECK(times[n].seconds() == Approx(due).margin(1e-3));
  }
}

TEST_CASE("codel: marks come when drops would, if the sender reacts to them") {
  const auto drops = interventions(rule_of(codel(true)), false, Verdict::drop);
  const auto marks = interventions(rule_of(codel(true)), true, Verdict::mark);
  CHECK(marks == drops);
}

TEST_CASE("codel: a queue that is short, or of one frame, is left alone") {
  QueueRule rule = rule_of(codel(false));
  for (int i = 0; i < 1000; ++i) {
    const Time now = Time::milliseconds(i);
    CHECK(rule.leaves(now, Time::milliseconds(4), {100'000, 70}, false) == Verdict::keep);
    CHECK(rule.leaves(now, Time::milliseconds(50), {1538, 1}, false) == Verdict::keep);
  }
}

TEST_CASE("red: gaps between drops are even, from one frame to the reciprocal of the probability") {
  QueueSpec spec;
  spec.discipline = Discipline::red;
  spec.min_frames = 10;
  spec.max_frames = 30;
  spec.max_probability = 0.1;
  spec.weight = 1;  // the mean is the length
  QueueRule rule = rule_of(spec);
  for (int i = 0; i < 100; ++i)
    CHECK(rule.arrives(Time::milliseconds(i), {9'000, 9}, false, Time::never()) == Verdict::keep);
  // Half way between the thresholds: 0.05, so gaps of 1 to 20 frames.
  std::int64_t gap = 0, longest = 0, drops = 0;
  constexpr int kFrames = 100'000;
  for (int i = 0; i < kFrames; ++i) {
    ++gap;
    if (rule.arrives(Time::seconds(1), {20'000, 20}, false, Time::never()) == Verdict::keep)
      continue;
    longest = std::max(longest, gap);
    gap = 0;
    ++drops;
  }
  CHECK(longest == 20);
  CHECK(static_cast<double>(kFrames) / static_cast<double>(drops) == Approx(10.5).epsilon(0.03));
}

TEST_CASE("fifo: frames above the threshold are marked where marks mean something") {
  QueueSpec spec;
  spec.limit_frames = 100;
  spec.ecn_threshold_frames = 20;
  QueueRule rule = rule_of(spec);
  CHECK(rule.arrives(Time{}, {20'000, 20}, true, Time{}) == Verdict::keep);
  CHECK(rule.arrives(Time{}, {21'000, 21}, true, Time{}) == Verdict::mark);
  CHECK(rule.arrives(Time{}, {21'000, 21}, false, Time{}) == Verdict::keep);
  CHECK(rule.has_room({99'000, 99}, Bytes(1538)));
  CHECK_FALSE(rule.has_room({100'000, 100}, Bytes(1538)));
}

/// Ones' complement sum over an IPv4 header of 20 B: 0xffff where its checksum is right (RFC 1071).
unsigned header_sum(const std::vector<std::byte>& frame) {
  unsigned sum = 0;
  for (std::size_t i = 14; i < 34; i += 2)
    sum += std::to_integer<unsigned>(frame[i]) << 8 | std::to_integer<unsigned>(frame[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

/// An IPv4 header of RFC 1071 examples' kind: its checksum, 0xb861, belongs to a TOS of 0.
std::vector<std::byte> ipv4_frame(unsigned tos) {
  std::vector<std::byte> frame(60);
  frame[12] = std::byte{0x08};
  const unsigned header[] = {0x45, tos,  0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                             0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
  for (std::size_t i = 0; i < 20; ++i) frame[14 + i] = static_cast<std::byte>(header[i]);
  const unsigned checksum = 0xb861 - tos;
  frame[24] = static_cast<std::byte>(checksum >> 8);
  frame[25] = static_cast<std::byte>(checksum & 0xff);
  return frame;
}

TEST_CASE("ecn: a mark sets both bits of the field and keeps the header's checksum right") {
  for (const unsigned tos : {0x01u, 0x02u, 0xbau}) {
    auto frame = ipv4_frame(tos);
    REQUIRE(header_sum(frame) == 0xffff);
    CHECK(is_capable(frame));
    mark_congestion(frame);
    CHECK(frame[15] == static_cast<std::byte>(tos | 3));
    CHECK(header_sum(frame) == 0xffff);
  }
  CHECK_FALSE(is_capable(ipv4_frame(0xb8)));
  // IPv6, RFC 8200 3: the traffic class is the 8 bits after the version.
  std::vector<std::byte> six(60);
  six[12] = std::byte{0x86};
  six[13] = std::byte{0xdd};
  six[14] = std::byte{0x60};
  CHECK_FALSE(is_capable(six));
  six[15] = std::byte{0x2f};  // ECT(0), and the first bits of a flow label
  CHECK(is_capable(six));
  mark_congestion(six);
  CHECK(six[14] == std::byte{0x60});
  CHECK(six[15] == std::byte{0x3f});
  std::vector<std::byte> arp(60);
  arp[12] = std::byte{0x08};
  arp[13] = std::byte{0x06};
  arp[15] = std::byte{0xff};
  CHECK_FALSE(is_capable(arp));
}

TEST_CASE("netns: where a queue marks in time, senders slow down and nothing is lost") {
  if (!is_root()) {
    WARN("not root: no virtual links");
    return;
  }
  auto experiment = star(2, 50);
  for (auto& host : experiment.hosts) host.stack.ecn = experiments::EcnUse::on;
  QueueSpec spec;
  spec.limit_frames = 500;
  spec.ecn_threshold_frames = 30;
  experiment.switches[0].egress = experiments::EgressSpec{spec, experiments::Scheduler::none, {}};
  experiment.links[0].rate = BitRate::bits_per_second(100'000'000);  // towards s1
  experiment.tests = {stream("bulk", Time::milliseconds(1000), Time{})};
  const auto result = measure(experiment);
  const auto& port = result.tests[0].ports.at("s1:2");
  CHECK(port.figures.at("marked") > 0);
  CHECK(port.drops.at("queue") == 0);
  CHECK(figure(result, "retransmits") == 0);
  CHECK(port.peak_queue < 200 * 1538);
}

}  // namespace
}  // namespace linerate::realnet
