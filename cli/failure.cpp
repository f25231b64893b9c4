#include "cli/failure.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace linerate::cli {
namespace {

using nlohmann::ordered_json;

std::string summary(const std::vector<experiments::Diagnostic>& diagnostics) {
  std::string text;
  for (const auto& diagnostic : diagnostics)
    text += (text.empty() ? "" : "\n") + experiments::format(diagnostic);
  return text;
}

}  // namespace

Failure::Failure(ExitCode code, std::vector<experiments::Diagnostic> diagnostics)
    : std::runtime_error(summary(diagnostics)), code_(code), diagnostics_(std::move(diagnostics)) {}

Failure usage_error(std::string message, std::string remedy) {
  return file_error(ExitCode::bad_input, {}, std::move(message), std::move(remedy));
}

Failure file_error(ExitCode code, std::string source, std::string message, std::string remedy) {
  experiments::Diagnostic diagnostic;
  diagnostic.origin.source = std::move(source);
  diagnostic.message = std::move(message);
  diagnostic.remedy = std::move(remedy);
  return Failure(code, {std::move(diagnostic)});
}

ordered_json diagnostics_to_json(const std::vector<experiments::Diagnostic>& diagnostics) {
  ordered_json array = ordered_json::array();
  for (const auto& diagnostic : diagnostics) {
    ordered_json entry;
    const auto& origin = diagnostic.origin;
    if (!origin.source.empty()) entry["file"] = origin.source;
    if (origin.line > 0) entry["line"] = origin.line;
    if (origin.column > 0) entry["column"] = origin.column;
    if (!diagnostic.path.empty()) entry["path"] = diagnostic.path;
    entry["message"] = diagnostic.message;
    if (!diagnostic.remedy.empty()) entry["remedy"] = diagnostic.remedy;
    array.push_back(std::move(entry));
  }
  return array;
}

std::string error_document(ExitCode code, const std::vector<experiments::Diagnostic>& diagnostics) {
  ordered_json document;
  document["schema_version"] = 1;
  document["kind"] = "error";
  document["exit_code"] = static_cast<int>(code);
  document["errors"] = diagnostics_to_json(diagnostics);
  // File names and messages may hold bytes that are no UTF-8; they are replaced, never refused.
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace linerate::cli
