// Encapsulated packets and fragments through whole networks.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/apps/reassembly.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::PortCounters;
using experiments::Result;

namespace {

Result predict(const std::string& yaml) {
  return models::simulate(experiments::parse_experiment(yaml, "test.yaml"));
}

double figure(const Result& result, const std::string& name) {
  return result.tests.front().figures.at(name).median();
}

const PortCounters& port(const Result& result, const std::string& name) {
  return result.tests.front().ports.at(name);
}

// Two ideal hosts on one cable, their NICs with the same keys.
std::string pair_of_hosts(const std::string& nic, const std::string& test,
                          const std::string& link = "medium: 1000BASE-T") {
  return "schema_version: 1\nname: pair\nhosts:\n  a: {profile: ideal, nics: {eth0: {profile: "
         "ideal, " +
         nic + "}}}\n  b: {like: a}\nlinks:\n  - {endpoints: [\"a:eth0\", \"b:eth0\"], " + link +
         "}\ntests:\n  - {name: t, from: a, to: b, " + test + "}\n";
}

// a - r - b, r forwarding; each NIC with its own keys.
std::string routed(const std::string& a, const std::string& left, const std::string& right,
                   const std::string& b, const std::string& test) {
  const auto host = [](const std::string& nics, const char* more = "") {
    return "{profile: ideal, nics: {" + nics + "}" + more + "}\n";
  };
  const auto nic = [](const char* name, const std::string& keys) {
    return std::string(name) + ": {profile: ideal" + (keys.empty() ? "" : ", " + keys) + "}";
  };
  return "schema_version: 1\nname: routed\nhosts:\n  a: " + host(nic("eth0", a)) +
         "  r: " + host(nic("eth0", left) + ", " + nic("eth1", right), ", forwarding: kernel") +
         "  b: " + host(nic("eth0", b)) +
         "links:\n  - {endpoints: [\"a:eth0\", \"r:eth0\"], medium: 1000BASE-T}\n"
         "  - {endpoints: [\"r:eth1\", \"b:eth0\"], medium: 1000BASE-T}\n"
         "tests:\n  - {name: t, from: a, to: b, " +
         test + "}\n";
}

const std::string kBulk = "type: tcp-stream, bytes: 20MB";

}  // namespace

TEST_CASE("TCP fills the wire up to what its encapsulation leaves") {
  struct Row {
    const char* nic;
    double share;
  };
  const Row row =
      GENERATE(Row{"encapsulation: [vxlan]", 1398.0 / 1538},
               Row{"encapsulation: [vxlan], mtu: 1550B", 1448.0 / 1588},
               Row{"encapsulation: [wireguard]", 1368.0 / 1518},
               Row{"encapsulation: [{esp: {cipher: cbc-sha1}}]", 1386.0 / 1534},
               Row{"encapsulation: [pppoe], vlan: 7", 1440.0 / 1542},
               Row{"encapsulation: [{macsec: {sci: on}}]", 1448.0 / 1570},
               Row{"encapsulation: [{gre: {key: on}}, {esp: {mode: transport}}]", 1386.0 / 1538});
  INFO(row.nic);
  const Result result = predict(
      pair_of_hosts(row.nic, "type: tcp-stream, congestion: reno, duration: 1s, omit: 200ms"));
  CHECK(figure(result, "goodput") == Approx(1e9 * row.share).epsilon(5e-4));
}

TEST_CASE("a session ends at the router, which sends plain frames on") {
  const Result result =
      predict(routed("encapsulation: [pppoe]", "encapsulation: [pppoe]", "", "", kBulk));
  const PortCounters &before = port(result, "a:eth0"), &behind = port(result, "r:eth1");
  REQUIRE(before.frames_sent == behind.frames_sent);
  // No frame is a minimum frame: every one loses the 8 bytes of PPPoE.
  CHECK(before.wire_bytes_sent - behind.wire_bytes_sent == 8 * before.frames_sent);
  // And back, where the router puts them around.
  CHECK(port(result, "r:eth0").wire_bytes_sent - port(result, "b:eth0").wire_bytes_sent ==
        8 * port(result, "b:eth0").frames_sent);
  // The smaller MTU behind PPPoE holds for the whole way.
  CHECK(result.tests.front().layers.front().bytes_per_frame == 1440);
}

TEST_CASE("a tunnel passes a router unopened") {
  const Result result =
      predict(routed("encapsulation: [gre]", "", "", "encapsulation: [gre]", kBulk));
  CHECK(port(result, "a:eth0").wire_bytes_sent == port(result, "r:eth1").wire_bytes_sent);
  CHECK(result.tests.front().layers.front().bytes_per_frame == 1424);
}

