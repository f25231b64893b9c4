// Keys of cores, disks and file transfers: what cannot be is refused with place and remedy, and
// `check` knows of cores too slow for their line.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/lint.hpp"
#include "experiments/definition/parse.hpp"

using namespace linerate::experiments;

namespace {

std::string with(const std::string& cpu,
                 const std::string& test = "type: tcp-stream, from: a, to: b") {
  return R"(schema_version: 1
name: keys
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  b: {profile: ideal, nics: {eth0: {profile: ideal}}, cpu: )" +
         cpu + R"(}
links: [{endpoints: ["a:eth0", "b:eth0"], medium: 1000BASE-T}]
tests: [{name: t, )" +
         test + "}]\n";
}

std::string refusal(const std::string& text) {
  try {
    parse_experiment(text, "keys.yaml");
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

std::string warnings(const std::string& text) {
  std::string all;
  for (const Diagnostic& found : lint(parse_experiment(text, "keys.yaml")))
    if (found.path.find(".cpu.") != std::string::npos) all += format(found) + "\n";
  return all;
}

}  // namespace

TEST_CASE("keys of a processor are refused with a remedy") {
  CHECK_THAT(
      refusal(with("{cores: 2, placement: {application: 2}}")),
      Catch::Contains("hosts.b.cpu.placement.application: there is no core 2; write 0 to 1"));
  CHECK_THAT(refusal(with("{costs: {call: 3}}")), Catch::Contains("hosts.b.cpu.costs.call"));
  CHECK_THAT(refusal(with("{interrupts: sometimes}")), Catch::Contains("per-frame"));
  CHECK_THAT(refusal(with("{}", "type: tcp-stream, from: a, to: b, cpu: {quota: 150%}")),
             Catch::Contains("tests.t.cpu.quota"));
  CHECK(refusal(with("{cores: 2, placement: {application: 1, interrupts: 0}}")).empty());
}

TEST_CASE("a file transfer has a length, and what only it has is refused elsewhere") {
  CHECK_THAT(refusal(with("{}", "type: file-transfer, from: a, to: b")),
             Catch::Contains("add `bytes: 100MB`"));
  CHECK_THAT(refusal(with("{}",
                          "type: tcp-stream, from: a, to: b, "
                          "programs: {client: {call: 1us}}")),
             Catch::Contains("it is for file-transfer"));
  CHECK_THAT(refusal(with("{}", "type: file-transfer, from: a, to: b, bytes: 1MB, duration: 1s")),
             Catch::Contains("tests.t.duration"));
}

TEST_CASE("check warns of a core that cannot take in what its line brings") {
  // 1 Gbit/s brings a full segment every 12.3 us.
  CHECK(warnings(with("{costs: {segment_received: 4us, read_copy: 1GB/s}}")).empty());
  const std::string slow = warnings(with("{costs: {segment_received: 9us, read_copy: 200MB/s}}"));
  CHECK_THAT(slow, Catch::Contains("hosts.b.cpu.costs: a core takes in at most"));
  CHECK_THAT(slow, Catch::Contains("b:eth0 can bring 941.5 Mbit/s"));
  // Two cores: 9 us here and 7.2 us there.
  CHECK(warnings(with("{cores: 2, costs: {segment_received: 9us, read_copy: 200MB/s}}")).empty());
  CHECK_THAT(warnings(with("{cores: 2, placement: {application: 0, interrupts: 0}, costs: "
                           "{segment_received: 9us, read_copy: 200MB/s}}")),
             Catch::Contains("place program and interrupts on two cores"));
}

TEST_CASE("hosts of one machine have one processor, and virtual interfaces join only those") {
  const auto pair = [](const std::string& a, const std::string& b, const std::string& link) {
    return "schema_version: 1\nname: machine\nhosts:\n  a: {nics: {eth0: {}}, " + a +
           "}\n  b: {nics: {eth0: {}}, " + b + R"(}
links: [{endpoints: ["a:eth0", "b:eth0"], )" +
           link + R"(}]
tests: [{name: t, type: tcp-stream, from: a, to: b}]
)";
  };
  CHECK(refusal(pair("machine: m", "machine: m", "medium: veth")).empty());
  CHECK(refusal(pair("machine: m", "machine: m", "medium: 1000BASE-T")).empty());
  CHECK_THAT(refusal(pair("machine: m", "machine: m, cpu: {cores: 2}", "medium: veth")),
             Catch::Contains("hosts.b.cpu: `a` and `b` are one machine") &&
                 Catch::Contains("b: {like: a}"));
  CHECK_THAT(refusal(pair("machine: m", "machine: n", "medium: veth")),
             Catch::Contains("medium: veth joins two hosts of one machine"));
  CHECK_THAT(refusal(pair("cost: 1EUR", "cost: 1EUR", "medium: veth")),
             Catch::Contains("name the same `machine` in both hosts"));
  CHECK_THAT(refusal(R"({schema_version: 1, name: nobody, hosts: {a: {nics: {eth0: {}}}},
links: [{endpoints: ["x:eth0", "y:eth0"], medium: veth}], tests: []})"),
             Catch::Contains("no host, switch or hub `x`"));
  CHECK_THAT(refusal(pair("machine: m", "machine: m", "medium: veth, delay: 1ms")),
             Catch::Contains("delay: veth has no line"));
}
