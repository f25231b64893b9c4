// Round-trip time: smoothed estimate, retransmission timeout and windowed minimum.
#pragma once

#include <cstdint>

#include "models/tcp/segment.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

/// How a stack turns the estimate into a timeout.
struct RttRules {
  Time rto_min{}, rto_initial{}, rto_max{};
  Time tick{};        ///< RTO is rounded up to this; 0: not rounded
  Time slow_timer{};  ///< RTT is counted in these ticks (BSD); 0: in microseconds
};

/// Where the connection stands when a sample is taken.
struct RttPosition {
  Sequence unacknowledged = 0;  ///< SND.UNA after the ACK
  Sequence next = 0;            ///< SND.NXT
};

/// RFC 6298's estimator in microseconds. Linux's form of it: the variance term never falls below
/// rto_min, follows its peak at once and decays once per round trip, and a falling RTT counts
/// only an eighth, so that RTO = srtt + max(rto_min, 4 rttvar). With a slow timer: 4.4BSD's form,
/// RTO = max(rto_min, srtt + 4 rttvar) in whole ticks.
class RttEstimator {
 public:
  explicit RttEstimator(const RttRules& rules) : rules_(rules), rto_(rules.rto_initial) {}

  /// Feeds the estimate; a valid sample ends the back-off.
  void sample(Time rtt, const RttPosition& position);
  /// Feeds the 300 s minimum (an ACK that may have been delayed must not).
  void sample_minimum(Time now, Time rtt);
  /// Doubles the timeout after an expiry, up to rto_max (RFC 6298 5.5).
  void back_off();

  bool measured() const { return srtt8_us_ != 0; }
  Time smoothed() const { return Time::picoseconds(srtt8_us_ * 125'000); }
  Time variation() const { return Time::microseconds(mdev4_us_ / 4); }
  Time timeout() const { return rto_; }
  /// Time::never() before the first sample.
  Time minimum() const { return minimum_; }
  std::int64_t smoothed_eighths() const { return srtt8_us_; }  ///< microseconds x 8
  int back_offs() const { return back_offs_; }

 private:
  void compute_timeout();

  RttRules rules_;
  std::int64_t srtt8_us_ = 0;       ///< smoothed RTT x 8
  std::int64_t mdev4_us_ = 0;       ///< mean deviation x 4
  std::int64_t mdev4_peak_us_ = 0;  ///< its largest value this round trip
  std::int64_t rttvar4_us_ = 0;     ///< the term added to srtt
  Sequence round_end_ = 0;
  Time rto_{};
  Time minimum_ = Time::never();
  Time minimum_at_{};
  int back_offs_ = 0;
};

}  // namespace linerate::models::tcp
