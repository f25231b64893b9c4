// First in, first out, with a limit and, if asked for, a mark on everything that finds more than a
// threshold in front of it (the step that DCTCP needs: RFC 8257 2.1, Alizadeh et al. 2010).
#pragma once

#include <vector>

#include "experiments/definition/queue.hpp"
#include "models/queue/queued_frame.hpp"

namespace linerate::models {

class Fifo {
 public:
  explicit Fifo(const experiments::QueueSpec& spec)
      : limit_(limit_of(spec)),
        mark_bytes_(spec.ecn_threshold.value_or(Bytes(-1)).count()),
        mark_frames_(spec.ecn_threshold_frames.value_or(-1)) {}

  Drop enqueue(Time, QueuedFrame frame) {
    if (!limit_.holds(row_.bytes(), row_.frames(), frame.bytes)) {
      ++counters_.full_drops;
      return Drop::queue;
    }
    // The queue that the frame finds counts, without itself.
    const bool above = (mark_bytes_ >= 0 && row_.bytes() > mark_bytes_) ||
                       (mark_frames_ >= 0 && row_.frames() > mark_frames_);
    if (above && frame.capable()) counters_.mark(frame);
    row_.push(frame);
    return Drop::none;
  }

  bool dequeue(Time, std::uint8_t paused, QueuedFrame& frame, std::vector<QueuedFrame>&) {
    if (row_.next_bytes(paused) == 0) return false;
    frame = row_.take();
    return true;
  }

  std::uint32_t next_bytes(std::uint8_t paused) const { return row_.next_bytes(paused); }
  std::int64_t bytes() const { return row_.bytes(); }
  std::int64_t frames() const { return row_.frames(); }
  const QueueCounters& counters() const { return counters_; }

 private:
  QueueLimit limit_;
  std::int64_t mark_bytes_, mark_frames_;
  FrameRow row_;
  QueueCounters counters_;
};

}  // namespace linerate::models
