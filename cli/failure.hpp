// The one way a verb gives up: an exit code and what is wrong, each with its remedy.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/exit_code.hpp"
#include "experiments/definition/parse.hpp"

namespace linerate::cli {

/// Thrown by a verb, reported once by the command line as text and, if asked for, JSON. Without
/// diagnostics it has been reported already.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, std::vector<experiments::Diagnostic> diagnostics);

  ExitCode code() const { return code_; }
  const std::vector<experiments::Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  ExitCode code_;
  std::vector<experiments::Diagnostic> diagnostics_;
};

/// Bad usage: exit code 2, no place in a file.
Failure usage_error(std::string message, std::string remedy = {});

/// A file that cannot be used; `source` is its name.
Failure file_error(ExitCode code, std::string source, std::string message, std::string remedy = {});

/// An array of objects with file, line, column, path, message and remedy; unknown is absent.
nlohmann::ordered_json diagnostics_to_json(const std::vector<experiments::Diagnostic>& diagnostics);

/// The error document that `--json` puts on standard output instead of a result.
std::string error_document(ExitCode code, const std::vector<experiments::Diagnostic>& diagnostics);

}  // namespace linerate::cli
