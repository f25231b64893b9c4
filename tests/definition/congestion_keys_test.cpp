// Keys of congestion control, ECN and path MTU, and what they refuse.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/lint.hpp"
#include "tests/definition/parse_fixture.hpp"

using namespace linerate;
using namespace linerate::experiments;

namespace {

Sections with_stack(const std::string& stack, const std::string& link = "") {
  return {.hosts = "\n  a: {stack: {" + stack + "}, nics: {eth0: {}}}\n  b: {nics: {eth0: {}}}",
          .links = "\n  - {endpoints: [\"a:eth0\", \"b:eth0\"], medium: 1000BASE-T" +
                   (link.empty() ? "" : ", " + link) + "}"};
}

Sections with_test(const std::string& keys) {
  return {.tests = "\n  - {name: t, type: tcp-stream, from: a, to: b, " + keys + "}"};
}

bool says(const Sections& sections, const std::string& what) {
  const Lines lines = errors_of(sections);
  INFO((lines.empty() ? "no error" : lines.front()));
  return !lines.empty() && lines.front().find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("every congestion control is accepted for a stack and for a test") {
  for (const char* name : {"reno", "cubic", "dctcp", "vegas", "bbr"}) {
    const std::string key = std::string("congestion: ") + name;
    CHECK(parse(with_stack(key)).hosts[0].stack.congestion == name);
    CHECK(parse(with_test(key)).tests[0].congestion == std::string(name));
  }
}

TEST_CASE("an unknown congestion control is answered with the nearest") {
  CHECK(says(with_test("congestion: cubik"),
             "tests.t.congestion: `cubik` is no congestion control; did you mean `cubic`?"));
  CHECK(says(with_stack("congestion: dtcp"), "did you mean `dctcp`?"));
  CHECK(says(with_test("congestion: swift"), "known: reno, cubic, dctcp, vegas, bbr"));
}

TEST_CASE("BBR is refused where the delivery rate cannot be sampled") {
  CHECK(says(with_stack("preset: bsd-4.4, congestion: bbr"), "needs SACK and RACK"));
  Sections sections = with_test("congestion: bbr");
  sections.hosts = "\n  a: {stack: linux-2.4, nics: {eth0: {}}}\n  b: {nics: {eth0: {}}}";
  CHECK(says(sections, "tests.t.congestion: bbr samples the delivery rate"));
}

TEST_CASE("ECN, HyStart++, F-RTO and path MTU discovery are parameters of a stack") {
  const Stack stack =
      parse(with_stack("ecn: on, hystart: plus-plus, frto: off, path_mtu_discovery: blackhole, "
                       "mtu_probing: on"))
          .hosts[0]
          .stack;
  CHECK(stack.ecn == EcnUse::on);
  CHECK(stack.hystart == HyStart::plus_plus);
  CHECK_FALSE(stack.frto);
  CHECK(stack.path_mtu_discovery == PathMtuDiscovery::blackhole);
  CHECK(stack.mtu_probing);
  // As the kernel has them.
  const Stack plain = parse(with_stack("preset: linux-6")).hosts[0].stack;
  CHECK(plain.ecn == EcnUse::accept);
  CHECK(plain.hystart == HyStart::on);
  CHECK(plain.frto);
  CHECK(plain.path_mtu_discovery == PathMtuDiscovery::on);
  CHECK_FALSE(plain.mtu_probing);
}

TEST_CASE("a black hole is warned of, one that is known is not") {
  CHECK(parse(with_stack("preset: linux-6", "mtu: 1400B")).links[0].mtu == Bytes(1400));
  const auto warned = [](const std::string& stack) {
    const std::vector<Diagnostic> found = lint(parse(with_stack(stack, "mtu: 1400B")));
    return std::any_of(found.begin(), found.end(), [](const Diagnostic& d) {
      return d.message.find("takes packets of 1400 B") != std::string::npos;
    });
  };
  CHECK(warned("path_mtu_discovery: blackhole"));
  CHECK_FALSE(warned("path_mtu_discovery: on"));
  CHECK(says(with_stack("preset: linux-6", "mtu: 40B"), "links"));
}
