// What waits in a queue that decides: a frame's handle and the little a discipline looks at.
#pragma once

#include <cstdint>

#include "experiments/definition/queue.hpp"
#include "models/link/impairment.hpp"
#include "models/network/packet.hpp"
#include "models/tcp/segment.hpp"
#include "sim/ring.hpp"
#include "sim/units.hpp"

namespace linerate::models {

struct QueuedFrame {
  PacketHandle packet;
  std::uint32_t bytes = 0;  ///< on the wire, with preamble and gap
  std::uint32_t flow = 0;   ///< what fair queueing tells flows apart by
  std::uint8_t priority = 0;
  tcp::Ecn ecn = tcp::Ecn::not_ect;
  Drop cause = Drop::none;  ///< why it was given up, of frames in EgressQueue::dropped()
  Time queued{};            ///< when it was enqueued

  bool capable() const { return ecn != tcp::Ecn::not_ect; }
};

/// Frames in order, and their bytes.
class FrameRow {
 public:
  void push(const QueuedFrame& frame) {
    frames_.push_back(frame);
    bytes_ += frame.bytes;
  }
  QueuedFrame take() {
    bytes_ -= frames_.front().bytes;
    return frames_.take_front();
  }
  const QueuedFrame& head() const { return frames_.front(); }
  bool empty() const { return frames_.empty(); }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t frames() const { return static_cast<std::int64_t>(frames_.size()); }
  /// Size of the head if it may leave: not if its priority is among `paused` (bit n: priority n),
  /// or if there is none; then 0.
  std::uint32_t next_bytes(std::uint8_t paused) const {
    if (frames_.empty()) return 0;
    const QueuedFrame& frame = frames_.front();
    return (paused >> frame.priority & 1u) != 0 ? 0 : frame.bytes;
  }

 private:
  sim::Ring<QueuedFrame> frames_;
  std::int64_t bytes_ = 0;
};

/// What a queue may hold.
struct QueueLimit {
  std::int64_t bytes = 0, frames = 0;  ///< 0: no limit

  bool holds(std::int64_t queued_bytes, std::int64_t queued_frames, std::uint32_t more) const {
    return (bytes == 0 || queued_bytes + more <= bytes) && (frames == 0 || queued_frames < frames);
  }
};

inline QueueLimit limit_of(const experiments::QueueSpec& spec) {
  return {.bytes = spec.limit.value_or(Bytes(0)).count(), .frames = spec.limit_frames.value_or(0)};
}

/// What a queue has done.
struct QueueCounters {
  std::int64_t marked = 0;       ///< frames whose ECN field became CE
  std::int64_t early_drops = 0;  ///< decided by the discipline
  std::int64_t full_drops = 0;   ///< for want of room

  void mark(QueuedFrame& frame) {
    marked += frame.ecn != tcp::Ecn::ce;
    frame.ecn = tcp::Ecn::ce;
  }
  QueueCounters& operator+=(const QueueCounters& other) {
    marked += other.marked;
    early_drops += other.early_drops;
    full_drops += other.full_drops;
    return *this;
  }
};

}  // namespace linerate::models
