// What uncertain parameters make of a prediction: figures get a 95 % interval of the model.
#pragma once

#include "experiments/studies/calibration/fit_parameter.hpp"
#include "experiments/studies/calibration/variation.hpp"

namespace linerate::experiments {

/// A value written {value, within}. Values that stand in one place of a file (of a profile that two
/// hosts share) are one number and vary together.
struct UncertainParameter {
  std::vector<std::string> paths;
  FitParameter range;  ///< of the first path; its bounds are those of `within`, 95 %
  double value = 0;

  /// The value below which it lies with probability `share`: the middle is `value`, the bounds are
  /// 2.5 and 97.5 %, normal in between on either side (of the logarithm, if the lower bound is
  /// positive), and nothing lies beyond the bounds.
  double quantile(double share) const;
};

/// In the order of their first paths. Elements of unnamed lists cannot be set, so they are left
/// out.
std::vector<UncertainParameter> uncertain_parameters(const Experiment& experiment);

/// Whether the experiment itself or a file of ./profiles states an interval, and not only entries
/// of the catalog, whose numbers are priors for everybody.
bool states_intervals(const Experiment& experiment);

/// So many runs that the least and the largest of them enclose 95 % of all: (n - 1) / (n + 1).
inline constexpr int kModelRuns = 39;

/// Simulates the experiment `runs` more times at parameters drawn from their intervals (Sobol
/// points, so the same ones every time) and gives every figure of `result` the range of what came
/// out, and `result` a note. Nothing if no parameter is uncertain.
void add_model_intervals(const Experiment& experiment, Result& result, const Runner& runner,
                         int runs, unsigned threads);

}  // namespace linerate::experiments
