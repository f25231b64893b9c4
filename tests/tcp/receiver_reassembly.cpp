// Out-of-order data: the examples of RFC 2018 and RFC 2883, and laws that hold in any order.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "models/tcp/reassembly.hpp"
#include "models/tcp/receiver.hpp"
#include "receiver_stacks.hpp"
#include "script.hpp"

namespace linerate::tests {
namespace {

using models::tcp::Reassembly;

// The RFCs number bytes from `base`; here the first byte of a stream is 1.
struct Numbering {
  Sequence base;
  Sequence operator()(Sequence n) const { return n - base + 1; }
  SackBlock block(Sequence left, Sequence right) const { return {(*this)(left), (*this)(right)}; }
};

// Linux merges duplicate ACKs after the third; the RFCs' examples have each.
models::tcp::EndpointConfig uncompressed() {
  models::tcp::EndpointConfig config = linux_6();
  config.stack.sack_compression = false;
  return config;
}

TEST_CASE("RFC 2018 section 7, case 2: the first of eight segments is lost", "[receiver]") {
  const Numbering n{5000};
  Script host = receiver_script(uncompressed());
  host.accept();
  for (Sequence left = 5500; left <= 8500; left += 500)
    host.inject(data(n(left), 500)).expect(ack(n(5000)).sack({n.block(5500, left + 500)}));
}

TEST_CASE("RFC 2018 section 7, case 3: every second segment is lost", "[receiver]") {
  const Numbering n{5000};
  Script host = receiver_script(uncompressed());
  host.accept();
  host.inject(data(n(5000), 500)).expect(ack(n(5500)).no_sack());
  host.inject(data(n(6000), 500)).expect(ack(n(5500)).sack({n.block(6000, 6500)}));
  host.inject(data(n(7000), 500))
      .expect(ack(n(5500)).sack({n.block(7000, 7500), n.block(6000, 6500)}));
  host.inject(data(n(8000), 500))
      .expect(ack(n(5500)).sack({n.block(8000, 8500), n.block(7000, 7500), n.block(6000, 6500)}));
  // The fourth packet arrives late, then the second.
  host.inject(data(n(6500), 500))
      .expect(ack(n(5500)).sack({n.block(6000, 7500), n.block(8000, 8500)}));
  host.inject(data(n(5500), 500)).expect(ack(n(7500)).sack({n.block(8000, 8500)}));
}

TEST_CASE("RFC 2883 section 4.1: duplicate segments are reported once, first", "[receiver]") {
  const Numbering n{3000};
  Script host = receiver_script(uncompressed());
  host.accept();
  host.inject(data(n(3000), 500)).expect(ack(n(3500)).no_sack());
  host.inject(data(n(3500), 500)).expect(ack(n(4000)).no_sack());
  SECTION("example 1: a duplicate segment") {
    host.inject(data(n(3000), 500)).expect(ack(n(4000)).sack({n.block(3000, 3500)}));
    host.inject(data(n(4000), 500)).expect(ack(n(4500)).no_sack());
  }
  SECTION("example 2: an out-of-order segment and a duplicate") {
    host.inject(data(n(4500), 500)).expect(ack(n(4000)).sack({n.block(4500, 5000)}));
    host.inject(data(n(3000), 500))
        .expect(ack(n(4000)).sack({n.block(3000, 3500), n.block(4500, 5000)}));
  }
  SECTION("example 3: a duplicate of an out-of-order segment") {
    host.inject(data(n(4500), 500)).expect(ack(n(4000)).sack({n.block(4500, 5000)}));
    host.inject(data(n(5000), 500)).expect(ack(n(4000)).sack({n.block(4500, 5500)}));
    host.inject(data(n(5000), 500))
        .expect(ack(n(4000)).sack({n.block(5000, 5500), n.block(4500, 5500)}));
  }
  SECTION("section 4.2: a segment that is partly new") {
    host.inject(data(n(4500), 1000)).expect(ack(n(4000)).sack({n.block(4500, 5500)}));
    host.inject(data(n(4000), 1000)).expect(ack(n(5500)).sack({n.block(4500, 5000)}));
  }
}

TEST_CASE("timestamps leave room for three SACK blocks, else there are four", "[receiver]") {
  const bool timestamps = GENERATE(true, false);
  models::tcp::EndpointConfig config = uncompressed();
  config.stack.timestamps = timestamps;
  Script host = receiver_script(config);
  host.accept();
  std::vector<SackBlock> blocks;
  for (Sequence left = 1001; left < 12000; left += 2000) {
    blocks.insert(blocks.begin(), {left, left + 1000});
    blocks.resize(std::min<std::size_t>(blocks.size(), timestamps ? 3 : 4));
    host.inject(data(left, 1000)).expect(ack(1).sack(blocks));
  }
}

TEST_CASE("without SACK or RFC 2883 nothing of the kind is reported", "[receiver]") {
  models::tcp::EndpointConfig config = linux_6();
  SECTION("the peer does not permit SACK") {
    Script host = receiver_script(config);
    host.accept(syn().no_sack());
    host.inject(data(1001, 1000)).expect(ack(1).no_sack());
  }
  SECTION("duplicates of a stack before RFC 2883") {
    config.stack.duplicate_sack = false;
    Script host = receiver_script(config);
    host.accept();
    host.inject(data(1, 1000)).expect(ack(1001));
    host.inject(data(1, 1000)).expect(ack(1001).no_sack());
  }
}

TEST_CASE("whatever the order, the stream advances over what is held and over nothing else",
          "[receiver]") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    constexpr Sequence kEnd = 60;
    std::vector<bool> arrived(kEnd + 1, false);
    Reassembly held(true);
    Sequence next = 0;
    std::int64_t stored = 0, released = 0;
    for (int step = 0; step < 80; ++step) {
      const Sequence left = random() % kEnd;
      const Sequence right = std::min<Sequence>(left + 1 + random() % 7, kEnd);
      if (right <= next) continue;
      for (Sequence byte = left; byte < right; ++byte) arrived[byte] = true;
      if (left > next) {
        if (held.store({left, right}, Bytes(1))) ++stored;
      } else {
        const Reassembly::Joined joined = held.join(right);
        next = joined.next;
        released += joined.memory.count();
      }
      Sequence expected = 0;
      while (arrived[expected]) ++expected;
      REQUIRE(next == expected);
      // Each reported block is held as a whole and ends where a gap begins.
      std::array<SackBlock, 4> blocks{};
      const bool duplicate = held.duplicate_pending();
      const int count = held.report(4, blocks);
      for (int i = duplicate ? 1 : 0; i < count; ++i) {
        REQUIRE(blocks[i].left > next);
        REQUIRE_FALSE(arrived[blocks[i].left - 1]);
        REQUIRE_FALSE(arrived[blocks[i].right]);
        for (Sequence byte = blocks[i].left; byte < blocks[i].right; ++byte) REQUIRE(arrived[byte]);
      }
    }
    released += held.join(kEnd).memory.count();
    CHECK(stored == released);
    CHECK(held.empty());
  }
}

