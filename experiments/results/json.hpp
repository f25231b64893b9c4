// Results and comparisons as JSON text (schema_version 1) and back.
#pragma once

#include <stdexcept>
#include <string>

#include "experiments/results/compare.hpp"
#include "experiments/results/result.hpp"

namespace linerate::experiments {

/// A file that is not a result or comparison of ours: what is wrong and where.
class ResultFormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string to_json(const Result& result);
std::string to_json(const ResultComparison& comparison);

/// Throws ResultFormatError; `source` names the text in the message.
Result result_from_json(const std::string& text, const std::string& source);
ResultComparison comparison_from_json(const std::string& text, const std::string& source);

/// Writes to a temporary file beside `path` and renames, so that nothing is half-written. Throws
/// std::system_error.
void write_file_atomically(const std::string& path, const std::string& text);

}  // namespace linerate::experiments
