// Holds the assertions of an experiment against a result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"

namespace linerate::experiments {

/// `unknown`: the result has no such figure, or its test says that it is inconclusive.
enum class Outcome { holds, violated, unknown };

struct Judgement {
  std::string assertion;  ///< as written, "bulk.goodput >= 930Mbit/s"
  Outcome outcome = Outcome::unknown;
  std::string test;              ///< whose figure decided: "bulk", "fwd[64B]"; empty if unknown
  std::optional<double> actual;  ///< its median, in the figure's base unit
  std::string unit;
  std::string reason;  ///< why the outcome is unknown
  bool operator==(const Judgement&) const = default;
};

/// One judgement an assertion, in their order. The median decides. An assertion about `*` or about
/// a test with sub-results ("fwd" for "fwd[64B]") holds when it holds for each of them; the actual
/// value is then that of the first violation, else the one closest to it. `==` allows for rounding
/// (one part in 10^9).
std::vector<Judgement> judge(const Experiment& experiment, const Result& result);

/// The worst outcome: violated before unknown before holds; holds for an empty list.
Outcome overall(const std::vector<Judgement>& judgements);

}  // namespace linerate::experiments
