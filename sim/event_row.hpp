// A handful of events in one sorted row.
#pragma once

#include <array>
#include <cstddef>

#include "sim/check.hpp"
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

  /// The row is not full.
  [[gnu::always_inline]] void push(const Event& event) {
    LINERATE_CHECK(size_ < kMost, "a row has few places");
    std::size_t i = size_++;
    for (; i > 0 && before(events_[i - 1], event); --i) events_[i] = events_[i - 1];
    events_[i] = event;
  }

  /// The earliest event; the row is not empty.
  const Event& top() const { return events_[size_ - 1]; }

  /// Removes and returns the earliest event; the row is not empty.
  Event take() { return events_[--size_]; }

  /// Passes every event to `visit`, and is empty afterwards.
  template <class Visitor>
  void drain(Visitor&& visit) {
    for (std::size_t i = 0; i < size_; ++i) visit(events_[i]);
    size_ = 0;
  }

 private:
  std::array<Event, kMost> events_;
  std::size_t size_ = 0;
};

}  // namespace linerate::sim
