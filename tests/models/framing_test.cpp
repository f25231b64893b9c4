// Framing against the published ceilings: what a full frame carries and how fast a line moves it.
#include "models/framing/framing.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using linerate::BitRate;
using linerate::Bytes;
using namespace linerate::models;

namespace {

const BitRate k100M = BitRate::bits_per_second(100'000'000);
const BitRate k1G = BitRate::bits_per_second(1'000'000'000);

// A full frame at an MTU: its payload and wire bytes, payload per wire byte, goodput of a full
// 100 Mbit/s and 1 Gbit/s line, and thousands of frames a second at 100 Mbit/s.
struct Ceiling {
  const char* name;
  Framing framing;
  int mtu;
  int payload, wire;
  double percent, mbit_at_100m, mbit_at_1g, kpps_at_100m;
};

Bytes options(bool timestamps, int sack_blocks = 0, bool connection_count = false) {
  return tcp_option_bytes(
      {.timestamps = timestamps, .sack_blocks = sack_blocks, .connection_count = connection_count});
}

std::vector<Ceiling> ceilings() {
  const Framing tcp4 = tcp_framing(4), tcp4_ts = tcp_framing(4, options(true));
  const Framing tcp6 = tcp_framing(6), tcp6_ts = tcp_framing(6, options(true));
  const Framing tcp4_cc = tcp_framing(4, options(true, 0, true));
  const Framing tcp4_sack1 = tcp_framing(4, options(true, 1));
  const Framing tcp4_sack3 = tcp_framing(4, options(true, 3));
  const Framing tagged = tcp_framing(4, options(true), Vlan::tagged);
  // clang-format off
  return {
      //                             MTU  payload wire   %        100M     1G       kpps
      {"TCP/IPv4",          tcp4,       1500, 1460, 1538, 94.9285, 94.9285, 949.285, 8.1274},
      {"TCP/IPv4 TS",       tcp4_ts,    1500, 1448, 1538, 94.1482, 94.1482, 941.482, 8.1274},
      {"TCP/IPv4 TS CC",    tcp4_cc,    1500, 1440, 1538, 93.6281, 93.6281, 936.281, 8.1274},
      {"TCP/IPv4 TS SACK1", tcp4_sack1, 1500, 1436, 1538, 93.3680, 93.3680, 933.680, 8.1274},
      {"TCP/IPv4 TS SACK3", tcp4_sack3, 1500, 1420, 1538, 92.3277, 92.3277, 923.277, 8.1274},
      {"TCP/IPv6",          tcp6,       1500, 1440, 1538, 93.6281, 93.6281, 936.281, 8.1274},
      {"TCP/IPv6 TS",       tcp6_ts,    1500, 1428, 1538, 92.8479, 92.8479, 928.479, 8.1274},
      {"UDP/IPv4",     udp_framing(4),  1500, 1472, 1538, 95.7087, 95.7087, 957.087, 8.1274},
      {"UDP/IPv6",     udp_framing(6),  1500, 1452, 1538, 94.4083, 94.4083, 944.083, 8.1274},
      {"TCP/IPv4",          tcp4,       9000, 8960, 9038, 99.1370, 99.1370, 991.370, 1.3830},
      {"TCP/IPv4 TS",       tcp4_ts,    9000, 8948, 9038, 99.0042, 99.0042, 990.042, 1.3830},
      {"TCP/IPv4 TS SACK1", tcp4_sack1, 9000, 8936, 9038, 98.8714, 98.8714, 988.714, 1.3830},
      {"TCP/IPv4 TS SACK3", tcp4_sack3, 9000, 8920, 9038, 98.6944, 98.6944, 986.944, 1.3830},
      {"TCP/IPv6",          tcp6,       9000, 8940, 9038, 98.9157, 98.9157, 989.157, 1.3830},
      {"TCP/IPv6 TS",       tcp6_ts,    9000, 8928, 9038, 98.7829, 98.7829, 987.829, 1.3830},
      {"UDP/IPv4",     udp_framing(4),  9000, 8972, 9038, 99.2697, 99.2697, 992.697, 1.3830},
      {"UDP/IPv6",     udp_framing(6),  9000, 8952, 9038, 99.0485, 99.0485, 990.485, 1.3830},
      {"TCP/IPv4 TS 802.1Q", tagged,    1500, 1448, 1542, 93.9040, 93.9040, 939.040, 8.1064},
      {"raw 64 B",     raw_framing(),     64,   64,   84, 76.1905, 76.1905, 761.905, 148.8095},
      {"raw 1518 B",   raw_framing(),   1518, 1518, 1538, 98.6996, 98.6996, 986.996, 8.1274},
  };
  // clang-format on
}

double rate_at(const Ledger& ledger, BitRate line, const std::string& level) {
  for (const auto& rate : layer_rates(ledger, line))
    if (rate.name == level) return rate.rate;
  FAIL("no rate at " << level);
  return 0;
}

std::vector<Framing> every_framing() {
  std::vector<Framing> all{raw_framing()};
  for (const int ip : {4, 6})
    for (const Vlan vlan : {Vlan::untagged, Vlan::tagged}) {
      all.push_back(udp_framing(ip, vlan));
      for (const int words : {0, 3, 5, 10}) all.push_back(tcp_framing(ip, Bytes(4 * words), vlan));
    }
  return all;
}

}  // namespace

TEST_CASE("a full frame reaches the published ceiling of its stack") {
  for (const Ceiling& row : ceilings()) {
    INFO(row.name << ", MTU " << row.mtu);
    CHECK(row.framing.max_payload(Bytes(row.mtu)) == Bytes(row.payload));
    CHECK(row.framing.wire_size(Bytes(row.payload)) == Bytes(row.wire));
    const Ledger ledger = row.framing.ledger(Bytes(row.payload));
    CHECK(ledger.wire() == Bytes(row.wire));
    // The table gives four decimals of a percentage and of kpps, three of Mbit/s.
    const auto payload_rate = [&](BitRate line) { return rate_at(ledger, line, "payload") / 1e6; };
    CHECK(100.0 * row.payload / row.wire == Approx(row.percent).margin(0.00006));
    CHECK(payload_rate(k100M) == Approx(row.mbit_at_100m).margin(0.00006));
    CHECK(payload_rate(k1G) == Approx(row.mbit_at_1g).margin(0.0006));
    CHECK(frame_rate(ledger, k100M) / 1e3 == Approx(row.kpps_at_100m).margin(0.00006));
  }
}

TEST_CASE("the ledger names every byte of a full TCP frame with timestamps and a VLAN tag") {
  const Ledger ledger = tcp_framing(4, Bytes(12), Vlan::tagged).ledger(Bytes(1448));
  CHECK(ledger.parts == std::vector<Part>{{"TCP header", Bytes(20)},
                                          {"TCP options", Bytes(12)},
                                          {"IPv4 header", Bytes(20)},
                                          {"802.1Q tag", Bytes(4)},
                                          {"Ethernet header", Bytes(14)},
                                          {"FCS", Bytes(4)},
                                          {"preamble", Bytes(8)},
                                          {"inter-frame gap", Bytes(12)}});
  CHECK(ledger.levels == std::vector<Part>{{"payload", Bytes(1448)},
                                           {"l4", Bytes(1480)},
                                           {"l3", Bytes(1500)},
                                           {"l2", Bytes(1522)},
                                           {"wire", Bytes(1542)}});
}

TEST_CASE("a full line moves exactly its rate on the wire and less at every level inside") {
  for (const Framing& framing : every_framing())
    for (const int payload : {0, 1, 64, 1000}) {
      const auto rates = layer_rates(framing.ledger(Bytes(payload)), k1G);
      CHECK(rates.back().rate == Approx(1e9));
      for (std::size_t i = 1; i < rates.size(); ++i) CHECK(rates[i - 1].rate <= rates[i].rate);
    }
}

TEST_CASE(
    "a pure acknowledgement is a minimum frame without options and 70 bytes with timestamps") {
  const auto frame_and_wire = [](const Framing& framing) {
    return std::pair(framing.frame_size(Bytes(0)).count(), framing.wire_size(Bytes(0)).count());
  };
  using Sizes = std::pair<std::int64_t, std::int64_t>;
  CHECK(frame_and_wire(tcp_framing(4)) == Sizes{64, 84});
  CHECK(frame_and_wire(tcp_framing(4, options(true))) == Sizes{70, 90});
  CHECK(frame_and_wire(tcp_framing(4, options(true, 3))) == Sizes{98, 118});
  CHECK(frame_and_wire(tcp_framing(6)) == Sizes{78, 98});
  CHECK(frame_and_wire(tcp_framing(6, options(true))) == Sizes{90, 110});
  CHECK(frame_and_wire(tcp_framing(4, Bytes(0), Vlan::tagged)) == Sizes{64, 84});
  // Half duplex, an ACK for every second segment: the wire is shared (1448 / (1538 + 45)).
  const Framing data = tcp_framing(4, options(true));
  const double share = 1448.0 / (static_cast<double>(data.wire_size(Bytes(1448)).count()) +
                                 static_cast<double>(data.wire_size(Bytes(0)).count()) / 2);
  CHECK(100 * share == Approx(91.47).margin(0.006));
}

TEST_CASE("padding fills a frame to 64 bytes and no further") {
  // 46 bytes of Ethernet payload need no pad: IPv4 and UDP leave 18.
  const Framing udp = udp_framing(4);
  CHECK(udp.frame_size(Bytes(0)) == Bytes(64));
  CHECK(udp.frame_size(Bytes(18)) == Bytes(64));
  CHECK(udp.frame_size(Bytes(19)) == Bytes(65));
  // A tag counts towards the minimum.
  CHECK(udp_framing(4, Vlan::tagged).frame_size(Bytes(14)) == Bytes(64));
  CHECK(udp_framing(4, Vlan::tagged).frame_size(Bytes(15)) == Bytes(65));

  const auto pad = [&](int payload) {
    std::int64_t bytes = 0;
    for (const Part& part : udp.ledger(Bytes(payload)).parts)
      if (part.name == "pad") bytes += part.size.count();
    return bytes;
  };
  for (int payload = 0; payload < 40; ++payload) CHECK(pad(payload) == std::max(0, 18 - payload));
}

TEST_CASE("the sums of the hot path are the layers applied one after the other") {
  for (const Framing& framing : every_framing())
    for (int payload = 0; payload <= 1500; ++payload) {
      Bytes size(payload), frame;
      for (const Layer& layer : framing.layers()) {
        frame = size;
        size = layer.expand(size);
      }
      REQUIRE(framing.frame_size(Bytes(payload)) == frame);
      REQUIRE(framing.wire_size(Bytes(payload)) == size);
      REQUIRE(wire_size_of_frame(frame) == size);

      const Ledger ledger = framing.ledger(Bytes(payload));
      Bytes sum = ledger.payload;
      for (const Part& part : ledger.parts) sum += part.size;
      REQUIRE(sum == size);
      REQUIRE(ledger.wire() == size);
    }
}

TEST_CASE("a layer that pads inside another is padded once and carried whole") {
  // A frame in a frame: the inner one is padded to 64 before the outer adds its 18.
  const Framing nested({ethernet_layer(), ip_layer(4), ethernet_layer(), wire_layer()});
  CHECK(nested.frame_size(Bytes(1)) == Bytes(64 + 20 + 18));
  CHECK(nested.frame_size(Bytes(100)) == Bytes(118 + 20 + 18));
  // The inner frame counts against the MTU, the outer one does not.
  CHECK(nested.max_payload(Bytes(1500)) == Bytes(1500 - 20 - 18));
}

TEST_CASE("the largest payload fills the MTU to the byte") {
  for (const Framing& framing : every_framing())
    for (const int mtu : {576, 1500, 9000})
      CHECK(framing.packet_size(framing.max_payload(Bytes(mtu))) == Bytes(mtu));
  CHECK(tcp_framing(4).max_payload(Bytes(1500)) ==
        tcp_framing(4, Bytes(0), Vlan::tagged).max_payload(Bytes(1500)));
}

TEST_CASE("TCP options are padded to words, as on the wire") {
  CHECK(options(false) == Bytes(0));
  CHECK(options(true) == Bytes(12));      // RFC 7323, appendix A
  CHECK(options(false, 1) == Bytes(12));  // RFC 2018, 3: 2 + 8 n, and two NOPs
  CHECK(options(false, 2) == Bytes(20));
  CHECK(options(false, 4) == Bytes(36));       // the most that fit alone
  CHECK(options(true, 3) == Bytes(40));        // timestamps leave room for three
  CHECK(options(false, 0, true) == Bytes(8));  // RFC 1644: 6, and two NOPs
  CHECK(options(true, 0, true) == Bytes(20));
}

TEST_CASE("10 Gbit/s carries 14.88 million minimum frames a second") {
  const Ledger ledger = raw_framing().ledger(Bytes(64));
  CHECK(frame_rate(ledger, BitRate::bits_per_second(10'000'000'000)) / 1e6 ==
        Approx(14.88).margin(0.005));
}
