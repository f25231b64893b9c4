// How long many things took, in memory that processes can share: no pointers, fixed size.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "sim/units.hpp"

namespace linerate::realnet {

/// Counts spans in nanoseconds: a power of two is cut into 256 ranges of one width, as HdrHistogram
/// does (G. Tene), so a percentile is off by at most half a range, 1/512 of its value. Mean, least
/// and largest are exact. Spans from 18 minutes on count as 18 minutes.
class LatencyHistogram {
 public:
  void record(Time span) {
    const auto nanoseconds = static_cast<std::uint64_t>(
        std::clamp<std::int64_t>(span.picoseconds() / 1'000, 0, kLongest));
    ++counts_[range_of(nanoseconds)];
    least_ = count_ == 0 ? span : earlier(least_, span);
    largest_ = later(largest_, span);
    sum_ += span.seconds();
    ++count_;
  }

  void add(const LatencyHistogram& other) {
    if (other.count_ == 0) return;
    for (std::size_t i = 0; i < kRanges; ++i) counts_[i] += other.counts_[i];
    least_ = count_ == 0 ? other.least_ : earlier(least_, other.least_);
    largest_ = later(largest_, other.largest_);
    sum_ += other.sum_;
    count_ += other.count_;
  }

  /// Whether it is one that record() can have made; of use where the bytes come from elsewhere.
  bool consistent() const {
    std::int64_t counted = 0;
    for (const std::uint32_t count : counts_) counted += count;
    return counted == count_ && std::isfinite(sum_) && least_ <= largest_;
  }

  std::int64_t count() const { return count_; }
  /// These need one span at least.
  Time mean() const { return Time::from_seconds(sum_ / static_cast<double>(count_)); }
  Time least() const { return least_; }
  Time largest() const { return largest_; }
  /// Nearest rank: the smallest span that at least the share `p` do not exceed.
  Time percentile(double p) const {
    const auto rank = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::ceil(p * static_cast<double>(count_))), 1, count_);
    std::int64_t seen = 0;
    for (std::size_t range = 0; range < kRanges; ++range) {
      seen += counts_[range];
      if (seen >= rank) return std::clamp(middle_of(range), least_, largest_);
    }
    return largest_;
  }

 private:
  static constexpr int kBits = 8, kLongestBits = 40;
  static constexpr std::int64_t kLongest = (std::int64_t{1} << kLongestBits) - 1;
  static constexpr std::size_t kRanges = std::size_t{kLongestBits - kBits + 1} << kBits;

  static std::size_t range_of(std::uint64_t value) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kBits - 1);
    return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(value >> shift);
  }
  static Time middle_of(std::size_t range) {
    if (range < (std::size_t{2} << kBits))
      return Time::nanoseconds(static_cast<std::int64_t>(range));
    const std::size_t shift = (range >> kBits) - 1;
    const std::size_t low = (range - (shift << kBits)) << shift;
    return Time::nanoseconds(static_cast<std::int64_t>(low + (std::size_t{1} << shift) / 2));
  }

  std::int64_t count_ = 0;
  double sum_ = 0;  // s
  Time least_, largest_;
  std::array<std::uint32_t, kRanges> counts_{};
};

}  // namespace linerate::realnet