TEST_CASE("every stack delivers each byte once, and never takes back a window", "[receiver]") {
  const models::tcp::EndpointConfig config =
      GENERATE(linux_6(), linux_2_4(), linux_2_2(), bsd_4_4(), every_second());
  std::mt19937 random(11);
  models::tcp::Receiver receiver(config);
  receiver.on_syn(syn().segment(), true);
  Time now = Time::milliseconds(1);
  receiver.on_established(now);
  models::tcp::Segment out;
  out.option_bytes = 12;
  receiver.fill(now, out);
  Sequence edge = out.acknowledgment + out.window;
  const auto acknowledge = [&] {
    models::tcp::Segment segment;
    segment.option_bytes = 12;
    receiver.fill(now, segment);
    // RFC 9293 3.8.6.2.1, up to the low bits that the scale cuts off.
    REQUIRE(segment.acknowledgment + segment.window + 1024 > edge);
    edge = std::max(edge, segment.acknowledgment + segment.window);
    REQUIRE(segment.acknowledgment == receiver.next());
  };
  models::tcp::PathView path;
  path.smoothed_rtt = Time::milliseconds(10);
  std::int64_t taken = 0;
  for (int step = 0; step < 20000; ++step) {
    now += Time::microseconds(1 + random() % 300);
    if (receiver.deadline() <= now && receiver.on_timer(now)) acknowledge();
    const Sequence jump = random() % 4 == 0 ? random() % 8 * 700 : 0;
    const Sequence back = random() % 8 == 0 ? random() % 3000 : 0;
    const Sequence left = std::max<Sequence>(receiver.next() + jump, back + 1) - back;
    const auto length = static_cast<std::uint32_t>(1 + random() % 1448);
    if (left + length <= edge) {
      receiver.on_segment(now, data(left, length).segment(), path);
      if (receiver.ack_due(now)) acknowledge();
    }
    if (random() % 3 == 0) {
      const models::tcp::Reading reading = receiver.read(Bytes(random() % 9000));
      taken += reading.taken.count();
      if (reading.ack_due) acknowledge();
    }
    REQUIRE(taken + receiver.readable().count() == static_cast<std::int64_t>(receiver.next()) - 1);
  }
  CHECK(taken > 1'000'000);
}

}  // namespace
}  // namespace linerate::tests
