// Documents against a JSON Schema of draft 7.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace linerate::experiments {

/// A schema to hold documents against. The library behind it takes long to compile: one file sees
/// it.
class SchemaValidator {
 public:
  explicit SchemaValidator(const nlohmann::json& schema);
  ~SchemaValidator();

  /// The first complaint with its place, or "".
  std::string complaint(const nlohmann::json& document) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace linerate::experiments
