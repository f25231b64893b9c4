// The published JSON Schemas accept what is written and refuse what is not a result.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

// The library's headers do not compile under the project's warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#pragma GCC diagnostic pop

#include "experiments/results/json.hpp"
#include "tests/results/samples.hpp"

using namespace linerate::experiments;

namespace {

/// One of the schemas that stand beside the code.
class Schema {
 public:
  explicit Schema(const std::string& name) {
    std::ifstream file(LINERATE_SOURCE_DIR "/experiments/results/" + name);
    REQUIRE(file);
    const nlohmann::json text = nlohmann::json::parse(file);
    const valijson::adapters::NlohmannJsonAdapter adapter(text);
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(adapter, schema_);
  }

  bool accepts(const nlohmann::json& document) const {
    valijson::Validator validator;
    return validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
  }

 private:
  valijson::Schema schema_;
};

}  // namespace

TEST_CASE("the result schema accepts every kind of result") {
  const Schema schema("result.schema.json");
  CHECK(schema.accepts(nlohmann::json::parse(to_json(measured_result()))));
  CHECK(schema.accepts(nlohmann::json::parse(to_json(simulated_result()))));
  CHECK(schema.accepts(nlohmann::json::parse(to_json(Result{}))));
}

TEST_CASE("the result schema and the reader refuse the same documents") {
  const Schema schema("result.schema.json");
  const auto good = nlohmann::json::parse(to_json(measured_result()));
  const auto refused = [&](const char* pointer, const nlohmann::json& value) {
    auto bad = good;
    bad[nlohmann::json::json_pointer(pointer)] = value;
    CAPTURE(pointer, value.dump());
    CHECK_FALSE(schema.accepts(bad));
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
  const Schema schema("comparison.schema.json");
  const auto good = nlohmann::json::parse(
      to_json(compare(simulated_result(), measured_result(), {{"*.goodput", 0.01}})));
  CHECK(schema.accepts(good));
  CHECK_FALSE(schema.accepts(nlohmann::json::parse(to_json(measured_result()))));
  auto bad = good;
  bad["figures"][0]["verdict"] = "fine";
  CHECK_FALSE(schema.accepts(bad));
}
