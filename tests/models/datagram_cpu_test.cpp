// Datagrams on hosts whose cores cost something: what programs, the stack and receive queues can
// take, whatever the costs are.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::Result;

namespace {

// Two hosts on a fast cable, and one test.
Result run_pair(const std::string& sender, const std::string& receiver, const std::string& test) {
  return models::simulate(experiments::parse_experiment(R"(schema_version: 1
name: pair
hosts:
  a: {stack: linux-6, )" + sender + R"(}
  b: {stack: linux-6, )" + receiver + R"(}
links:
  - {endpoints: ["a:eth0", "b:eth0"], medium: 10GBASE-T}
tests:
  - {name: t, from: a, to: b, repeats: 1, )" + test + "}\n",
                                                        "test.yaml"));
}

double figure(const Result& result, const char* name) {
  return result.tests.front().figures.at(name).median();
}

const std::string kFree = "profile: ideal, nics: {eth0: {profile: ideal}}";
const std::string kLoad =
    "type: udp-stream, datagram: 1000B, rate: 4Gbit/s, duration: 40ms, omit: 10ms";

std::string costing(const std::string& cpu, const std::string& nic = "profile: ideal") {
  return "profile: ideal, nics: {eth0: {" + nic + "}}, cpu: {" + cpu + "}";
}

}  // namespace

TEST_CASE("a program sends a datagram each call, copy and segment, and none is lost for that") {
  // 1 us of call, 4 us of protocol, 1 us of copy.
  const Result result = run_pair(
      costing("cores: 2, costs: {call: 1us, segment_sent: 4us, write_copy: 1GB/s}"), kFree, kLoad);
  CHECK(figure(result, "frame_rate") == Approx(1 / 6e-6).epsilon(0.01));
  CHECK(figure(result, "loss") == 0);
  CHECK(result.tests.front().limits.front().resource == "cpu a core 1");
  // It ends at its time, though not all has been sent.
  CHECK(result.tests.front().hosts.at("a").figures.at("core.1") == Approx(1).margin(0.02));
}

TEST_CASE("a reader that is slower than its stack loses datagrams at its socket") {
  // 500,000/s come; the softirq on another core passes them all, a read takes 3 us.
  const std::string costs = "costs: {call: 2us, segment_received: 1us, read_copy: 1GB/s}";
  const Result two = run_pair(kFree, costing("cores: 2, " + costs), kLoad);
  CHECK(figure(two, "frame_rate") == Approx(1 / 3e-6).epsilon(0.02));
  CHECK(two.tests.front().ports.at("b:eth0").drops.at("socket-buffer") > 0);
  CHECK(figure(two, "loss") == Approx(1 - 1 / 1.5).epsilon(0.06));  // the buffer holds some
  // On one core the softirq comes first, and the reader has what it leaves.
  const Result one = run_pair(kFree, costing("cores: 1, " + costs), kLoad);
  CHECK(figure(one, "frame_rate") == Approx(0.5 / 3e-6).epsilon(0.03));
}

TEST_CASE("a core that softirq work would fill shares it with the reader (ksoftirqd)") {
  // 500,000/s of 3 us each are more than a core has; each side gets half of it.
  const std::string costs = "costs: {call: 2us, segment_received: 3us, read_copy: 1GB/s}";
  const Result flood = run_pair(kFree, costing("cores: 1, " + costs), kLoad);
  CHECK(figure(flood, "frame_rate") == Approx(0.5 / 3e-6).epsilon(0.05));
}

TEST_CASE("each receive queue has a core: flows spread over them, one flow does not") {
  // A segment takes 6 us of softirq.
  const std::string cpu = "cores: 4, costs: {segment_received: 6us}";
  const auto goodput = [&](const std::string& queues, const std::string& flows) {
    return figure(run_pair(kFree, costing(cpu, "profile: ideal, queues: " + queues),
                           "type: tcp-stream, duration: 60ms, omit: 20ms, flows: " + flows),
                  "goodput");
  };
  const double core = 1448 * 8 / 6e-6;
  CHECK(goodput("1", "16") == Approx(core).epsilon(0.03));
  CHECK(goodput("4", "1") == Approx(goodput("1", "1")).epsilon(0.01));
  const double spread = goodput("4", "16");
  CHECK(spread > 2.5 * core);
  CHECK(spread <= 4.02 * core);
}

TEST_CASE("without segmentation offload a stack passes buffers and its driver frames (GSO)") {
  // 10 us a buffer of up to 64 KiB and 2 us a frame: between 2 and 12 us a frame, near the former.
  const std::string cpu = "cores: 2, costs: {segment_sent: 10us, frame: 2us}";
  const std::string test = "type: tcp-stream, duration: 60ms, omit: 20ms";
  const auto sent = [&](const std::string& stack, const std::string& tso) {
    return run_pair(costing(cpu, "profile: ideal, offloads: {tso: " + tso + "}") + stack, kFree,
                    test);
  };
  const Result cut = sent("", "off");
  CHECK(figure(cut, "goodput") > 1448 * 8 / 4e-6);  // buffers of five and more
  CHECK(figure(cut, "goodput") <= 1448 * 8 / 2e-6);
  const auto& use = cut.tests.front().hosts.at("a").figures;
  CHECK(use.at("cpu.frame") >= use.at("data_segments_sent") * 2e-6 * 0.99);
  // The NIC takes the frames over.
  CHECK(figure(sent("", "on"), "goodput") > figure(cut, "goodput"));
}
