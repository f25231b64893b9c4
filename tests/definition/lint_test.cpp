#include "experiments/definition/lint.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/bus_capacity.hpp"

using namespace linerate;
using namespace linerate::experiments;

namespace {

constexpr BitRate gigabits(std::int64_t n) { return BitRate::bits_per_second(n * 1'000'000'000); }

// Hosts a and b on one 1 Gbit/s cable, one long TCP test: nothing to complain about.
Experiment sound() {
  Experiment experiment;
  for (const char* name : {"a", "b"}) {
    Host& host = experiment.hosts.emplace_back();
    host.name = name;
    host.nics.emplace_back().name = "eth0";
  }
  Link& link = experiment.links.emplace_back();
  link.name = "a-b";
  link.ends[0] = {NodeKind::host, 0, 0};
  link.ends[1] = {NodeKind::host, 1, 0};
  link.medium = "1000BASE-T";
  link.rate = gigabits(1);
  link.length_m = 3;
  Test& test = experiment.tests.emplace_back();
  test.name = "bulk";
  test.pairs = {{0, 0, 1, 0}};
  test.omit = Time::seconds(1);
  return experiment;
}

// The same hosts on two ports of switch s1.
Experiment switched() {
  Experiment experiment = sound();
  experiment.switches.emplace_back().name = "s1";
  experiment.switches[0].port_rates = {gigabits(1), gigabits(1)};
  experiment.links.push_back(experiment.links[0]);
  for (int i = 0; i < 2; ++i) {
    experiment.links[static_cast<std::size_t>(i)].name = i == 0 ? "a-s1" : "b-s1";
    experiment.links[static_cast<std::size_t>(i)].ends[0] = {NodeKind::host, i, 0};
    experiment.links[static_cast<std::size_t>(i)].ends[1] = {NodeKind::switch_, 0, i};
  }
  return experiment;
}

// The one warning at `path`; an empty one, and a failed check, if there is none or several.
Diagnostic warning(const Experiment& experiment, const std::string& path) {
  const std::vector<Diagnostic> all = lint(experiment);
  for (const Diagnostic& each : all) UNSCOPED_INFO(each.path << ": " << each.message);
  const auto at = [&](const Diagnostic& each) { return each.path == path; };
  CHECK(std::count_if(all.begin(), all.end(), at) == 1);
  const auto found = std::find_if(all.begin(), all.end(), at);
  return found == all.end() ? Diagnostic{} : *found;
}

bool says(const std::string& text, const std::string& words) {
  UNSCOPED_INFO(text);
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("sound experiments have no warnings") {
  CHECK(lint(sound()).empty());
  CHECK(lint(switched()).empty());
}

TEST_CASE("a warning carries the line of the parameter, or of the entry that holds it") {
  Experiment experiment = sound();
  experiment.links[0].length_m = 120;
  experiment.origins["links.a-b"] = {"x.yaml", 9, 5};
  CHECK(warning(experiment, "links.a-b.length").origin == Origin{"x.yaml", 9, 5});
  experiment.origins["links.a-b.length"] = {"built-in default", 0, 0};
  CHECK(warning(experiment, "links.a-b.length").origin == Origin{"x.yaml", 9, 5});
  experiment.origins["links.a-b.length"] = {"x.yaml", 9, 60};
  CHECK(warning(experiment, "links.a-b.length").origin == Origin{"x.yaml", 9, 60});
}

TEST_CASE("a cable longer than its medium reaches") {
  Experiment experiment = sound();
  experiment.links[0].length_m = 100;
  CHECK(lint(experiment).empty());
  experiment.links[0].length_m = 120;
  CHECK(says(warning(experiment, "links.a-b.length").message, "120 m of 1000BASE-T"));
  experiment.links[0].medium = "1000BASE-SX";
  CHECK(lint(experiment).empty());
}

TEST_CASE("a duplex the medium does not have") {
  Experiment experiment = sound();
  experiment.links[0].duplex[0] = experiment.links[0].duplex[1] = Duplex::half;
  CHECK(lint(experiment).empty());  // legal to clause 35, if never sold
  experiment.links[0].medium = "10GBASE-T";
  experiment.links[0].rate = gigabits(10);
  CHECK(says(warning(experiment, "links.a-b.duplex").message, "full duplex only"));
  experiment.links[0].medium = "";
  CHECK(says(warning(experiment, "links.a-b.duplex").message, "10 Gbit/s"));
  experiment.links[0].medium = "10BASE2";
  experiment.links[0].rate = BitRate::bits_per_second(10'000'000);
  CHECK(lint(experiment).empty());
  experiment.links[0].duplex[0] = experiment.links[0].duplex[1] = Duplex::full;
  CHECK(says(warning(experiment, "links.a-b.duplex").message, "half duplex only"));
}

TEST_CASE("a NIC without a link and a switch that leads nowhere") {
  Experiment experiment = sound();
  experiment.hosts[0].nics.emplace_back().name = "eth1";
  experiment.switches.emplace_back().name = "s1";
  CHECK(says(warning(experiment, "hosts.a.nics.eth1").message, "a:eth1 has no link"));
  CHECK(says(warning(experiment, "switches.s1").message, "0 of 0 ports"));
}

TEST_CASE("different MTUs in one subnet, not across a router") {
  Experiment experiment = switched();
  experiment.hosts[0].nics[0].mtu = Bytes(9000);
  const Diagnostic found = warning(experiment, "hosts.b.nics.eth0.mtu");
  CHECK(says(found.message, "b:eth0 takes 1500 B"));
  CHECK(says(found.message, "a:eth0 sends up to 9000 B"));

  // a (9000) - r - b (1500): each side of the router agrees.
  experiment = sound();
  Host& router = experiment.hosts.emplace_back();
  router.name = "r";
  router.forwarding = Forwarding::kernel;
  router.nics.resize(2);
  router.nics[0].name = "eth0";
  router.nics[0].mtu = Bytes(9000);
  router.nics[1].name = "eth1";
  experiment.hosts[0].nics[0].mtu = Bytes(9000);
  experiment.links.push_back(experiment.links[0]);
  experiment.links[0].ends[1] = {NodeKind::host, 2, 0};
  experiment.links[1].ends[0] = {NodeKind::host, 2, 1};
  CHECK(lint(experiment).empty());
  experiment.hosts[1].nics[0].mtu = Bytes(576);
  CHECK(says(warning(experiment, "hosts.b.nics.eth0.mtu").message, "r:eth1 sends up to 1500 B"));
}

TEST_CASE("raw bus rates are those of the specifications") {
  const Bytes frame{1514};
  const auto raw = [&](int generation, int lanes) {
    Bus bus;
    bus.type = BusType::pcie;
    bus.generation = generation;
    bus.lanes = lanes;
    return static_cast<double>(bus_capacity(bus, frame).raw.bits_per_second()) / 1e9;
  };
  CHECK(raw(1, 1) == Approx(2.0));
  CHECK(raw(2, 8) == Approx(32.0));
  CHECK(raw(3, 8) == Approx(63.0).epsilon(0.001));
  CHECK(raw(4, 16) == Approx(252).epsilon(0.001));
  CHECK(raw(5, 16) == Approx(504).epsilon(0.001));
  Bus pci;
  pci.type = BusType::pci;
  CHECK(bus_capacity(pci, frame).raw.bits_per_second() == Approx(1.0667e9).epsilon(0.001));
  pci.width = 64;
  pci.clock = 66'666'667;
  CHECK(bus_capacity(pci, frame).raw.bits_per_second() == Approx(4.2667e9).epsilon(0.001));
}

TEST_CASE("usable PCIe grows with the payload of a TLP and stays below raw") {
  Bus bus;
  bus.type = BusType::pcie;
  BitRate before{};
  for (const std::int64_t payload : {128, 256, 512, 1024}) {
    bus.max_payload = Bytes(payload);
    const BusCapacity capacity = bus_capacity(bus, Bytes(1514));
    CHECK(capacity.usable > before);
    CHECK(capacity.usable < capacity.raw);
    before = capacity.usable;
  }
  // A minimum frame spends 24 of 84 bytes on one TLP header.
  CHECK(bus_capacity(bus, Bytes(60)).usable < bus_capacity(bus, Bytes(1514)).usable);
}

TEST_CASE("a gigabit card fills a 32-bit 33 MHz PCI bus, not a 64-bit 66 MHz one") {
  Experiment experiment = sound();
  Bus& bus = experiment.hosts[0].bus;
  bus.type = BusType::pci;
  CHECK(says(warning(experiment, "hosts.a.bus").message, "32-bit 33 MHz PCI"));
  bus.width = 64;
  bus.clock = 66'666'667;
  CHECK(lint(experiment).empty());
}

TEST_CASE("100 Gbit/s needs sixteen lanes of PCIe 3.0; eight are too few") {
  Experiment experiment = sound();
  experiment.links[0].medium = "100GBASE-CR4";
  experiment.links[0].rate = gigabits(100);
  experiment.hosts[0].bus.type = BusType::pcie;
  experiment.hosts[0].bus.lanes = 8;
  CHECK(says(warning(experiment, "hosts.a.bus").message, "PCIe 3.0 x8"));
  experiment.hosts[0].bus.lanes = 16;
  CHECK(lint(experiment).empty());
}

TEST_CASE("NICs that fit the bus alone may not fit it together") {
  Experiment experiment = sound();
  experiment.hosts[0].bus.type = BusType::pci;
  experiment.hosts[0].bus.clock = 66'666'667;
  CHECK(lint(experiment).empty());
  experiment.hosts[0].nics.emplace_back().name = "eth1";
  experiment.hosts[1].nics.emplace_back().name = "eth1";
  experiment.links.push_back(experiment.links[0]);
  experiment.links[1].name = "a-b#2";
  experiment.links[1].ends[0].port = experiment.links[1].ends[1].port = 1;
  CHECK(says(warning(experiment, "hosts.a.bus").message, "its NICs together"));
}

TEST_CASE("an interrupt that comes after the receive ring is full") {
  Experiment experiment = sound();
  Nic& nic = experiment.hosts[1].nics[0];
  nic.receive_coalescing.delay = Time::milliseconds(3);  // 81,274 full frames/s: 243
  CHECK(lint(experiment).empty());
  nic.receive_coalescing.delay = Time::milliseconds(4);  // 325
  CHECK(says(warning(experiment, "hosts.b.nics.eth0.coalesce").message, "325 full frames"));
  nic.receive_coalescing.frames = 64;
  CHECK(lint(experiment).empty());
}

TEST_CASE("tso without checksum offload") {
  Experiment experiment = sound();
  experiment.hosts[0].nics[0].offloads.tso = true;
  CHECK(lint(experiment).empty());
  experiment.hosts[0].nics[0].offloads.checksum = false;
  warning(experiment, "hosts.a.nics.eth0.offloads");
}

TEST_CASE("a 64 KiB window over 10 ms is 52 Mbit/s, whatever the line") {
  Experiment experiment = sound();
  experiment.links[0].delay = Time::milliseconds(5);
  experiment.tests[0].receive_buffer = Bytes(65536);
  experiment.hosts[1].stack.window_rule = WindowRule::bsd_space;
  experiment.hosts[1].stack.buffer_factor = 1;
  const Diagnostic found = warning(experiment, "tests.bulk.socket_buffer.receive");
  CHECK(says(found.message, "52.36 Mbit/s"));  // 524,288 bit over 10 ms and 13 us of frames
  CHECK(says(found.message, "64 KiB"));
  // Bandwidth x delay: 941.5 Mbit/s x 10.01 ms = 1.178 MB.
  CHECK(says(found.remedy, "receive: 11"));
  experiment.tests[0].receive_buffer = Bytes(1'200'000);
  CHECK(lint(experiment).empty());
  experiment.tests[0].receive_buffer = Bytes(65536);
  experiment.tests[0].flows = 20;
  CHECK(lint(experiment).empty());
}

TEST_CASE("a window that the test never fills is no limit") {
  Experiment experiment = sound();
  experiment.links[0].delay = Time::milliseconds(5);
  Test& test = experiment.tests[0];
  test.send_buffer = Bytes(131072);
  REQUIRE_FALSE(lint(experiment).empty());
  test.bytes = Bytes(200'000);  // fits the 256 KiB at once
  CHECK(lint(experiment).empty());
  test.bytes.reset();
  test.pacing = BitRate::bits_per_second(200'000'000);  // 256 KiB a round trip: 209 Mbit/s
  CHECK(lint(experiment).empty());
  test.pacing.reset();
  test.writes = {{Bytes(100), 10, Time::milliseconds(1), {}}};
  CHECK(lint(experiment).empty());
}

TEST_CASE("without window scaling 65535 bytes are the most there is") {
  Experiment experiment = sound();
  experiment.links[0].delay = Time::milliseconds(5);
  experiment.hosts[0].stack.window_scaling = false;
  const Diagnostic found = warning(experiment, "hosts.b.stack.window_scaling");
  CHECK(says(found.message, "52.3"));
  CHECK(says(found.remedy, "both ends"));
}

TEST_CASE("a send buffer limits like a receive buffer, and in the direction data flows") {
  Experiment experiment = sound();
  experiment.links[0].delay = Time::milliseconds(5);
  experiment.tests[0].send_buffer = Bytes(131072);  // a Linux stack doubles it
  CHECK(says(warning(experiment, "tests.bulk.socket_buffer.send").message, "256 KiB"));
  experiment.tests[0].send_buffer.reset();
  experiment.hosts[1].stack.autotune_send = false;
  CHECK(lint(experiment).empty());
  experiment.tests[0].direction = Direction::reverse;
  CHECK(says(warning(experiment, "hosts.b.stack.send_buffer").message, "b to a"));
}

TEST_CASE("a Linux writer tops up a partly sent buffer, so its limit does not bound a slow path") {
  Experiment experiment = sound();
  experiment.links[0].rate = BitRate::bits_per_second(100'000'000);
  experiment.links[0].delay = Time::milliseconds(5);
  experiment.tests[0].send_buffer = Bytes(8192);
  CHECK(lint(experiment).empty());  // this kernel: 70 Mbit/s, five times 16 KiB a round trip
  experiment.hosts[0].stack.tso_autosize = false;
  CHECK(says(warning(experiment, "tests.bulk.socket_buffer.send").message, "16 KiB"));
}

TEST_CASE("a window below two segments waits for delayed ACKs") {
  Experiment experiment = sound();
  experiment.hosts[1].stack.window_rule = WindowRule::bsd_space;
  experiment.hosts[1].stack.buffer_factor = 1;
  experiment.tests[0].receive_buffer = Bytes(2'900);
  CHECK(lint(experiment).empty());
  experiment.tests[0].receive_buffer = Bytes(2'000);
  const std::vector<Diagnostic> all = lint(experiment);
  CHECK(std::any_of(all.begin(), all.end(), [](const Diagnostic& each) {
    return says(each.message, "less than two segments of 1448 B");
  }));
}

TEST_CASE("random loss sets the rate on a long path") {
  // Mathis et al. 1997: 1460 B, 100 ms, p = 1 %: 11,680 bit / 0.1 s x sqrt(150) = 1.43 Mbit/s.
  Experiment experiment = sound();
  experiment.hosts[0].stack.timestamps = false;
  experiment.hosts[0].stack.send_buffer_max = Bytes(64'000'000);
  experiment.links[0].delay = Time::milliseconds(50);
  experiment.links[0].loss[0] = 0.01;
  experiment.tests[0].congestion = "reno";
  CHECK(says(warning(experiment, "tests.bulk.congestion").message, "about 1.43 Mbit/s"));
  experiment.links[0].loss[0] = 0;
  experiment.links[0].loss[1] = 0.01;  // on the ACKs alone
  CHECK(lint(experiment).empty());
}

TEST_CASE("a rate above the line") {
  Experiment experiment = sound();
  Test& test = experiment.tests[0];
  test.type = TestType::udp_stream;
  test.rate = BitRate::bits_per_second(957'000'000);  // 1472 of 1538 bytes: 957.09 Mbit/s
  CHECK(lint(experiment).empty());
  test.rate = BitRate::bits_per_second(958'000'000);
  CHECK(says(warning(experiment, "tests.bulk.rate").message, "a-b carries 1 Gbit/s"));
  test.rate = BitRate::bits_per_second(500'000'000);
  test.flows = 2;
  CHECK(says(warning(experiment, "tests.bulk.rate").message, "in 2 flows"));

  test = experiment.tests[0];
  test.flows = 1;
  test.type = TestType::raw_frames;
  test.rate.reset();
  test.frame_sizes = {Bytes(64)};
  test.frame_rate = 1'488'095;  // the most a gigabit line carries
  CHECK(lint(experiment).empty());
  test.frame_rate = 1'488'096;
  warning(experiment, "tests.bulk.frame_rate");
}

TEST_CASE("datagrams that travel in fragments") {
  Experiment experiment = sound();
  experiment.tests[0].type = TestType::udp_stream;
  experiment.tests[0].datagram = Bytes(1473);
  CHECK(says(warning(experiment, "tests.bulk.datagram").remedy, "1472 B"));
  experiment.tests[0].datagram = Bytes(1460);
  experiment.tests[0].ip = 6;
  CHECK(says(warning(experiment, "tests.bulk.datagram").remedy, "1452 B"));
}

TEST_CASE("a switch buffer that holds no frame") {
  Experiment experiment = switched();
  experiment.switches[0].buffer = {Bytes(1500), BufferPolicy::per_port, 1};
  CHECK(says(warning(experiment, "switches.s1.buffer").message, "1518 B"));
  experiment.switches[0].buffer.total = Bytes(1518);
  CHECK(lint(experiment).empty());
  // Alpha 1 leaves one queue half of a shared buffer.
  experiment.switches[0].buffer = {Bytes(3000), BufferPolicy::shared, 1};
  CHECK(says(warning(experiment, "switches.s1.buffer").message, "holds 1500 B"));
  experiment.switches[0].buffer = {Bytes(0), BufferPolicy::shared, 1};
  CHECK(lint(experiment).empty());
}

TEST_CASE("a fabric that passes less than its ports bring in") {
  Experiment experiment = switched();
  experiment.switches[0].fabric_rate = gigabits(2);
  experiment.switches[0].fabric_frame_rate = 2 * 1'488'096.0;
  CHECK(lint(experiment).empty());
  experiment.switches[0].fabric_rate = gigabits(1);
  CHECK(says(warning(experiment, "switches.s1.fabric_rate").message, "2 to 1"));
  experiment.switches[0].fabric_frame_rate = 2e6;
  CHECK(says(warning(experiment, "switches.s1.fabric_frame_rate").message, "2.976e+06"));
}

TEST_CASE("tiny writes and short measurements") {
  Experiment experiment = sound();
  experiment.tests[0].write = Bytes(1);
  CHECK(says(warning(experiment, "tests.bulk.write").message, "1 B"));
  experiment.tests[0].write = Bytes(64);
  experiment.tests[0].duration = Time::milliseconds(1500);
  CHECK(says(warning(experiment, "tests.bulk.omit").message, "500 ms"));
  experiment.tests[0].duration = Time::seconds(2);
  CHECK(lint(experiment).empty());
}

TEST_CASE("a thousand like pairs give one warning") {
  Experiment experiment = sound();
  experiment.hosts[0].nics[0].mtu = Bytes(9000);
  experiment.tests[0].pairs.assign(1000, {0, 0, 1, 0});
  warning(experiment, "hosts.b.nics.eth0.mtu");
}

TEST_CASE("templates are sound, but for the buffer one of them sets too small on purpose") {
  const std::string folder = LINERATE_SOURCE_DIR "/experiments/library/templates/";
  for (const char* name : {"two-hosts", "switch", "incast", "raw-frames", "small-writes",
                           "flow-sizes", "queues", "rfc2544"}) {
    INFO(name);
    CHECK(lint(load_experiment(folder + name + ".yaml")).empty());
  }
  const Experiment pipe = load_experiment(folder + "long-fat-pipe.yaml");
  CHECK(lint(pipe).size() == 1);
  // Linux doubles 128 KiB and offers about half of it: some 128 KiB over 40 ms.
  const Diagnostic found = warning(pipe, "tests.small-buffer.socket_buffer.receive");
  CHECK(found.origin.line > 0);
  CHECK(says(found.message, "path has room for 94.15 Mbit/s"));
}
