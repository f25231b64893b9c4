// Every kind of mistake shows file, line, column and what to do, and all of them show at once.
#include <catch2/catch.hpp>
#include <string>

#include "tests/definition/parse_fixture.hpp"

using namespace linerate;
using namespace linerate::experiments;

TEST_CASE("the plain sample is legal") { CHECK(errors_of(Sections{}) == Lines{}); }

TEST_CASE("all errors of a file come at once, in its order") {
  const std::string text = R"(schema_version: 1
name: sample
hosts:
  a: {nics: {eth0: {mtu: 1500}}}
  b: {nics: {eth0: {}}}
links:
  - {endpoints: ["a:eth0", "b:eth0"], medium: 1000BASE-TX}
tests:
  - {name: bulk, type: tcp-stream, from: a, to: b, durration: 10s}
assert: ["bulk.goodputt >= 930Mbit/s"]
)";
  CHECK(errors_of(text) ==
        Lines{"sample.yaml:4:26: hosts.a.nics.eth0.mtu: a size needs a unit; write 1500B",
              "sample.yaml:7:47: links.a-b.medium: `1000BASE-TX` is no Ethernet medium known here; "
              "did you mean `100BASE-TX`?",
              "sample.yaml:9:52: tests.bulk: unknown key `durration`; did you mean `duration`?",
              "sample.yaml:10:10: assert[0]: there is no figure `goodputt`; did you mean "
              "`goodput`?"});
}

TEST_CASE("YAML mistakes have their place") {
  CHECK(errors_of("a: 1\na: 2\nschema_version: 1\n").front() ==
        "sample.yaml:2:1: the key `a` stands here a second time; keep one of the two");
  CHECK(errors_of("a:\n\t- 1\n") ==
        Lines{"sample.yaml:2:1: YAML syntax: found character that cannot start any token (while "
              "scanning for the next token at line 2); indent with spaces, not tabs"});
  CHECK(errors_of("a: 1\n---\nb: 1\n") ==
        Lines{"sample.yaml:2:1: a second document starts here; one file holds one document: "
              "remove `---`"});
  CHECK(errors_of("a: !!int 1\n") ==
        Lines{"sample.yaml:1:4: YAML tags are not supported; remove the `!` tag"});
  CHECK(errors_of("a: *nowhere\n") ==
        Lines{"sample.yaml:1:4: the alias `*nowhere` has no complete anchor before it"});
  CHECK(errors_of("") == Lines{"sample.yaml:1:1: the file is empty; `linerate init` writes a "
                               "start"});
  CHECK(errors_of("- 1\n") == Lines{"sample.yaml:1:1: an experiment is a mapping of keys to "
                                    "values; `linerate init` writes a start"});
}

TEST_CASE("links say which end is wrong") {
  const auto with_link = [](const char* link) {
    return errors_of(Sections{.links = std::string("\n  - ") + link,
                              .more = "switches: {s1: {ports: 4, rate: 1Gbit/s}}"});
  };
  CHECK(with_link("{endpoints: [\"a:eth0\", \"s2:1\"], medium: 1000BASE-T}").front() ==
        "sample.yaml:7:28: links.a-s2.endpoints[1]: there is no host, switch or hub `s2`; known: a, b, "
        "s1");
  CHECK(with_link("{endpoints: [\"a:eth7\", \"s1:1\"], medium: 1000BASE-T}").front() ==
        "sample.yaml:7:18: links.a-s1.endpoints[0]: `a` has no NIC `eth7`; its NICs: eth0");
  CHECK(with_link("{endpoints: [\"a:eth0\", \"s1:5\"], medium: 1000BASE-T}").front() ==
        "sample.yaml:7:28: links.a-s1.endpoints[1]: switch `s1` has no port `5`; write s1:1 to "
        "s1:4");
  CHECK(with_link("{endpoints: [\"a:eth0\"], medium: 1000BASE-T}").front() ==
        "sample.yaml:7:17: links[0].endpoints: a link has two ends, not 1; write [\"a:eth0\", "
        "\"s1:1\"]");
  CHECK(with_link("{endpoints: [\"a:eth0\", \"s1:1\"]}").front() ==
        "sample.yaml:7:5: links.a-s1: neither a medium nor a rate; add `medium: 1000BASE-T`");
  // The switch has 1 Gbit/s ports.
  CHECK(with_link("{endpoints: [\"a:eth0\", \"s1:1\"], medium: 10GBASE-T}").front() ==
        "sample.yaml:7:45: links.a-s1.medium: port s1:1 goes up to 1Gbit/s, the link is 10GBASE-T, "
        "10Gbit/s; choose a slower medium or a faster port");
  CHECK(with_link("{endpoints: [\"a:eth0\", \"s1:1\"], medium: 1000BASE-T, loss: [{from: b, "
                  "probability: 1%}]}")
            .front() ==
        "sample.yaml:7:71: links.a-s1.loss[0].from: `b` is not one end of this link; write a or "
        "s1");
}

