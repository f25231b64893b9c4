// Hubs, coaxial segments and half-duplex cables: how their ends come to run, and how large a
// collision domain is.
#include <algorithm>
#include <catch2/catch.hpp>

#include "experiments/definition/lint.hpp"
#include "experiments/definition/media.hpp"
#include "experiments/definition/shared_medium.hpp"
#include "tests/definition/parse_fixture.hpp"

using namespace linerate;
using namespace linerate::experiments;

namespace {

Sections cable(const std::string& keys) {
  Sections sections;
  sections.links = "\n  - {endpoints: [\"a:eth0\", \"b:eth0\"], " + keys + "}";
  return sections;
}

Sections hub(const std::string& keys, const std::string& links) {
  Sections sections;
  sections.links = links;
  sections.more = "hubs:\n  h1: {" + keys + "}\n  h2: {" + keys + "}\n";
  return sections;
}

const std::string kTwoAtOne = R"(
  - {endpoints: ["a:eth0", "h1:1"], medium: 100BASE-TX, length: 40m}
  - {endpoints: ["b:eth0", "h1:2"], medium: 100BASE-TX, length: 60m})";

// "full half" for the ends of the first link.
std::string duplex_of(const Experiment& experiment) {
  const auto word = [](Duplex duplex) { return duplex == Duplex::full ? "full" : "half"; };
  const Link& link = experiment.links[0];
  return std::string(word(link.duplex[0])) + " " + word(link.duplex[1]);
}

bool says(const std::vector<std::string>& lines, const std::string& words) {
  for (const std::string& line : lines) UNSCOPED_INFO(line);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(words) != std::string::npos;
  });
}

bool warns(const Experiment& experiment, const std::string& words) {
  std::vector<std::string> lines;
  for (const Diagnostic& warning : lint(experiment)) lines.push_back(warning.message);
  return says(lines, words);
}

}  // namespace

TEST_CASE("the ends of a cable run as their settings and autonegotiation make them") {
  // IEEE 802.3 28.2.3.1: an end that negotiates with one that does not detects its speed alone and
  // takes half duplex; two that negotiate take full if both can.
  struct Outcome {
    const char *keys, *ends;
  };
  const Outcome outcomes[] = {
      {"medium: 100BASE-TX", "full full"},
      {"medium: 100BASE-TX, duplex: half", "half half"},
      {"medium: 100BASE-TX, duplex: [full, half]", "full half"},
      {"medium: 100BASE-TX, autonegotiation: on", "full full"},
      {"medium: 100BASE-TX, autonegotiation: on, duplex: [full, half]", "half half"},
      {"medium: 100BASE-TX, autonegotiation: [on, off]", "half full"},
      {"medium: 100BASE-TX, autonegotiation: [off, on]", "full half"},
      {"medium: 100BASE-TX, autonegotiation: [on, off], duplex: half", "half half"},
      {"medium: 100BASE-TX, autonegotiation: off", "full full"},
      {"medium: 100BASE-TX, autonegotiation: off, duplex: [half, full]", "half full"},
      {"medium: 1000BASE-T, autonegotiation: on", "full full"},
      {"medium: 100BASE-T4", "half half"},
      {"rate: 10Mbit/s, autonegotiation: [on, off]", "half full"},
  };
  for (const Outcome& outcome : outcomes) {
    INFO(outcome.keys);
    CHECK(duplex_of(parse(cable(outcome.keys))) == outcome.ends);
  }
}

