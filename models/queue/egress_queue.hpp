// What stands in front of a transmitter that decides late: one queue, or a queue for each traffic
// class and a scheduler. Passive: the caller says when a frame comes and when the line is free, and
// forwards, drops or marks as it is told. This folder knows frames and time, and neither links nor
// events.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "experiments/definition/queue.hpp"
#include "models/link/impairment.hpp"
#include "models/queue/fifo.hpp"
#include "models/queue/queued_frame.hpp"
#include "sim/random.hpp"

namespace linerate::models {

class EgressQueue {
 public:
  /// `line` is the transmitter's rate; `random` decides drops and where flows are hashed to.
  EgressQueue(const experiments::EgressSpec& spec, BitRate line, sim::RandomStream random);

  /// Takes `frame` at `now`. Anything but Drop::none: it stays the caller's and is lost.
  Drop enqueue(Time now, QueuedFrame frame);

  /// The frame that leaves at `now`, if one may: none of a priority in `paused` (bit n: priority n)
  /// does. Its ECN field is what must be on the wire. `now` never goes back.
  std::optional<QueuedFrame> dequeue(Time now, std::uint8_t paused);

  /// Frames that enqueue() or dequeue() dropped besides the one at hand. The caller releases them
  /// and clears the list.
  std::vector<QueuedFrame>& dropped() { return dropped_; }

  std::int64_t bytes() const { return bytes_; }    ///< held, wire bytes
  std::int64_t frames() const { return frames_; }  ///< held
  bool empty() const { return frames_ == 0; }

  /// Marks and drops of all classes so far.
  QueueCounters counters() const;

 private:
  using Discipline = std::variant<Fifo>;
  Discipline queue_;
  std::vector<QueuedFrame> dropped_;
  std::int64_t bytes_ = 0, frames_ = 0;
};

}  // namespace linerate::models
