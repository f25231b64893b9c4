#include "experiments/results/result.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/results/interval.hpp"
#include "sim/check.hpp"

namespace linerate::experiments {

double Figure::median() const {
  LINERATE_CHECK(!samples.empty(), "a figure has at least one sample");
  const std::size_t middle = samples.size() / 2;
  if (samples.size() % 2 == 1) return samples[middle];
  // Halved before adding, so that two huge samples do not overflow.
  return samples[middle - 1] / 2 + samples[middle] / 2;
}

std::optional<double> jains_index(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  if (squares <= 0) return {};
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

Figure make_figure(std::string unit, Better better, std::vector<double> samples) {
  LINERATE_CHECK(!samples.empty(), "a figure has at least one sample");
  for (const double sample : samples) LINERATE_CHECK(std::isfinite(sample), "a sample is finite");
  std::sort(samples.begin(), samples.end());
  Figure figure{std::move(unit), better, std::move(samples), {}, {}};
  figure.ci95 = median_interval(figure.samples, 0.95);
  return figure;
}

Better usual_direction(const std::string& figure) {
  const auto ends_with = [&](const char* word) { return figure.ends_with(word); };
  const auto contains = [&](const char* word) { return figure.find(word) != std::string::npos; };
  if (contains("latency") || contains("elapsed") || contains("cpu") || contains("busiest_core") ||
      contains("retransmit") || contains("jitter") || contains("slowdown") ||
      contains("reordered") || ends_with("loss") || figure.starts_with("loss.") ||
      ends_with("cost"))
    return Better::lower;
  if (contains("goodput") || contains("throughput") || ends_with("_rate") || ends_with("rate") ||
      figure == "fairness" || figure.starts_with("burst") || figure == "buffer_time")
    return Better::higher;
  return Better::neither;
}

}  // namespace linerate::experiments
