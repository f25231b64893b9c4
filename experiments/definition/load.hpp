// What an open source decides by chance or by the clock: when the next one comes and how large it
// is. Neither depends on what happened to earlier ones, so both back ends offer the same load.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "sim/random.hpp"
#include "sim/units.hpp"

namespace linerate::experiments {

/// The moments of arrival. Periodic ones begin at the start and keep to absolute times, so that no
/// rounding adds up; the gaps of a Poisson process are exponential, the first one included.
class ArrivalProcess {
 public:
  ArrivalProcess(const Arrivals& arrivals, sim::RandomStream random)
      : random_(random), poisson_(arrivals.poisson.has_value()) {
    mean_ = std::llround(1e12 / arrivals.rate() * kParts);
  }

  void start(Time now) {
    due_ = now;
    if (poisson_) step();
  }
  /// When the next one comes; never before the start.
  Time due() const { return due_; }
  /// Goes on to the one after it.
  void step() {
    if (poisson_) {
      due_ += random_.exponential(Time::picoseconds(mean_ / kParts));
      return;
    }
    part_ += mean_;
    due_ += Time::picoseconds(part_ / kParts);
    part_ %= kParts;
  }

 private:
  static constexpr std::int64_t kParts = 1024;  // of a picosecond, in which the interval is counted

  sim::RandomStream random_;
  bool poisson_;
  std::int64_t mean_ = 0;  // interval
  std::int64_t part_ = 0;  // that due_ leaves out
  Time due_ = Time::never();
};

/// Sizes drawn from a distribution by the inverse of its cumulative function.
class SizeSource {
 public:
  /// A size outside [low, high] is moved to the nearer end.
  struct Range {
    Bytes low{1}, high{std::int64_t{1} << 50};
  };

  SizeSource(const Sizes& sizes, Range range, sim::RandomStream random)
      : points_(sizes.distribution), mean_(sizes.exponential), range_(range), random_(random) {}

  Bytes next() {
    return std::clamp(mean_ ? exponential() : interpolated(), range_.low, range_.high);
  }

 private:
  Bytes exponential() {
    // A byte is a microsecond: what is drawn is then rounded to whole ones.
    const Time drawn = random_.exponential(Time::microseconds(mean_->count()));
    return Bytes((drawn + Time::nanoseconds(500)).whole_microseconds());
  }

  Bytes interpolated() {
    const double u = random_.uniform01();
    const auto above =
        std::upper_bound(points_.begin(), points_.end(), u,
                         [](double share, const SizePoint& point) { return share < point.share; });
    if (above == points_.begin()) return above->size;
    const SizePoint& below = *(above - 1);
    const double part = (u - below.share) / (above->share - below.share);
    const auto width = static_cast<double>((above->size - below.size).count());
    return below.size + Bytes(static_cast<std::int64_t>(width * part + 0.5));
  }

  std::vector<SizePoint> points_;
  std::optional<Bytes> mean_;
  Range range_;
  sim::RandomStream random_;
};

/// The sizes of the simple Internet mix in the order in which they are sent: each as evenly spread
/// over the round as its count allows, the same every time.
inline std::vector<Bytes> imix_round() {
  // Every turn each size earns its count; the one that has earned most is sent and pays the round.
  constexpr std::size_t kSizes = std::size(kImixSizes);
  std::array<int, kSizes> earned{};
  int round = 0;
  for (const int count : kImixCounts) round += count;
  std::vector<Bytes> order;
  for (int turn = 0; turn < round; ++turn) {
    std::size_t richest = 0;
    for (std::size_t i = 0; i < kSizes; ++i) {
      earned[i] += kImixCounts[i];
      if (earned[i] > earned[richest]) richest = i;
    }
    earned[richest] -= round;
    order.push_back(kImixSizes[richest]);
  }
  return order;
}

}  // namespace linerate::experiments
