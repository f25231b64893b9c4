// Hosts of one machine, joined by virtual interfaces: one core does the work of both ends, and what
// one end costs the other feels.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using namespace linerate::models;
using experiments::TestResult;

namespace {

TestResult run_pair(const std::string& costs, const std::string& test,
                    const std::string& nic = "{offloads: {tso: on}}",
                    const std::string& cpu = "cores: 1") {
  const experiments::Result result = simulate(experiments::parse_experiment(R"(schema_version: 1
name: pair
hosts:
  a: &host
    machine: m
    nics: {eth0: )" + nic + R"(}
    cpu: {accounting: tick, slice: 3ms, )" + cpu + ", costs: " + costs + R"(}
  b: *host
links: [{endpoints: ["a:eth0", "b:eth0"], medium: veth}]
tests:
  - {name: t, type: tcp-stream, from: a, to: b, repeats: 1, )" + test + "}\n",
                                                                            "test.yaml"));
  return result.tests.front();
}

double median_of(const TestResult& test, const char* name) {
  return test.figures.at(name).median();
}

const std::string kVolume = "bytes: 40MB, write: 64KiB";

}  // namespace

TEST_CASE("one core takes the time of both ends") {
  const TestResult test = run_pair("{write_copy: 4GB/s, read_copy: 2GB/s}", kVolume);
  const double seconds = 40e6 / 4e9 + 40e6 / 2e9;
  // It ends with the acknowledgment of the last byte, before that is read.
  CHECK(median_of(test, "elapsed") <= seconds);
  CHECK(median_of(test, "elapsed") == Approx(seconds).epsilon(0.05));
  CHECK(median_of(test, "sender.cpu") == Approx(40e6 / 4e9).epsilon(0.01));
  CHECK(median_of(test, "receiver.cpu") == Approx(40e6 / 2e9).epsilon(0.01));
  CHECK(median_of(test, "receiver.busiest_core") == Approx(1).epsilon(0.01));
}

TEST_CASE("two cores take the time of the slower end") {
  const TestResult test = run_pair("{write_copy: 4GB/s, read_copy: 2GB/s}", kVolume,
                                   "{offloads: {tso: on}}", "cores: 2");
  CHECK(median_of(test, "elapsed") == Approx(40e6 / 2e9).epsilon(0.05));
}

TEST_CASE("whoever's call sends does the receiver's protocol work, and is charged for it") {
  const auto of = [](const std::string& received) {
    return run_pair("{write_copy: 4GB/s, read_copy: 4GB/s, segment_received: " + received + "}",
                    kVolume, "{offloads: {tso: off}}");
  };
  const TestResult free = of("0us"), dear = of("1us");
  const double segments = dear.hosts.at("b").figures.at("data_segments_received");
  CHECK(segments == Approx(40e6 / 1448).epsilon(0.02));
  const double more = segments * 1e-6;
  CHECK(median_of(dear, "elapsed") - median_of(free, "elapsed") == Approx(more).epsilon(0.02));
  // What a reader's window update lets go is sent in the reader's call.
  const double sender = median_of(dear, "sender.cpu") - median_of(free, "sender.cpu");
  const double receiver = median_of(dear, "receiver.cpu") - median_of(free, "receiver.cpu");
  CHECK(sender + receiver == Approx(more).epsilon(0.02));
  CHECK(sender > 0.1 * more);
  CHECK(receiver > 0.1 * more);
}

TEST_CASE("a buffer for segmentation offload passes whole") {
  const auto of = [](const char* tso) {
    return run_pair("{segment_received: 1us, write_copy: 4GB/s, read_copy: 4GB/s}", kVolume,
                    std::string("{offloads: {tso: ") + tso + "}}");
  };
  const TestResult whole = of("on"), cut = of("off");
  // The receiver's stack sees a packet for a buffer, which holds at most 64 KiB, or one for each
  // segment.
  const double packets = whole.hosts.at("a").figures.at("cpu.segment") / 1e-6;
  CHECK(packets >= 40e6 / 65536);
  CHECK(packets < 40e6 / 16384);
  CHECK(cut.hosts.at("a").figures.at("cpu.segment") / 1e-6 == Approx(40e6 / 1448).epsilon(0.02));
}

TEST_CASE("a core turns to another program when one sleeps or has had its slice") {
  const auto of = [](const std::string& buffer) {
    return run_pair("{write_copy: 4GB/s, read_copy: 4GB/s, turn: 5us}",
                    kVolume + ", socket_buffer: " + buffer);
  };
  const TestResult small = of("32KiB"), large = of("1MiB");
  const auto turns = [](const TestResult& test) {
    return test.hosts.at("a").figures.at("cpu.turn") / 5e-6;
  };
  CHECK(turns(small) > 5 * turns(large));
  const double seconds = 40e6 / 2e9 + turns(small) * 5e-6;
  CHECK(median_of(small, "elapsed") == Approx(seconds).epsilon(0.01));
}

TEST_CASE("a quota bounds what a program and the work in its calls take together") {
  const std::string costs = "{write_copy: 2GB/s, segment_received: 20us, read_copy: 8GB/s}";
  const std::string test = "write: 64KiB, duration: 1100ms, omit: 100ms";
  const double whole = median_of(run_pair(costs, test), "goodput");
  const TestResult quarter = run_pair(costs, test + ", cpu: {quota: 25%}");
  // A sender that needs s of a core's second for each byte gets 0.25 / s.
  const double share = median_of(quarter, "sender.cpu") / 1.1;
  CHECK(share == Approx(0.25).epsilon(0.03));
  CHECK(median_of(quarter, "goodput") < 0.5 * whole);
}
