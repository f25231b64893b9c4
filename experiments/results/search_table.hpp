// One table for the results of a search over frame sizes. Only table.cpp uses it.
#pragma once

#include <span>
#include <string>

#include "experiments/results/result.hpp"

namespace linerate::experiments {

/// Whether a result comes from a search of RFC 2544.
bool is_search_result(const TestResult& test);
/// "fwd" of "fwd[64B]".
std::string base_name(const TestResult& test);
/// A line a frame size; of loss curves a line a load and a column a frame size. Notes follow.
std::string format_search(std::span<const TestResult> sizes, bool colour);

}  // namespace linerate::experiments
