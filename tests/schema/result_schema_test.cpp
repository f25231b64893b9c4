// The published JSON Schemas accept what is written and refuse what is not a result.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/results/json.hpp"
#include "tests/results/samples.hpp"
#include "tests/schema/schema_validator.hpp"

using namespace linerate::experiments;

namespace {

/// One of the schemas that stand beside the code.
SchemaValidator schema_named(const std::string& name) {
  std::ifstream file(LINERATE_SOURCE_DIR "/experiments/results/" + name);
  REQUIRE(file);
  return SchemaValidator(nlohmann::json::parse(file));
}

}  // namespace

TEST_CASE("the result schema accepts every kind of result") {
  const SchemaValidator schema = schema_named("result.schema.json");
  CHECK(schema.complaint(nlohmann::json::parse(to_json(measured_result()))) == "");
  CHECK(schema.complaint(nlohmann::json::parse(to_json(simulated_result()))) == "");
  CHECK(schema.complaint(nlohmann::json::parse(to_json(Result{}))) == "");
}

TEST_CASE("the result schema and the reader refuse the same documents") {
  const SchemaValidator schema = schema_named("result.schema.json");
  const auto good = nlohmann::json::parse(to_json(measured_result()));
  const auto refused = [&](const char* pointer, const nlohmann::json& value) {
    auto bad = good;
    bad[nlohmann::json::json_pointer(pointer)] = value;
    CAPTURE(pointer, value.dump());
    CHECK(schema.complaint(bad) != "");
    CHECK_THROWS_AS(result_from_json(bad.dump(), "file.json"), ResultFormatError);
  };
  refused("/schema_version", 2);
  refused("/kind", "comparison");
  refused("/backend", "guessed");
  refused("/backend", "simulated");  // which has no environment
  refused("/complete", "yes");
  refused("/extra", 1);
  refused("/provenance/seed", -1);
  refused("/provenance/experiment", "text");
  refused("/realisation/0/how", "maybe");
  refused("/tests/0/name", nullptr);
  refused("/tests/0/figures/goodput/better", "sideways");
  refused("/tests/0/figures/goodput/samples", nlohmann::json::array());
  refused("/tests/0/figures/goodput/ci95", nlohmann::json::array({1}));
  refused("/tests/0/ports/a:eth0/frames_sent", 0.5);
  refused("/tests/0/limits/0/colour", "red");
}

TEST_CASE("the comparison schema accepts a comparison and refuses a result") {
  const SchemaValidator schema = schema_named("comparison.schema.json");
  const auto good = nlohmann::json::parse(
      to_json(compare(simulated_result(), measured_result(), {{"*.goodput", 0.01}})));
  CHECK(schema.complaint(good) == "");
  CHECK(schema.complaint(nlohmann::json::parse(to_json(measured_result()))) != "");
  auto bad = good;
  bad["figures"][0]["verdict"] = "fine";
  CHECK(schema.complaint(bad) != "");
}
