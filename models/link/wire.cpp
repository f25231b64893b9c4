#include "models/link/wire.hpp"

#include <algorithm>

namespace linerate::models {

const char* name_of(Drop drop) {
  switch (drop) {
    case Drop::none:
      return "none";
    case Drop::queue:
      return "queue";
    case Drop::loss:
      return "loss";
    case Drop::bit_error:
      return "bit-error";
    case Drop::blackhole:
      return "blackhole";
    case Drop::script:
      return "script";
  }
  return "";
}

namespace {

constexpr std::int64_t kPicosecondsPerByte = 8'000'000'000'000;  // at 1 bit/s

std::int64_t whole_picoseconds_per_byte(BitRate rate) {
  const std::int64_t bits = rate.bits_per_second();
  return kPicosecondsPerByte % bits == 0 ? kPicosecondsPerByte / bits : 0;
}

}  // namespace

Wire::Wire(const WireConfig& config, Impairment impairment)
    : config_(config),
      impairment_(std::move(impairment)),
      impaired_(impairment_.any()),
      ps_per_byte_(whole_picoseconds_per_byte(config.rate)) {}

bool Wire::room(Time now, std::uint32_t wire_bytes) {
  if (config_.path_queue) {
    // The backlog is what is still to be sent, the rest of the frame in service included.
    const Time wait = std::max(free_at_ - now, Time{});
    const std::int64_t ahead = bytes_sent_in(wait);
    peak_queue_ = std::max(peak_queue_, ahead + wire_bytes);
    return ahead + wire_bytes <= *config_.path_queue;
  }
  if (config_.buffer != nullptr) {
    const bool admitted = config_.buffer->admits(now, config_.buffer_port, wire_bytes);
    peak_queue_ = std::max(peak_queue_, config_.buffer->queue_bytes(config_.buffer_port) +
                                            static_cast<std::int64_t>(wire_bytes));
    return admitted;
  }
  if (config_.frame_limit) {
    backlog_.expire(now);
    peak_queue_ = std::max(peak_queue_, backlog_.bytes() + static_cast<std::int64_t>(wire_bytes));
    return backlog_.frames() < *config_.frame_limit;
  }
  return true;
}

std::int64_t Wire::bytes_sent_in(Time span) const {
  if (ps_per_byte_ > 0) return span.picoseconds() / ps_per_byte_;
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(span.picoseconds()) *
                                   config_.rate.bits_per_second() / kPicosecondsPerByte);
}

Wire::Sent Wire::dropped(Drop cause, Time departure) {
  ++drops_[static_cast<std::size_t>(cause)];
  return {cause, departure, false};
}

Wire::Sent Wire::send(Time now, PacketHandle handle, Packet& packet, Time not_before) {
  const std::uint32_t bytes = packet.wire_bytes;
  if (!room(now, bytes)) return dropped(Drop::queue, now);

  const Time start = std::max({now, free_at_, not_before});
  const Time duration = serialization(bytes);
  free_at_ = start + duration;
  busy_ += duration;
  ++frames_;
  wire_bytes_ += bytes;
  if (config_.buffer != nullptr) config_.buffer->store(config_.buffer_port, free_at_, bytes);
  if (config_.frame_limit) backlog_.add(free_at_, bytes);

  // The last bit leaves a gap before the line is free again; an emulated path hands a frame over
  // when its whole wire time is spent.
  const Time tail = free_at_ - (config_.path_queue ? Time{} : serialization(kGapBytes));
  if (impaired_) {
    const Drop cause = impairment_.judge(now, packet);
    if (cause != Drop::none) return dropped(cause, free_at_);
  }
  const Time latency = config_.latency + (impaired_ ? impairment_.jitter() : Time{});
  const bool idle = flight_.empty();
  packet.tail = tail + latency;
  Time arrival = packet.tail;
  if (config_.announce_head)
    arrival = std::min(arrival, start + serialization(kPreambleBytes + kHeadBytes) + latency);
  put(arrival, handle, packet);
  return {Drop::none, free_at_, idle && !flight_.empty()};
}

void Wire::put(Time arrival, PacketHandle handle, const Packet& packet) {
  // Jitter keeps the order: a frame never arrives before the one ahead of it.
  arrival = std::max(arrival, last_arrival_);
  last_arrival_ = arrival;
  if (impaired_ && impairment_.holds(packet) && impairment_.positions() > 0) {
    held_ = Held{handle, impairment_.positions()};
    return;
  }
  flight_.push_back({arrival, handle});
  if (held_ && packet.segment.length > 0 && --held_->positions == 0) {
    flight_.push_back({arrival, held_->packet});
    held_.reset();
  }
}

}  // namespace linerate::models
