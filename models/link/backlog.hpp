// Frames that a transmitter holds, known by the times at which they leave. Because departures are
// computed when a frame is queued, looking at the clock is enough to know what is still there: no
// event per departure.
#pragma once

#include <cstdint>

#include "sim/ring.hpp"
#include "sim/units.hpp"

namespace linerate::models {

class Backlog {
 public:
  void add(Time departure, std::uint32_t bytes) {
    entries_.push_back({departure, bytes});
    bytes_ += bytes;
  }

  /// Forgets what has left by `now`; returns the bytes forgotten.
  std::int64_t expire(Time now) {
    std::int64_t gone = 0;
    while (!entries_.empty() && entries_.front().departure <= now) {
      gone += entries_.front().bytes;
      entries_.pop_front();
    }
    bytes_ -= gone;
    return gone;
  }

  std::int64_t bytes() const { return bytes_; }
  std::int64_t frames() const { return static_cast<std::int64_t>(entries_.size()); }
  bool empty() const { return entries_.empty(); }
  /// Departure of the frame at `index` from the head.
  Time departure(std::size_t index) const { return entries_[index].departure; }
  std::uint32_t size(std::size_t index) const { return entries_[index].bytes; }

 private:
  struct Entry {
    Time departure;
    std::uint32_t bytes;
  };
  sim::Ring<Entry> entries_;
  std::int64_t bytes_ = 0;
};

}  // namespace linerate::models
