// The pending events of a run, earliest first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/check.hpp"
#include "sim/event.hpp"
#include "sim/event_heap.hpp"
#include "sim/event_ladder.hpp"
#include "sim/event_row.hpp"
#include "sim/units.hpp"

namespace linerate::sim {

/// A priority queue of events in their total order. A dozen events live in a sorted row, which a
/// 4-ary heap takes over from when they are more; both hold everything or nothing then.
/// Above about a thousand, a ladder keeps what is at or after a moving horizon roughly sorted; what
/// it last gave up is sorted into a run, and the heap holds what was pushed before the horizon
/// since. Where an event waits never shows: everything before the horizon precedes everything else,
/// and run and heap compare exactly. No allocation once the queue has been as full as it gets.
class EventQueue {
 public:
  bool empty() const { return size() == 0; }
  std::size_t size() const {
    return row_.size() + heap_.size() + (run_.size() - run_next_) + ladder_.size();
  }

  /// By value, so that an event which is made here can stay in registers.
  [[gnu::always_inline]] void push(Event event) {
    if (row_.size() < row_limit_) {
      LINERATE_CHECK(event.at < Time::never(), "an event that never happens is not scheduled");
      row_.push(event);
    } else {
      push_many(event);
    }
  }

  /// The earliest event. The queue is not empty; the reference lives until the next call.
  const Event& top() {
    if (row_limit_ > 0) {
      LINERATE_CHECK(!row_.empty(), "only a queue with events has an earliest one");
      return row_.top();
    }
    if (run_has_earliest()) return run_[run_next_];
    return heap_.top();
  }

  /// Removes and returns the earliest event. The queue is not empty.
  Event take() {
    top();  // checks
    return *take_until(Time::never());
  }

  /// Removes the earliest event unless it is later than `until`; nullptr if it is, or there is
  /// none. The event stays in its place until the next call of the queue.
  [[gnu::always_inline]] const Event* take_until(Time until) {
    if (row_limit_ == 0) return take_until_from_many(until);
    if (row_.empty() || row_.top().at > until) [[unlikely]]
      return nullptr;
    return &row_.take();
  }

 private:
  // The ladder pays off above about a thousand events (bench/hold_model) and costs a pass over all
  // of them to enter, so it is left only well below. The same holds for heap and row.
  static constexpr std::size_t kSpillAbove = 1024;
  static constexpr std::size_t kCollapseBelow = 512;
  static constexpr std::size_t kRowBelow = 6;

  [[gnu::noinline]] void push_many(Event event) {
    if (row_limit_ > 0) {
      row_limit_ = 0;
      row_.drain([this](const Event& each) { heap_.push(each); });
    }
    if (event.at < horizon_) [[likely]] {
      const bool grew = heap_.push(event);
      if (grew && heap_.size() > spill_above_) [[unlikely]]
        spill();
    } else {
      ladder_.push(event);
    }
  }

  [[gnu::noinline]] const Event* take_until_from_many(Time until) {
    // Without a ladder all is in the heap: one question instead of four.
    if (horizon_ != Time::never()) return take_until_from_all(until);
    if (heap_.empty() || heap_.top().at > until) [[unlikely]]
      return nullptr;
    const Event* event = &heap_.take();
    if (heap_.size() < kRowBelow) {
      last_of_heap_ = *event;
      event = &last_of_heap_;
      heap_.drain([this](const Event& each) { row_.push(each); });
      row_limit_ = EventRow::kMost;
    }
    return event;
  }

  // As take_until, where the ladder is engaged.
  const Event* take_until_from_all(Time until) {
    if (empty()) return nullptr;
    if (run_has_earliest()) return run_[run_next_].at > until ? nullptr : &run_[run_next_++];
    return heap_.top().at > until ? nullptr : &heap_.take();
  }

  // Whether the earliest event is the run's; else it is the heap's.
  bool run_has_earliest() {
    if (run_next_ == run_.size()) [[likely]] {
      if (!heap_.empty()) [[likely]]
        return false;
      refill();
      return run_next_ < run_.size();
    }
    return heap_.empty() || before(run_[run_next_], heap_.top());
  }

  // The heap has grown too large: it moves into the ladder and with it the rest of the run, which
  // the horizon now lies before.
  [[gnu::noinline]] void spill() {
    Time first = heap_.top().at;
    if (run_next_ < run_.size()) first = std::min(first, run_[run_next_].at);
    if (horizon_ == Time::never()) {
      ladder_.start(first);
    } else if (horizon_ - first < EventLadder::shortest_rung() || ladder_.full()) {
      // Too many events at nearly one time to tell apart by time; the heap has to sort them.
      spill_above_ = heap_.size() * 2;
      return;
    } else {
      ladder_.add_rung(first, horizon_, heap_.size());
    }
    heap_.drain([this](const Event& event) { ladder_.push(event); });
    for (; run_next_ < run_.size(); ++run_next_) ladder_.push(run_[run_next_]);
    horizon_ = first;
    spill_above_ = kSpillAbove;
  }

  // Run and heap are empty: the ladder's earliest events become the run and the horizon moves
  // behind them, or so few are left that all go back to the heap.
  [[gnu::noinline]] void refill() {
    LINERATE_CHECK(ladder_.size() > 0, "only a queue with events has an earliest one");
    spill_above_ = kSpillAbove;
    run_.clear();
    run_next_ = 0;
    if (ladder_.size() < kCollapseBelow) {
      ladder_.drain([this](const Event& event) { heap_.push(event); });
      horizon_ = Time::never();
    } else {
      horizon_ = ladder_.take_earliest(run_);
      std::sort(run_.begin(), run_.end(),
                [](const Event& a, const Event& b) { return before(a, b); });
    }
  }

  EventRow row_;                             // all events, while they are few
  std::size_t row_limit_ = EventRow::kMost;  // 0: none are
  EventHeap heap_;                           // at < horizon_
  Event last_of_heap_;                       // taken when the row took over
  std::vector<Event> run_;                   // at < horizon_, sorted
  std::size_t run_next_ = 0;
  EventLadder ladder_;  // at >= horizon_
  Time horizon_ = Time::never();
  std::size_t spill_above_ = kSpillAbove;
};

}  // namespace linerate::sim
