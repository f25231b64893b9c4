#include "models/queue/egress_queue.hpp"

namespace linerate::models {

EgressQueue::EgressQueue(const experiments::EgressSpec& spec, BitRate line, sim::RandomStream)
    : queue_(Fifo(experiments::with_defaults(spec.queue, line))) {}

Drop EgressQueue::enqueue(Time now, QueuedFrame frame) {
  frame.queued = now;
  const Drop drop = std::visit([&](auto& queue) { return queue.enqueue(now, frame); }, queue_);
  if (drop != Drop::none) return drop;
  ++frames_;
  bytes_ += frame.bytes;
  return Drop::none;
}

std::optional<QueuedFrame> EgressQueue::dequeue(Time now, std::uint8_t paused) {
  QueuedFrame frame;
  if (!std::visit([&](auto& queue) { return queue.dequeue(now, paused, frame, dropped_); }, queue_))
    return std::nullopt;
  --frames_;
  bytes_ -= frame.bytes;
  return frame;
}

QueueCounters EgressQueue::counters() const {
  return std::visit([](const auto& queue) { return queue.counters(); }, queue_);
}

}  // namespace linerate::models
