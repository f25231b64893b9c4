// What lies over what: presets, `like:`, `defaults:`, overlays and `--set`, and where each value
// says it comes from.
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/definition/parse_fixture.hpp"

using namespace linerate;
using namespace linerate::experiments;

namespace {

/// A file beside the build that is gone again at the end of the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : path_(std::string(LINERATE_BINARY_DIR) + "/" + name) {
    std::ofstream(path_) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const Nic& nic(const Experiment& experiment, std::size_t host) {
  return experiment.hosts[host].nics[0];
}

}  // namespace

TEST_CASE("like copies: maps merge, lists replace, null deletes") {
  const Experiment experiment = parse(Sections{.hosts = R"(
  a:
    stack: {preset: linux-2.2, timestamps: off}
    nics: {eth0: {rates: [100Mbit/s, 1Gbit/s], mtu: 9000B, vlan: 7}}
  b:
    like: a
    stack: {sack: off}
    nics: {eth0: {rates: [1Gbit/s], vlan: null}}
  s: {forwarding: kernel, nics: {eth0: {mtu: 9000B, vlan: 7}, eth1: {mtu: 9000B}}})",
                                                .links = R"(
  - {endpoints: ["a:eth0", "s:eth0"], medium: 1000BASE-T}
  - {endpoints: ["b:eth0", "s:eth1"], medium: 1000BASE-T})"});
  const Host& b = experiment.hosts[1];
  CHECK(b.stack.preset == "linux-2.2");
  CHECK_FALSE(b.stack.timestamps);
  CHECK_FALSE(b.stack.sack);
  CHECK(experiment.hosts[0].stack.sack);
  CHECK(nic(experiment, 1).rates == std::vector{BitRate::bits_per_second(1'000'000'000)});
  CHECK(nic(experiment, 1).mtu == Bytes(9000));
  CHECK(nic(experiment, 0).vlan == 7);
  CHECK_FALSE(nic(experiment, 1).vlan);
}

TEST_CASE("a short stack holds fields laid over it") {
  const Experiment experiment = parse(Sections{.hosts = R"(
  a: {stack: linux-2.2, nics: {eth0: {}}}
  b: {like: a, stack: {timestamps: off}})"});
  CHECK(experiment.hosts[1].stack.preset == "linux-2.2");
  CHECK_FALSE(experiment.hosts[1].stack.timestamps);
}

TEST_CASE("like works for tests and links, and keeps their own names") {
  const Experiment experiment = parse(Sections{.tests = R"(
  - {name: one, type: tcp-stream, from: a, to: b, write: 1KiB, duration: 3s}
  - {name: two, like: one, duration: 5s})"});
  REQUIRE(experiment.tests.size() == 2);
  CHECK(experiment.tests[1].name == "two");
  CHECK(experiment.tests[1].write == Bytes(1024));
  CHECK(experiment.tests[1].duration == Time::seconds(5));
}

TEST_CASE("like in a circle is an error, however long the circle") {
  const Lines errors = errors_of(Sections{.hosts = R"(
  a: {like: b}
  b: {like: c}
  c: {like: a})"});
  REQUIRE(errors.size() >= 1);
  CHECK(errors[0] ==
        "sample.yaml:6:13: hosts: `like` goes round in a circle through `a`; let one "
        "of them say what it is");
  // Every host of a long chain is a copy of the first.
  const Experiment chain = parse(Sections{.hosts = R"(
  h0: {nics: {eth0: {mtu: 4000B}}}
  "h[1-1000]": {like: "h{i-1}"})",
                                          .links = R"(
  - {endpoints: ["h0:eth0", "h1000:eth0"], medium: 1000BASE-T})",
                                          .tests = R"(
  - {name: t, type: tcp-stream, from: h0, to: h1000})"});
  CHECK(chain.hosts.back().nics[0].mtu == Bytes(4000));
}

TEST_CASE("defaults lie over presets and under the file") {
  const Experiment experiment = parse(Sections{.hosts = R"(
  a: {nics: {eth0: {profile: generic-1g}}}
  b: {nics: {eth0: {mtu: 2000B}}})",
                                               .more = R"(defaults:
  mtu: 9000B
  tests: {write: 4KiB})"});
  CHECK(nic(experiment, 0).mtu == Bytes(9000));
  CHECK(nic(experiment, 1).mtu == Bytes(2000));
  CHECK(experiment.tests[0].write == Bytes(4096));
}

TEST_CASE("overlays lie over the file, in order") {
  const TemporaryFile first("overlay-first.yaml", "seed: 5\nhosts: {a: {cpu: {cores: 2}}}\n");
  const TemporaryFile second("overlay-second.yaml", "seed: 6\n");
  const Experiment experiment = parse(Sections{}, {.overlays = {first.path(), second.path()}});
  CHECK(experiment.seed == 6);
  CHECK(experiment.hosts[0].cpu.cores == 2);
  CHECK(experiment.origins.at("seed") == Origin{second.path(), 1, 7});
  CHECK(errors_of(Sections{}, {.overlays = {"no-such-file.yaml"}}) ==
        Lines{"no-such-file.yaml: open: No such file or directory"});
}

TEST_CASE("a set addresses the resolved experiment") {
  const Sections sections{.hosts = R"(
  a: {nics: {eth0: {profile: generic-1g}}}
  b: {like: a})"};
  SECTION("one host, not those like it") {
    const Experiment experiment = parse(sections, {.set = {"hosts.a.nics.eth0.mtu=9000B"}});
    CHECK(nic(experiment, 0).mtu == Bytes(9000));
    CHECK(nic(experiment, 1).mtu == Bytes(1500));
    CHECK(experiment.set == Lines{"hosts.a.nics.eth0.mtu=9000B"});
    CHECK(experiment.origins.at("hosts.a.nics.eth0.mtu").source ==
          "--set hosts.a.nics.eth0.mtu=9000B");
  }
  SECTION("every host by a star") {
    const Experiment experiment = parse(sections, {.set = {"hosts.*.nics.*.mtu=9000B"}});
    CHECK(nic(experiment, 1).mtu == Bytes(9000));
  }
  SECTION("list elements by name, links by their default name, later sets over earlier ones") {
    const Experiment experiment = parse(
        sections, {.set = {"tests.bulk.write=1KiB", "tests.*.write=2KiB", "links.a-b.delay=5ms"}});
    CHECK(experiment.tests[0].write == Bytes(2048));
    CHECK(experiment.links[0].delay == Time::milliseconds(5));
  }
  SECTION("presets and whole maps") {
    const Experiment experiment =
        parse(sections, {.set = {"hosts.a.stack=bsd-4.4", "hosts.b.stack.timestamps=off",
                                 "tests.bulk.socket_buffer={send: 8KiB, receive: 16KiB}"}});
    CHECK(experiment.hosts[0].stack.preset == "bsd-4.4");
    CHECK(experiment.hosts[1].stack.preset == "linux-6");
    CHECK_FALSE(experiment.hosts[1].stack.timestamps);
    CHECK(experiment.tests[0].receive_buffer == Bytes(16384));
  }
  SECTION("tolerances, whose names have dots") {
    const Experiment experiment = parse(sections, {.set = {"tolerance.*.latency.p50=2%"}});
    REQUIRE(experiment.tolerances.size() == 1);
    CHECK(experiment.tolerances[0] == Tolerance{"*.latency.p50", 0.02});
  }
}

TEST_CASE("a set that matches nothing is an error with the nearest path") {
  const auto error = [](const char* set) {
    const Lines errors = errors_of(Sections{}, {.set = {set}});
    REQUIRE(errors.size() == 1);
    return errors[0];
  };
  CHECK(error("hosts.a.nics.eth1.mtu=9000B") ==
        "--set hosts.a.nics.eth1.mtu=9000B: `hosts.a.nics.eth1` matches nothing; did you mean "
        "`hosts.a.nics.eth0`?");
  CHECK(error("tests.bluk.write=1KiB") ==
        "--set tests.bluk.write=1KiB: `tests.bluk` matches nothing; did you mean `tests.bulk`?");
  CHECK(error("tests.bulk.wriet=1KiB") ==
        "--set tests.bulk.wriet=1KiB: tests.bulk: unknown key `wriet`; did you mean `write`?");
  CHECK(error("tests.bulk.write=64K") ==
        "--set tests.bulk.write=64K: tests.bulk.write: `K` is no unit of a size; write 64KiB");
  CHECK(error("no path") == "--set no path: no PATH=VALUE; write --set tests.bulk.write=64KiB");
}

TEST_CASE("every value says where it comes from") {
  const Experiment experiment = parse(Sections{.hosts = R"(
  a: {stack: {preset: linux-2.2, rto_min: 1s}, nics: {eth0: {profile: generic-1g}}}
  b: {nics: {eth0: {}}})"});
  const auto& origins = experiment.origins;
  CHECK(origins.at("hosts.a.stack.rto_min") == Origin{"sample.yaml", 4, 43});
  CHECK(origins.at("hosts.a.stack.initial_window").source == "catalog stacks/linux-2.2");
  CHECK(origins.at("hosts.b.stack.initial_window").source == "catalog stacks/linux-6");
  CHECK(origins.at("hosts.a.nics.eth0.transmit_ring").source == "catalog nics/generic-1g");
  CHECK(origins.at("hosts.b.nics.eth0.mtu") == Origin{"built-in default", 0, 0});
  CHECK(origins.at("tests.bulk.from") == Origin{"sample.yaml", 9, 42});
}

TEST_CASE("a profile beside the file comes before the catalog") {
  const std::string directory = std::string(LINERATE_BINARY_DIR) + "/profiles";
  CHECK(std::system(("mkdir -p '" + directory + "'").c_str()) == 0);
  const TemporaryFile profile("profiles/my-server.yaml",
                              "cpu: {cores: 12}\nnics: {eth0: {profile: generic-1g}}\n");
  const std::string source = std::string(LINERATE_BINARY_DIR) + "/sample.yaml";
  const std::string text = Sections{.hosts = R"(
  a: {profile: my-server}
  b: {profile: my-server, cpu: {cores: 3}})"}
                               .text();
  const Experiment experiment =
      parse_experiment(text, source, {.set = {"hosts.a.nics.eth0.mtu=9000B"}});
  CHECK(experiment.hosts[0].cpu.cores == 12);
  CHECK(experiment.hosts[1].cpu.cores == 3);
  CHECK(nic(experiment, 0).transmit_ring == 256);
  CHECK(nic(experiment, 0).mtu == Bytes(9000));
}

TEST_CASE("a profile that cannot be used says why") {
  const std::string directory = std::string(LINERATE_BINARY_DIR) + "/profiles";
  CHECK(std::system(("mkdir -p '" + directory + "'").c_str()) == 0);
  const TemporaryFile broken("profiles/broken.yaml", "cpu: [\n");
  const TemporaryFile circle("profiles/circle.yaml", "profile: circle\n");
  const TemporaryFile wrong("profiles/wrong.yaml", "cpu: {coers: 3}\n");
  const std::string source = std::string(LINERATE_BINARY_DIR) + "/sample.yaml";
  const auto error = [&](const std::string& profile) {
    const std::string text = Sections{.hosts = "\n  a: {profile: " + profile +
                                               ", nics: {eth0: {}}}\n  b: {nics: {eth0: {}}}"}
                                 .text();
    try {
      parse_experiment(text, source);
    } catch (const DefinitionError& caught) {
      CHECK(caught.diagnostics().size() == 1);
      return format(caught.diagnostics().front());
    }
    return std::string();
  };
  CHECK(error("broken").starts_with(broken.path() + ":2:1: YAML syntax: "));
  CHECK(error("circle") ==
        circle.path() + ":1:10: hosts.a: `circle` builds on itself, or on too many others");
  CHECK(error("wrong") ==
        wrong.path() + ":1:7: hosts.a.cpu: unknown key `coers`; did you mean `cores`?");
  CHECK(error("../sample").find("is in neither the catalog's hosts nor ./profiles") !=
        std::string::npos);
}

TEST_CASE("uncertain numbers keep their interval in the resolved experiment") {
  const Experiment experiment = parse(Sections{.links = R"(
  - {endpoints: ["a:eth0", "b:eth0"], medium: 1000BASE-T,
     delay: {value: 1.2us, within: [0.9us, 1.6us]}})"});
  CHECK(experiment.links[0].delay == Time::nanoseconds(1200));
  CHECK(experiment.resolved.find(R"("delay":{"value":"1200ns","within":["900ns","1600ns"]})") !=
        std::string::npos);
  CHECK(errors_of(Sections{.links = R"(
  - {endpoints: ["a:eth0", "b:eth0"], medium: 1000BASE-T,
     delay: {value: 1.2us, within: [1.3us, 1.6us]}})"}) ==
        Lines{"sample.yaml:8:36: links.a-b.delay: the value lies outside its own interval; order "
              "them lowest <= value <= highest"});
}

TEST_CASE("the resolved experiment is an experiment file for the same experiment") {
  const Experiment experiment = parse(
      Sections{.hosts = R"(
  a: {profile: generic-server-2020, stack: vxworks-5.5, nics: {eth0: {profile: generic-1g}}}
  "h[1-3]": {nics: {eth0: {ideal: on}}})",
               .links = R"(
  - {endpoints: ["a:eth0", "s1:1"], medium: 1000BASE-T, length: 3m, cost: 12.5EUR}
  - {endpoints: ["h[1-3]", "s1:{i+1}"], rate: 10Mbit/s, queue: 250000B, loss: [{from: s1, probability: 0.1%}],
     blackholes: [{from: 1.5s, to: 2.5s}], drops: [{from: "h{i}", data_segments: [40]}],
     reorder: [{from: s1, segment: 7, positions: 3}]})",
               .tests = R"(
  - {name: incast, type: tcp-stream, from: "h[1-3]", to: a, bytes: 1MB, socket_buffer: {send: 8KiB}}
  - {name: rpc, type: request-response, from: a, to: h1, request: 128B, transactions: 200}
  - {name: frames, type: raw-frames, from: a, to: h1, frame_sizes: [64B, 1518B], rate: 1Mbit/s}
  - {name: slow, type: tcp-stream, from: a, to: h2, writes: [{size: 100B, count: 10, interval: 5ms}],
     reader: {pause_at: 500ms, pause_for: 1s}, group: load})",
               .more = R"(switches: {s1: {ports: {"1-2": 1Gbit/s, "3-4": 10Gbit/s}, latency: 2us}}
description: "quotes \" and \\ and ü"
assert: ["rpc.latency.p50 < 20ms", "incast.fairness >= 0.9", "incast.retransmits == 0"]
tolerance: {"*.goodput": 0.5%, rpc.latency.p50: 20%})"});
  Experiment again = parse_experiment(experiment.resolved, "resolved");
  CHECK(again.resolved == experiment.resolved);
  again.origins = experiment.origins;
  CHECK(again == experiment);
}
