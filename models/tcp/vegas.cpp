#include "models/tcp/vegas.hpp"

#include <algorithm>

namespace linerate::models::tcp {

void VegasEstimator::on_sample(Time rtt, Sequence unacknowledged, Sequence next) {
  const std::int64_t us = rtt.whole_microseconds() + 1;
  if (base_us_ == 0 || us < base_us_) base_us_ = us;
  round_us_ = samples_ == 0 ? us : std::min(round_us_, us);
  ++samples_;
  unacknowledged_ = unacknowledged;
  next_ = next;
}

VegasEstimator::Step VegasEstimator::step(std::int64_t window, bool in_slow_start) {
  if (!active_) {
    active_ = true;
    round_end_ = next_;
    samples_ = 0;
    return Step::reno;
  }
  if (unacknowledged_ <= round_end_) return in_slow_start ? Step::slow_start : Step::hold;
  round_end_ = next_;
  const bool judged = samples_ > kSamples;
  samples_ = 0;
  if (!judged) return Step::reno;
  // Expected less actual rate, times the shortest RTT: segments queued on the path.
  const std::int64_t queued = window * (round_us_ - base_us_) / base_us_;
  if (in_slow_start) return queued > kSlowStart ? Step::leave_slow_start : Step::slow_start;
  if (queued > kMost) return Step::down;
  return queued < kLeast ? Step::up : Step::hold;
}

}  // namespace linerate::models::tcp
