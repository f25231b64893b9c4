// Buses and routers within networks: laws that any part of a host must keep.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "experiments/definition/bus_capacity.hpp"
#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"
#include "sim/random.hpp"

using namespace linerate;
using experiments::Experiment;
using experiments::Result;
using experiments::TestResult;

namespace {

Experiment parsed(const std::string& yaml) {
  return experiments::parse_experiment(yaml, "test.yaml");
}
Result predict(const std::string& yaml) { return models::simulate(parsed(yaml)); }

double figure(const Result& result, const std::string& test, const std::string& name) {
  for (const TestResult& t : result.tests)
    if (t.name == test) return t.figures.at(name).median();
  FAIL("no test " << test);
  return 0;
}

const experiments::Limit& limit(const TestResult& test, const std::string& resource) {
  for (const experiments::Limit& l : test.limits)
    if (l.resource == resource) return l;
  FAIL("no resource " << resource);
  return test.limits.front();
}

std::int64_t drops(const TestResult& test, const std::string& port, const std::string& cause) {
  const auto& causes = test.ports.at(port).drops;
  const auto found = causes.find(cause);
  return found == causes.end() ? 0 : found->second;
}

// A host with a bus and an ideal one, both ways over 10 Gbit/s.
std::string pair(const std::string& host, const std::string& tests) {
  return R"(schema_version: 1
name: pair
hosts:
  h: {stack: linux-6, )" +
         host + R"(}
  t: {profile: ideal, stack: linux-6, nics: {eth0: {profile: ideal, mtu: 9000B}}}
links: [{endpoints: ["h:eth0", "t:eth0"], rate: 10Gbit/s}]
tests:
)" + tests;
}

// A router between two testers.
std::string router(const std::string& host, const std::string& tests,
                   const std::string& rate = "10Gbit/s") {
  return R"(schema_version: 1
name: router
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  b: {like: a}
  r: {)" +
         host + R"(}
links:
  - {endpoints: ["a:eth0", "r:eth0"], rate: )" +
         rate + R"(}
  - {endpoints: ["r:eth1", "b:eth0"], rate: )" +
         rate + R"(}
tests:
)" + tests;
}

const std::string kNics = "nics: {eth0: {profile: generic-10g}, eth1: {profile: generic-10g}}";

}  // namespace

TEST_CASE("utilisation law: a bus is busy for the frames it moved times what each costs") {
  const std::string yaml = pair(
      "bus: {type: pcie, generation: 1, lanes: 4}, nics: {eth0: {profile: generic-10g}}",
      "  - {name: in, type: raw-frames, from: t, to: h, frame_size: 512B, rate: 2Gbit/s, duration: "
      "20ms}\n  - {name: out, type: raw-frames, from: h, to: t, frame_size: 512B, rate: 2Gbit/s, "
      "duration: 20ms}\n");
  const Experiment experiment = parsed(yaml);
  const Result result = models::simulate(experiment);
  const experiments::Host& host = experiment.hosts[0];
  for (const auto direction :
       {experiments::DmaDirection::to_memory, experiments::DmaDirection::to_nic}) {
    const bool in = direction == experiments::DmaDirection::to_memory;
    const auto time = experiments::dma_time(host.bus, host.nics[0], direction, Bytes(508));
    const TestResult& test = result.tests[in ? 0 : 1];
    const double rate = test.figures.at("frame_rate").median();
    CHECK(test.figures.at("loss").median() == 0);
    CHECK(limit(test, "bus h to memory").utilisation ==
          Approx(rate * time.up.seconds()).epsilon(0.01));
    CHECK(limit(test, "bus h from memory").utilisation ==
          Approx(rate * time.down.seconds()).epsilon(0.01));
  }
}

TEST_CASE("a bus that is too narrow binds, and what it cannot take is lost in the FIFO") {
  const Result result = predict(
      pair("bus: {type: pcie, generation: 1, lanes: 1}, nics: {eth0: {profile: generic-10g}}",
           "  - {name: in, type: raw-frames, from: t, to: h, frame_size: 1518B, rate: 4Gbit/s, "
           "duration: "
           "20ms, omit: 5ms}\n"));
  const TestResult& test = result.tests[0];
  CHECK(test.limits.front().resource == "bus h to memory");
  CHECK(test.limits.front().binds);
  CHECK(drops(test, "h:eth0", "receive-fifo") > 0);
  const Experiment experiment = parsed(
      pair("bus: {type: pcie, generation: 1, lanes: 1}, nics: {eth0: {profile: generic-10g}}",
           "  - {name: in, type: tcp-stream, from: t, to: h}\n"));
  const experiments::Host& host = experiment.hosts[0];
  const auto time = experiments::dma_time(host.bus, host.nics[0],
                                          experiments::DmaDirection::to_memory, Bytes(1514));
  CHECK(test.figures.at("frame_rate").median() == Approx(1 / time.up.seconds()).epsilon(0.005));
}

