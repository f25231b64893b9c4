// A timer that is pushed back far more often than it expires.
#pragma once

#include <cstdint>

#include "sim/units.hpp"

namespace linerate::sim {

/// Keeps at most one useful event in the queue, however often the deadline moves. Pushing the
/// deadline back only notes it: the pending event finds itself early and asks to be scheduled anew.
/// Only a deadline earlier than the pending event needs a second one, and the first then fires with
/// a stale generation and does nothing. The caller schedules; the timer knows no engine:
///
///   if (Time at = timer.set(deadline); at != Time::never())
///     engine.schedule(source, at, Kind::timer, target, timer.generation());
///   ...
///   const auto fired = timer.on_event(now, event.argument);
///   if (fired.again != Time::never()) schedule as above, at fired.again
///   if (fired.expired) ...
class LazyTimer {
 public:
  struct Fired {
    bool expired = false;        ///< the deadline has come; the timer is unset again
    Time again = Time::never();  ///< schedule the timer's event for this time unless never
  };

  /// Moves the deadline; Time::never() unsets it. Returns the time for which the caller must
  /// schedule the timer's event, or Time::never() when the pending event will do.
  Time set(Time deadline) {
    deadline_ = deadline;
    if (pending_ <= deadline) return Time::never();
    ++generation_;
    return pending_ = deadline;
  }
  /// Unsets the deadline; a pending event will do nothing.
  void cancel() { deadline_ = Time::never(); }

  bool armed() const { return deadline_ != Time::never(); }
  Time deadline() const { return deadline_; }
  /// What the pending event must carry as its argument.
  std::uint64_t generation() const { return generation_; }

  /// Takes the timer's event, dispatched at `now` with the generation it was scheduled with.
  Fired on_event(Time now, std::uint64_t generation) {
    if (generation != generation_) return {};
    pending_ = Time::never();
    if (deadline_ == Time::never()) return {};
    if (deadline_ > now) return {.expired = false, .again = set(deadline_)};
    deadline_ = Time::never();
    return {.expired = true, .again = Time::never()};
  }

 private:
  Time deadline_ = Time::never();
  Time pending_ = Time::never();  // when the event of this generation is due
  std::uint64_t generation_ = 0;
};

}  // namespace linerate::sim
