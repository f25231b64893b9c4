// A probed machine is a host that the parser takes.
#include "realnet/probe/probe.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "experiments/definition/parse.hpp"
#include "realnet/measure.hpp"
#include "realnet/remote/program.hpp"

namespace linerate::realnet {
namespace {

/// An experiment of the probed host and a copy of it.
experiments::Experiment with_copy(const std::string& block, const std::string& nic) {
  return experiments::parse_experiment(
      "schema_version: 1\nname: probed\n" + block +
          "  other: {like: probed}\n"
          "links:\n"
          "  - {endpoints: [\"probed:" +
          nic + "\", \"other:" + nic +
          "\"], rate: 2500Mbit/s}\n"
          "tests:\n"
          "  - {name: t, type: tcp-stream, from: probed, to: other}\n",
      "probe");
}

MachineFacts machine() {
  MachineFacts facts;
  facts.name = "Rack7-Node.example";
  facts.kernel = "Linux 6.1\nhosts: injected";  // must stay in its comment
  facts.cpu_model = "Some CPU";
  facts.cores = 12;
  facts.parameters = {{"net/ipv4/tcp_rmem", "4096\t131072\t6291456"},
                      {"net/ipv4/tcp_congestion_control", "cubic"},
                      {"net/ipv4/tcp_timestamps", "0"}};
  NicFacts nic;
  nic.device = "enP2p1s0";
  nic.driver = "ixgbe";
  nic.megabits = 2500;
  nic.mtu = 9000;
  nic.transmit_ring = 512;
  nic.receive_ring = 1024;
  nic.receive_coalescing = CoalesceFacts{8, 32, true};
  nic.transmit_coalescing = CoalesceFacts{16, 0, false};
  nic.tso = true;
  nic.gro = false;
  nic.bus = BusFacts{"0000:01:00.0", 3, 8, 3, 16, 256, 512};
  facts.nics = {nic};
  return facts;
}

TEST_CASE("a machine's facts arrive in the experiment") {
  const auto experiment = with_copy(host_block(machine(), "probed"), "enp2p1s0");
  const auto& host = experiment.hosts[0];
  CHECK(host.name == "probed");
  CHECK(host.cpu.cores == 12);
  CHECK(host.stack.receive_buffer_max == Bytes(6291456));
  CHECK(host.stack.congestion == "cubic");
  CHECK_FALSE(host.stack.timestamps);
  CHECK(host.bus.type == experiments::BusType::pcie);
  CHECK(host.bus.lanes == 8);
  CHECK(host.bus.max_read_request == Bytes(512));
  REQUIRE(host.nics.size() == 1);
  const auto& nic = host.nics[0];
  CHECK(nic.rates == std::vector{BitRate::bits_per_second(2'500'000'000)});
  CHECK(nic.mtu == Bytes(9000));
  CHECK(nic.receive_ring == 1024);
  CHECK(nic.receive_coalescing.delay == Time::microseconds(8));
  CHECK(nic.offloads.tso);
  CHECK_FALSE(nic.offloads.gro);
}

TEST_CASE("a host name becomes a legal one") {
  CHECK_THAT(host_block(machine()), Catch::Contains("\n  rack7-node:\n"));
}

TEST_CASE("this machine's block is taken as it is") {
  const MachineFacts facts = probe_machine();
  CHECK(facts.cores >= 1);
  REQUIRE_FALSE(facts.nics.empty());
  const std::string block = host_block(facts, "probed");
  INFO(block);
  experiments::Experiment experiment;
  REQUIRE_NOTHROW(experiment = experiments::parse_experiment(
                      "schema_version: 1\nname: probed\n" + block +
                          "  x: {nics: {eth0: {}}}\n  y: {nics: {eth0: {}}}\n"
                          "links:\n  - {endpoints: [\"x:eth0\", \"y:eth0\"], rate: 1Gbit/s}\n"
                          "tests:\n  - {name: t, type: tcp-stream, from: x, to: y}\n",
                      "probe"));
  CHECK(experiment.hosts[0].nics.size() == facts.nics.size());
}

TEST_CASE("payload and read request sizes are found in a PCI configuration space") {
  std::string space(256, '\0');
  space[0x06] = 0x10;  // there is a list of capabilities …
  space[0x34] = 0x40;  // … which begins here
  space[0x40] = 0x01;  // power management …
  space[0x41] = 0x50;  // … and then
  space[0x50] = 0x10;  // PCI Express
  // Device Control: payload 256 B (1 in bits 7:5), read request 4096 B (5 in bits 14:12).
  space[0x58] = 0x20;
  space[0x59] = 0x50;
  const BusFacts facts = parse_configuration_space(space);
  CHECK(facts.max_payload == 256);
  CHECK(facts.max_read_request == 4096);
  // Without privileges the space ends after 64 bytes; a list that loops ends too.
  CHECK_FALSE(parse_configuration_space(space.substr(0, 64)).max_payload);
  space[0x50] = 0x05;
  space[0x51] = 0x40;
  CHECK_FALSE(parse_configuration_space(space).max_payload);
  CHECK(parse_configuration_space("") == BusFacts{});
}

TEST_CASE("a program that fails, floods or hangs is named, and never waited for") {
  const auto refusal = [](const std::vector<std::string>& command) -> std::string {
    try {
      return output_of(command, Time::milliseconds(500), Bytes(100'000));
    } catch (const EnvironmentError& error) {
      return std::string("refused: ") + error.what();
    }
  };
  CHECK(refusal({"echo", "word"}) == "word\n");
  CHECK_THAT(refusal({"no-such-program-of-linerate"}),
             Catch::Contains("cannot start") && Catch::Contains("no-such-program-of-linerate"));
  CHECK_THAT(refusal({"false"}), Catch::Contains("exit code 1"));
  CHECK_THAT(refusal({"yes"}), Catch::Contains("100000 B"));
  CHECK_THAT(refusal({"sleep", "60"}), Catch::Contains("does not end"));
  CHECK(over_ssh("-oProxyCommand=x", {"true"}).at(5) == "--");  // a host is never an option
}

}  // namespace
}  // namespace linerate::realnet
