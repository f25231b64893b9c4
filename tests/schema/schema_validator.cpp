#include "tests/schema/schema_validator.hpp"

#include <nlohmann/json.hpp>

// The library's headers do not compile under the project's warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#pragma GCC diagnostic pop

namespace linerate::experiments {

struct SchemaValidator::Parsed {
  valijson::Schema schema;
};

SchemaValidator::SchemaValidator(const nlohmann::json& schema)
    : parsed_(std::make_unique<Parsed>()) {
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema), parsed_->schema);
}

SchemaValidator::~SchemaValidator() = default;

std::string SchemaValidator::complaint(const nlohmann::json& document) const {
  valijson::Validator validator;
  valijson::ValidationResults results;
  const valijson::adapters::NlohmannJsonAdapter target(document);
  if (validator.validate(parsed_->schema, target, &results)) return {};
  valijson::ValidationResults::Error error;
  results.popError(error);
  std::string text;
  for (const std::string& part : error.context) text += part;
  return text + ": " + error.description;
}

}  // namespace linerate::experiments
