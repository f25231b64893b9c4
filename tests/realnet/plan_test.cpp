// What a lab would be, without building one: no privilege needed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "realnet/lab_plan.hpp"
#include "realnet/measure.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

std::string how(const LabPlan& plan, const std::string& name) {
  for (const auto& element : plan.elements) {
    if (element.realisation.element == name) return element.realisation.how;
  }
  return "not listed";
}

TEST_CASE("a slow link counts every frame as IEEE 802.3 sends it") {
  const LabPlan plan = plan_lab(two_hosts(100));
  REQUIRE(plan.links[0].ends[0].shaper);
  const Shaper& shaper = *plan.links[0].ends[0].shaper;
  CHECK(shaper.rate == BitRate::bits_per_second(100'000'000));
  CHECK(shaper.overhead == Bytes(8 + 12 + 4));  // beyond the 14 B header the kernel counts
  CHECK(shaper.minimum == Bytes(8 + 64 + 12));
  CHECK(shaper.burst >= Bytes(2 * 1538));
  CHECK(how(plan, "links.a-b.rate") == "realised");
}

TEST_CASE("a fast link is scaled so that full frames take their time on the wire") {
  const LabPlan plan = plan_lab(two_hosts(1000));
  REQUIRE(plan.links[0].ends[0].shaper);
  const Shaper& shaper = *plan.links[0].ends[0].shaper;
  // 1514 B at the scaled rate last as long as 1538 B at the line's.
  const Time scaled = serialization_time(Bytes(1514), shaper.rate);
  const Time real = serialization_time(Bytes(1538), BitRate::bits_per_second(1'000'000'000));
  CHECK(scaled.seconds() == Approx(real.seconds()).epsilon(1e-6));
  CHECK(how(plan, "links.a-b.rate") == "approximated");
}

TEST_CASE("a link no virtual device can be held to makes its tests inconclusive") {
  auto experiment = two_hosts(100'000);
  experiment.tests = {stream("bulk", Time::seconds(1), Time{})};
  const LabPlan plan = plan_lab(experiment);
  CHECK(how(plan, "links.a-b.rate") == "ignored");
  CHECK(unrealised_for(plan, experiment, experiment.tests[0]) ==
        std::vector<std::string>{"links.a-b.rate"});
}

TEST_CASE("only tests that cross an element depend on it") {
  auto experiment = star(3, 100);
  experiment.links[2].rate = BitRate::bits_per_second(100'000'000'000);  // c's
  experiment.tests = {stream("clean", Time::seconds(1), Time{}),
                      stream("lossy", Time::seconds(1), Time{})};
  experiment.tests[1].pairs[0].to_host = 2;
  const LabPlan plan = plan_lab(experiment);
  CHECK(unrealised_for(plan, experiment, experiment.tests[0]).empty());
  CHECK(unrealised_for(plan, experiment, experiment.tests[1]) ==
        std::vector<std::string>{"links.c-s1.rate"});
}

TEST_CASE("hosts around a switch share a subnet and no address") {
  const LabPlan plan = plan_lab(star(4, 100));
  std::set<std::string> addresses;
  for (const char* label : {"a:eth0", "b:eth0", "c:eth0", "d:eth0"}) {
    REQUIRE(plan.port(label));
    CHECK(plan.port(label)->ipv4.substr(0, 9) == "198.18.0.");
    addresses.insert(plan.port(label)->ipv4);
    addresses.insert(plan.port(label)->ipv6);
  }
  CHECK(addresses.size() == 8);
  CHECK(plan.port("s1:1")->ipv4.empty());
}

TEST_CASE("a port of less than 1280 B has no IPv6 address (RFC 8200 section 5)") {
  auto experiment = two_hosts(100);
  experiment.hosts[0].nics[0].mtu = Bytes(1279);
  experiment.hosts[1].nics[0].mtu = Bytes(1280);
  const LabPlan plan = plan_lab(experiment);
  CHECK(plan.port("a:eth0")->ipv6.empty());
  CHECK_FALSE(plan.port("b:eth0")->ipv6.empty());
}

TEST_CASE("a loop of switches is refused, because bridges would flood it") {
  auto experiment = star(2, 100);
  experiment.switches.push_back(experiment.switches[0]);
  experiment.switches[1].name = "s2";
  for (int port = 4; port < 6; ++port) {
    auto link = cable("s1-s2-" + std::to_string(port), 100);
    link.ends[0] = {experiments::NodeKind::switch_, 0, port};
    link.ends[1] = {experiments::NodeKind::switch_, 1, port};
    experiment.links.push_back(link);
  }
  CHECK_THROWS_AS(plan_lab(experiment), EnvironmentError);
  experiment.links.pop_back();
  CHECK_NOTHROW(plan_lab(experiment));
}

TEST_CASE("a router joins two subnets, and hosts know the way through it") {
  auto experiment = routed(100);
  experiment.tests = {stream("bulk", Time::seconds(1), Time{})};
  experiment.tests[0].pairs[0].to_host = 2;
  const LabPlan plan = plan_lab(experiment);
  const auto address = [&](const char* port) { return plan.port(port)->ipv4; };
  CHECK(address("a:eth0").substr(0, 9) == "198.18.0.");
  CHECK(address("c:eth0").substr(0, 9) == "198.18.1.");
  REQUIRE(plan.nodes[0].routes.size() == 2);  // IPv4 and IPv6
  CHECK(plan.nodes[0].routes[0] == PlannedRoute{address("c:eth0"), address("r:eth0"), "eth0"});
  CHECK(plan.nodes[1].routes.empty());  // it is on both subnets
  REQUIRE(plan.nodes[2].routes.size() == 2);
  CHECK(plan.nodes[2].routes[0] == PlannedRoute{address("a:eth0"), address("r:eth1"), "eth0"});
  CHECK(how(plan, "hosts.r.forwarding") == "realised");
  // What its own TCP would be does not matter where a host only forwards.
  experiment.hosts[1].stack.nagle = experiments::Nagle::rfc896;
  CHECK(unrealised_for(plan_lab(experiment), experiment, experiment.tests[0]).empty());
}

TEST_CASE("a host that does not forward is no way") {
  auto experiment = routed(100);
  experiment.hosts[1].forwarding = experiments::Forwarding::none;
  experiment.tests = {stream("bulk", Time::seconds(1), Time{})};
  CHECK_NOTHROW(plan_lab(experiment));
  experiment.tests[0].pairs[0].to_host = 2;
  CHECK_THROWS_AS(plan_lab(experiment), EnvironmentError);
}

TEST_CASE("what a bucket cannot do is done by a program between the ends") {
  auto experiment = two_hosts(100);
  CHECK_FALSE(plan_lab(experiment).links[0].wire);
  experiment.links[0].delay = Time::milliseconds(5);
  experiment.links[0].loss[1] = 0.01;
  LabPlan plan = plan_lab(experiment);
  REQUIRE(plan.links[0].wire);
  CHECK(plan.links[0].wire->lines[0].latency == Time::milliseconds(5));
  CHECK(plan.links[0].wire->lines[0].loss == 0);
  CHECK(plan.links[0].wire->lines[1].loss == 0.01);
  CHECK(plan.port("a:eth0")->shaper);  // the NIC's own queue, in front of it
  CHECK(how(plan, "links.a-b.delay") == "realised");
  CHECK(how(plan, "links.a-b.loss") == "realised");
  // An emulated path has its own queue, and hosts hand frames over at once.
  experiment.links[0].queue = Bytes(100'000);
  plan = plan_lab(experiment);
  CHECK_FALSE(plan.port("a:eth0")->shaper);
  CHECK(plan.links[0].wire->lines[0].queue == Bytes(100'000));
}

TEST_CASE("what happens to a link is the states its wire takes in turn") {
  auto experiment = two_hosts(100);
  experiment.links[0].delay = Time::milliseconds(5);
  experiments::LinkEvent down;
  down.at = Time::seconds(1);
  down.lasts = Time::milliseconds(500);
  experiments::LinkEvent slow;
  slow.at = Time::milliseconds(1200);
  slow.action = experiments::LinkAction::rate;
  slow.rate = BitRate::bits_per_second(10'000'000);
  experiment.events = {down, slow};
  const LabPlan plan = plan_lab(experiment);
  REQUIRE(plan.links[0].wire);
  const auto& changes = plan.links[0].wire->lines[0].changes;
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].second.down);
  CHECK((changes[1].second.down && changes[1].second.rate == slow.rate));
  CHECK(changes[2].first == Time::milliseconds(1500));
  CHECK_FALSE(changes[2].second.down);
  CHECK(changes[2].second.rate == slow.rate);  // for good
  CHECK(changes[2].second.latency == Time::milliseconds(5));
  // The bucket of the NIC's queue slows down with the line.
  const auto& shaped = plan.port("a:eth0")->shaper_changes;
  REQUIRE(shaped.size() == 1);
  CHECK(shaped[0].second.rate == slow.rate);
  CHECK(shaped[0].first <= slow.at);
  CHECK(how(plan, "links.a-b.events") == "realised");
}

TEST_CASE("a VLAN is a bridge of its own, and a tag is counted where frames would carry it") {
  auto experiment = star(4, 100);
  experiment.switches[0].vlans = {{10, {0, 1}, {}}, {20, {}, {2, 3}}};
  for (const int host : {2, 3}) experiment.hosts[host].nics[0].vlan = 20;
  experiment.tests = {stream("bulk", Time::seconds(1), Time{})};
  const LabPlan plan = plan_lab(experiment);
  const auto subnet = [&](const char* label) { return plan.port(label)->ipv4.substr(0, 9); };
  CHECK(subnet("a:eth0") == subnet("b:eth0"));
  CHECK(subnet("c:eth0") == subnet("d:eth0"));
  CHECK(subnet("a:eth0") != subnet("c:eth0"));
  CHECK(plan.port("s1:1")->bridge != plan.port("s1:3")->bridge);
  // IEEE 802.1Q 9.3: four octets.
  CHECK(plan.port("c:eth0")->shaper->overhead == plan.port("a:eth0")->shaper->overhead + Bytes(4));
  CHECK(how(plan, "switches.s1.vlans") == "realised");
  CHECK(how(plan, "hosts.c.nics.eth0.vlan") == "approximated");
  // A trunk carries several.
  experiment.switches[0].vlans[0].tagged = {2};
  CHECK(how(plan_lab(experiment), "switches.s1.vlans") == "ignored");
}

TEST_CASE("a queue that decides is the wire's, where it can follow it") {
  auto experiment = two_hosts(100);
  experiments::QueueSpec spec;
  spec.discipline = experiments::Discipline::codel;
  experiment.links[0].egress = experiments::EgressSpec{spec, experiments::Scheduler::none, {}};
  const LabPlan plan = plan_lab(experiment);
  REQUIRE(plan.links[0].wire);
  CHECK(plan.links[0].wire->lines[1].discipline == spec);
  CHECK_FALSE(plan.port("a:eth0")->shaper);
  CHECK(how(plan, "links.a-b.queue") == "realised");
  experiment.links[0].egress->queue.discipline = experiments::Discipline::fq_codel;
  CHECK(how(plan_lab(experiment), "links.a-b.queue") == "ignored");
}

TEST_CASE("a stack the kernel cannot be told to be is named with its parameters") {
  auto experiment = two_hosts(100);
  CHECK(how(plan_lab(experiment), "hosts.a.stack") == "approximated");
  experiment.hosts[0].stack.timestamps = false;  // a kernel setting
  CHECK(how(plan_lab(experiment), "hosts.a.stack") == "approximated");
  experiment.hosts[0].stack.nagle = experiments::Nagle::rfc896;
  CHECK(how(plan_lab(experiment), "hosts.a.stack") == "ignored");
  const auto lines = plan(experiment);
  CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("hosts.a.stack") != std::string::npos &&
           line.find("nagle") != std::string::npos;
  }));
}

TEST_CASE("the queue of a port is the ring and queue of its NIC, or the buffer of its switch") {
  auto experiment = star(2, 100);
  experiment.hosts[0].nics[0].transmit_ring = 10;
  experiment.hosts[0].nics[0].transmit_queue = 20;
  experiment.switches[0].buffer.total = Bytes(64'000);
  const LabPlan plan = plan_lab(experiment);
  CHECK(plan.port("a:eth0")->shaper->limit == Bytes(30 * 1514));
  CHECK(plan.port("s1:1")->shaper->limit == Bytes(64'000));
}

TEST_CASE("short transfers get a small bucket") {
  auto experiment = two_hosts(100);
  experiment.tests = {stream("bulk", Time::seconds(1), Time{})};
  const Bytes large = plan_lab(experiment).links[0].ends[0].shaper->burst;
  experiment.tests[0].bytes = Bytes(100'000);
  const Bytes small = plan_lab(experiment).links[0].ends[0].shaper->burst;
  CHECK(small < large);
  CHECK(small <= Bytes(25'000));  // 2 ms
}

}  // namespace
}  // namespace linerate::realnet