TEST_CASE("ports at a hub are half duplex unless one is set to full") {
  CHECK(duplex_of(parse(hub("ports: 4, rate: 100Mbit/s", kTwoAtOne))) == "half half");
  const Experiment forced = parse(hub("ports: 4, rate: 100Mbit/s", R"(
  - {endpoints: ["a:eth0", "h1:1"], medium: 100BASE-TX, duplex: [full, half]}
  - {endpoints: ["b:eth0", "h1:2"], medium: 100BASE-TX})"));
  CHECK(duplex_of(forced) == "full half");
  CHECK(warns(forced, "duplex mismatch: a:eth0 is full duplex"));
}

TEST_CASE("what cannot share a medium is refused with a remedy") {
  CHECK(says(errors_of(cable("medium: 10GBASE-T, duplex: half")), "has no half duplex"));
  CHECK(says(errors_of(cable("rate: 10Gbit/s, duplex: half")), "half duplex above 1 Gbit/s"));
  CHECK(says(errors_of(cable("medium: 100BASE-TX, duplex: [half]")), "a link has two ends"));
  CHECK(says(errors_of(cable("medium: 1000BASE-T, autonegotiation: [on, off]")), "come up"));
  CHECK(says(errors_of(cable("medium: 100BASE-FX, autonegotiation: on")), "clause 28"));
  CHECK(says(errors_of(cable("medium: 100BASE-TX, duplex: half, queue: 64KiB")), "emulated path"));
  CHECK(says(errors_of(cable("medium: 100BASE-TX, duplex: half, jitter: 1ms")), "is fixed"));

  const std::string sound = "ports: 4, rate: 100Mbit/s";
  CHECK(errors_of(hub(sound, kTwoAtOne)).empty());
  CHECK(says(errors_of(hub("ports: 4", kTwoAtOne)), "ports of unknown rate"));
  CHECK(says(errors_of(hub("ports: 1, rate: 100Mbit/s", kTwoAtOne)), "ports"));
  CHECK(says(errors_of(hub("ports: 4, rate: 10Mbit/s", kTwoAtOne)), "repeats at 10Mbit/s"));
  CHECK(says(errors_of(hub("ports: 4, rate: 10Gbit/s", kTwoAtOne)), "above 1 Gbit/s"));
  CHECK(says(errors_of(hub("ports: 4, rate: 10Mbit/s, class: I", kTwoAtOne)), "have classes"));
  CHECK(says(errors_of(hub("ports: 4, medium: 100BASE-TX", kTwoAtOne)), "no coaxial segment"));
  CHECK(says(errors_of(hub(sound + ", length: 5m", kTwoAtOne)), "has no length"));
  CHECK(says(errors_of(hub(sound, R"(
  - {endpoints: ["a:eth0", "h1:9"], medium: 100BASE-TX}
  - {endpoints: ["b:eth0", "h1:2"], medium: 100BASE-TX})")),
             "hub `h1` has no port `9`"));
  CHECK(says(errors_of(hub(sound, kTwoAtOne + R"(
  - {endpoints: ["h1:3", "h2:3"], medium: 100BASE-TX}
  - {endpoints: ["h1:4", "h2:4"], medium: 100BASE-TX})")),
             "closes a loop of hubs"));
  CHECK(says(errors_of(hub(sound, R"(
  - {endpoints: ["a:eth0", "h1:1"], medium: 100BASE-TX, duplex: full}
  - {endpoints: ["b:eth0", "h1:2"], medium: 100BASE-TX})")),
             "a hub is half duplex"));

  Sections pauses = hub(sound, kTwoAtOne);
  pauses.hosts = R"(
  a: {nics: {eth0: {pause: on}}}
  b: {nics: {eth0: {}}})";
  CHECK(says(errors_of(pauses), "PAUSE frames need full duplex"));
  Sections events = hub(sound, kTwoAtOne);
  events.more += "events:\n  - {at: 1s, link: a-h1, action: down, for: 1s}\n";
  CHECK(says(errors_of(events), "shares its medium"));
}

TEST_CASE("a signal passes cables and repeaters, each with its delay") {
  const Experiment experiment = parse(hub("ports: 4, rate: 100Mbit/s, latency: 500ns", R"(
  - {endpoints: ["a:eth0", "h1:1"], medium: 100BASE-TX, length: 40m}
  - {endpoints: ["h1:2", "h2:1"], medium: 100BASE-TX, length: 5m}
  - {endpoints: ["b:eth0", "h2:2"], medium: 100BASE-TX, length: 60m})"));
  const auto media = shared_media(experiment);
  REQUIRE(media.size() == 1);
  REQUIRE(media[0].stations.size() == 2);
  const Time cables = propagation_delay(*find_medium("100BASE-TX"), 40) +
                      propagation_delay(*find_medium("100BASE-TX"), 5) +
                      propagation_delay(*find_medium("100BASE-TX"), 60);
  CHECK(media[0].way(0, 1).delay == cables + Time::nanoseconds(1000));
  CHECK(media[0].way(1, 0).delay == media[0].way(0, 1).delay);
  CHECK(media[0].way(0, 1).repeaters == 2);
}

TEST_CASE("the taps of a coaxial segment lie at even distances") {
  Sections sections = hub("ports: 6, medium: 10BASE5, length: 500m", R"(
  - {endpoints: ["a:eth0", "h1:1"], rate: 10Mbit/s}
  - {endpoints: ["b:eth0", "h1:4"], rate: 10Mbit/s})");
  const auto media = shared_media(parse(sections));
  REQUIRE(media.size() == 1);
  // Three of five gaps of 100 m at 0.77 of the speed of light (IEEE 802.3 table 13-1).
  CHECK(media[0].way(0, 1).delay.seconds() == Approx(300 / (0.77 * 299'792'458)).epsilon(1e-6));
  CHECK(media[0].way(0, 1).repeaters == 0);
}

TEST_CASE("repeaters delay by what the standard's tables allot to them") {
  CHECK(repeater_latency(BitRate::bits_per_second(10'000'000), RepeaterClass::none) ==
        Time::nanoseconds(2100));
  CHECK(repeater_latency(BitRate::bits_per_second(100'000'000), RepeaterClass::one) ==
        Time::nanoseconds(700));
  CHECK(repeater_latency(BitRate::bits_per_second(100'000'000), RepeaterClass::two) ==
        Time::nanoseconds(460));
}

TEST_CASE("a collision domain beyond the slot, or with too many repeaters, is pointed out") {
  // IEEE 802.3 29.3: two class II repeaters with 100 m, 5 m and 100 m of cable just fit 512 bit
  // times; a third repeater, or 5 m more, does not.
  const auto chain = [](const std::string& middle) {
    return hub("ports: 4, rate: 100Mbit/s, class: II", R"(
  - {endpoints: ["a:eth0", "h1:1"], medium: 100BASE-TX, length: 100m}
  - {endpoints: ["h1:2", "h2:1"], medium: 100BASE-TX, length: )" +
                                                           middle + R"(}
  - {endpoints: ["b:eth0", "h2:2"], medium: 100BASE-TX, length: 100m})");
  };
  CHECK_FALSE(warns(parse(chain("5m")), "late collisions are possible"));
  CHECK(warns(parse(chain("30m")), "late collisions are possible"));
  Sections class_one = chain("1m");
  class_one.more = R"(hubs:
  h1: {ports: 4, rate: 100Mbit/s, class: I}
  h2: {ports: 4, rate: 100Mbit/s, class: I}
)";
  CHECK(warns(parse(class_one), "2 repeaters between"));
  CHECK_FALSE(warns(parse(hub("ports: 4, rate: 100Mbit/s", kTwoAtOne)), "repeaters between"));
}
