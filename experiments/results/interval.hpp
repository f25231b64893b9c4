// Confidence intervals that assume as little as possible: from the order of the samples where there
// are enough of them, from Student's t where there are not.
#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace linerate::experiments {

/// Interval [lower, upper].
using Bounds = std::pair<double, double>;

/// The narrowest pair of symmetric order statistics that covers the median with at least the given
/// probability, whatever the distribution: ranks k and n+1-k with 1 - 2 P(Bin(n, 1/2) < k) >=
/// coverage (Conover, Practical Nonparametric Statistics, 3.2). `sorted` is ascending. Absent when
/// even [min, max] does not reach it: below 6 samples at 95 %, below 5 at 90 %.
std::optional<Bounds> median_interval(const std::vector<double>& sorted, double coverage);

/// The 90 % interval of numerator / denominator for two sets of sorted samples, at least one of
/// them repeated:
/// - one value against five or more samples: the value is taken as exact, against the median's
///   order statistics;
/// - repeats on both sides, enough for 90 %: order statistics of all pairwise ratios, with the
/// ranks
///   of the Mann-Whitney distribution (Moses; Hollander & Wolfe, Nonparametric Statistical Methods,
///   4.3), exact up to 10,000 pairs and by the normal approximation above;
/// - fewer repeats (or more than a million pairs): Student's t on the means of the logarithms, with
/// Welch's degrees of freedom. Absent when a sample is not positive, where a ratio means nothing,
/// or nothing was repeated.
std::optional<Bounds> ratio_interval90(const std::vector<double>& numerator,
                                       const std::vector<double>& denominator);

}  // namespace linerate::experiments
