#include "models/link/wire.hpp"

#include <algorithm>
#include <utility>

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
    case Drop::early:
      return "early";
    case Drop::too_large:
      return "too-large";
    case Drop::down:
      return "down";
    case Drop::late_collision:
      return "late-collision";
    case Drop::excessive_collisions:
      return "excessive-collisions";
    case Drop::collision:
      return "collision";
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
    : queue_(config.port          ? Queue::port
             : config.path_queue  ? Queue::path
             : config.memory      ? Queue::memory
             : config.buffer      ? Queue::buffer
             : config.frame_limit ? Queue::frames
                                  : Queue::endless),
      announce_head_(config.announce_head),
      impaired_(impairment.any()),
      emulated_(config.path_queue || config.emulated),
      overtaking_(impairment.overtakes()),
      latency_(config.latency),
      config_(config),
      impairment_(std::move(impairment)) {
  set_rate(config.rate);
}

void Wire::set_rate(BitRate rate) {
  config_.rate = rate;
  ps_per_byte_ = whole_picoseconds_per_byte(rate);
  // The last bit leaves a gap before the line is free again; an emulated path hands a frame over
  // when its whole wire time is spent.
  gap_ = emulated_ ? Time{} : serialization(kGapBytes);
  head_ = serialization(kPreambleBytes + kHeadBytes);
}

bool Wire::room(Time now, std::uint32_t wire_bytes) {
  switch (queue_) {
    case Queue::endless:
      return true;
    case Queue::port:
      return false;
    case Queue::path: {
      // The backlog is what is still to be sent, the rest of the frame in service included.
      const Time wait = std::max(free_at_ - now, Time{});
      const std::int64_t ahead = bytes_sent_in(wait);
      peak_queue_ = std::max(peak_queue_, ahead + wire_bytes);
      return ahead + wire_bytes <= *config_.path_queue;
    }
    case Queue::memory:
      backlog_.expire(now);
      peak_queue_ = std::max(peak_queue_, backlog_.bytes() + static_cast<std::int64_t>(wire_bytes));
      return backlog_.bytes() + wire_bytes <= *config_.memory;
    case Queue::buffer: {
      const bool admitted = config_.buffer->admits(now, config_.buffer_port, wire_bytes);
      peak_queue_ = std::max(peak_queue_, config_.buffer->queue_bytes(config_.buffer_port) +
                                              static_cast<std::int64_t>(wire_bytes));
      return admitted;
    }
    case Queue::frames:
      backlog_.expire(now);
      peak_queue_ = std::max(peak_queue_, backlog_.bytes() + static_cast<std::int64_t>(wire_bytes));
      return backlog_.frames() < *config_.frame_limit;
  }
  return true;
}

// The frame last given to the transmitter takes its place in what limits the queue.
void Wire::keep(std::uint32_t wire_bytes) {
  if (queue_ == Queue::buffer)
    config_.buffer->store(config_.buffer_port, free_at_, wire_bytes);
  else if (queue_ == Queue::frames || queue_ == Queue::memory)
    backlog_.add(free_at_, wire_bytes);
}

std::int64_t Wire::bytes_sent_in(Time span) const {
  if (ps_per_byte_ > 0) return span.picoseconds() / ps_per_byte_;
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(span.picoseconds()) *
                                   config_.rate.bits_per_second() / kPicosecondsPerByte);
}

Wire::Sent Wire::refused(Time now) {
  if (queue_ == Queue::port) return {Drop::queue, false, Time::never(), Time{}};
  return dropped(Drop::queue, now);
}

Wire::Sent Wire::dropped(Drop cause, Time departure) {
  count_drop(cause);
  return {cause, false, departure, Time{}};
}

// The fate of the frame whose transmission ends at free_at_.
Drop Wire::judge(Time now, const Packet& packet) {
  if (tap_ != nullptr) tap_->sent(now, index_, free_at_ - gap_, packet);
  return impairment_.judge(now, packet);
}

Drop Wire::carried(Time now, const Packet& packet) {
  if (!impaired_) return Drop::none;
  const Drop cause = impairment_.judge(now, packet);
  if (cause != Drop::none)
    count_drop(cause);
  else
    show_arrival(now, now, packet);
  return cause;
}

void Wire::show_departure(Time now, const Packet& packet) {
  if (tap_ != nullptr) tap_->sent(now, index_, now, packet);
}

void Wire::show_arrival(Time now, Time arrival, const Packet& packet) {
  if (tap_ != nullptr) tap_->received(now, index_, later(arrival, packet.tail), packet);
}

// Frames in flight stand in the order of their arrival.
void Wire::overtake(Time now, Time arrival, PacketHandle handle, const Packet& packet) {
  flight_.push_back({arrival, handle});
  for (std::size_t i = flight_.size() - 1; i > 0 && flight_[i - 1].arrival > arrival; --i)
    std::swap(flight_[i - 1], flight_[i]);
  show_arrival(now, arrival, packet);
}

// A script may hold one frame back and let it follow some later ones.
void Wire::put_impaired(Time now, Time arrival, PacketHandle handle, const Packet& packet) {
  if (impairment_.holds(packet) && impairment_.positions() > 0) {
    held_ = Held{handle, impairment_.positions(), packet};
    return;
  }
  flight_.push_back({arrival, handle});
  show_arrival(now, arrival, packet);
  if (held_ && packet.segment.length > 0 && --held_->positions == 0) {
    flight_.push_back({arrival, held_->packet});
    show_arrival(now, arrival, held_->frame);
    held_.reset();
  }
}

}  // namespace linerate::models
