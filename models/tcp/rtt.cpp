#include "models/tcp/rtt.hpp"

#include <algorithm>

namespace linerate::models::tcp {

namespace {
constexpr Time kMinimumLife = Time::seconds(300);  // Linux tcp_min_rtt_wlen
}

void RttEstimator::sample(Time rtt, const RttPosition& position) {
  if (rules_.slow_timer > Time{}) {
    // A BSD round trip is the number of slow ticks it touches, at least one.
    rtt = rules_.slow_timer * (rtt / rules_.slow_timer + 1);
  }
  const std::int64_t us = std::max<std::int64_t>(rtt.whole_microseconds(), 1);
  const std::int64_t floor4 = rules_.slow_timer > Time{} ? 0 : rules_.rto_min.whole_microseconds();
  if (srtt8_us_ == 0) {
    srtt8_us_ = us * 8;
    mdev4_us_ = us * 2;
    rttvar4_us_ = mdev4_peak_us_ = std::max(mdev4_us_, floor4);
    round_end_ = position.next;
  } else {
    const std::int64_t error = us - (srtt8_us_ >> 3);
    srtt8_us_ += error;
    std::int64_t change = (error < 0 ? -error : error) - (mdev4_us_ >> 2);
    // A sudden drop of the RTT looks like variance; let it count an eighth when it would raise it.
    if (error < 0 && change > 0) change >>= 3;
    mdev4_us_ += change;
    if (mdev4_us_ > mdev4_peak_us_) {
      mdev4_peak_us_ = mdev4_us_;
      rttvar4_us_ = std::max(rttvar4_us_, mdev4_peak_us_);
    }
    if (position.unacknowledged > round_end_) {
      if (mdev4_peak_us_ < rttvar4_us_) rttvar4_us_ -= (rttvar4_us_ - mdev4_peak_us_) >> 2;
      round_end_ = position.next;
      mdev4_peak_us_ = floor4;
    }
  }
  back_offs_ = 0;  // a valid sample ends the back-off (RFC 6298 5.7)
  compute_timeout();
}

void RttEstimator::sample_minimum(Time now, Time rtt) {
  if (rtt > minimum_ && now - minimum_at_ < kMinimumLife) return;
  minimum_ = rtt;
  minimum_at_ = now;
}

void RttEstimator::compute_timeout() {
  const Time variance = Time::microseconds(rules_.slow_timer > Time{} ? mdev4_us_ : rttvar4_us_);
  Time rto = Time::microseconds(srtt8_us_ >> 3) + variance;
  if (rules_.slow_timer > Time{}) rto = std::max(rto, rules_.rto_min);
  const Time tick = rules_.slow_timer > Time{} ? rules_.slow_timer : rules_.tick;
  if (tick > Time{})
    rto = tick * ((rto.picoseconds() + tick.picoseconds() - 1) / tick.picoseconds());
  rto_ = std::min(rto, rules_.rto_max);
}

void RttEstimator::back_off() {
  ++back_offs_;
  rto_ = std::min(rto_ * 2, rules_.rto_max);
}

}  // namespace linerate::models::tcp
