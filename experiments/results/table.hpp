// Results and comparisons as plain text for a terminal of 100 columns.
#pragma once

#include <string>

#include "experiments/results/compare.hpp"
#include "experiments/results/quantity.hpp"
#include "experiments/results/result.hpp"

namespace linerate::experiments {

/// "within", "outside", "inconclusive" or "not judged".
std::string verdict_words(Verdict verdict);

/// A paragraph a test: figures with their median and interval, the rate and bytes at every layer,
/// limits and blocked times as ranked in the result, host costs, ports, notes. ASCII unless a name
/// or note is not; escape sequences only with `colour`.
std::string format_table(const Result& result, bool colour = false);

/// A line a figure, judged ones with their verdict, and the overall verdict last. "wire %" is the
/// error of the wire's ceiling alone. Where test and figure do not fit beside the rest, the test
/// heads its lines.
std::string format_table(const ResultComparison& comparison, bool colour = false);

}  // namespace linerate::experiments