TEST_CASE("one read under way at a time: three round trips a frame") {
  // 1514 B in reads of 512 B, and a read of descriptors for four frames.
  const Result result = predict(
      pair("bus: {type: pcie, lanes: 16, outstanding_reads: 1, read_latency: 1us}, nics: {eth0: "
           "{profile: generic-10g}}",
           "  - {name: out, type: raw-frames, from: h, to: t, frame_size: 1518B, duration: 5ms, "
           "omit: 1ms}\n"));
  CHECK(figure(result, "out", "frame_rate") == Approx(1 / 3.25e-6).epsilon(0.002));
}

TEST_CASE("NICs share a bus fairly, and together they get what one alone gets") {
  const auto yaml = [](int nics) {
    std::string hosts, links, names;
    for (int i = 1; i <= nics; ++i) {
      const std::string n = std::to_string(i);
      hosts += "  t" + n + ": {profile: ideal, nics: {eth0: {profile: ideal}}}\n";
      links += "  - {endpoints: [\"t" + n + ":eth0\", \"h:e" + n + "\"], rate: 10Gbit/s}\n";
      names += (i > 1 ? ", e" : "e") + n + ": {profile: generic-10g}";
    }
    std::string tests;
    for (int i = 1; i <= nics; ++i)
      tests += "  - {name: f" + std::to_string(i) + ", group: g, type: raw-frames, from: t" +
               std::to_string(i) + ", to: \"h:e" + std::to_string(i) +
               "\", frame_size: 1024B, duration: 5ms, omit: 1ms}\n";
    return "schema_version: 1\nname: share\nhosts:\n  h: {bus: {type: pcie, generation: 2, lanes: "
           "1}, nics: {" +
           names + "}}\n" + hosts + "links:\n" + links + "tests:\n" + tests;
  };
  const double alone = figure(predict(yaml(1)), "f1", "frame_rate");
  const Result four = predict(yaml(4));
  double sum = 0;
  for (const char* name : {"f1", "f2", "f3", "f4"}) {
    CHECK(figure(four, name, "frame_rate") == Approx(alone / 4).epsilon(0.01));
    sum += figure(four, name, "frame_rate");
  }
  CHECK(sum == Approx(alone).epsilon(0.005));
}

TEST_CASE("a router loses no frame below what its core does in a second, and passes on that") {
  const Result result = predict(router(
      "forwarding: kernel, forward_costs: {frame: 2us}, " + kNics,
      "  - {name: fwd, type: rfc2544-throughput, from: a, to: b, device: r, frame_sizes: [64B, "
      "512B], trial: {simulated: 5ms}}\n  - {name: flood, type: raw-frames, from: a, to: b, "
      "frame_size: 64B, duration: 5ms, omit: 2ms}\n"));
  CHECK(figure(result, "fwd[64B]", "frame_rate") == Approx(500e3).epsilon(0.002));
  CHECK(figure(result, "fwd[512B]", "frame_rate") == Approx(500e3).epsilon(0.002));
  CHECK(figure(result, "flood", "frame_rate") == Approx(500e3).epsilon(0.002));
  const TestResult& flood = result.tests.back();
  CHECK(flood.limits.front().resource == "cpu r core 0 forwarding");
  CHECK(drops(flood, "r:eth0", "receive-ring") > 0);
}

TEST_CASE("floods bring a router to a standstill that interrupts for each frame") {
  const auto flood = [](const std::string& interrupts) {
    return figure(predict(router("forwarding: kernel, forward_costs: {frame: 2us, interrupt: 1us, "
                                 "interrupts: " +
                                     interrupts + "}, " + kNics,
                                 "  - {name: flood, type: raw-frames, from: a, to: b, frame_size: "
                                 "64B, frame_rate: 2Mpps, duration: 20ms, omit: 5ms}\n")),
                  "flood", "frame_rate");
  };
  CHECK(flood("per-frame") < 1e3);
  CHECK(flood("polling") == Approx(500e3).epsilon(0.002));
}

TEST_CASE("cores forward side by side where flows are spread over queues") {
  const auto flood = [](int cores) {
    const std::string n = std::to_string(cores);
    return figure(predict(router(
                      "cpu: {cores: " + n + "}, forwarding: kernel, forward_costs: {frame: 2us}, " +
                          "nics: {eth0: {profile: generic-10g, queues: 16}, eth1: {profile: "
                          "generic-10g}}",
                      "  - {name: flood, type: raw-frames, from: a, to: b, flows: 200, frame_size: "
                      "64B, frame_rate: 25000/s, duration: 12ms, omit: 4ms}\n")),
                  "flood", "frame_rate");
  };
  CHECK(flood(1) == Approx(500e3).epsilon(0.01));
  CHECK(flood(2) == Approx(1000e3).epsilon(0.01));
  CHECK(flood(4) == Approx(2000e3).epsilon(0.01));
}

