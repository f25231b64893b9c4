// Tests of RFC 2544 in the experiment file: their keys, and what makes no sense in them.
#include <catch2/catch.hpp>
#include <string>

#include "tests/definition/parse_fixture.hpp"

using namespace linerate;
using namespace linerate::experiments;

namespace {

Sections with_test(const std::string& keys) {
  return Sections{.links = R"(
  - {endpoints: ["a:eth0", "s1:1"], medium: 1000BASE-T}
  - {endpoints: ["b:eth0", "s1:2"], medium: 1000BASE-T})",
                  .tests = "\n  - {name: fwd, from: a, to: b, " + keys + "}",
                  .more = "switches: {s1: {ports: 4, rate: 1Gbit/s}, s2: {like: s1}}"};
}

}  // namespace

TEST_CASE("a search without sizes takes those of RFC 2544, and says so when resolved") {
  const Experiment experiment = parse(with_test("type: rfc2544-throughput, device: s1"));
  const Test& test = experiment.tests.front();
  CHECK(test.frame_sizes == std::vector<Bytes>{Bytes(64), Bytes(128), Bytes(256), Bytes(512),
                                               Bytes(1024), Bytes(1280), Bytes(1518)});
  CHECK(test.device == "s1");
  CHECK(test.allowed_loss == 0);
  CHECK(test.resolution == Approx(0.001));
  CHECK(test.trial.simulated == Time::milliseconds(50));
  CHECK(test.trial.measured == Time::seconds(60));
  CHECK(test.trial.settle == Time::seconds(2));
  CHECK(experiment.resolved.find("1280B") != std::string::npos);
  CHECK(experiment.resolved.find("\"duration\"") == std::string::npos);
}

TEST_CASE("every key of a search is read") {
  const Test test = parse(with_test("type: rfc2544-throughput, device: s1, frame_sizes: [64B], "
                                    "allowed_loss: 0.1%, partial_loss: 1%, resolution: 0.5%, "
                                    "trial: {simulated: 10ms, measured: 5s, settle: 1s}"))
                        .tests.front();
  CHECK(test.allowed_loss == Approx(0.001));
  CHECK(test.partial_loss == Approx(0.01));
  CHECK(test.resolution == Approx(0.005));
  CHECK(test.trial == Trial{Time::milliseconds(10), Time::seconds(5), Time::seconds(1)});
}

TEST_CASE("the device must lie on the way") {
  CHECK(errors_of(with_test("type: rfc2544-latency, device: s2"))
            .front()
            .find("tests.fwd.device: `s2` does not lie between a:eth0 and b:eth0") !=
        std::string::npos);
}

TEST_CASE("keys that a search has no use for are refused") {
  for (const char* key : {"duration: 1s", "rate: 1Mbit/s", "group: all", "bytes: 1kB"}) {
    CAPTURE(key);
    CHECK(errors_of(with_test(std::string("type: rfc2544-throughput, ") + key)).size() == 1);
  }
  CHECK(errors_of(with_test("type: rfc2544-frame-loss, resolution: 1%")).size() == 1);
  CHECK(errors_of(with_test("type: tcp-stream, device: s1")).size() == 1);
  CHECK(errors_of(with_test("type: rfc2544-throughput, frame_size: imix")).size() == 1);
  CHECK(errors_of(with_test("type: rfc2544-throughput, allowed_loss: 1%, partial_loss: 0.5%"))
            .front()
            .find("partial_loss") != std::string::npos);
}

TEST_CASE("figures of a search can be asserted") {
  Sections sections = with_test("type: rfc2544-frame-loss, frame_sizes: [64B, 128B]");
  sections.more += "\nassert: [\"fwd[64B].loss.90% <= 1%\", \"fwd[128B].loss.100% <= 0.5%\"]";
  CHECK(errors_of(sections) == Lines{});
}
