// Generated networks have the sizes and the paths their definitions give.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/lint.hpp"
#include "experiments/definition/parse.hpp"
#include "experiments/definition/topology.hpp"

using namespace linerate::experiments;

namespace {

Experiment network(const std::string& topology, const std::string& to = "h2",
                   const ParseOptions& options = {}, const std::string& from = "h1") {
  return parse_experiment("schema_version: 1\nname: n\ntopology: {" + topology +
                              ", host: {profile: ideal, nics: {eth0: {profile: ideal}}}, link: "
                              "{medium: 10GBASE-SR}}\ntests:\n  - {name: t, type: tcp-stream, "
                              "from: " +
                              from + ", to: " + to + "}\n",
                          "n.yaml", options);
}

std::int64_t paths(const Experiment& e) {
  const Test::Pair& pair = e.tests[0].pairs[0];
  return Topology(e).path_count(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic);
}

std::size_t hops(const Experiment& e) {
  const Test::Pair& pair = e.tests[0].pairs[0];
  return Topology(e).path(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic).size();
}

}  // namespace

TEST_CASE("a fat tree has k^3/4 hosts, 5k^2/4 switches and (k/2)^2 paths between pods") {
  for (const int k : {2, 4, 8}) {
    const Experiment e =
        network("type: fat-tree, k: " + std::to_string(k), "h" + std::to_string(k * k * k / 4));
    const auto size = static_cast<std::size_t>(k);
    CHECK(e.hosts.size() == size * size * size / 4);
    CHECK(e.switches.size() == size * size * 5 / 4);
    CHECK(e.links.size() == 3 * size * size * size / 4);
    CHECK(paths(e) == k * k / 4);
    CHECK(hops(e) == 6);
    for (const Switch& s : e.switches) CHECK(s.port_rates.size() == size);
  }
}

TEST_CASE("two hosts of one pod meet at an aggregation switch, of one edge at the edge") {
  CHECK(paths(network("type: fat-tree, k: 4", "h3")) == 2);
  CHECK(hops(network("type: fat-tree, k: 4", "h3")) == 4);
  CHECK(hops(network("type: fat-tree, k: 4", "h2")) == 2);
}

TEST_CASE("leaves reach each other over every spine") {
  const Experiment e = network(
      "type: leaf-spine, leaves: 4, spines: 3, hosts_per_leaf: 5, uplink: {rate: 40Gbit/s}", "h20");
  CHECK(e.hosts.size() == 20);
  CHECK(e.links.size() == 20 + 12);
  CHECK(paths(e) == 3);
  CHECK(hops(e) == 4);
  CHECK(e.switches[0].port_rates.front().bits_per_second() == 10'000'000'000);
  CHECK(e.switches[0].port_rates.back().bits_per_second() == 40'000'000'000);
}

TEST_CASE("check says how far a leaf is oversubscribed") {
  const auto warnings = [](const std::string& uplink) {
    std::string text;
    for (const Diagnostic& warning :
         lint(network("type: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 8, uplink: {rate: " +
                          uplink + "}",
                      "h16")))
      text += warning.message + "\n";
    return text;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(warnings("20Gbit/s"),
             Contains("oversubscribed 2:1: 8 links to hosts carry 80 Gbit/s"));
  CHECK_THAT(warnings("40Gbit/s"), !Contains("oversubscribed"));
}

TEST_CASE("a star and a dumbbell") {
  CHECK(hops(network("type: star, hosts: 9", "h9")) == 2);
  const Experiment e = network(
      "type: dumbbell, left: 3, right: 2, bottleneck: {rate: 1Gbit/s, "
      "delay: 5ms}",
      "r2", {}, "l1");
  CHECK(e.links.size() == 6);
  CHECK(hops(e) == 3);
}

TEST_CASE("a topology is set before it is made") {
  ParseOptions options;
  options.set = {"topology.k=6"};
  CHECK(network("type: fat-tree, k: 4", "h54", options).hosts.size() == 54);
}

TEST_CASE("a topology that lacks something or says too much is refused") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(network("type: fat-tree"), Contains("needs the key `k`"));
  CHECK_THROWS_WITH(network("type: fat-tree, k: 5"), Contains("5 is odd"));
  CHECK_THROWS_WITH(network("type: star, hosts: 4, leaves: 2"), Contains("has no `leaves`"));
  CHECK_THROWS_WITH(network("type: ring, hosts: 4"), Contains("ring"));
  CHECK_THROWS_WITH(network("type: leaf-spine, leaves: 1000, spines: 1000, hosts_per_leaf: 1000"),
                    Contains("make the ranges smaller"));
}
