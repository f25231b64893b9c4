// A processor core: a preemptive-resume priority server with three contexts. Interrupt handlers run
// at once and one after the other; softirq work runs while no handler does; a process runs while
// neither does. Passive: callers ask when work ends and come back then; work in between may have
// pushed the end back, so a timer set for it finds itself early and asks again (sim::LazyTimer).
#pragma once

#include <cstdint>

#include "models/host/idle_states.hpp"
#include "sim/check.hpp"
#include "sim/units.hpp"

namespace linerate::models {

class Core {
 public:
  /// There is something to do at `now`: a core that had nothing first leaves its idle state.
  void rouse(Time now, const std::vector<experiments::IdleState>& states) {
    if (states.empty() || !idle(now) || handlers_free_ == now || program_end_ == now) return;
    const Time last = later(later(handlers_free_, last_end_), program_end_);
    handlers_free_ = now + exit_latency(states, now - last);
  }

  bool idle(Time now) const {
    return !softirq_.running() && !process_.running() && handlers_free_ <= now &&
           program_end_ <= now;
  }

  /// Runs an interrupt handler of length `cost`; returns when it is done. What it interrupts ends
  /// so much later.
  Time interrupt(Time now, Time cost) {
    handlers_free_ = later(now, handlers_free_) + cost;
    handlers_busy_ += cost;
    softirq_.hold(now, cost);
    hold_programs(now, cost);
    return handlers_free_;
  }

  /// Begins softirq work of length `work`, of which there is one piece at a time.
  void begin_softirq(Time now, Time work) {
    if (now > softirq_end_) softirq_since_ = now;
    softirq_.begin(later(now, handlers_free_), work);
    hold_programs(now, work);
    // What programs do meanwhile.
    if (program_end_ > now && now - softirq_since_ >= kSoftirqAlone) softirq_.hold(now, work);
  }
  void finish_softirq(Time now) {
    softirq_.finish(now);
    softirq_end_ = now;
    last_end_ = now;
  }
  /// Runs softirq work of length `work` that nobody waits for, as soon as handlers allow.
  void append_softirq(Time now, Time work) {
    handlers_free_ = later(now, handlers_free_) + work;
    softirq_.busy += work;
    hold_programs(now, work);
  }
  Time softirq_end() const { return softirq_.end; }  ///< never() when there is none
  /// A program without an event of its own does `work` when it has done what it was given before
  /// and nothing more urgent runs; returns when that will be.
  Time append_program(Time now, Time work) {
    program_end_ = later(process_start(now), program_end_) + work;
    program_work_ += work;
    process_.busy += work;
    process_.hold(now, work);
    return program_end_;
  }
  /// When such programs have done all they were given so far.
  Time program_end() const { return program_end_; }
  /// How much of all they were given is done.
  Time program_done(Time now) const { return program_work_ - later(Time{}, program_end_ - now); }
  Time program_given() const { return program_work_; }

  /// When a process that became runnable at `now` could begin.
  Time process_start(Time now) const {
    const Time free = later(now, handlers_free_);
    return softirq_.running() ? later(free, softirq_.end) : free;
  }
  /// Begins a step of a process of length `work`, of which there is one at a time.
  void begin_process(Time now, Time work) { process_.begin(process_start(now), work); }
  void extend_process(Time work) { process_.extend(work); }
  /// Ends the step; returns how long its process was current: its own work and whatever
  /// interrupted it. That is what sampling by a clock tick charges to it on the average, since a
  /// tick charges whoever is current (docs/models.md).
  Time finish_process(Time now) {
    last_end_ = now;
    return process_.finish(now);
  }
  Time process_end() const { return process_.end; }  ///< never() when there is none

  Time interrupt_busy() const { return handlers_busy_; }
  Time softirq_busy() const { return softirq_.busy; }
  Time process_busy() const { return process_.busy; }
  Time busy() const { return handlers_busy_ + softirq_.busy + process_.busy; }

 private:
  // What one context below the handlers does.
  struct Level {
    Time from{};               ///< when its work began, or will
    Time end = Time::never();  ///< when it will be done if nothing comes between
    Time busy{};

    bool running() const { return end != Time::never(); }
    void begin(Time start, Time work) {
      LINERATE_CHECK(!running(), "a context does one thing at a time");
      from = start;
      end = start + work;
      busy += work;
    }
    void extend(Time work) {
      end += work;
      busy += work;
    }
    // Something more urgent takes `cost`. What has not done anything yet begins later.
    void hold(Time now, Time cost) {
      if (!running()) return;
      if (now <= from) from += cost;
      end += cost;
    }
    Time finish(Time now) {
      LINERATE_CHECK(running() && end <= now, "work is finished when it has been done");
      end = Time::never();
      return now - from;
    }
  };

  void hold_programs(Time now, Time cost) {
    process_.hold(now, cost);
    if (program_end_ > now) program_end_ += cost;
  }

  // Softirq work that has gone on for 2 ms goes on in a thread (ksoftirqd), which takes turns with
  // programs (Linux __do_softirq(), MAX_SOFTIRQ_TIME).
  static constexpr Time kSoftirqAlone = Time::milliseconds(2);
  Time softirq_since_{}, softirq_end_{};

  Time handlers_free_{}, handlers_busy_{};
  Time program_end_{}, program_work_{};  ///< of programs without events
  Time last_end_{};                      ///< of softirq work or of a process
  Level softirq_, process_;
};

}  // namespace linerate::models
