// A handful of events in one sorted row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "sim/event.hpp"

namespace linerate::sim {

/// Sorted array by `before`, the earliest event last. What a small network schedules lies mostly
/// before its timers, so that a push passes one or two events and a take none: cheaper than a heap
/// up to about as many events as a row holds (bench/hold_model).
class EventRow {
 public:
  static constexpr std::size_t kMost = 12;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  /// The row has a free place: its queue has looked. By value, so that the event can stay in
  /// registers.
  [[gnu::always_inline]] void push(Event event) {
    Event* place = &events_[++size_];
    for (; before(place[-1], event); --place) *place = place[-1];
    *place = event;
  }

  /// The earliest event; the row is not empty.
  const Event& top() const { return events_[size_]; }

  /// Removes and returns the earliest event, which stays in its place until the next push; the row
  /// is not empty.
  const Event& take() { return events_[size_--]; }

  /// Passes every event to `visit`, and is empty afterwards.
  template <class Visitor>
  void drain(Visitor&& visit) {
    for (std::size_t i = 1; i <= size_; ++i) visit(events_[i]);
    size_ = 0;
  }

 private:
  // What stands first is later than every event, so that a push need not ask whether it is there.
  static constexpr Event kLatest{.at = Time::never(),
                                 .order = std::numeric_limits<std::uint64_t>::max()};

  std::array<Event, kMost + 1> events_{kLatest};
  std::size_t size_ = 0;
};

}  // namespace linerate::sim
