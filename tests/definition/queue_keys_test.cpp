// Keys of queues and traffic classes: what is read, what is filled in, what is refused.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"

using namespace linerate;
using namespace linerate::experiments;

namespace {

std::string yaml(const std::string& device, const std::string& nic = "",
                 const std::string& link = "") {
  return R"(schema_version: 1
name: q
hosts:
  a: {nics: {eth0: {mtu: 1500B)" +
         nic + R"(}}}
  b: {nics: {eth0: {}}}
switches:
  s: {ports: 2, rate: 1Gbit/s)" +
         device + R"(}
links:
  - {endpoints: ["a:eth0", "s:1"], rate: 1Gbit/s)" +
         link + R"(}
  - {endpoints: ["b:eth0", "s:2"], rate: 1Gbit/s}
tests:
  - {name: bulk, type: tcp-stream, from: a, to: b}
)";
}

Experiment parse(const std::string& text) { return parse_experiment(text, "q.yaml"); }

std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const DefinitionError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a queue without more is filled in with the numbers of its RFC") {
  const Experiment e = parse(yaml(", queue: {discipline: codel}"));
  const QueueSpec& codel = e.switches[0].egress->queue;
  CHECK(codel.target == Time::milliseconds(5));      // RFC 8289 4.4
  CHECK(codel.interval == Time::milliseconds(100));  // RFC 8289 4.4
  CHECK(codel.limit_frames == 1000);
  CHECK_FALSE(codel.flows);

  const Experiment f = parse(yaml(", queue: {discipline: fq-codel, target: 1ms}"));
  const QueueSpec& fair = f.switches[0].egress->queue;
  CHECK(fair.target == Time::milliseconds(1));
  CHECK(fair.flows == 1024);          // RFC 8290 5.2.4
  CHECK(fair.limit_frames == 10240);  // RFC 8290 5.2.3

  const Experiment g = parse(yaml(", queue: {discipline: pie}"));
  const QueueSpec& pie = g.switches[0].egress->queue;
  CHECK(pie.target == Time::milliseconds(15));  // RFC 8033 4.2
  CHECK(pie.alpha == 0.125);                    // RFC 8033 4.2
  CHECK(pie.burst == Time::milliseconds(150));  // RFC 8033 4.4

  const Experiment h = parse(yaml(", queue: {discipline: red, max_frames: 90}"));
  const QueueSpec& red = h.switches[0].egress->queue;
  CHECK(red.min_frames == 30);  // a third (Floyd 1997)
  CHECK_FALSE(red.min);
}

TEST_CASE("a queue may be written as its limit, wherever it stands") {
  const Experiment e = parse(yaml(", queue: 64KiB", ", queue: 32KiB", ", queue: 16KiB"));
  CHECK(e.switches[0].egress->queue.limit == Bytes(65536));
  CHECK(e.hosts[0].nics[0].egress->queue.limit == Bytes(32768));
  CHECK(e.links[0].queue == Bytes(16384));
  CHECK_FALSE(e.links[0].egress);
  const Experiment path = parse(yaml("", "", ", queue: {limit: 16KiB, discipline: codel}"));
  CHECK_FALSE(path.links[0].queue);
  CHECK(path.links[0].egress->queue.limit == Bytes(16384));
}

TEST_CASE("the frame memory of a switch limits its queues unless they say otherwise") {
  const Experiment e =
      parse(yaml(", buffer: {total: 256KiB, policy: per-port}, queue: {discipline: codel}"));
  CHECK(e.switches[0].egress->queue.limit == Bytes(262144));
  CHECK_FALSE(e.switches[0].egress->queue.limit_frames);
}

TEST_CASE("a resolved file with queues and classes says the same again") {
  const std::string text = yaml(
      ", scheduler: drr, classes: [{name: gold, priorities: [5, 6], weight: 4, queue: 64KiB}, "
      "{name: rest, queue: {discipline: pie, ecn: on}}]",
      ", queue: {discipline: fq-codel}", ", queue: {discipline: red, limit: 1MB}");
  const Experiment e = parse(text);
  REQUIRE(e.switches[0].egress->classes.size() == 2);
  CHECK(e.switches[0].egress->classes[0].weight == 4);
  const Experiment again = parse_experiment(e.resolved, "resolved.json");
  CHECK(again.switches == e.switches);
  CHECK(again.hosts == e.hosts);
  CHECK(again.links == e.links);
  CHECK(again.resolved == e.resolved);
}

TEST_CASE("keys that mean nothing together are refused, with what would") {
  struct Case {
    std::string device, message;
  };
  const Case cases[] = {
      {", queue: {discipline: red, target: 5ms}", "`target` means nothing to red"},
      {", queue: {discipline: codel, min: 30kB}", "`min` means nothing to codel"},
      {", queue: {ecn: on}", "ecn_threshold"},
      {", queue: {discipline: red, min: 30kB, max_frames: 90}", "in bytes and in frames"},
      {", queue: {discipline: red, min_frames: 90, max_frames: 30}", "not below max_frames"},
      {", queue: {discipline: red, min: 64kB, limit: 32kB}", "RED would never act"},
      {", queue: {limit: 0B}", "limit"},
      {", classes: [{name: all}]", "scheduler: strict"},
      {", scheduler: strict, classes: [{name: x, priorities: [1]}]", "priority 0 is in no class"},
      {", scheduler: strict, classes: [{name: x}, {name: y}]", "two classes without priorities"},
      {", scheduler: strict, classes: [{name: x, priorities: [1, 1]}, {name: y}]", "stands twice"},
      {", scheduler: strict, classes: [{name: x, priorities: [8]}, {name: y}]", "7"},
      {", scheduler: strict, classes: [{name: x, weight: 2}]", "only drr heeds weights"},
      {", scheduler: drr, queue: 64KiB, classes: [{name: x}]", "each class has its own queue"},
      {", queue: {discipline: blue}", "blue"},
  };
  for (const Case& c : cases) {
    INFO(c.device);
    CHECK_THAT(refusal(yaml(c.device)), Catch::Contains(c.message));
  }
}
