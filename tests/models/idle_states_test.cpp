// Cores that sleep and cores whose clock was turned down.
#include <catch2/catch.hpp>

#include "experiments/definition/diagnostics.hpp"
#include "experiments/definition/parse.hpp"
#include "models/host/core.hpp"
#include "models/host/forwarder.hpp"
#include "models/host/program_cores.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::IdleState;
using models::Core;

namespace {

const std::vector<IdleState> kStates{{Time::microseconds(2), Time::microseconds(5)},
                                     {Time::microseconds(10), Time::microseconds(20)}};

Time us(std::int64_t count) { return Time::microseconds(count); }

experiments::Experiment with_host(const std::string& host, const std::string& nic) {
  return experiments::parse_experiment(
      "schema_version: 1\nname: clocks\nhosts:\n  a: {profile: ideal, stack: linux-6, " + host +
          ", nics: {eth0: " + nic +
          "}}\n  b: {profile: ideal, stack: linux-6, nics: {eth0: {profile: ideal}}}\n"
          "links: [{endpoints: [\"a:eth0\", \"b:eth0\"], rate: 1Gbit/s}]\n"
          "tests: [{name: t, type: tcp-stream, from: b, to: a, duration: 200ms, omit: 50ms}]\n",
      "clocks.yaml");
}

double goodput(const experiments::Experiment& experiment) {
  return models::simulate(experiment).tests.front().figures.at("goodput").median();
}

}  // namespace

TEST_CASE("a core leaves the deepest state that its idle time has paid for") {
  Core core;
  core.rouse(us(100), kStates);
  CHECK(core.interrupt(us(100), us(1)) == us(111));
  // Idle since 111 us: 3 us are too short for any state, 9 us are enough for the first.
  core.rouse(us(114), kStates);
  CHECK(core.interrupt(us(114), us(1)) == us(115));
  core.rouse(us(124), kStates);
  CHECK(core.interrupt(us(124), us(1)) == us(127));
  // Leaving a state is no work.
  CHECK(core.busy() == us(3));
}

TEST_CASE("a core at work is awake") {
  Core core;
  core.begin_process(us(0), us(50));
  core.rouse(us(40), kStates);
  CHECK(core.interrupt(us(40), us(1)) == us(41));
  CHECK(core.process_end() == us(51));
}

TEST_CASE("a router that sleeps adds its exit latency to the frame that wakes it") {
  models::ForwardingCore core({.idle_states = kStates}, 1);
  core.add(us(100), {}, us(1), 0);
  CHECK(core.end() == us(111));
  core.finish(us(111));
  core.add(us(112), {}, us(1), 0);
  CHECK(core.end() == us(113));
}

TEST_CASE("costs and copies follow the clock; without a clock for them it is refused") {
  const std::string costs = "costs: {frame: 3us, read_copy: 1GB/s}";
  const auto slow = with_host(
      "cpu: {clock: 500MHz, costs_clock: 1.5GHz, " + costs + "}, forward_costs: {frame: 2us}",
      "{profile: ideal}");
  const experiments::Host& host = slow.hosts.front();
  CHECK(host.cpu.costs.frame == us(9));
  CHECK(host.cpu.costs.read_copy->bits_per_second() == Approx(8e9 / 3));
  CHECK(host.forward_costs.frame == us(6));
  CHECK_THROWS_WITH(with_host("cpu: {clock: 500MHz, " + costs + "}", "{profile: ideal}"),
                    Catch::Contains("at which clock"));
}

TEST_CASE("idle states stand from the shallowest to the deepest") {
  CHECK_THROWS_WITH(with_host("cpu: {idle_states: [{exit: 10us, residency: 20us}, {exit: 2us, "
                              "residency: 30us}]}",
                              "{profile: ideal}"),
                    Catch::Contains("deeper state"));
}

TEST_CASE("programs begin off the cores that interrupts go to while there are others") {
  models::ProgramCores cores({true, true, false, false});
  CHECK(std::vector{cores.next(), cores.next(), cores.next()} == std::vector{2, 3, 2});
  models::ProgramCores all({true, true});
  CHECK(std::vector{all.next(), all.next(), all.next()} == std::vector{1, 0, 1});
}

TEST_CASE("a program whose core is busy wakes up on an idle one") {
  // Four streams into four cores, one of which takes all interrupts: 10 us a frame keep it full,
  // and no program may starve behind it.
  const auto experiment = experiments::parse_experiment(
      R"(
schema_version: 1
name: four
hosts:
  a: {profile: ideal, stack: linux-6, nics: {eth0: {profile: ideal}}}
  b: {profile: ideal, stack: linux-6, nics: {eth0: {profile: ideal}},
      cpu: {cores: 4, costs: {frame: 10us, read_copy: 200MB/s}}}
links: [{endpoints: ["a:eth0", "b:eth0"], rate: 10Gbit/s}]
tests: [{name: t, type: tcp-stream, from: a, to: b, flows: 4, duration: 400ms, omit: 100ms}]
)",
      "four.yaml");
  const auto result = models::simulate(experiment);
  const auto& figures = result.tests.front().figures;
  CHECK(figures.at("goodput").median() == Approx(1448 * 8 / 10e-6).epsilon(0.02));
  CHECK(figures.at("goodput.min").median() > 0.05 * figures.at("goodput").median());
}

TEST_CASE("a port that is not on the bus does not feel it") {
  // 32-bit PCI at 10 MHz moves 320 Mbit/s at most.
  const std::string bus = "bus: {type: pci, clock: 10MHz, width: 32}";
  CHECK(goodput(with_host(bus, "{profile: generic-1g}")) < 320e6);
  CHECK(goodput(with_host(bus, "{profile: generic-1g, on_bus: off}")) ==
        Approx(941.48e6).epsilon(0.005));
}
