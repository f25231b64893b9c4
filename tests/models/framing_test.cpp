// Framing against the published ceilings: what a full frame carries and how fast a line moves it.
#include "models/framing/framing.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "experiments/definition/fragments.hpp"

using linerate::BitRate;
using linerate::Bytes;
namespace experiments = linerate::experiments;
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

using namespace linerate::experiments;
using List = std::vector<Encapsulation>;

// The frames of a NIC with these encapsulations.
Carriage around(const List& list, int mtu = 1500, int ip = 4) {
  return {.ip = ip, .encapsulation = encapsulation_layers(list, ip, Bytes(mtu))};
}

// The largest packet that fits inside `list` at an MTU.
std::int64_t room(const List& list, int mtu = 1500, int ip = 4) {
  return inner_mtu(encapsulation_layers(list, ip, Bytes(mtu)), Bytes(mtu)).count();
}

// What `list` makes of a packet, the Ethernet header not counted.
std::int64_t outside(const List& list, int packet, int mtu = 1500, int ip = 4) {
  return expand(encapsulation_layers(list, ip, Bytes(mtu)), Bytes(packet)).count();
}

std::vector<Ceiling> ceilings() {
  const Framing tcp4 = tcp_framing({.ip = 4}), tcp4_ts = tcp_framing({.ip = 4}, options(true));
  const Framing tcp6 = tcp_framing({.ip = 6}), tcp6_ts = tcp_framing({.ip = 6}, options(true));
  const Framing tcp4_cc = tcp_framing({.ip = 4}, options(true, 0, true));
  const Framing tcp4_sack1 = tcp_framing({.ip = 4}, options(true, 1));
  const Framing tcp4_sack3 = tcp_framing({.ip = 4}, options(true, 3));
  const auto ts = [](const List& list, int mtu = 1500) {
    return tcp_framing(around(list, mtu), options(true));
  };
  const Framing qinq = ts({QinQ{}}), pppoe = ts({Pppoe{}}), macsec = ts({MacSec{}});
  const Framing macsec_sci = ts({MacSec{.sci = true}}), gre = ts({Gre{}});
  const Framing vxlan = ts({Vxlan{}}), wireguard = ts({WireGuard{}});
  const Framing esp_gcm = ts({Esp{}}), esp_nat = ts({Esp{.nat_traversal = true}});
  const Framing esp_sha1 = ts({Esp{.cipher = EspCipher::cbc_sha1}});
  const Framing esp_sha256 = ts({Esp{.cipher = EspCipher::cbc_sha256}});
  const Framing tagged = tcp_framing({.ip = 4, .vlan = Vlan::tagged}, options(true));
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
      {"UDP/IPv4",     udp_framing({.ip = 4}),  1500, 1472, 1538, 95.7087, 95.7087, 957.087, 8.1274},
      {"UDP/IPv6",     udp_framing({.ip = 6}),  1500, 1452, 1538, 94.4083, 94.4083, 944.083, 8.1274},
      {"TCP/IPv4",          tcp4,       9000, 8960, 9038, 99.1370, 99.1370, 991.370, 1.3830},
      {"TCP/IPv4 TS",       tcp4_ts,    9000, 8948, 9038, 99.0042, 99.0042, 990.042, 1.3830},
      {"TCP/IPv4 TS SACK1", tcp4_sack1, 9000, 8936, 9038, 98.8714, 98.8714, 988.714, 1.3830},
      {"TCP/IPv4 TS SACK3", tcp4_sack3, 9000, 8920, 9038, 98.6944, 98.6944, 986.944, 1.3830},
      {"TCP/IPv6",          tcp6,       9000, 8940, 9038, 98.9157, 98.9157, 989.157, 1.3830},
      {"TCP/IPv6 TS",       tcp6_ts,    9000, 8928, 9038, 98.7829, 98.7829, 987.829, 1.3830},
      {"UDP/IPv4",     udp_framing({.ip = 4}),  9000, 8972, 9038, 99.2697, 99.2697, 992.697, 1.3830},
      {"UDP/IPv6",     udp_framing({.ip = 6}),  9000, 8952, 9038, 99.0485, 99.0485, 990.485, 1.3830},
      {"TCP/IPv4 TS 802.1Q", tagged,    1500, 1448, 1542, 93.9040, 93.9040, 939.040, 8.1064},
      {"QinQ",               qinq,      1500, 1448, 1546, 93.6611, 93.6611, 936.611, 8.0854},
      {"PPPoE",              pppoe,     1500, 1440, 1538, 93.6281, 93.6281, 936.281, 8.1274},
      {"MACsec",             macsec,    1500, 1448, 1562, 92.7017, 92.7017, 927.017, 8.0026},
      {"MACsec with SCI", macsec_sci,   1500, 1448, 1570, 92.2293, 92.2293, 922.293, 7.9618},
      {"GRE",                gre,       1500, 1424, 1538, 92.5878, 92.5878, 925.878, 8.1274},
      {"VXLAN",              vxlan,     1500, 1398, 1538, 90.8973, 90.8973, 908.973, 8.1274},
      {"VXLAN, MTU 1550",    vxlan,     1550, 1448, 1588, 91.1839, 91.1839, 911.839, 7.8715},
      {"WireGuard",          wireguard, 1500, 1368, 1518, 90.1186, 90.1186, 901.186, 8.2345},
      {"ESP GCM",            esp_gcm,   1500, 1394, 1538, 90.6372, 90.6372, 906.372, 8.1274},
      {"ESP GCM NAT-T",      esp_nat,   1500, 1386, 1538, 90.1170, 90.1170, 901.170, 8.1274},
      {"ESP CBC SHA1",       esp_sha1,  1500, 1386, 1534, 90.3520, 90.3520, 903.520, 8.1486},
      {"ESP CBC SHA-256",    esp_sha256, 1500, 1386, 1538, 90.1170, 90.1170, 901.170, 8.1274},
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
      all.push_back(udp_framing({.ip = ip, .vlan = vlan}));
      for (const int words : {0, 3, 5, 10})
        all.push_back(tcp_framing({.ip = ip, .vlan = vlan}, Bytes(4 * words)));
    }
  for (const List& list : std::vector<List>{{Vxlan{}, Esp{}},
                                            {WireGuard{.mtu = {}, .ip = 6}, Pppoe{}},
                                            {InnerVlan{}, Geneve{.options = Bytes(8)}, MacSec{}},
                                            {Mpls{.labels = 2}, Gre{.key = true}, QinQ{}}}) {
    all.push_back(udp_framing(around(list)));
    all.push_back(tcp_framing(around(list, 1500, 6), options(true)));
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
  const Ledger ledger = tcp_framing({.ip = 4, .vlan = Vlan::tagged}, Bytes(12)).ledger(Bytes(1448));
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
  CHECK(frame_and_wire(tcp_framing({.ip = 4})) == Sizes{64, 84});
  CHECK(frame_and_wire(tcp_framing({.ip = 4}, options(true))) == Sizes{70, 90});
  CHECK(frame_and_wire(tcp_framing({.ip = 4}, options(true, 3))) == Sizes{98, 118});
  CHECK(frame_and_wire(tcp_framing({.ip = 6})) == Sizes{78, 98});
  CHECK(frame_and_wire(tcp_framing({.ip = 6}, options(true))) == Sizes{90, 110});
  CHECK(frame_and_wire(tcp_framing({.ip = 4, .vlan = Vlan::tagged}, Bytes(0))) == Sizes{64, 84});
  // Half duplex, an ACK for every second segment: the wire is shared (1448 / (1538 + 45)).
  const Framing data = tcp_framing({.ip = 4}, options(true));
  const double share = 1448.0 / (static_cast<double>(data.wire_size(Bytes(1448)).count()) +
                                 static_cast<double>(data.wire_size(Bytes(0)).count()) / 2);
  CHECK(100 * share == Approx(91.47).margin(0.006));
}

