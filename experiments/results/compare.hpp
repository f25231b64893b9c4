// Holds a prediction against a reference, figure by figure, with a verdict where a tolerance is
// given.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"

namespace linerate::experiments {

enum class Verdict { within, outside, inconclusive, not_judged };

struct FigureComparison {
  std::string test, figure, unit;
  Better better = Better::neither;
  double predicted = 0, reference = 0;               ///< medians
  std::optional<double> error;                       ///< predicted / reference - 1; absent when the
                                                     ///< reference is 0 and the prediction is not
  std::optional<std::pair<double, double>> error90;  ///< 90 % interval of the ratio, minus 1
  std::optional<std::pair<double, double>> model95;  ///< of the prediction, by its parameters
  std::optional<double> tolerance;
  std::optional<double> null_error;  ///< error of the wire ceiling alone
  Verdict verdict = Verdict::not_judged;
  std::string note;
  bool operator==(const FigureComparison&) const = default;
};

struct ResultComparison {
  std::string predicted_source, reference_source;
  Backend predicted_backend = Backend::simulated, reference_backend = Backend::measured;
  std::vector<FigureComparison> figures;
  std::vector<std::string> only_in_predicted,
      only_in_reference;  ///< "test.figure"; "test.*" for a whole test
  std::vector<std::string> notes;
  bool operator==(const ResultComparison&) const = default;
};

/// The null model: the payload rate, bit/s, of a wire that full frames saturate, if the test's way
/// has a line whose capacity is known and a ledger that says what share of a full frame is payload.
std::optional<double> payload_ceiling(const TestResult& test);

/// How often references lay inside the prediction's own 95 % interval, over figures that have one,
/// and how wide it was: a wide interval is easily right.
struct ModelCoverage {
  int figures = 0, inside = 0;
  double median_width = 0;  ///< as a share of the prediction
};
ModelCoverage model_coverage(const ResultComparison& comparison);

/// The verdict of a whole comparison: outside beats inconclusive beats within; `not_judged` when no
/// figure has a tolerance.
Verdict overall(const ResultComparison& comparison);

/// Which of two files, in the order given, is the reference: what was measured or published before
/// what was simulated, else the first.
bool first_is_reference(Backend first, Backend second);

/// The tolerance that applies to a figure: the pattern with most literal levels wins, then the one
/// that names the test, then the later one. `*` stands for one level ("*.goodput" does not reach
/// "bulk.goodput.min"). A pattern for "fwd" reaches the sub-results "fwd[64B]" unless one names
/// them.
std::optional<double> tolerance_for(const std::string& test, const std::string& figure,
                                    const std::vector<Tolerance>& tolerances);

/// Error = predicted / reference - 1 of the medians. With repeats on either side the verdict is an
/// equivalence test on the 90 % interval of the ratio (interval.hpp), else the point error decides.
/// A test of either side with a note that begins "inconclusive:" (a limit of the generator, of the
/// lab) has no verdict but `inconclusive`. The caller fills in the two sources.
ResultComparison compare(const Result& predicted, const Result& reference,
                         const std::vector<Tolerance>& tolerances);

}  // namespace linerate::experiments
