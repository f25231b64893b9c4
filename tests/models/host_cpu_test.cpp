// Hosts whose cores cost something: the laws that any such host obeys, whatever its costs are.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/definition/parse.hpp"
#include "models/host/core.hpp"
#include "models/simulate.hpp"
#include "sim/random.hpp"

using namespace linerate;
using namespace linerate::models;
using experiments::TestResult;

namespace {

// Two hosts of one kind on a cable, and one test. The sender costs nothing.
TestResult run(const std::string& receiver_cpu, const std::string& test,
               const std::string& sender_cpu = "{}", const std::string& nic = "{profile: ideal}") {
  const experiments::Result result = simulate(experiments::parse_experiment(R"(schema_version: 1
name: pair
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}, cpu: )" + sender_cpu + R"(}
  b: {profile: ideal, nics: {eth0: )" + nic + R"(}, cpu: )" + receiver_cpu + R"(}
links:
  - {endpoints: ["a:eth0", "b:eth0"], medium: 10GBASE-T}
tests:
  - {name: t, from: a, to: b, repeats: 1, )" + test + "}\n",
                                                                            "test.yaml"));
  return result.tests.front();
}

double figure(const TestResult& test, const char* name) { return test.figures.at(name).median(); }

const std::string kStream = "type: tcp-stream, bytes: 30MB, max_segment: 1460B";
constexpr double kSegmentBits = 1448 * 8;  // payload beside timestamps

}  // namespace

TEST_CASE("a receiver on one core takes a segment each p + q, on two cores each max(p, q)") {
  // p: one read of a segment; q: one segment in softirq. Windows keep both busy.
  const std::string costs = ", costs: {segment_received: 6us, read_copy: 362MB/s}}";  // 4 us a read
  const double one = figure(run("{cores: 1" + costs, kStream + ", read: 1448B"), "goodput");
  CHECK(one == Approx(kSegmentBits / 10e-6).epsilon(0.01));
  const double two = figure(run("{cores: 2, placement: {application: 1, interrupts: 0}" + costs,
                                kStream + ", read: 1448B"),
                            "goodput");
  CHECK(two == Approx(kSegmentBits / 6e-6).epsilon(0.01));
  const double together =
      figure(run("{cores: 2, placement: {application: 1, interrupts: 1}" + costs,
                 kStream + ", read: 1448B"),
             "goodput");
  CHECK(together == Approx(one).epsilon(0.001));
}

TEST_CASE("utilisation law: a core is busy for its rate times the demand of each segment") {
  const TestResult test = run("{costs: {segment_received: 2us, call: 1us, ack_sent: 500ns}}",
                              kStream + ", read: 1448B");
  const auto& host = test.hosts.at("b").figures;
  double by_cause = 0;
  for (const auto& [name, seconds] : host)
    if (name.rfind("cpu.", 0) == 0) by_cause += seconds;
  // What was spent is what was counted, times its cost.
  CHECK(host.at("cpu.segment") == Approx(host.at("data_segments_received") * 2e-6).epsilon(1e-6));
  CHECK(host.at("cpu.ack") <= host.at("acks_sent") * 500e-9 + 1e-6);
  CHECK(host.at("cpu.call") == Approx(figure(test, "receiver.calls") * 1e-6).epsilon(1e-3));
  const double span = test.figures.at("elapsed").median();
  CHECK(figure(test, "receiver.busiest_core") == Approx(by_cause / span).epsilon(0.02));
}

TEST_CASE("sampling by ticks charges p r / (1 - q r) where interrupts come at random") {
  // Steps of a process at rate r and interrupts at rate r, each independent (docs/models.md).
  const Time step = Time::microseconds(6), handler = Time::microseconds(20);
  sim::RandomStream arrivals({.seed = 1, .entity = 1, .name = "interrupts"});
  sim::RandomStream requests({.seed = 1, .entity = 2, .name = "requests"});
  for (const double rate : {8e3, 15e3, 30e3}) {
    Core core;
    Time now{}, current{}, interrupt{}, request{};
    std::int64_t waiting = 0;
    const auto after = [&](sim::RandomStream& stream) {
      return Time::from_seconds(-std::log(1 - stream.uniform01()) / rate);
    };
    interrupt = after(arrivals);
    request = after(requests);
    const Time end = Time::seconds(20);
    while (now < end) {
      now = earlier(earlier(interrupt, request), core.process_end());
      if (now == interrupt) {
        core.interrupt(now, handler);
        interrupt = now + after(arrivals);
      } else if (now == request) {
        ++waiting;
        request = now + after(requests);
      } else {
        current += core.finish_process(now);
      }
      if (waiting > 0 && core.process_end() == Time::never()) {
        core.begin_process(now, step);
        --waiting;
      }
    }
    const double p = step.seconds() * rate, q = handler.seconds() * rate;
    CHECK(current.seconds() / now.seconds() == Approx(p / (1 - q)).epsilon(0.02));
  }
}

