// `encapsulation:` of a NIC: how it is written, and what is refused.
#include "experiments/definition/encapsulation.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "tests/definition/parse_fixture.hpp"

using namespace linerate;
using namespace linerate::experiments;

namespace {

Sections both(const std::string& nic) {
  return {.hosts = "\n  a: {nics: {eth0: {" + nic + "}}}\n  b: {like: a}"};
}

std::vector<Encapsulation> parsed(const std::string& list) {
  return parse(both("encapsulation: " + list)).hosts[0].nics[0].encapsulation;
}

// The first error, without its place.
std::string error_of(const Sections& sections) {
  const Lines lines = errors_of(sections);
  return lines.empty() ? "" : lines.front();
}

bool says(const std::string& text, const std::string& words) {
  UNSCOPED_INFO(text);
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("an encapsulation is a name, or a name and its options") {
  CHECK(parsed("[vxlan, pppoe]") == std::vector<Encapsulation>{Vxlan{}, Pppoe{}});
  CHECK(parsed("[{vxlan: {vni: 7, ip: 6}}]") == std::vector<Encapsulation>{Vxlan{7, 6}});
  CHECK(parsed("[{pppoe: {}}]") == std::vector<Encapsulation>{Pppoe{}});
  CHECK(parsed("[{pppoe: }]") == std::vector<Encapsulation>{Pppoe{}});
  CHECK(parsed("[{esp: {cipher: cbc-sha256, mode: transport, nat_traversal: on}}]") ==
        std::vector<Encapsulation>{Esp{EspCipher::cbc_sha256, EspMode::transport, true, 4}});
  CHECK(parsed("[{geneve: {options: 8B}}]") == std::vector<Encapsulation>{Geneve{Bytes(8)}});
  CHECK(parsed("[{wireguard: {mtu: 1380B}}]") ==
        std::vector<Encapsulation>{WireGuard{Bytes(1380), 4}});
  CHECK(parsed("[{mpls: {labels: 2}}, {gre: {key: on, checksum: on, sequence: on}}]") ==
        std::vector<Encapsulation>{Mpls{2}, Gre{true, true, true, 4}});
}

TEST_CASE("the resolved experiment says every option and reads back the same") {
  const Experiment first =
      parse(both("encapsulation: [{vlan: {id: 3}}, vxlan, esp, qinq, macsec]"));
  CHECK(says(first.resolved, "\"cipher\":\"gcm\""));
  const Experiment second = parse_experiment(first.resolved, "resolved.json", {});
  CHECK(second.hosts == first.hosts);
}

TEST_CASE("what no encapsulation is called") {
  CHECK(says(error_of(both("encapsulation: [vxlam]")), "did you mean `vxlan`?"));
  CHECK(says(error_of(both("encapsulation: [{vxlan: {}, gre: {}}]")), "one name is expected"));
  CHECK(says(error_of(both("encapsulation: [[vxlan]]")), "one name is expected"));
  CHECK(says(error_of(both("encapsulation: vxlan")), "a list is expected"));
  CHECK(says(error_of(both("encapsulation: [{vxlan: {vnni: 3}}]")), "vni"));
  CHECK(says(error_of(both("encapsulation: [{mpls: {labels: 0}}]")), "labels"));
}

TEST_CASE("layers that do not fit each other, or leave no room") {
  CHECK(says(error_of(both("encapsulation: [pppoe, esp]")), "`esp` carries IP packets"));
  CHECK(says(error_of(both("encapsulation: [vlan]")), "not inside a tunnel"));
  CHECK(says(error_of(both("vlan: 4, encapsulation: [qinq]")), "a third"));
  CHECK(says(error_of(both("encapsulation: [{geneve: {options: 6B}}]")), "multiple of 4"));
  CHECK(says(error_of(both("mtu: 100B, encapsulation: [vxlan]")), "leaves 50 B"));
  CHECK(says(error_of(both("encapsulation: [{wireguard: {mtu: 1441B}}]")),
             "write mtu: 1440B or less"));
  CHECK(errors_of(both("encapsulation: [{wireguard: {mtu: 1440B}}]")).empty());
}

TEST_CASE("what is put around a packet must be taken off") {
  Sections sections;
  sections.hosts = R"(
  a: {nics: {eth0: {encapsulation: [vxlan]}}}
  b: {nics: {eth0: {}}})";
  CHECK(says(error_of(sections), "a:eth0 takes off [vxlan], what arrives there carries []"));
  sections.hosts = R"(
  a: {nics: {eth0: {encapsulation: [vxlan]}}}
  b: {nics: {eth0: {encapsulation: [{vxlan: {vni: 2}}]}}})";
  CHECK(says(error_of(sections), "the same list"));
  // A tester's frames pass as they are.
  sections.tests = "\n  - {name: raw, type: raw-frames, frame_size: 64B, from: a, to: b}";
  CHECK(errors_of(sections).empty());
}

TEST_CASE("IPv6 needs 1280 bytes inside the tunnel") {
  Sections sections = both("mtu: 1300B, encapsulation: [vxlan]");
  sections.tests = "\n  - {name: six, type: tcp-stream, from: a, to: b, ip: 6}";
  CHECK(says(error_of(sections), "room for packets of 1250 B"));
  sections.tests = "\n  - {name: four, type: tcp-stream, from: a, to: b}";
  CHECK(errors_of(sections).empty());
}
