#include "models/tcp/hystart_plus_plus.hpp"

#include <algorithm>

namespace linerate::models::tcp {

void HystartPlusPlus::start_round(Sequence next) {
  last_round_ = round_;
  round_ = Time::never();
  samples_ = 0;
  round_end_ = next;
}

bool HystartPlusPlus::on_sample(Time rtt, Sequence unacknowledged, Sequence next) {
  if (unacknowledged > round_end_) {
    // A round begun in the middle counts as one.
    if (conservative_ && ++rounds_ > kRounds) return true;
    start_round(next);
  }
  round_ = std::min(round_, rtt);
  if (++samples_ < kSamples) return false;
  if (conservative_) {
    // The delay is back where it was, so leaving slow start would have been wrong.
    if (round_ < baseline_) {
      conservative_ = false;
      baseline_ = Time::never();
    }
  } else if (last_round_ != Time::never() &&
             round_ >= last_round_ +
                           std::clamp(last_round_ / kDivisor, kLeastThreshold, kMostThreshold)) {
    conservative_ = true;
    baseline_ = round_;
    rounds_ = 1;
    credit_ = 0;
  }
  return false;
}

std::int64_t HystartPlusPlus::growth(std::int64_t acked, bool paced) {
  if (!paced) acked = std::min(acked, kBurst);
  if (!conservative_) return acked;
  credit_ += acked;
  const std::int64_t grown = credit_ / kGrowthDivisor;
  credit_ -= grown * kGrowthDivisor;
  return grown;
}

}  // namespace linerate::models::tcp
