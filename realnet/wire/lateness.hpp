// How late things were, as counts that two processes can share.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "sim/units.hpp"

namespace linerate::realnet {

/// A histogram of spans from 1 ns to minutes with sixteen bins an octave, so a quantile is known
/// within 6 %. One process writes, others may read meanwhile.
class Lateness {
 public:
  void add(Time late) {
    const auto nanoseconds =
        static_cast<std::uint64_t>(std::max<std::int64_t>(late.picoseconds() / 1'000, 0));
    increase(bins_[bin_of(nanoseconds)]);
    increase(count_);
    if (late > largest()) largest_.store(late.picoseconds(), std::memory_order_relaxed);
  }

  std::int64_t count() const { return count_.load(std::memory_order_relaxed); }
  Time largest() const { return Time::picoseconds(largest_.load(std::memory_order_relaxed)); }
  /// The upper edge of the bin in which the share `q` of all is reached; 0 when there is nothing.
  Time quantile(double q) const {
    const double wanted = q * static_cast<double>(count());
    double seen = 0;
    for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
      seen += static_cast<double>(bins_[bin].load(std::memory_order_relaxed));
      if (seen >= wanted && seen > 0) return std::min(upper_edge(bin), largest());
    }
    return {};
  }

 private:
  static constexpr int kBinBits = 4;  // sixteen to an octave
  static constexpr std::size_t kBins = 40u << kBinBits;
  using Counter = std::atomic<std::int64_t>;

  static void increase(Counter& counter) {  // one writer: no read-modify-write needed
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  static std::size_t bin_of(std::uint64_t n) {
    if (n < (1u << kBinBits)) return n;
    const int shift = static_cast<int>(std::bit_width(n)) - 1 - kBinBits;
    const std::size_t bin = (static_cast<std::size_t>(shift) << kBinBits) + (n >> shift);
    return std::min(bin, kBins - 1);
  }
  static Time upper_edge(std::size_t bin) {
    if (bin < (2u << kBinBits)) return Time::nanoseconds(static_cast<std::int64_t>(bin) + 1);
    const auto shift = static_cast<int>(bin >> kBinBits) - 1;
    const auto mantissa = static_cast<std::int64_t>(bin) - (std::int64_t{shift} << kBinBits);
    return Time::nanoseconds((mantissa + 1) << shift);
  }

  std::array<Counter, kBins> bins_{};
  Counter count_{0}, largest_{0};
};

}  // namespace linerate::realnet
