#include "experiments/results/interval.hpp"

// Doubles are exact enough here, and Boost.Math's long doubles would be initialized at start-up,
// which fails under emulators with shorter ones (valgrind).
#define BOOST_MATH_NO_LONG_DOUBLE_MATH_FUNCTIONS
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace linerate::experiments {
namespace {

/// So many pairwise ratios are held in memory at most; with more samples the logarithms' means are
/// normal enough for t.
constexpr std::size_t most_pairs = 1'000'000;

/// Mean and squared standard error of the mean of the logarithms.
struct LogMean {
  double mean = 0;
  double error_squared = 0;
  double degrees = 0;  ///< of freedom
};

LogMean log_mean(const std::vector<double>& samples) {
  const double n = static_cast<double>(samples.size());
  LogMean result;
  for (const double sample : samples) result.mean += std::log(sample) / n;
  if (samples.size() < 2) return result;
  double squares = 0;
  for (const double sample : samples) squares += std::pow(std::log(sample) - result.mean, 2);
  result.degrees = n - 1;
  result.error_squared = squares / result.degrees / n;
  return result;
}

Bounds welch_interval90(const std::vector<double>& numerator,
                        const std::vector<double>& denominator) {
  const LogMean above = log_mean(numerator), below = log_mean(denominator);
  const double difference = above.mean - below.mean;
  const double variance = above.error_squared + below.error_squared;
  // Samples that are all alike differ by rounding of the mean at most; t has nothing to say then.
  if (variance < 1e-30) return {std::exp(difference), std::exp(difference)};
  // Welch-Satterthwaite; a side with one value is taken as exact and adds nothing.
  double spread = 0;
  if (above.degrees > 0) spread += above.error_squared * above.error_squared / above.degrees;
  if (below.degrees > 0) spread += below.error_squared * below.error_squared / below.degrees;
  const boost::math::students_t distribution(variance * variance / spread);
  const double half = boost::math::quantile(distribution, 0.95) * std::sqrt(variance);
  return {std::exp(difference - half), std::exp(difference + half)};
}

/// The largest k for which the k-th smallest and k-th largest of the n x m pairwise ratios cover
/// the ratio with 90 %: P(U < k) <= 5 % under the Mann-Whitney distribution; 0 when there is none.
std::size_t mann_whitney_rank(std::size_t n, std::size_t m) {
  constexpr std::size_t largest_exact = 10'000;
  const std::size_t pairs = n * m;
  if (pairs > largest_exact) {
    const double mean = static_cast<double>(pairs) / 2;
    const double deviation =
        std::sqrt(static_cast<double>(pairs) * static_cast<double>(n + m + 1) / 12);
    const double rank = mean - boost::math::quantile(boost::math::normal(), 0.95) * deviation;
    return rank < 1 ? 0 : static_cast<std::size_t>(rank);
  }
  // P(U = u) are the coefficients of the Gaussian binomial [n+m choose n] over their sum (Mann &
  // Whitney 1947): the product over i of (1 - q^(m+i)) / (1 - q^i), taken a factor at a time and
  // scaled by i / (m+i), so that the running coefficients always sum to 1.
  std::vector<double> probability(pairs + 1, 0.0);
  probability[0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t u = pairs; u >= m + i && u > 0; --u) probability[u] -= probability[u - m - i];
    for (std::size_t u = i; u <= pairs; ++u) probability[u] += probability[u - i];
    const double scale = static_cast<double>(i) / static_cast<double>(m + i);
    for (double& p : probability) p *= scale;
  }
  std::size_t rank = 0;
  double below = 0;
  // A little slack: three against three is exactly 5 % a side, however the sum is rounded.
  while (rank < pairs && below + probability[rank] <= 0.05 + 1e-9) below += probability[rank++];
  return rank;
}

}  // namespace

std::optional<Bounds> median_interval(const std::vector<double>& sorted, double coverage) {
  if (sorted.empty()) return std::nullopt;
  const boost::math::binomial ranks_below(static_cast<double>(sorted.size()), 0.5);
  // Four standard deviations (of sqrt(n) / 2) out, any coverage asked for still holds.
  const double n = static_cast<double>(sorted.size());
  auto rank = static_cast<std::size_t>(std::max(0.0, n / 2 - 2 * std::sqrt(n)));
  while (rank < sorted.size() / 2 &&
         1 - 2 * boost::math::cdf(ranks_below, static_cast<double>(rank)) >= coverage)
    ++rank;
  if (rank == 0) return std::nullopt;
  return Bounds{sorted[rank - 1], sorted[sorted.size() - rank]};
}

std::optional<Bounds> ratio_interval90(const std::vector<double>& numerator,
                                       const std::vector<double>& denominator) {
  if (numerator.empty() || denominator.empty()) return std::nullopt;
  if (numerator.size() + denominator.size() < 3) return std::nullopt;
  if (numerator.front() <= 0 || denominator.front() <= 0) return std::nullopt;
  if (numerator.size() == 1) {
    if (const auto bounds = median_interval(denominator, 0.90))
      return Bounds{numerator[0] / bounds->second, numerator[0] / bounds->first};
  } else if (denominator.size() == 1) {
    if (const auto bounds = median_interval(numerator, 0.90))
      return Bounds{bounds->first / denominator[0], bounds->second / denominator[0]};
  } else if (numerator.size() * denominator.size() > most_pairs) {
    return welch_interval90(numerator, denominator);
  } else if (const std::size_t rank = mann_whitney_rank(numerator.size(), denominator.size())) {
    std::vector<double> ratios;
    ratios.reserve(numerator.size() * denominator.size());
    for (const double above : numerator)
      for (const double below : denominator) ratios.push_back(above / below);
    std::sort(ratios.begin(), ratios.end());
    return Bounds{ratios[rank - 1], ratios[ratios.size() - rank]};
  }
  return welch_interval90(numerator, denominator);
}

}  // namespace linerate::experiments