TEST_CASE("a tunnel in a session: each ends where it belongs") {
  const Result result =
      predict(routed("encapsulation: [gre, pppoe]", "encapsulation: [pppoe]",
                     "encapsulation: [qinq]", "encapsulation: [gre, qinq]", kBulk));
  const PortCounters &before = port(result, "a:eth0"), &behind = port(result, "r:eth1");
  CHECK(before.wire_bytes_sent == behind.wire_bytes_sent);  // 8 bytes off, 8 bytes on
  CHECK(result.tests.front().layers.front().bytes_per_frame == 1492 - 24 - 52);
}

TEST_CASE("a switch puts a VLAN's tag on the frames of a trunk and takes it off behind") {
  // a - s1 - trunk - s2 - b: 4 bytes more on the trunk alone.
  const auto through_trunk = [](const std::string& nic, const std::string& access,
                                const std::string& test) {
    const std::string device = "{ports: 2, rate: 1Gbit/s, vlans: {10: {" + access +
                               "tagged: [\"2\"" + (access.empty() ? ", \"1\"" : "") + "]}}}\n";
    return "schema_version: 1\nname: trunk\nhosts:\n"
           "  a: {profile: ideal, nics: {eth0: {profile: ideal" +
           nic + "}}}\n  b: {like: a}\nswitches:\n  s1: " + device + "  s2: " + device +
           "links:\n  - {endpoints: [\"a:eth0\", \"s1:1\"], medium: 1000BASE-T}\n"
           "  - {endpoints: [\"s1:2\", \"s2:2\"], medium: 1000BASE-T}\n"
           "  - {endpoints: [\"s2:1\", \"b:eth0\"], medium: 1000BASE-T}\n"
           "tests:\n  - {name: t, from: a, to: b, " +
           test + "}\n";
  };
  const auto check = [](const Result& result, int added) {
    const PortCounters &sent = port(result, "a:eth0"), &trunk = port(result, "s1:2"),
                       &behind = port(result, "s2:1");
    CHECK(trunk.wire_bytes_sent - sent.wire_bytes_sent == added * sent.frames_sent);
    CHECK(behind.wire_bytes_sent == sent.wire_bytes_sent);
  };
  const std::string access = "untagged: [\"1\"], ";
  check(predict(through_trunk("", access, kBulk)), 4);
  check(predict(through_trunk(", vlan: 10", "", kBulk)), 0);  // tagged all the way
  // A tester's frame as well: 64 B become 68.
  check(predict(through_trunk("", access,
                              "type: raw-frames, frame_size: 64B, frame_rate: 1000/s, "
                              "duration: 100ms")),
        4);
  // The trunk is what limits: 1448 B of 1542.
  CHECK(figure(predict(through_trunk("", access, "type: tcp-stream, duration: 1s, omit: 200ms")),
               "goodput") == Approx(1e9 * 1448 / 1542).epsilon(5e-4));
}

TEST_CASE("a datagram beyond the MTU travels in fragments") {
  // 8192 + 8 B in 5 packets of 1480 B and one of 800 B; on the wire 5 x 1538 + 858.
  const Result result = predict(pair_of_hosts("mtu: 1500B",
                                              "type: udp-stream, datagram: 8192B, rate: 100Mbit/s, "
                                              "duration: 1s"));
  const double datagrams = std::ceil(100e6 / (8 * 8192));
  CHECK(figure(result, "loss") == 0);
  const PortCounters& sent = port(result, "a:eth0");
  CHECK(static_cast<double>(sent.frames_sent) == 6 * datagrams);
  CHECK(static_cast<double>(sent.wire_bytes_sent) == (5 * 1538 + 858) * datagrams);
  CHECK(figure(result, "goodput") == Approx(100e6).epsilon(1e-3));
  // It is there when its last fragment is: every byte but the last gap has passed the wire.
  CHECK(figure(result, "latency.max") == Approx((5 * 1538 + 858 - 12) * 8e-9).epsilon(1e-9));
}

TEST_CASE("a line full of fragments carries what their headers leave") {
  const Result result = predict(
      pair_of_hosts("mtu: 1500B", "type: udp-stream, datagram: 8192B, ip: 6, duration: 1s"));
  const double wire = 8200 + 6 * (40 + 8 + 38);
  CHECK(figure(result, "goodput") == Approx(1e9 * 8192 / wire).epsilon(1e-3));
  CHECK(figure(result, "throughput") == Approx(1e9).epsilon(1e-3));
}

