// Many hosts, links and flows from one line.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/pattern.hpp"
#include "tests/definition/parse_fixture.hpp"

using namespace linerate;
using namespace linerate::experiments;

TEST_CASE("a range binds i, and arithmetic follows the usual precedence") {
  CHECK(find_range("h[1-32]") == Range{1, 32});
  CHECK_FALSE(find_range("h[32-1]"));
  CHECK_FALSE(find_range("h[a-b]"));
  CHECK_FALSE(find_range("h1"));
  CHECK(substitute("h[1-32]:eth0", 7) == "h7:eth0");
  CHECK(substitute("n{i+4}", 7) == "n11");
  CHECK(substitute("n{2*i-1}", 7) == "n13");
  CHECK(substitute("n{2*(i-1)}", 7) == "n12");
  CHECK(substitute("n{i/4}-{i%4}", 7) == "n1-3");
  CHECK_FALSE(substitute("n{j}", 7));
  CHECK_FALSE(substitute("n{i", 7));
  CHECK_FALSE(substitute("n{i/0}", 7));
  CHECK_FALSE(substitute("n{i*1000000000}", 7));
}

TEST_CASE("a pattern makes hosts and links, and a test over it has a flow from each") {
  const Experiment experiment =
      parse(Sections{.hosts = "\n  \"h[1-32]\": {nics: {eth0: {}}}\n  sink: {nics: {eth0: {}}}",
                     .links = R"(
  - {endpoints: ["h[1-32]:eth0", "tor:{i}"], medium: 1000BASE-T}
  - {endpoints: ["sink:eth0", "tor:33"], medium: 1000BASE-T})",
                     .tests = "\n  - {name: incast, type: tcp-stream, from: \"h[1-32]\", to: sink}",
                     .more = "switches: {tor: {ports: 48, rate: 1Gbit/s}}"});
  CHECK(experiment.hosts.size() == 33);
  CHECK(experiment.hosts[31].name == "h32");
  REQUIRE(experiment.links.size() == 33);
  CHECK(experiment.links[4].name == "h5-tor");
  CHECK(experiment.links[4].ends[1] == PortRef{NodeKind::switch_, 0, 4});
  REQUIRE(experiment.tests.size() == 1);
  REQUIRE(experiment.tests[0].pairs.size() == 32);
  CHECK(experiment.tests[0].pairs[9] == Test::Pair{9, 0, 32, 0});
}

TEST_CASE("a test whose name holds i is many tests") {
  const Experiment experiment = parse(Sections{
      .hosts = "\n  \"h[1-4]\": {nics: {eth0: {}}}",
      .links = "\n  - {endpoints: [\"h[1-2]:eth0\", \"h{i+2}:eth0\"], medium: 1000BASE-T}",
      .tests = "\n  - {name: \"pair-{i}\", type: tcp-stream, from: \"h[1-2]\", to: \"h{i+2}\"}"});
  REQUIRE(experiment.tests.size() == 2);
  CHECK(experiment.tests[1].name == "pair-2");
  CHECK(experiment.tests[1].pairs == std::vector{Test::Pair{1, 0, 3, 0}});
}

TEST_CASE("links between the same nodes are numbered") {
  const Experiment experiment = parse(
      Sections{.hosts = R"(
  a: {nics: {eth0: {}, eth1: {}}}
  b: {nics: {eth0: {}, eth1: {}}})",
               .links = R"(
  - {endpoints: ["a:eth0", "b:eth0"], medium: 1000BASE-T}
  - {endpoints: ["a:eth1", "b:eth1"], medium: 1000BASE-T})",
               .tests = "\n  - {name: t, type: tcp-stream, from: \"a:eth0\", to: \"b:eth0\"}"});
  CHECK(experiment.links[0].name == "a-b");
  CHECK(experiment.links[1].name == "a-b#2");
}

TEST_CASE("a host may stand for its NIC only where one leads to the other end") {
  const Sections two_cables{.hosts = R"(
  a: {nics: {eth0: {}, eth1: {}}}
  b: {nics: {eth0: {}, eth1: {}}})",
                            .links = R"(
  - {endpoints: ["a:eth0", "b:eth0"], medium: 1000BASE-T}
  - {endpoints: ["a:eth1", "b:eth1"], medium: 1000BASE-T})"};
  CHECK(errors_of(two_cables) ==
        Lines{"sample.yaml:10:42: tests.bulk.from: several NICs lead from `a` to `b`; name them: "
              "a:eth0 to b:eth0, a:eth1 to b:eth1"});
  Sections one_cable = two_cables;
  one_cable.links = "\n  - {endpoints: [\"a:eth1\", \"b:eth0\"], medium: 1000BASE-T}";
  CHECK(parse(one_cable).tests[0].pairs == std::vector{Test::Pair{0, 1, 1, 0}});
}

TEST_CASE("bad patterns are explained") {
  CHECK(errors_of(Sections{.hosts = "\n  \"h[1-4]\": {nics: {eth0: {}}}", .links = R"(
  - {endpoints: ["h[1-2]:eth0", "h[3-5]:eth0"], medium: 1000BASE-T})"})
            .front() ==
        "sample.yaml:6:33: links: two different ranges in one entry; write one range, and {i} with "
        "arithmetic for the other");
  CHECK(errors_of(Sections{.hosts = "\n  \"h[1-2]\": {nics: {eth0: {mtu: \"{j}B\"}}}"}).front() ==
        "sample.yaml:4:33: `{j}B` holds no valid expression; write {i}, {i+4}, {2*i-1}: whole "
        "numbers, + - * / % and parentheses");
  CHECK(errors_of(Sections{.hosts = "\n  \"h[1-2]\": {}\n  h2: {}"}).front() ==
        "sample.yaml:5:3: hosts: `h2` is there twice; let the ranges not overlap");
  CHECK(errors_of(Sections{.hosts = "\n  \"h[2-1]\": {}"}).front() ==
        "sample.yaml:4:3: hosts: `h[2-1]` does not hold one range; write h[1-32], the first not "
        "above the last, at most 1000000000");
  for (const char* name : {"h[1-3][1-3]", "h[1-3", "h[-1-3]", "h[1-99999999999]"})
    CHECK(errors_of(Sections{.hosts = "\n  \"" + std::string(name) + "\": {}"})
              .front()
              .find("does not hold one range") != std::string::npos);
}