TEST_CASE("padding fills a frame to 64 bytes and no further") {
  // 46 bytes of Ethernet payload need no pad: IPv4 and UDP leave 18.
  const Framing udp = udp_framing({.ip = 4});
  CHECK(udp.frame_size(Bytes(0)) == Bytes(64));
  CHECK(udp.frame_size(Bytes(18)) == Bytes(64));
  CHECK(udp.frame_size(Bytes(19)) == Bytes(65));
  // A tag counts towards the minimum.
  CHECK(udp_framing({.ip = 4, .vlan = Vlan::tagged}).frame_size(Bytes(14)) == Bytes(64));
  CHECK(udp_framing({.ip = 4, .vlan = Vlan::tagged}).frame_size(Bytes(15)) == Bytes(65));

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
  for (const Framing& framing : {tcp_framing({.ip = 4}), tcp_framing({.ip = 6}, options(true)),
                                 udp_framing({.ip = 6, .vlan = Vlan::tagged})})
    for (const int mtu : {576, 1500, 9000})
      CHECK(framing.packet_size(framing.max_payload(Bytes(mtu))) == Bytes(mtu));
  CHECK(tcp_framing({.ip = 4}).max_payload(Bytes(1500)) ==
        tcp_framing({.ip = 4, .vlan = Vlan::tagged}, Bytes(0)).max_payload(Bytes(1500)));
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

TEST_CASE("an encapsulation leaves the room its standard says") {
  CHECK(room({Pppoe{}}) == 1492);        // RFC 2516, 7
  CHECK(room({Pppoe{}}, 1508) == 1500);  // RFC 4638
  CHECK(room({Mpls{}}) == 1496);         // RFC 3032, 3.2
  CHECK(room({Mpls{.labels = 3}}) == 1488);
  CHECK(room({QinQ{}}) == 1500);
  CHECK(room({MacSec{}}) == 1500);
  CHECK(room({IpInIp{}}) == 1480);         // RFC 2003
  CHECK(room({IpInIp{.ip = 6}}) == 1460);  // RFC 2473, 7
  CHECK(room({Gre{}}) == 1476);            // RFC 2784
  CHECK(room({Gre{.key = true, .checksum = true, .sequence = true}}) == 1464);
  CHECK(room({Vxlan{}}) == 1450);  // RFC 7348: 50 bytes, 70 over IPv6
  CHECK(room({Vxlan{.ip = 6}}) == 1430);
  CHECK(room({InnerVlan{}, Vxlan{}}) == 1446);
  CHECK(room({Geneve{}}) == 1450);
  CHECK(room({Geneve{.options = Bytes(8)}}) == 1442);
  CHECK(room({WireGuard{}}) == 1420);  // wg-quick(8): 80 below the outside
  CHECK(room({WireGuard{.mtu = Bytes(1440)}}) == 1440);
  CHECK(room({WireGuard{}, Pppoe{}}) == 1412);
  CHECK(room({Esp{}}) == 1446);
  CHECK(room({Esp{.ip = 6}}) == 1426);
  CHECK(room({Esp{.mode = EspMode::transport}}) == 1466);
  CHECK(room({Vxlan{}, Esp{.mode = EspMode::transport}}) == 1416);
}

TEST_CASE("WireGuard pads to 16 bytes but never beyond the tunnel's MTU") {
  // 32 of header and tag, 8 of UDP, 20 or 40 of IP.
  for (const int ip : {4, 6}) {
    const List list{WireGuard{.mtu = {}, .ip = ip}};
    const int around_it = 32 + 8 + (ip == 4 ? 20 : 40);
    for (int packet = 1; packet <= 1420; ++packet)
      REQUIRE(outside(list, packet) == std::min((packet + 15) / 16 * 16, 1420) + around_it);
  }
  // A full packet with the outer IPv6 header fills the outer MTU.
  CHECK(outside({WireGuard{.mtu = {}, .ip = 6}}, 1420) == 1500);
}

TEST_CASE("ESP pads what it enciphers, trailer included, to its block") {
  struct Row {
    EspCipher cipher;
    int block, vector, check;
  };
  for (const Row& row : {Row{EspCipher::gcm, 4, 8, 16}, Row{EspCipher::cbc_sha1, 16, 16, 12},
                         Row{EspCipher::cbc_sha256, 16, 16, 16}})
    for (const EspMode mode : {EspMode::tunnel, EspMode::transport})
      for (const bool nat : {false, true})
        for (int packet = 20; packet <= 1500; ++packet) {
          const List list{Esp{row.cipher, mode, nat, 4}};
          // In transport mode the packet's own IP header stays outside.
          const int sealed = packet - (mode == EspMode::transport ? 20 : 0) + 2;
          const std::int64_t size = outside(list, packet);
          const std::int64_t fixed = 20 + (nat ? 8 : 0) + 8 + row.vector + row.check;
          REQUIRE((size - fixed) % row.block == 0);
          REQUIRE(size - fixed >= sealed);
          REQUIRE(size - fixed < sealed + row.block);
        }
}

TEST_CASE("the largest packet inside fits the MTU, one byte more does not") {
  for (const List& list : std::vector<List>{{Pppoe{}},
                                            {Mpls{.labels = 2}, Gre{.checksum = true}},
                                            {Vxlan{}, Esp{.mode = EspMode::transport}},
                                            {Gre{}, Esp{.cipher = EspCipher::cbc_sha256}},
                                            {Geneve{.options = Bytes(16)}, Esp{.ip = 6}, Pppoe{}},
                                            {IpInIp{}, Esp{.cipher = EspCipher::cbc_sha1}}})
    for (const int ip : {4, 6})
      for (int mtu = 1280; mtu <= 1600; ++mtu) {
        const auto most = static_cast<int>(room(list, mtu, ip));
        REQUIRE(outside(list, most, mtu, ip) <= mtu);
        REQUIRE(outside(list, most + 1, mtu, ip) > mtu);
      }
}

TEST_CASE("a tag in a tunnel counts against the MTU, around it not") {
  CHECK(room({QinQ{}, Vxlan{}}) == 1500 - 50 - 8);
  CHECK(room({Vxlan{}, QinQ{}}) == 1500 - 50);
  CHECK(tcp_framing(around({Vxlan{}, QinQ{}})).wire_size(Bytes(1410)) == Bytes(1538 + 8));
}

TEST_CASE("the ledger names every byte of VXLAN inside ESP") {
  // 1396 B of packet are 1446 with VXLAN, and with the ESP trailer 1448: 4 x 362.
  const Framing framing = tcp_framing(around({Vxlan{}, Esp{}}), options(true));
  const Bytes payload = framing.max_payload(Bytes(1500));
  CHECK(payload == Bytes(1344));
  const Ledger ledger = framing.ledger(payload);
  CHECK(ledger.parts == std::vector<Part>{{"TCP header", Bytes(20)},
                                          {"TCP options", Bytes(12)},
                                          {"IPv4 header", Bytes(20)},
                                          {"inner Ethernet header", Bytes(14)},
                                          {"VXLAN header", Bytes(8)},
                                          {"outer UDP header", Bytes(8)},
                                          {"outer IPv4 header", Bytes(20)},
                                          {"ESP IV", Bytes(8)},
                                          {"ESP header", Bytes(8)},
                                          {"outer IPv4 header", Bytes(20)},
                                          {"ESP trailer", Bytes(2)},
                                          {"ESP ICV", Bytes(16)},
                                          {"Ethernet header", Bytes(14)},
                                          {"FCS", Bytes(4)},
                                          {"preamble", Bytes(8)},
                                          {"inter-frame gap", Bytes(12)}});
  CHECK(ledger.levels == std::vector<Part>{{"payload", Bytes(1344)},
                                           {"l4", Bytes(1376)},
                                           {"l3", Bytes(1396)},
                                           {"vxlan", Bytes(1446)},
                                           {"esp", Bytes(1500)},
                                           {"l2", Bytes(1518)},
                                           {"wire", Bytes(1538)}});
}

TEST_CASE("what cannot carry what is inside it is a misfit") {
  const auto misfit = [](const List& list) {
    const auto found = find_misfit(list);
    return found ? static_cast<int>(found->index) : -1;
  };
  CHECK(misfit({}) == -1);
  CHECK(misfit({Vxlan{}, Esp{}, Pppoe{}, MacSec{}}) == -1);
  CHECK(misfit({Mpls{}, Gre{}}) == -1);  // RFC 4023
  CHECK(misfit({Mpls{}, Pppoe{}}) == -1);
  CHECK(misfit({Pppoe{}, Vxlan{}}) == -1);
  CHECK(misfit({Pppoe{}, Esp{}}) == 1);  // ESP carries packets
  CHECK(misfit({QinQ{}, WireGuard{}}) == 1);
  CHECK(misfit({Mpls{}, IpInIp{}}) == 1);
  CHECK(misfit({QinQ{}, Pppoe{}}) == 1);
  CHECK(misfit({MacSec{}, Mpls{}}) == 1);
  CHECK(misfit({InnerVlan{}}) == 0);
  CHECK(misfit({InnerVlan{}, MacSec{}}) == 0);
  CHECK(misfit({InnerVlan{}, Vxlan{}}) == -1);
  CHECK(misfit({Gre{}, Geneve{.options = Bytes(6)}}) == 1);
  CHECK(misfit({Gre{.ip = 5}}) == 0);
}

TEST_CASE("an IP payload travels in n = ceil(P / (8 floor((MTU - 20) / 8))) fragments") {
  for (const int mtu : {68, 576, 1500, 9000})
    for (const int payload : {1, 8, 48, 49, 555, 1480, 1481, 2960, 2961, 8980, 65515}) {
      const Fragments packets = fragments(4, Bytes(payload), Bytes(mtu));
      const int unit = (mtu - 20) / 8 * 8;
      INFO(payload << " at " << mtu);
      const bool whole = payload + 20 <= mtu;
      REQUIRE(packets.count == (whole ? 1 : (payload + unit - 1) / unit));
      // Every byte travels once, no packet is larger than the MTU, offsets are whole words.
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < packets.count; ++i) {
        const std::int64_t part = (packets.packet(i) - packets.header).count();
        sum += part;
        REQUIRE(packets.packet(i) <= Bytes(mtu));
        REQUIRE(part > 0);
        if (i + 1 < packets.count) REQUIRE(part % 8 == 0);
      }
      REQUIRE(sum == payload);
    }
  // IPv6: 8 bytes more in each (RFC 8200, 4.5), none in a packet that fits.
  CHECK(fragments(6, Bytes(1460), Bytes(1500)).full == Bytes(1500));
  CHECK(fragments(6, Bytes(1460), Bytes(1500)).count == 1);
  const Fragments two = fragments(6, Bytes(1461), Bytes(1500));
  CHECK(two.count == 2);
  CHECK(two.full == Bytes(48 + 1448));
  CHECK(two.last == Bytes(48 + 13));
}