TEST_CASE("datagrams above capacity: an interrupt each starves the rest, polling levels off") {
  const std::string costs = ", costs: {interrupt: 8us, segment_received: 4us}}";
  const auto received = [&](const std::string& interrupts, const std::string& rate) {
    return figure(run("{interrupts: " + interrupts + costs,
                      "type: udp-stream, datagram: 1000B, duration: 200ms, rate: " + rate, "{}",
                      "{profile: generic-10g, coalesce: {rx: {delay: 0us, frames: 0}}, "
                      "offloads: {gro: off}}"),
                  "goodput");
  };
  constexpr double kDatagram = 8000;
  // Below: everything arrives. 1/12 us is all that one core can do with an interrupt each.
  CHECK(received("per-frame", "400Mbit/s") == Approx(400e6).epsilon(0.01));
  CHECK(received("polling", "400Mbit/s") == Approx(400e6).epsilon(0.01));
  // Far above: handlers take all there is, or none that counts (Mogul and Ramakrishnan 1997).
  CHECK(received("per-frame", "4Gbit/s") < 0.05 * kDatagram / 12e-6);
  CHECK(received("polling", "4Gbit/s") == Approx(kDatagram / 4e-6).epsilon(0.02));
}

TEST_CASE("a window opens when the read has ended: goodput falls with the cost of reading") {
  double before = 1e12;
  for (const char* copy : {"4GB/s", "1GB/s", "500MB/s", "100MB/s"}) {
    const double now = figure(
        run(std::string("{costs: {read_copy: ") + copy + "}}", kStream + ", socket_buffer: 64KiB"),
        "goodput");
    CHECK(now <= before * 1.0001);
    before = now;
  }
  CHECK(before == Approx(800e6).epsilon(0.02));  // 100 MB/s is all that can be read
}

TEST_CASE("a faster part never slows a path") {
  sim::RandomStream random({.seed = 7, .entity = 1, .name = "experiments"});
  const std::vector<std::string> keys{"call",      "segment_sent", "segment_received", "ack_sent",
                                      "interrupt", "completion",   "ack_received",     "wake"};
  for (int trial = 0; trial < 12; ++trial) {
    std::vector<int> nanoseconds;
    for (std::size_t i = 0; i < keys.size(); ++i)
      nanoseconds.push_back(static_cast<int>(random.below(4000)) + 100);
    const bool polling = random.below(2) == 0;
    const auto goodput = [&](const std::vector<int>& costs) {
      std::string cpu = std::string("{interrupts: ") + (polling ? "polling" : "per-frame") +
                        ", costs: {read_copy: 1GB/s, write_copy: 2GB/s";
      for (std::size_t i = 0; i < keys.size(); ++i)
        cpu += ", " + keys[i] + ": " + std::to_string(costs[i]) + "ns";
      cpu += "}}";
      return figure(
          run(cpu, "type: tcp-stream, bytes: 8MB, read: 16KiB", cpu, "{profile: generic-10g}"),
          "goodput");
    };
    const double whole = goodput(nanoseconds);
    const auto part = static_cast<std::size_t>(random.below(keys.size()));
    std::vector<int> faster = nanoseconds;
    faster[part] /= 2;
    INFO("trial " << trial << ", half of " << keys[part]);
    // Phases of windows and ACKs move by a little; a real loss is larger.
    CHECK(goodput(faster) >= whole * 0.99);
  }
}

TEST_CASE("a quota of a core is a share of its capacity") {
  const std::string costs = "{costs: {write_copy: 100MB/s}}";
  const std::string test = "type: tcp-stream, bytes: 50MB, write: 16KiB, socket_buffer: 1MiB";
  const double whole = figure(run("{}", test, costs), "goodput");
  CHECK(whole == Approx(800e6).epsilon(0.01));
  const double half = figure(run("{}", test + ", cpu: {quota: 50%}", costs), "goodput");
  CHECK(half == Approx(400e6).epsilon(0.06));  // 10 periods, the last one cut
}

TEST_CASE("a program that sleeps and wakes for each segment pays for both") {
  // The wire brings a segment every 1.2304 us; with 200 ns of work there is time to sleep.
  const TestResult test =
      run("{costs: {call: 200ns, block: 100ns, wake: 100ns}}", kStream + ", read: 1448B");
  const auto& host = test.hosts.at("b").figures;
  CHECK(host.at("blocks") > 0.9 * host.at("data_segments_received"));
  CHECK(host.at("cpu.block") == Approx(host.at("blocks") * 100e-9).epsilon(1e-6));
  CHECK(host.at("cpu.wake") == Approx(host.at("cpu.block")).epsilon(0.01));
}

TEST_CASE("request and response wait for the cores of both ends") {
  const auto latency = [](const std::string& cpu) {
    return figure(run(cpu,
                      "type: request-response, request: 100B, response: 100B, "
                      "transactions: 200",
                      cpu),
                  "latency.p50");
  };
  const double bare = latency("{}");
  // Each way: one write, a segment sent, a segment received, waking up, one read.
  const double costly =
      latency("{costs: {call: 1us, segment_sent: 2us, segment_received: 3us, wake: 4us}}");
  CHECK(costly - bare == Approx(2 * 11e-6).epsilon(0.05));
}