TEST_CASE("a port has one cable") {
  const Lines errors = errors_of(Sections{.links = R"(
  - {endpoints: ["a:eth0", "b:eth0"], medium: 1000BASE-T}
  - {endpoints: ["b:eth0", "a:eth0"], medium: 1000BASE-T})"});
  REQUIRE(errors.size() == 2);
  CHECK(errors[0] ==
        "sample.yaml:8:18: links.b-a.endpoints[0]: `b:eth0` is used by link `a-b` already; a port "
        "has one cable: choose another");
}

TEST_CASE("a NIC that cannot do a medium is named with it") {
  CHECK(errors_of(Sections{.hosts = R"(
  a: {nics: {eth0: {profile: generic-100m}}}
  b: {nics: {eth0: {}}})"}) ==
        Lines{"sample.yaml:7:47: links.a-b.medium: NIC a:eth0 can do 10Mbit/s, 100Mbit/s, the link "
              "is 1000BASE-T, 1Gbit/s; choose another medium or NIC"});
}

TEST_CASE("tests are checked against their type, their NICs and themselves") {
  const auto with_test = [](const char* test) {
    const Lines errors = errors_of(Sections{.tests = std::string("\n  - ") + test});
    REQUIRE(errors.size() >= 1);
    return errors.front();
  };
  CHECK(with_test("{name: t, type: tcp-stream, from: a, to: c}") ==
        "sample.yaml:9:46: tests.t.to: there is no host `c`; known: a, b");
  CHECK(with_test("{name: t, type: tcp-stream, from: a, to: a}") ==
        "sample.yaml:9:46: tests.t.to: sender and receiver are one host; choose two");
  CHECK(with_test("{name: t, type: raw-frames, from: a, to: b, frame_sizes: [64B, 128B, 64B]}")
            .find("tests.t.frame_sizes: 64 B stands here twice") != std::string::npos);
  CHECK(with_test("{name: t, type: tcp-stream, from: a, to: b, cpu: {core: 4000}}")
            .find("tests.t.cpu.core: `a` has no core 4000") != std::string::npos);
  CHECK(with_test("{name: t, type: tcp-stream, from: a, to: b, duration: 1s, omit: 1s}") ==
        "sample.yaml:9:69: tests.t.omit: omit 1s leaves nothing of duration 1s; let omit be "
        "shorter");
  CHECK(with_test("{name: t, type: tcp-stream, from: a, to: b, duration: 1s, bytes: 1kB}") ==
        "sample.yaml:9:59: tests.t.duration: `bytes` and `duration` exclude each other; remove "
        "one");
  CHECK(with_test("{name: t, type: tcp-stream, from: a, to: b, rate: 1Mbit/s}") ==
        "sample.yaml:9:55: tests.t.rate: a tcp-stream test has no `rate`; it is for udp-stream, "
        "raw-frames; write `pacing` to limit a TCP sender");
  // 1500 B of IP packet, 14 of header and 4 of FCS make the largest frame.
  CHECK(with_test("{name: t, type: raw-frames, from: a, to: b, frame_size: 1519B}") ==
        "sample.yaml:9:61: tests.t.frame_size: a frame of 1519 B does not fit the MTU of 1500 B "
        "of a:eth0; at most 1518B, or raise the NIC's mtu");
  CHECK(with_test("{name: t, type: raw-frames, from: a, to: b, frame_size: 63B}") ==
        "sample.yaml:9:61: tests.t.frame_size: `63B` is out of range; it must be between 64B and "
        "65557B");
  CHECK(with_test("{name: t, type: file-transfer, from: a, to: b}") ==
        "sample.yaml:9:5: tests.t: the key `bytes` is missing: how long is the file?; add `bytes: "
        "100MB`");
  CHECK(with_test("{name: t, type: tcp-stream, from: a, to: b, background: on}") ==
        "sample.yaml:9:61: tests.t.background: nothing runs beside this background test; put it "
        "and another test in one `group`");
  CHECK(with_test("{name: t, type: tcp-stream, from: a, to: b, ip: 5}") ==
        "sample.yaml:9:53: tests.t.ip: there is no IP version 5 here; write 4 or 6");
  CHECK(with_test("{name: t, type: tcp-stream, from: a, to: b}\n  - {name: t, type: tcp-stream, "
                  "from: a, to: b}") ==
        "sample.yaml:10:12: tests.t.name: two tests are called `t`; rename one of them");
}

TEST_CASE("hosts that no link joins cannot be tested") {
  const Lines errors = errors_of(Sections{.hosts = R"(
  a: {nics: {eth0: {}}}
  b: {nics: {eth0: {}}}
  c: {nics: {eth0: {}}})",
                                          .tests = R"(
  - {name: t, type: tcp-stream, from: a, to: c})"});
  CHECK(errors == Lines{"sample.yaml:10:46: tests.t.to: no path leads from `a` to `c`; link them, "
                        "or let a host between them forward"});
}

TEST_CASE("a test between hosts that are wrong is not looked at any closer") {
  const Lines errors = errors_of(Sections{.hosts = R"(
  a: {nics: {eth0: {}}}
  b: {like: c})",
                                          .tests = R"(
  - {name: t, type: tcp-stream, from: a, to: b, congestion: cubic})"});
  REQUIRE_FALSE(errors.empty());
  CHECK(errors[0].find("`like` names `c`") != std::string::npos);
}

TEST_CASE("keys and types of coming versions are refused as such") {
  const Lines errors = errors_of(Sections{.more = "vary: {}\ngoal: []"});
  CHECK(errors ==
        Lines{"sample.yaml:10:1: `vary` is not supported yet in this version; remove it",
              "sample.yaml:11:1: `goal` is not supported yet in this version; remove it"});
}

TEST_CASE("missing keys are named") {
  CHECK(errors_of("name: sample\n") ==
        Lines{"sample.yaml:1:1: the key `schema_version` is missing; add `schema_version`: 1",
              "sample.yaml:1:1: the key `tests` is missing; add `tests`: what is sent and "
              "measured",
              "sample.yaml:1:1: hosts: there is no host; add `hosts:`, or a `topology:` that makes "
              "some"});
}

TEST_CASE("a hundred errors are enough") {
  std::string hosts;
  for (int i = 0; i < 250; ++i) hosts += "\n  h" + std::to_string(i) + ": {wrong: 1}";
  const Lines errors = errors_of(Sections{.hosts = hosts});
  REQUIRE(errors.size() == 101);
  // 250 unknown keys, and the link and the test that name hosts a and b.
  CHECK(errors.back() == "and 154 more errors");
}

TEST_CASE("hostile texts are refused within bounded time and memory") {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += '[';
  CHECK(errors_of(deep).front() == "sample.yaml:1:65: nested deeper than 64 levels");

  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int n = 0; n < 10; ++n) bomb += (n ? ", " : "") + last;
    bomb += "]\n";
  }
  REQUIRE(errors_of(bomb).size() == 1);
  CHECK(errors_of(bomb).front().find("aliases expanded") != std::string::npos);

  CHECK(errors_of(Sections{.hosts = "\n  \"h[1-1000000]\": {}"})
            .front()
            .find("patterns and copies make more than 20000 entries") != std::string::npos);
  CHECK(errors_of(std::string("name: a\0b\n", 10)).front() ==
        "sample.yaml:1:8: not readable as text: control characters are not allowed; save the file "
        "as UTF-8");
  // An escape would act on the terminal that the message is printed on.
  CHECK(errors_of("name: \"\\e[31mred\"\n").front() ==
        "sample.yaml:1:7: control characters are not allowed, escaped or not");
  CHECK(errors_of("name: \xff\xfe\n").front() ==
        "sample.yaml:1:7: not readable as text: invalid leading UTF-8 octet; save the file as "
        "UTF-8");
  CHECK(errors_of(std::string(17u << 20, ' ')).front() ==
        "sample.yaml:1:1: is longer than the 16 MiB an experiment may have");
}
