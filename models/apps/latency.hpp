// The latencies of one test: every one exactly while they are few, then how many fell into each of
// many narrow ranges, in bounded memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/units.hpp"

namespace linerate::models {

/// Records spans and tells their mean, maximum and percentiles. Up to `kExact` of them are kept as
/// they are; beyond that a power of two is cut into 1024 ranges of one width, as HdrHistogram does
/// (G. Tene), and a percentile is off by at most half a range: 1/2048 of its value. Mean and
/// maximum are exact.
class LatencyRecorder {
 public:
  static constexpr std::size_t kExact = 4096;

  LatencyRecorder() { exact_.reserve(kExact); }

  [[gnu::always_inline]] void record(Time latency) {
    ++count_;
    sum_ += latency.picoseconds();
    max_ = later(max_, latency);
    if (counts_.empty()) [[unlikely]]
      keep(latency);
    else
      ++counts_[range_of(latency)];
  }

  /// Takes over what another has recorded.
  void add(const LatencyRecorder& other);

  std::int64_t count() const { return count_; }
  /// Zero when there is none.
  Time mean() const {
    return count_ > 0 ? Time::picoseconds(static_cast<std::int64_t>(sum_ / count_)) : Time{};
  }
  Time max() const { return max_; }
  /// Nearest rank: the smallest latency that at least the share `p` do not exceed. Needs one.
  Time percentile(double p) const;

 private:
  __extension__ using Wide = __int128;  // a billion of a second each would overflow 64 bits
  static constexpr int kBits = 10;

  static std::size_t range_of(Time latency) {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(0, latency.picoseconds()));
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kBits - 1);
    return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(value >> shift);
  }
  static Time middle_of(std::size_t range);
  void keep(Time latency);
  void spread();

  std::int64_t count_ = 0;
  Wide sum_ = 0;
  Time max_{};
  std::vector<Time> exact_;            // until there are too many
  std::vector<std::uint64_t> counts_;  // by range, from then on
};

}  // namespace linerate::models
