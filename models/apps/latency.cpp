#include "models/apps/latency.hpp"

#include <cmath>

#include "sim/check.hpp"

namespace linerate::models {

void LatencyRecorder::keep(Time latency) {
  exact_.push_back(latency);
  if (exact_.size() >= kExact) spread();
}

// From single latencies to counts by range.
void LatencyRecorder::spread() {
  counts_.resize(range_of(Time::never()) + 1);
  for (const Time one : exact_) ++counts_[range_of(one)];
  exact_ = {};
}

void LatencyRecorder::add(const LatencyRecorder& other) {
  if (other.counts_.empty()) {
    for (const Time one : other.exact_) record(one);
    return;
  }
  if (counts_.empty()) spread();
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = later(max_, other.max_);
}

Time LatencyRecorder::middle_of(std::size_t range) {
  const std::size_t first_wide = std::size_t{2} << kBits;
  if (range < first_wide) return Time::picoseconds(static_cast<std::int64_t>(range));
  const std::size_t shift = (range >> kBits) - 1;
  const std::size_t low = (range - (shift << kBits)) << shift;
  return Time::picoseconds(static_cast<std::int64_t>(low + (std::size_t{1} << shift) / 2));
}

Time LatencyRecorder::percentile(double p) const {
  LINERATE_CHECK(count_ > 0, "a percentile is one of the latencies");
  const auto rank =
      std::clamp<std::int64_t>(std::llround(std::ceil(p * static_cast<double>(count_))), 1, count_);
  if (counts_.empty()) {
    std::vector<Time> sorted = exact_;
    const auto nth = sorted.begin() + (rank - 1);
    std::nth_element(sorted.begin(), nth, sorted.end());
    return *nth;
  }
  std::int64_t seen = 0;
  for (std::size_t range = 0; range < counts_.size(); ++range) {
    seen += static_cast<std::int64_t>(counts_[range]);
    if (seen >= rank) return earlier(middle_of(range), max_);
  }
  return max_;
}

}  // namespace linerate::models
