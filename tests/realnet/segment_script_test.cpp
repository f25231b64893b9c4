// Which frames a scripted path drops and holds: frames written byte by byte after RFC 791, RFC 8200
// and RFC 9293.
#include "realnet/wire/segment_script.hpp"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace linerate::realnet {
namespace {

using Frame = std::vector<std::byte>;
using Verdict = SegmentScript::Verdict;

constexpr std::size_t kEthernet = 14, kIpv4 = 20, kIpv6 = 40, kTcp = 32;  // with timestamps

void put(Frame& frame, std::size_t place, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    frame[place + static_cast<std::size_t>(i)] = std::byte(value >> 8 * (bytes - 1 - i));
}

/// A TCP segment from `port`, padded to the smallest frame without FCS.
Frame segment(std::uint32_t sequence, std::size_t payload, int ip = 4, std::uint16_t port = 4000) {
  const std::size_t header = ip == 4 ? kIpv4 : kIpv6;
  Frame frame(std::max<std::size_t>(kEthernet + header + kTcp + payload, 60));
  put(frame, 12, ip == 4 ? 0x0800 : 0x86dd, 2);
  if (ip == 4) {
    put(frame, kEthernet, 0x45, 1);
    put(frame, kEthernet + 2, static_cast<std::uint32_t>(header + kTcp + payload), 2);
    put(frame, kEthernet + 9, 6, 1);
    put(frame, kEthernet + 15, 1, 1);
  } else {
    put(frame, kEthernet, 0x60, 1);
    put(frame, kEthernet + 4, static_cast<std::uint32_t>(kTcp + payload), 2);
    put(frame, kEthernet + 6, 6, 1);
  }
  const std::size_t tcp = kEthernet + header;
  put(frame, tcp, port, 2);
  put(frame, tcp + 4, sequence, 4);
  put(frame, tcp + 12, kTcp / 4 << 4, 1);
  return frame;
}

Verdict pass(SegmentScript& script, const Frame& frame) {
  return script.judge(script.fresh_payload(frame));
}

}  // namespace

TEST_CASE("segment script: payload is what lies behind the headers, without padding") {
  for (const int ip : {4, 6}) {
    SegmentScript script({});
    CHECK(script.fresh_payload(segment(1, 0, ip)) == Bytes(0));
    CHECK(script.fresh_payload(segment(1, 1, ip)) == Bytes(1));
    CHECK(script.fresh_payload(segment(2, 1448, ip)) == Bytes(1448));
  }
}

experiments::Script losing(std::int64_t segment) {
  experiments::Script script;
  script.drop_data_segments = {segment};
  return script;
}

TEST_CASE(
    "segment script: data segments count at their first transmission, and are lost then only") {
  SegmentScript script(losing(2));
  CHECK(pass(script, segment(0, 0)) == Verdict::pass);  // an ACK
  CHECK(pass(script, segment(1, 1000)) == Verdict::pass);
  CHECK(pass(script, segment(1, 1000)) == Verdict::pass);  // again: not the second
  CHECK(pass(script, segment(1001, 1000)) == Verdict::drop);
  CHECK(pass(script, segment(2001, 1000)) == Verdict::pass);
  CHECK(pass(script, segment(1001, 1000)) == Verdict::pass);  // its repair
  script.restart();
  CHECK(pass(script, segment(1, 1000)) == Verdict::pass);
  CHECK(pass(script, segment(1001, 1000)) == Verdict::drop);
}

TEST_CASE("segment script: connections have sequence numbers of their own, which wrap") {
  SegmentScript script(losing(4));
  CHECK(pass(script, segment(0xfffffe00, 1000)) == Verdict::pass);
  CHECK(pass(script, segment(500, 1000, 4, 4001)) == Verdict::pass);
  CHECK(pass(script, segment(0xfffffe00 + 1000, 1000)) == Verdict::pass);  // beyond 2^32
  CHECK(pass(script, segment(0xfffffe00, 1000)) == Verdict::pass);         // old
  CHECK(pass(script, segment(1500, 1000, 4, 4001)) == Verdict::drop);
}

TEST_CASE("segment script: bursts are lost each time so much has passed") {
  experiments::Script every;
  every.burst_every = Bytes(2000);
  every.burst_frames = 2;
  SegmentScript script(every);
  std::string fates;
  for (std::uint32_t i = 0; i < 8; ++i)
    fates += pass(script, segment(1 + 1000 * i, 1000)) == Verdict::drop ? 'x' : '.';
  CHECK(fates == "..xx..xx");
}

TEST_CASE("segment script: a reordered segment is held") {
  experiments::Script late;
  late.reorder_segment = 2;
  late.reorder_positions = 3;
  SegmentScript script(late);
  CHECK(script.positions() == 3);
  CHECK(pass(script, segment(1, 1000)) == Verdict::pass);
  CHECK(pass(script, segment(1001, 1000)) == Verdict::hold);
  CHECK(pass(script, segment(2001, 1000)) == Verdict::pass);
}

TEST_CASE("segment script: what is no whole TCP segment has no payload") {
  SegmentScript script(losing(1));
  Frame fragment = segment(1, 1000);
  put(fragment, kEthernet + 6, 0x2000, 2);  // more fragments
  Frame udp = segment(1, 1000);
  put(udp, kEthernet + 9, 17, 1);
  Frame cut = segment(1, 1000);
  cut.resize(100);
  Frame short_header = segment(1, 1000);
  put(short_header, kEthernet + kIpv4 + 12, 4 << 4, 1);
  for (const Frame& frame : {fragment, udp, cut, short_header, Frame{}, Frame(14), Frame(60)})
    CHECK(pass(script, frame) == Verdict::pass);
  CHECK(pass(script, segment(1, 1000)) == Verdict::drop);
}

}  // namespace linerate::realnet
