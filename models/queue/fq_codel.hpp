// Flow queueing with CoDel (RFC 8290): flows are hashed to queues that take turns by deficit round
// robin, each under its own CoDel; flows that queue nothing pass the others.
#pragma once

#include <cstdint>
#include <vector>

#include "models/queue/codel.hpp"
#include "sim/random.hpp"

namespace linerate::models {

class FqCodel {
 public:
  FqCodel(const experiments::QueueSpec& spec, sim::RandomStream random);

  Drop enqueue(Time now, QueuedFrame frame, std::vector<QueuedFrame>& dropped);
  bool dequeue(Time now, std::uint8_t paused, QueuedFrame& frame,
               std::vector<QueuedFrame>& dropped);

  std::uint32_t next_bytes(std::uint8_t paused) const;
  std::int64_t bytes() const { return bytes_; }
  std::int64_t frames() const { return frames_; }
  const QueueCounters& counters() const { return counters_; }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Flow {
    FrameRow row;
    CodelControl codel;
    std::int64_t deficit = 0;
    std::uint32_t next = kNone;  ///< in its list
    bool active = false;
  };
  struct List {
    std::uint32_t head = kNone, tail = kNone;
  };
  /// A flow, and what is needed to take it out of its list.
  struct Place {
    List* list = nullptr;
    std::uint32_t previous = kNone, flow = kNone;
  };

  Place first_ready(std::uint8_t paused);
  void append(List& list, std::uint32_t flow);
  void remove(const Place& place);
  void evict(std::vector<QueuedFrame>& dropped);
  bool over_limit() const;
  std::uint32_t queue_of(std::uint32_t flow) const;

  CodelRule rule_;
  QueueLimit limit_;
  std::int64_t quantum_;
  std::uint64_t perturbation_;
  std::vector<Flow> flows_;
  List new_, old_;
  std::int64_t bytes_ = 0, frames_ = 0;
  QueueCounters counters_;
};

}  // namespace linerate::models
