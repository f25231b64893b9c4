// Several loss goals in one search, after MLRsearch (draft-ietf-bmwg-mlrsearch): the rate without
// loss (NDR) and the rate with a small one (PDR) share their trials, and most of these are short.
#pragma once

#include <vector>

#include "experiments/studies/search.hpp"

namespace linerate::experiments {

struct LossGoals {
  std::vector<double> allowed;  ///< losses in ascending order: {0, 0.005}
  double resolution = 0.001;
  /// Trials of each phase are four times as long as those of the phase before and their bounds half
  /// as far apart; those of the last have full length.
  int phases = 3;
};

struct LossSearch {
  std::vector<SearchResult> goals;  ///< in the order asked for
  int trials = 0;
  Time counted{};  ///< all trials together, without settling
};

/// Bounds of an earlier phase are where the next looks first, but only its own trials are believed:
/// what is reported rests on trials of full length alone. A load counts as met only below every
/// load that failed (the draft's relevant lower bound). Line rate is tried first.
LossSearch find_loads(Tester& tester, Bytes frame_size, const LossGoals& goals);

}  // namespace linerate::experiments
