// Calibration over the simulator itself: what was planted in a network is found from its figures.
#include <catch2/catch.hpp>

#include "experiments/definition/parse.hpp"
#include "experiments/studies/calibration/calibrate.hpp"
#include "models/simulate.hpp"

namespace linerate::models {
namespace {

using namespace experiments;
using Catch::Contains;

Experiment small_network() {
  return parse_experiment(R"(
schema_version: 1
name: small
hosts: {a: {profile: ideal, nics: {eth0: {profile: generic-100m}}}, b: {like: a}}
switches: {s1: {ports: 2, rate: 100Mbit/s, latency: 5us}}
links:
  - {name: left, endpoints: ["a:eth0", "s1:1"], medium: 100BASE-TX, delay: 100us}
  - {name: right, endpoints: ["b:eth0", "s1:2"], medium: 100BASE-TX}
tests:
  - {name: rpc, type: request-response, from: a, to: b, request: 64B, response: 64B, duration: 50ms}
  - {name: slow, type: tcp-stream, from: a, to: b, bytes: 500kB,
     socket_buffer: {send: 256KiB, receive: 16KiB}}
  - {name: slower, type: tcp-stream, from: a, to: b, bytes: 200kB, max_segment: 500B,
     socket_buffer: {send: 256KiB, receive: 16KiB}}
)",
                          "small.yaml");
}

Result run_small(const Experiment& experiment) { return simulate(experiment); }

/// A "measurement" of the planted network: three runs that differ by a thousandth.
CalibrationData planted(const std::vector<std::string>& set) {
  CalibrationData data{"planted.json", simulate(varied(small_network(), set)), small_network()};
  data.result.backend = Backend::measured;
  for (TestResult& test : data.result.tests)
    for (auto& [name, figure] : test.figures) {
      const double value = figure.median();
      figure = make_figure(figure.unit, figure.better, {value * 0.999, value, value * 1.001});
    }
  return data;
}

CalibrationOptions fitting(const std::vector<std::string>& parameters) {
  CalibrationOptions options;
  for (const std::string& text : parameters)
    options.parameters.push_back(parse_fit_parameter(text));
  options.threads = 2;
  return options;
}

}  // namespace

TEST_CASE("a delay and a receive buffer planted in a network are found from its figures") {
  const auto found = calibrate(
      {planted({"links.left.delay=700us", "tests.slow.socket_buffer.receive=24KiB"})},
      fitting({"links.left.delay=[10us,10ms]", "tests.slow.socket_buffer.receive=[8KiB,128KiB]"}),
      run_small);
  REQUIRE(found.parameters[0].knowledge == Knowledge::determined);
  CHECK(found.parameters[0].low <= 700e6);
  CHECK(found.parameters[0].high >= 700e6);
  CHECK(found.parameters[0].value == Approx(700e6).epsilon(0.01));
  // The window is a whole number of segments, so the buffer is known to about one of them.
  CHECK(found.parameters[1].low <= 24 * 1024);
  CHECK(found.parameters[1].high >= 24 * 1024);
  for (const CalibrationCell& cell : found.cells) CHECK(std::abs(*cell.deviation) < 0.01);
}

TEST_CASE("a link's delay and a switch's latency on one path are not told apart") {
  const auto found = calibrate(
      {planted({"links.left.delay=300us"})},
      fitting({"links.left.delay=[1us,10ms]", "switches.s1.latency=[1us,10ms]"}), run_small);
  CHECK_FALSE(found.all_determined());
  REQUIRE(found.combinations.size() == 1);
  CHECK_THAT(found.combinations[0].words, Contains("determined is the sum"));
  for (const CalibratedParameter& parameter : found.parameters) {
    CHECK(parameter.knowledge == Knowledge::at_most);
    // The ends of an interval are sought to a fifth of its half.
    CHECK(parameter.high == Approx(305e6).epsilon(0.15));
  }
}

}  // namespace linerate::models