TEST_CASE("poll mode on memory by lines: rates step with the lines of a frame") {
  const Result result = predict(router(
      "forwarding: poll-mode, forward_costs: {frame: 100ns}, bus: {type: pcie, generation: 2, "
      "lanes: "
      "8, lines: {frame: 50ns, line: 150ns}}, nics: {eth0: {profile: generic-10g, dma: {fcs: on}}, "
      "eth1: {profile: generic-10g, dma: {fcs: on}}}",
      "  - {name: fwd, type: rfc2544-throughput, from: a, to: b, device: r, frame_sizes: [64B, "
      "65B, "
      "66B, 128B, 129B], trial: {simulated: 2ms}}\n"));
  const auto law = [](double lines) {
    const double dma = 50 + 150 * lines, work = 100;
    return 1e9 / (dma + work - dma * work / (dma + work));
  };
  CHECK(figure(result, "fwd[64B]", "frame_rate") == Approx(law(1)).epsilon(0.002));
  for (const char* two : {"fwd[65B]", "fwd[66B]", "fwd[128B]"})
    CHECK(figure(result, two, "frame_rate") == Approx(law(2)).epsilon(0.002));
  CHECK(figure(result, "fwd[129B]", "frame_rate") == Approx(law(3)).epsilon(0.002));
}

TEST_CASE("underruns raise the threshold until the FIFO holds enough, and no frame is lost") {
  // 32-bit PCI brings less than half of what the wire takes.
  const Result result = predict(
      pair("bus: {type: pci}, nics: {eth0: {profile: generic-10g, fifo: {threshold: 128B}}}",
           "  - {name: out, type: raw-frames, from: h, to: t, frame_size: 1518B, rate: 400Mbit/s, "
           "duration: 20ms}\n"));
  const TestResult& test = result.tests[0];
  const double underruns = test.ports.at("h:eth0").figures.at("underruns");
  CHECK(underruns > 1);
  CHECK(underruns <= 12);  // 128 B, 256 B … whole frames
  CHECK(test.figures.at("loss").median() == 0);
}

TEST_CASE("hosts without a bus are not touched by what only a bus has") {
  const std::string stream = "  - {name: s, type: tcp-stream, from: h, to: t, duration: 20ms}\n";
  const double plain =
      figure(predict(pair("nics: {eth0: {profile: generic-10g}}", stream)), "s", "goodput");
  const double told =
      figure(predict(pair(
                 "nics: {eth0: {profile: generic-10g, fifo: {transmit: 4KiB, threshold: 64B}, dma: "
                 "{batch: 1, descriptor: 64B}}}",
                 stream)),
             "s", "goodput");
  CHECK(plain == told);
}

TEST_CASE("a faster part never slows a path: random routers, one part made better") {
  sim::RandomStream random({.seed = 11, .entity = 0, .name = "routers"});
  const auto pick = [&](std::initializer_list<double> values) {
    return values
        .begin()[static_cast<std::size_t>(random.uniform01() * static_cast<double>(values.size()))];
  };
  struct Parts {
    double generation, lanes, payload, reads, latency, frame, line, cores, memory;
  };
  const auto received = [](const Parts& p, double size) {
    const auto n = [](double value) { return std::to_string(static_cast<int>(value)); };
    return figure(
        predict(router(
            "cpu: {cores: " + n(p.cores) + "}, bus: {type: pcie, generation: " + n(p.generation) +
                ", lanes: " + n(p.lanes) + ", max_payload: " + n(p.payload) +
                "B, outstanding_reads: " + n(p.reads) + ", read_latency: " + n(p.latency) +
                "ns, lines: {line: " + n(p.memory) +
                "ns}}, forwarding: " + (p.line > 5 ? "kernel" : "poll-mode") +
                ", forward_costs: {frame: " + n(p.frame) + "ns, line: " + n(p.line) +
                "ns}, nics: {eth0: {profile: generic-10g, queues: 8}, eth1: {profile: "
                "generic-10g}}",
            "  - {name: flood, type: raw-frames, from: a, to: b, flows: 32, frame_size: " +
                n(size) + "B, frame_rate: 80000/s, duration: 2ms, omit: 1ms}\n")),
        "flood", "frame_rate");
  };
  for (int trial = 0; trial < 12; ++trial) {
    const Parts parts{pick({1, 2, 3}),      pick({1, 2, 4}),   pick({128, 256}),
                      pick({1, 4, 32}),     pick({400, 1000}), pick({100, 700, 2000}),
                      pick({0, 5, 10, 40}), pick({1, 2, 4}),   pick({0, 30, 150})};
    const double size = pick({64, 200, 700, 1518});
    Parts better = parts;
    switch (trial % 6) {
      case 0:
        better.lanes *= 2;
        break;
      case 1:
        better.generation += 1;
        break;
      case 2:
        better.reads *= 2;
        break;
      case 3:
        better.frame /= 2;
        break;
      case 4:
        better.cores *= 2;
        break;
      case 5:
        better.memory /= 2;
        break;
    }
    INFO("trial " << trial);
    // Counting windows cut through a frame a flow at either end.
    CHECK(received(better, size) >= received(parts, size) * 0.995);
  }
}
