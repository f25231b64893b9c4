// When a kernel timer set for a delay really fires: on the host's tick, and for long delays on a
// coarser wheel.
#pragma once

#include "sim/units.hpp"

namespace linerate::models::tcp {

enum class TimerWheel {
  flat,     ///< on the first tick that is not early (Linux before 4.8)
  levels,   ///< one tick later; far timers on levels of 8, 64, 512 ticks (Linux 4.8 on)
  counted,  ///< a counter decremented at every tick, so up to one tick early (BSD's slow timer)
};

/// The tick on which one host's timers expire.
struct TimerGrid {
  Time tick{};   ///< 0: timers are exact
  Time phase{};  ///< when some tick falls, 0 <= phase
  TimerWheel wheel = TimerWheel::flat;

  /// Ticks that `delay` rounds up to.
  std::int64_t ticks(Time delay) const {
    return (delay.picoseconds() + tick.picoseconds() - 1) / tick.picoseconds();
  }

  /// When a timer set at `now` for `delay` expires.
  Time expiry(Time now, Time delay) const {
    if (tick == Time{}) return now + delay;
    Time offset{};
    if (phase != Time{}) offset = phase % tick;
    if (offset > Time{}) offset -= tick;  // at most 0, so that no difference is negative
    const std::int64_t tick_now = (now - offset) / tick;
    if (wheel == TimerWheel::counted) return offset + tick * (tick_now + ticks(delay));
    if (wheel == TimerWheel::flat) return offset + tick * ticks(now + delay - offset);
    // The wheel rounds every expiry up to the next slot of its level, so that a timer set at the
    // very end of a tick is not early; a level starts where the one below spans 63 slots.
    const std::int64_t distance = ticks(delay);
    int shift = 0;
    for (std::int64_t level_start = 63; distance >= level_start && shift < 24; level_start *= 8)
      shift += 3;
    return offset + tick * ((((tick_now + distance) >> shift) + 1) << shift);
  }

  /// Until when a timer set for the same delay expires at the same time as one set at `now`.
  Time same_until(Time now) const {
    if (tick == Time{} || wheel == TimerWheel::flat) return now;
    const Time offset = phase % tick - tick;
    return offset + tick * ((now - offset) / tick + 1);
  }
};

/// A grid that knows its last answer, for timers that are set for one delay again and again. It is
/// asked in the order of time.
class RememberingGrid {
 public:
  explicit RememberingGrid(const TimerGrid& grid) : grid_(grid) {}

  Time expiry(Time now, Time delay) {
    if (now < same_until_ && delay == delay_) return expiry_;
    delay_ = delay;
    expiry_ = grid_.expiry(now, delay);
    same_until_ = grid_.same_until(now);
    return expiry_;
  }
  const TimerGrid& grid() const { return grid_; }

 private:
  TimerGrid grid_;
  Time delay_{}, expiry_{}, same_until_{};
};

}  // namespace linerate::models::tcp
