// VLANs keep ports apart, bonds and parallel links spread flows by their policy.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "experiments/definition/parse.hpp"
#include "experiments/definition/topology.hpp"

using namespace linerate::experiments;
using Catch::Matchers::Contains;

namespace {

Experiment parse(const std::string& text) { return parse_experiment(text, "v.yaml"); }

// a and b at switch s1, c and d at s2, one cable between the switches; `from` and `to` of a test.
Experiment campus(const std::string& s1, const std::string& s2, const std::string& nic_a,
                  const std::string& from, const std::string& to) {
  return parse(R"(schema_version: 1
name: campus
hosts:
  a: {nics: {eth0: {)" +
               nic_a + R"(}}}
  b: {nics: {eth0: {}}}
  c: {nics: {eth0: {}}}
  d: {nics: {eth0: {}}}
switches:
  s1: {ports: 3, rate: 1Gbit/s)" +
               s1 + R"(}
  s2: {ports: 3, rate: 1Gbit/s)" +
               s2 + R"(}
links:
  - {endpoints: ["a:eth0", "s1:1"], medium: 1000BASE-T}
  - {endpoints: ["b:eth0", "s1:2"], medium: 1000BASE-T}
  - {endpoints: ["c:eth0", "s2:1"], medium: 1000BASE-T}
  - {endpoints: ["d:eth0", "s2:2"], medium: 1000BASE-T}
  - {endpoints: ["s1:3", "s2:3"], medium: 1000BASE-T}
tests:
  - {name: t, type: tcp-stream, from: )" +
               from + ", to: " + to + "}\n");
}

const std::string kVlans =
    ", vlans: {10: {untagged: [\"1\"], tagged: [\"3\"]}, 20: {untagged: [\"2\"], tagged: "
    "[\"3\"]}}";

std::vector<int> tags(const Experiment& e) {
  const Test::Pair& pair = e.tests[0].pairs[0];
  std::vector<int> result;
  for (const Hop& hop : Topology(e).path(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic))
    result.push_back(hop.tag);
  return result;
}

}  // namespace

TEST_CASE("hosts of one VLAN reach each other over a trunk, where their frames carry its tag") {
  CHECK(tags(campus(kVlans, kVlans, "", "a", "c")) == std::vector<int>{0, 10, 0});
  CHECK(tags(campus(kVlans, kVlans, "", "b", "d")) == std::vector<int>{0, 20, 0});
}

TEST_CASE("hosts of two VLANs do not reach each other") {
  CHECK_THROWS_WITH(campus(kVlans, kVlans, "", "a", "b"), Contains("no path leads"));
  CHECK_THROWS_WITH(campus(kVlans, kVlans, "", "a", "d"), Contains("no path leads"));
}

TEST_CASE("a switch without VLANs passes tags on as they are") {
  const std::string tagged = ", vlans: {10: {untagged: [\"1\"], tagged: [\"3\"]}}";
  CHECK(tags(campus("", tagged, "vlan: 10", "a", "c")) == std::vector<int>{10, 10, 0});
  CHECK_THROWS_WITH(campus("", tagged, "", "a", "c"), Contains("no path leads"));
}

TEST_CASE("a router between VLANs is a way between them") {
  const Experiment e = parse(R"(schema_version: 1
name: routed
hosts:
  a: {nics: {eth0: {}}}
  b: {nics: {eth0: {}}}
  r: {forwarding: kernel, nics: {eth0: {vlan: 10}, eth1: {vlan: 20}}}
switches:
  s: {ports: 4, rate: 1Gbit/s, vlans: {10: {untagged: ["1"], tagged: ["3"]}, 20: {untagged: ["2"], tagged: ["4"]}}}
links:
  - {endpoints: ["a:eth0", "s:1"], medium: 1000BASE-T}
  - {endpoints: ["b:eth0", "s:2"], medium: 1000BASE-T}
  - {endpoints: ["r:eth0", "s:3"], medium: 1000BASE-T}
  - {endpoints: ["r:eth1", "s:4"], medium: 1000BASE-T}
tests:
  - {name: t, type: tcp-stream, from: a, to: b}
)");
  CHECK(tags(e) == std::vector<int>{0, 10, 20, 0});
}

TEST_CASE("VLANs that contradict themselves are refused") {
  const auto vlans = [](const std::string& text) {
    return campus(", vlans: {" + text + "}", "", "", "a", "b");
  };
  CHECK_THROWS_WITH(vlans("10: {untagged: [\"1-2\"]}, 20: {untagged: [\"2\"]}"),
                    Contains("port 2 is untagged in VLAN 10 already"));
  CHECK_THROWS_WITH(vlans("10: {untagged: [\"1-2\"], tagged: [\"2\"]}"),
                    Contains("port 2 is tagged and untagged"));
  CHECK_THROWS_WITH(vlans("5000: {untagged: [\"1-2\"]}"), Contains("no VLAN number"));
  CHECK_THROWS_WITH(vlans("10: {untagged: [\"1-9\"]}"), Contains("no range of the 3 ports"));
}

TEST_CASE("parallel links between switches carry flows by their policy") {
  const auto lag = [](const std::string& hash) {
    return parse(R"(schema_version: 1
name: lag
hosts: {a: {nics: {eth0: {}}}, b: {nics: {eth0: {}}}}
switches:
  s1: {ports: 5, rate: 1Gbit/s, hash: )" +
                 hash + R"(}
  s2: {ports: 5, rate: 1Gbit/s}
links:
  - {endpoints: ["a:eth0", "s1:1"], medium: 1000BASE-T}
  - {endpoints: ["b:eth0", "s2:1"], medium: 1000BASE-T}
  - {endpoints: ["s1:2", "s2:2"], medium: 1000BASE-T}
  - {endpoints: ["s1:3", "s2:3"], medium: 1000BASE-T}
  - {endpoints: ["s1:4", "s2:4"], medium: 1000BASE-T}
  - {endpoints: ["s1:5", "s2:5"], medium: 1000BASE-T}
tests: [{name: t, type: tcp-stream, from: a, to: b}]
)");
  };
  const auto links = [](const Experiment& e) {
    const Topology topology(e);
    std::set<int> used;
    for (std::uint64_t flow = 0; flow < 200; ++flow)
      used.insert(topology.path(0, 0, 1, 0, {.flow = flow, .hosts = 7})[1].link);
    return used.size();
  };
  CHECK(links(lag("layer3+4")) == 4);
  // All frames between two hosts take one of the links.
  CHECK(links(lag("layer2+3")) == 1);
}

TEST_CASE("a bond spreads flows over its NICs and is addressed by its name") {
  const auto bonded = [](const std::string& hash, const std::string& from) {
    return parse(R"(schema_version: 1
name: bond
hosts:
  a: {nics: {eth0: {}, eth1: {}}, bonds: {bond0: {nics: [eth0, eth1]}}, hash: )" +
                 hash + R"(}
  b: {nics: {eth0: {}}}
switches:
  s: {ports: 3, rate: 1Gbit/s}
links:
  - {endpoints: ["a:eth0", "s:1"], medium: 1000BASE-T}
  - {endpoints: ["a:eth1", "s:2"], medium: 1000BASE-T}
  - {endpoints: ["b:eth0", "s:3"], medium: 1000BASE-T}
tests: [{name: t, type: tcp-stream, from: ")" +
                 from + R"(", to: b}]
)");
  };
  const auto nics = [](const Experiment& e) {
    const Topology topology(e);
    std::set<int> used;
    for (std::uint64_t flow = 0; flow < 100; ++flow)
      used.insert(topology.bonded_nic(0, 0, {.flow = flow, .hosts = 3}));
    return used.size();
  };
  for (const std::string from : {"a", "a:bond0"}) {
    CHECK(nics(bonded("layer3+4", from)) == 2);
    CHECK(nics(bonded("layer2+3", from)) == 1);
  }
  CHECK_THROWS_WITH(bonded("layer3+4", "a:bond1"), Contains("no NIC `bond1`"));
}
