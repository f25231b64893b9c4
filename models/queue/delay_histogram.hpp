// Delays as a distribution: each octave is cut into equal parts, so a quantile is right within 1 %
// whatever its magnitude, and recording one is a shift and an increment. Every class of every port
// has one: it takes memory with its first delay, and those of a port's classes can be added up.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/units.hpp"

namespace linerate::models {

class DelayHistogram {
 public:
  void record(Time delay) {
    if (counts_.empty()) counts_.resize(kBins);
    // In units of 1.024 ns: below 64 of them every value has its own bin.
    const std::uint64_t value = static_cast<std::uint64_t>(delay.picoseconds()) >> kUnitBits;
    ++counts_[std::min(bin_of(value), kBins - 1)];
    ++count_;
    sum_ += delay.picoseconds();
  }

  void add(const DelayHistogram& other) {
    if (other.counts_.empty()) return;
    counts_.resize(kBins);
    for (std::size_t bin = 0; bin < kBins; ++bin) counts_[bin] += other.counts_[bin];
    count_ += other.count_;
    sum_ += other.sum_;
  }

  std::int64_t count() const { return count_; }
  /// Exact; zero if nothing was recorded.
  Time mean() const {
    return count_ > 0 ? Time::picoseconds(static_cast<std::int64_t>(sum_ / count_)) : Time{};
  }
  /// Smallest recorded delay (middle of its bin) that a fraction `q` of all does not exceed.
  Time quantile(double q) const {
    const auto rank = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(q * static_cast<double>(count_) + 0.999999));
    std::int64_t seen = 0;
    for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
      seen += counts_[bin];
      if (seen >= rank) return middle_of(bin);
    }
    return {};
  }

 private:
  __extension__ using Wide = __int128;  // a billion waits of a second would overflow 64 bits
  static constexpr int kUnitBits = 10;
  static constexpr int kPartBits = 6;  // 64 parts an octave
  static constexpr std::size_t kParts = std::size_t{1} << kPartBits;
  static constexpr std::size_t kBins = kParts * 36;  // to 2^41 units: 37 minutes

  static std::size_t bin_of(std::uint64_t value) {
    if (value < kParts) return static_cast<std::size_t>(value);
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - kPartBits;
    return kParts * static_cast<std::size_t>(shift) + static_cast<std::size_t>(value >> shift);
  }
  static Time middle_of(std::size_t bin) {
    const std::size_t shift = bin < kParts ? 0 : bin / kParts - 1;
    const std::uint64_t low = static_cast<std::uint64_t>(bin - kParts * shift) << shift;
    const std::uint64_t unit = std::uint64_t{1} << kUnitBits;
    const std::uint64_t width = unit << shift;
    return Time::picoseconds(static_cast<std::int64_t>(low * unit + width / 2));
  }

  std::vector<std::int64_t> counts_;  // taken with the first delay: most ports never see one
  std::int64_t count_ = 0;
  Wide sum_ = 0;
};

}  // namespace linerate::models
