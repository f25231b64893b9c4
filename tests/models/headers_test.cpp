// The bytes of encapsulations as a capture shows them: read back field by field.
#include "models/framing/headers.hpp"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

using namespace linerate;
using namespace linerate::experiments;
using models::encapsulate;
using models::FrameBytes;

namespace {

using List = std::vector<Encapsulation>;
using Octets = std::vector<std::uint8_t>;

// An Ethernet frame with a UDP packet of `payload` zeros in it, DSCP EF and ECT(0).
FrameBytes plain(int ip, std::uint16_t payload, bool tagged = false) {
  Octets bytes{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
  if (tagged) bytes.insert(bytes.end(), {0x81, 0, 0, 7});
  const auto high = [](unsigned value) { return static_cast<std::uint8_t>(value >> 8); };
  const auto low = [](unsigned value) { return static_cast<std::uint8_t>(value & 0xff); };
  const unsigned udp = payload + 8u;
  if (ip == 4) {
    bytes.insert(
        bytes.end(),
        {8,  0, 0x45, 0xba, high(udp + 20), low(udp + 20), 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1,
         10, 0, 0,    2});
  } else {
    bytes.insert(bytes.end(), {0x86, 0xdd, 0x6b, 0xa0, 0, 0, high(udp), low(udp), 17, 64});
    for (const std::uint8_t host : {std::uint8_t{1}, std::uint8_t{2}}) {
      bytes.insert(bytes.end(), {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
      bytes.push_back(host);
    }
  }
  bytes.insert(bytes.end(), {0x10, 0, 0x20, 0, high(udp), low(udp), 0, 0});
  const auto size = static_cast<std::uint32_t>(bytes.size());
  return {bytes, size + payload};
}

EncapsulatedHop hop(const List& list, int ip = 4) {
  return {list, encapsulation_layers(list, ip, Bytes(1500))};
}

FrameBytes wrapped(const List& list, int ip = 4, std::uint16_t payload = 1000) {
  return encapsulate(plain(ip, payload), hop(list, ip),
                     {.source = 3, .destination = 4, .flow = 9, .ordinal = 5});
}

unsigned word(const FrameBytes& frame, std::size_t at) {
  return static_cast<unsigned>(frame.bytes.at(at) << 8 | frame.bytes.at(at + 1));
}

// The ones' complement sum over an IPv4 header with its checksum (RFC 1071).
unsigned header_sum(const FrameBytes& frame, std::size_t at) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < 20; i += 2) sum += word(frame, at + i);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

}  // namespace

TEST_CASE("every stack is as long as its layers say, and its outer IP header says so") {
  for (const List& list :
       std::vector<List>{{},
                         {Vxlan{}},
                         {Vxlan{.vni = 7, .ip = 6}},
                         {Geneve{.options = Bytes(252)}},
                         {InnerVlan{3}, Geneve{}, Esp{}},
                         {Gre{.key = true, .checksum = true, .sequence = true}},
                         {IpInIp{}},
                         {WireGuard{}},
                         {WireGuard{.mtu = {}, .ip = 6}},
                         {Esp{.cipher = EspCipher::cbc_sha1}},
                         {Esp{.mode = EspMode::transport}},
                         {Gre{}, Esp{.mode = EspMode::transport, .nat_traversal = true}}})
    for (const int ip : {4, 6}) {
      const FrameBytes frame = wrapped(list, ip);
      const std::int64_t packet = 1000 + 8 + (ip == 4 ? 20 : 40);
      REQUIRE(frame.length == 14 + expand(hop(list, ip).layers, Bytes(packet)).count());
      REQUIRE(frame.bytes.size() <= frame.length);
      if (word(frame, 12) == 0x0800) {
        CHECK(word(frame, 14 + 2) == frame.length - 14);
        CHECK((list.empty() || header_sum(frame, 14) == 0xffff));
      } else {
        REQUIRE(word(frame, 12) == 0x86dd);
        CHECK(word(frame, 14 + 4) == frame.length - 14 - 40);
      }
    }
}

TEST_CASE("the traffic class of what is inside shows outside") {
  // EF and ECT(0), 0xba, in either version on either side.
  for (const int inner : {4, 6}) {
    CHECK(wrapped({Vxlan{}}, inner).bytes[15] == 0xba);
    CHECK(wrapped({WireGuard{}}, inner).bytes[15] == 0xba);
    CHECK((word(wrapped({Gre{.ip = 6}}, inner), 14) >> 4 & 0xff) == 0xba);
  }
}

TEST_CASE("UDP over IPv6 has a checksum, and it is right") {
  for (const List& list : std::vector<List>{{Vxlan{.vni = 7, .ip = 6}},
                                            {WireGuard{.mtu = {}, .ip = 6}},
                                            {Esp{.nat_traversal = true, .ip = 6}}}) {
    const FrameBytes frame = wrapped(list);
    // RFC 8200 8.1: over addresses, length, protocol, and UDP with zeros behind what is laid out.
    unsigned sum = word(frame, 14 + 4) + 17;
    for (std::size_t at = 14 + 8; at < frame.bytes.size(); at += 2)
      sum += at + 1 < frame.bytes.size() ? word(frame, at) : frame.bytes[at] * 256u;
    while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
    CHECK(sum == 0xffff);
    CHECK(word(frame, 14 + 40 + 6) != 0);
  }
}

TEST_CASE("VXLAN: outer IP, UDP to port 4789, header, inner frame, packet") {
  const FrameBytes frame = wrapped({Vxlan{.vni = 0x123456}});
  CHECK(frame.bytes[14 + 9] == 17);
  CHECK(word(frame, 34) >= 0xc000);             // a dynamic source port
  CHECK(word(frame, 36) == 4789);               // RFC 7348 5
  CHECK(word(frame, 38) == frame.length - 34);  // UDP length
  CHECK(frame.bytes[42] == 0x08);               // I flag
  CHECK(word(frame, 46) == 0x1234);
  CHECK(word(frame, 50 + 12) == 0x0800);  // inner EtherType
  CHECK(frame.bytes[64] == 0x45);
}

TEST_CASE("tags, labels and sessions name what they carry") {
  const FrameBytes qinq = wrapped({QinQ{.outer = 100, .inner = 10}});
  CHECK(word(qinq, 12) == 0x88a8);
  CHECK(word(qinq, 14) == 100);
  CHECK(word(qinq, 16) == 0x8100);
  CHECK(word(qinq, 18) == 10);
  CHECK(word(qinq, 20) == 0x0800);

  const FrameBytes mpls = wrapped({Mpls{.labels = 2}});
  CHECK(word(mpls, 12) == 0x8847);
  CHECK((mpls.bytes[16] & 1) == 0);  // bottom of stack: the inner one alone (RFC 3032 2.1)
  CHECK((mpls.bytes[20] & 1) == 1);

  const FrameBytes pppoe = wrapped({Pppoe{}}, 6);
  CHECK(word(pppoe, 12) == 0x8864);
  CHECK(pppoe.bytes[14] == 0x11);
  CHECK(word(pppoe, 18) == pppoe.length - 14 - 6);
  CHECK(word(pppoe, 20) == 0x0057);

  const FrameBytes tagged =
      encapsulate(plain(4, 100, true), hop({Pppoe{}}), {.source = 1, .destination = 2});
  CHECK(word(tagged, 12) == 0x8100);  // the NIC's own tag stays outside
  CHECK(word(tagged, 16) == 0x8864);
}

TEST_CASE("what is enciphered is not there to read") {
  for (const List& list : std::vector<List>{{WireGuard{}}, {Esp{}}, {MacSec{.sci = true}}}) {
    const FrameBytes frame = wrapped(list);
    // Addresses of the inner packet, 10.0.0.1 and 10.0.0.2, stand nowhere.
    for (std::size_t i = 14; i + 3 < frame.bytes.size(); ++i)
      CHECK_FALSE((frame.bytes[i] == 10 && word(frame, i + 1) == 0));
  }
  const FrameBytes transport = wrapped({Esp{.mode = EspMode::transport}});
  CHECK(transport.bytes[14 + 9] == 50);
  CHECK(transport.bytes[14 + 12] == 10);  // its own header stays
}

TEST_CASE("MACsec counts its EtherType among what it protects") {
  const FrameBytes frame = wrapped({MacSec{.sci = true}}, 4, 0);
  CHECK(word(frame, 12) == 0x88e5);
  CHECK(frame.bytes[14] == 0x2c);
  CHECK(frame.bytes[15] == 2 + 28);  // short length: below 48 (IEEE 802.1AE 9.7)
  CHECK(wrapped({MacSec{}}).bytes[15] == 0);
}

TEST_CASE("a frame without an IP packet stays as it is") {
  const FrameBytes raw{{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5}, 60};
  const FrameBytes same = encapsulate(raw, hop({Vxlan{}}), {.source = 1, .destination = 2});
  CHECK(same.bytes == raw.bytes);
  CHECK(same.length == 60);
}
