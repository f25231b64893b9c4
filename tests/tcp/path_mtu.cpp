// Paths that take less than the ends believe, and say nothing (RFC 2923 2.1).
#include <algorithm>
#include <catch2/catch.hpp>

#include "models/tcp/scoreboard.hpp"
#include "sender_stacks.hpp"
#include "two_hosts.hpp"

namespace linerate::tests {
namespace {

using models::tcp::Scoreboard;
using models::tcp::SentSegment;

PathSetup narrow_path() {
  PathSetup path;
  path.mtu = Bytes(1400);
  return path;
}

TEST_CASE("a black hole: short segments pass, full ones never do", "[mtu]") {
  SECTION("a transfer of full segments stands still") {
    TwoHosts hosts(linux_6_sender(), linux_6(), narrow_path(), {.total = Bytes(1'000'000)});
    hosts.run(Time::seconds(60));
    CHECK(hosts.delivered() == Bytes(0));
    CHECK(hosts.sender().info().timeouts >= 6);
  }
  SECTION("writes that fit go through") {
    TwoHosts hosts(linux_6_sender(), linux_6(), narrow_path(),
                   {.write = Bytes(1000), .period = Time::milliseconds(50), .writes = 20});
    hosts.run(Time::seconds(60));
    CHECK(hosts.delivered() == Bytes(20'000));
    CHECK(hosts.sender().info().timeouts == 0);
  }
  SECTION("a sender that knows the path's MTU never sends more") {
    models::tcp::EndpointConfig config = linux_6_sender();
    config.path_mtu = Bytes(1400);
    TwoHosts hosts(config, linux_6(), narrow_path(), {.total = Bytes(1'000'000)});
    hosts.run();
    CHECK(hosts.delivered() == Bytes(1'000'000));
    CHECK(hosts.sender().info().segment_size == 1400 - 52);
    CHECK(hosts.sender().info().retransmits == 0);
  }
}

TEST_CASE("RFC 4821 7.7: repeated timeouts find the black hole and make segments smaller",
          "[mtu]") {
  models::tcp::EndpointConfig config = linux_6_sender();
  config.stack.mtu_probing = true;
  SECTION("1024 B fit: the first size tried") {
    TwoHosts hosts(config, linux_6(), narrow_path(), {.total = Bytes(1'000'000)});
    hosts.run();
    CHECK(hosts.delivered() == Bytes(1'000'000));
    CHECK(hosts.sender().info().segment_size == 1024);
    // Three doublings of 200 ms, 3 s, after the first timeout; found at the next timeout then.
    CHECK(hosts.completion() > Time::milliseconds(3200));
    CHECK(hosts.completion() < Time::milliseconds(7000));
  }
  SECTION("halved until it fits, once a timeout") {
    PathSetup path = narrow_path();
    path.mtu = Bytes(400);
    TwoHosts hosts(config, linux_6(), path, {.total = Bytes(100'000)});
    hosts.run();
    CHECK(hosts.delivered() == Bytes(100'000));
    CHECK(hosts.sender().info().segment_size == 256);
  }
}

TEST_CASE("recut segments cover the same bytes with the same marks", "[mtu]") {
  Scoreboard board;
  board.push({1, Time{}, 1448, 0, 0});
  board.push({1449, Time{}, 1448, 0, SentSegment::kBufferEnd});
  board.push({2897, Time{}, 100, 0, SentSegment::kEndOfStream});
  board.mark_lost(board.first());
  board.mark_sacked(board.first() + 1);
  board.recut(1000);
  CHECK(board.size() == 5);
  CHECK(board.lost() == 2);
  CHECK(board.sacked() == 2);
  models::tcp::Sequence next = 1;
  for (auto i = board.first(); i != board.end(); ++i) {
    CHECK(board.at(i).begin == next);
    CHECK(board.at(i).length <= 1000);
    next += board.at(i).length;
  }
  CHECK(next == 2997);
  CHECK_FALSE(board.at(board.first() + 2).has(SentSegment::kBufferEnd));
  CHECK(board.at(board.first() + 3).has(SentSegment::kBufferEnd));
  CHECK(board.back().has(SentSegment::kEndOfStream));
  CHECK(board.next_unsacked(board.first() + 2) == board.first() + 4);
}

}  // namespace
}  // namespace linerate::tests
