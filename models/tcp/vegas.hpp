// TCP Vegas (Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global
// Internet", IEEE JSAC 13, 1995): compares the round trip with the shortest one seen and keeps a
// few segments queued on the path. Knows samples and windows; does not know losses.
#pragma once

#include <cstdint>

#include "models/tcp/segment.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

class VegasEstimator {
 public:
  /// What to do with the window after an ACK.
  enum class Step : std::uint8_t { reno, slow_start, hold, up, down, leave_slow_start };

  void on_sample(Time rtt, Sequence unacknowledged, Sequence next);
  /// The step after the latest sample: once per round trip Vegas decides, in between slow start
  /// goes on and congestion avoidance holds.
  Step step(std::int64_t window, bool in_slow_start);
  /// A loss: judged again from the next round trip on.
  void pause() { active_ = false; }
  /// The window that would leave nothing queued.
  std::int64_t target(std::int64_t window) const { return window * base_us_ / round_us_; }

 private:
  // Segments kept in the path's queue, at least and at most, and where slow start ends: as Linux
  // sets them (the paper: 1 and 3).
  static constexpr std::int64_t kLeast = 2, kMost = 4, kSlowStart = 1;
  static constexpr int kSamples = 2;  ///< fewer in a round trip may all be delayed ACKs

  bool active_ = false;
  std::int64_t base_us_ = 0, round_us_ = 0;  ///< shortest RTT ever and of this round trip
  int samples_ = 0;
  Sequence round_end_ = 0, unacknowledged_ = 0, next_ = 0;
};

}  // namespace linerate::models::tcp
