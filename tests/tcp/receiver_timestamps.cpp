// Which timestamp an ACK echoes: the examples of RFC 7323 section 4.3.
#include <catch2/catch.hpp>

#include "receiver_stacks.hpp"
#include "script.hpp"

namespace linerate::tests {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a delayed ACK echoes the earliest segment it acknowledges", "[receiver]") {
  // RFC 7323 section 4.3 (A): <A, 1> <B, 2> <C, 3> draw <ACK(C), TSecr 1>.
  Script host = receiver_script(bsd_4_4());
  host.accept();
  for (std::uint32_t i = 0; i < 3; ++i) host.inject(data(1 + i * 100, 100).stamp(i + 1));
  host.expect_none().expect_at(200ms, ack(301).echo(1));
  host.inject(data(301, 100).stamp(4)).expect_at(400ms, ack(401).echo(4));
}

TEST_CASE("across holes the segment that advances the window is echoed", "[receiver]") {
  // RFC 7323 section 4.3, the example after (C), with an ACK for every segment.
  Script host = receiver_script(linux_6());
  host.accept();
  const auto segment = [](int letter) {
    return data(static_cast<Sequence>(1 + (letter - 'A') * 100), 100)
        .stamp(static_cast<std::uint32_t>(letter - 'A' + 1));
  };
  host.inject(segment('A')).expect(ack(101).echo(1));
  host.inject(segment('C')).expect(ack(101).echo(1));
  host.inject(segment('B')).expect(ack(301).echo(2));
  host.inject(segment('E')).expect(ack(301).echo(2));
  host.inject(segment('D')).expect(ack(501).echo(4));
}

TEST_CASE("a SYN-ACK echoes the SYN; without agreement nothing is echoed", "[receiver]") {
  Script host = receiver_script(linux_6());
  host.inject(syn().stamp(77)).expect(Want().echo(77).acknowledges(1));
  Script plain = receiver_script(linux_6());
  plain.inject(syn().stamp(77).no_timestamps()).expect(Want().echo(0));
  plain.inject(empty(1)).inject(data(1, 1460).stamp(78)).expect(ack(1461).echo(0));
}

}  // namespace
}  // namespace linerate::tests