TEST_CASE("one lost fragment loses the datagram") {
  const double p = 0.02, n = 20'000;
  const Result result = predict(pair_of_hosts(
      "mtu: 1500B", "type: udp-stream, datagram: 4000B, rate: 64Mbit/s, duration: 10s, repeats: 1",
      "medium: 1000BASE-T, loss: [{from: a, probability: 2%}]"));
  const double lost = 1 - std::pow(1 - p, 3);
  CHECK(std::abs(figure(result, "loss") - lost) < 4 * std::sqrt(lost * (1 - lost) / n));
}

TEST_CASE("fragments are as small as the narrowest link wants them") {
  // 1480 B with UDP at an MTU of 1000 B: 976 B and 504 B, each with an IP header.
  const Result result = predict(pair_of_hosts(
      "mtu: 1500B", "type: udp-stream, datagram: 1472B, rate: 10Mbit/s, duration: 100ms",
      "medium: 1000BASE-T, mtu: 1000B"));
  CHECK(figure(result, "loss") == 0);
  const PortCounters& sent = port(result, "a:eth0");
  CHECK(sent.frames_sent % 2 == 0);
  CHECK(sent.wire_bytes_sent == sent.frames_sent / 2 * (1480 + 2 * (20 + 38)));
}

TEST_CASE("fragments through a tunnel and a router keep their bytes") {
  const Result result = predict(routed("encapsulation: [vxlan, pppoe]", "encapsulation: [pppoe]",
                                       "", "encapsulation: [vxlan]",
                                       "type: udp-stream, datagram: 3000B, rate: 10Mbit/s, "
                                       "duration: 1s"));
  CHECK(figure(result, "loss") == 0);
  const PortCounters &before = port(result, "a:eth0"), &behind = port(result, "r:eth1");
  // Packets of 1442 B inside: 1416 B of payload and 1416 and 176.
  CHECK(before.frames_sent % 3 == 0);
  CHECK(before.wire_bytes_sent == before.frames_sent / 3 * (3008 + 3 * (20 + 50 + 8 + 38)));
  CHECK(before.wire_bytes_sent - behind.wire_bytes_sent == 8 * before.frames_sent);
}

TEST_CASE("reassembly waits for every fragment and gives up what is overtaken") {
  models::Reassembly reassembly;
  CHECK_FALSE(reassembly.complete(1, 3));
  CHECK_FALSE(reassembly.complete(2, 2));
  CHECK_FALSE(reassembly.complete(1, 3));
  CHECK(reassembly.arrived(1) == 2);
  CHECK(reassembly.complete(1, 3));
  CHECK(reassembly.complete(2, 2));
  // Datagram 3 loses one of its two; much later a late one does not complete it.
  CHECK_FALSE(reassembly.complete(3, 2));
  for (std::int64_t ordinal = 4; ordinal < 100; ++ordinal) {
    CHECK_FALSE(reassembly.complete(ordinal, 2));
    CHECK(reassembly.complete(ordinal, 2));
  }
  CHECK_FALSE(reassembly.complete(3, 2));
}

TEST_CASE("SACK blocks on the way back are on the wire") {
  // Every frame of b is a pure ACK of 90 B with timestamps; its SYN-ACK has 8 B more (MSS, SACK
  // permitted, window scale), an ACK while one segment is missing 12 B more (one block).
  const auto beyond = [](const std::string& link) {
    const Result result = predict(
        pair_of_hosts("mtu: 1500B", "type: tcp-stream, bytes: 2MB", "rate: 100Mbit/s" + link));
    const PortCounters& back = port(result, "b:eth0");
    return back.wire_bytes_sent - 90 * back.frames_sent - 8;
  };
  CHECK(beyond("") == 0);
  const std::int64_t blocks = beyond(", drops: [{from: a, data_segments: [400]}]");
  CHECK(blocks >= 3 * 12);  // three duplicate ACKs at least call for the retransmission
  CHECK(blocks % 12 == 0);
}

TEST_CASE("datagrams of drawn sizes fit inside a tunnel and are counted by their size") {
  // 100 B and 1000 B in VXLAN, by way of a router that puts PPPoE around half of the way.
  const Result result = predict(routed(
      "encapsulation: [vxlan, pppoe]", "encapsulation: [pppoe]", "", "encapsulation: [vxlan]",
      "type: udp-stream, sizes: {distribution: [[100B, 0.5], [1000B, 0.5], [1000B, 1]]}, "
      "arrivals: {poisson: 1000/s}, duration: 200ms, repeats: 1"));
  const PortCounters &before = port(result, "a:eth0"), &behind = port(result, "r:eth1");
  REQUIRE(before.frames_sent == behind.frames_sent);
  CHECK(before.wire_bytes_sent - behind.wire_bytes_sent == 8 * before.frames_sent);
}
