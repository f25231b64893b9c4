// Controlled delay (RFC 8289): frames are dropped at the head while the time they have waited has
// not been below a target for an interval, and the more of them the longer that lasts.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/definition/queue.hpp"
#include "models/queue/queued_frame.hpp"

namespace linerate::models {

/// What the queues of one port share.
struct CodelRule {
  explicit CodelRule(const experiments::QueueSpec& spec)
      : target(*spec.target), interval(*spec.interval), ecn(spec.ecn) {}

  Time target, interval;
  bool ecn;
  std::uint32_t largest = 0;  ///< frame seen; a queue of no more than one is never too long
};

/// The control of one queue; the frames are the caller's.
class CodelControl {
 public:
  /// Takes the frame that may leave from `row`; false if none may. Those dropped go to `dropped`.
  bool dequeue(const CodelRule& rule, Time now, std::uint8_t paused, FrameRow& row,
               QueuedFrame& frame, std::vector<QueuedFrame>& dropped, QueueCounters& counters);

  bool dropping() const { return dropping_; }

 private:
  /// Takes the head; `above`: the wait has been above the target for an interval.
  struct Taken {
    bool any = false, above = false;
  };
  Taken take(const CodelRule& rule, Time now, std::uint8_t paused, FrameRow& row,
             QueuedFrame& frame);
  void start_dropping(const CodelRule& rule, Time now);
  Time next_after(const CodelRule& rule, Time last) const;

  Time above_until_ = Time::never();  ///< when the wait will have been above for an interval
  Time next_drop_{};
  std::int64_t count_ = 0;       ///< drops since dropping began
  std::int64_t last_count_ = 0;  ///< with which dropping began
  bool dropping_ = false;
};

class Codel {
 public:
  explicit Codel(const experiments::QueueSpec& spec) : rule_(spec), limit_(limit_of(spec)) {}

  Drop enqueue(Time, QueuedFrame frame) {
    if (!limit_.holds(row_.bytes(), row_.frames(), frame.bytes)) {
      ++counters_.full_drops;
      return Drop::queue;
    }
    if (frame.bytes > rule_.largest) rule_.largest = frame.bytes;
    row_.push(frame);
    return Drop::none;
  }
  bool dequeue(Time now, std::uint8_t paused, QueuedFrame& frame,
               std::vector<QueuedFrame>& dropped) {
    return control_.dequeue(rule_, now, paused, row_, frame, dropped, counters_);
  }

  std::uint32_t next_bytes(std::uint8_t paused) const { return row_.next_bytes(paused); }
  std::int64_t bytes() const { return row_.bytes(); }
  std::int64_t frames() const { return row_.frames(); }
  const QueueCounters& counters() const { return counters_; }

 private:
  CodelRule rule_;
  QueueLimit limit_;
  FrameRow row_;
  CodelControl control_;
  QueueCounters counters_;
};

}  // namespace linerate::models