TEST_CASE("the ledger of a fragmented datagram counts the headers of every fragment") {
  // 8192 B and 8 of UDP in six packets: 5 x 1480 + 800.
  const Ledger ledger = datagram_ledger({.ip = 4}, Bytes(8192), Bytes(1500));
  CHECK(ledger.parts == std::vector<Part>{{"UDP header", Bytes(8)},
                                          {"IPv4 header", Bytes(6 * 20)},
                                          {"Ethernet header", Bytes(6 * 14)},
                                          {"FCS", Bytes(6 * 4)},
                                          {"preamble", Bytes(6 * 8)},
                                          {"inter-frame gap", Bytes(6 * 12)}});
  CHECK(ledger.wire() == Bytes(5 * 1538 + 858));
  const Ledger six = datagram_ledger({.ip = 6}, Bytes(8192), Bytes(1500));
  CHECK(six.wire() == Bytes(8200 + 6 * (40 + 8 + 38)));
  CHECK(datagram_ledger({.ip = 4}, Bytes(1472), Bytes(1500)) ==
        udp_framing({.ip = 4}).ledger(Bytes(1472)));
}

TEST_CASE("an acknowledgement with SACK blocks is longer by them") {
  // RFC 2018: NOP, NOP, kind, length and 8 bytes a block, beside the timestamps.
  const Framing ack = tcp_framing({.ip = 4});
  for (const int blocks : {1, 2, 3})
    CHECK(ack.wire_size(options(true, blocks)) == Bytes(90 + 4 + 8 * blocks));
}
