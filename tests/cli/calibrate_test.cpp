// `calibrate` as a user runs it: from a result to a profile to a prediction with its interval.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "experiments/results/json.hpp"
#include "tests/cli/program.hpp"

namespace linerate::tests {
namespace {

using Catch::Contains;
using nlohmann::json;

std::string network(const std::string& switch_fields) {
  return "schema_version: 1\nname: small\n"
         "hosts: {a: {profile: ideal, nics: {eth0: {profile: generic-100m}}}, b: {like: a}}\n"
         "switches: {s1: {" +
         switch_fields +
         ", ports: 2, rate: 100Mbit/s}}\n"
         "links:\n"
         "  - {name: left, endpoints: [\"a:eth0\", \"s1:1\"], medium: 100BASE-TX}\n"
         "  - {endpoints: [\"b:eth0\", \"s1:2\"], medium: 100BASE-TX}\n"
         "tests:\n"
         "  - {name: rpc, type: request-response, from: a, to: b, request: 64B, response: 64B,"
         " duration: 20ms}\n"
         "  - {name: big, type: request-response, from: a, to: b, request: 64B, response: 8KiB,"
         " duration: 20ms}\n";
}

/// A result of a network whose switch takes 40 us, as a measurement would give it.
std::string measured(const TemporaryFolder& folder, const std::string& experiment) {
  const Run predicted = run({"predict", experiment, "--set", "switches.s1.latency=40us", "--json"});
  REQUIRE(predicted.code == 0);
  experiments::Result result = experiments::result_from_json(predicted.output, "predicted");
  result.backend = experiments::Backend::measured;
  return folder.file("measured.json", experiments::to_json(result));
}

const std::string kLatency = "switches.s1.latency=[1us,1ms]";

}  // namespace

TEST_CASE("a calibrated profile predicts with an interval that holds the truth") {
  TemporaryFolder folder;
  const std::string before = folder.file("before.yaml", network("latency: 10us"));
  const std::string data = measured(folder, before);
  std::filesystem::create_directory(folder.path("profiles"));
  const std::string profile = folder.path("profiles/fitted.yaml");
  const Run calibrated = run({"calibrate", data, "--experiment", before, "--fit", kLatency, "-o",
                              profile, "--error", "transaction_rate=1%"});
  CHECK(calibrated.code == 0);
  CHECK_THAT(calibrated.output, Contains("determined") && Contains("null: mean of the others"));
  CHECK_THAT(text_of(profile), Contains("latency: {value: ") && Contains("within: ["));

  const std::string after = folder.file("after.yaml", network("profile: fitted"));
  const Run predicted = run({"predict", after, "--json", "--model-runs", "9"});
  REQUIRE(predicted.code == 0);
  const json figure = json::parse(predicted.output)["tests"][0]["figures"]["transaction_rate"];
  const json truth =
      json::parse(text_of(data))["tests"][0]["figures"]["transaction_rate"]["median"];
  CHECK(figure["model95"][0] <= truth);
  CHECK(figure["model95"][1] >= truth);
  CHECK(figure["model95"][0] < figure["model95"][1]);
  const json without = json::parse(run({"predict", after, "--json", "--model-runs", "0"}).output);
  CHECK_FALSE(without["tests"][0]["figures"]["transaction_rate"].contains("model95"));

  const Run compared = run({"compare", folder.file("p.json", predicted.output), data});
  CHECK_THAT(compared.output, Contains("figures with a model interval"));
  CHECK_THAT(run({"check", after, "--resolved"}).output,
             Contains("switches.s1.latency") && Contains(" .. "));
}

TEST_CASE("calibrate: exit code 5 and no number where the data say nothing") {
  TemporaryFolder folder;
  const std::string experiment = folder.file("e.yaml", network("latency: 10us"));
  const Run run = tests::run({"calibrate", measured(folder, experiment), "--experiment", experiment,
                              "--fit", "hosts.a.cpu.cores=[1,8]", "--json"});
  CHECK(run.code == 5);
  const json document = json::parse(run.output);
  CHECK(document["kind"] == "study");
  CHECK(document["parameters"][0]["known"] == "undetermined");
  CHECK_FALSE(document["parameters"][0].contains("value"));
}

TEST_CASE("calibrate: what is wrong, where, and what to do") {
  TemporaryFolder folder;
  const std::string experiment = folder.file("e.yaml", network("latency: 10us"));
  const std::string data = measured(folder, experiment);
  const auto refused = [&](std::vector<std::string> arguments, const char* words) {
    arguments.insert(arguments.begin(), "calibrate");
    const Run run = tests::run(arguments);
    CHECK(run.code == 2);
    CHECK_THAT(run.errors, Contains(words));
  };
  refused({data}, "--fit PATH=[LOWEST,HIGHEST]");
  refused({data, "--fit", "switches.s1.latency"}, "--fit needs PATH=[LOWEST,HIGHEST]");
  refused({data, "--fit", "switches.s9.latency=[1us,1ms]"}, "matches nothing");
  refused({data, "--fit", "switches.s1.latency=[1us,1furlong]"}, "is no quantity");
  refused({data, "--fit", "links.left.delay=[1us,1ms]", "-o", folder.path("p.yaml")},
          "no part of a host's or a switch's profile");
  refused({data, "--fit", kLatency, "--hold-out", "*"}, "leave no figure to fit");
  refused({data, "--fit", kLatency, "--error", "nothing=1%"}, "matches no figure");
  refused({data, "--fit", kLatency, "--starts", "0"}, "whole number");
  refused({folder.file("s.json", run({"predict", experiment, "--json"}).output), "--fit", kLatency},
          "was simulated");
}

}  // namespace linerate::tests
