// One direction of a link: a transmitter that serializes frames one after another, and the frames
// on their way. A frame's departure is computed when it is queued, and only the head of the frames
// in flight has an event, so a wire costs one pending event however many frames it holds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "models/link/backlog.hpp"
#include "models/link/impairment.hpp"
#include "models/link/wire_tap.hpp"
#include "models/network/packet.hpp"
#include "models/switch/shared_buffer.hpp"
#include "sim/ring.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// Preamble with start delimiter, and inter-frame gap: bytes of line time that belong to no frame
/// (IEEE 802.3 3.1, 4.4.2).
inline constexpr std::uint32_t kPreambleBytes = 8;
inline constexpr std::uint32_t kGapBytes = 12;
/// What a cut-through switch must have seen before it can forward: the smallest frame's worth.
inline constexpr std::uint32_t kHeadBytes = 64;

struct WireConfig {
  BitRate rate;
  Time latency{};  ///< propagation and added delay
  std::optional<std::int64_t> path_queue =
      std::nullopt;  ///< drop-tail limit of an emulated path, wire bytes
  std::optional<std::int64_t> frame_limit =
      std::nullopt;  ///< frames a NIC may hold (queue and ring)
  std::optional<std::int64_t> memory =
      std::nullopt;                ///< bytes a switch port may hold of its own packet memory
  SharedBuffer* buffer = nullptr;  ///< packet memory that the ports of a switch share
  std::size_t buffer_port = 0;
  bool announce_head = false;  ///< the receiver cuts through: deliver at the head
  bool port = false;      ///< an EgressPort queues in front of it and puts frames on it one by one
  bool emulated = false;  ///< frames leave the host's memory as soon as they are handed over; so do
                          ///< those of a `path_queue`
};

class Wire {
 public:
  Wire(const WireConfig& config, Impairment impairment);

  struct Sent {
    Drop drop = Drop::none;
    bool wake = false;  ///< nothing was in flight: the caller schedules the arrival
    Time departure{};   ///< end of the last bit (and gap), when the frame's memory is free
    Time arrival{};     ///< at the other end
  };

  /// Queues a frame at `now`, not before frames queued earlier. `not_before` delays its first bit
  /// (a cut-through frame still arriving). A dropped frame stays the caller's. A wire behind an
  /// EgressPort refuses every frame, with a departure of never().
  Sent send(Time now, PacketHandle handle, Packet& packet, Time not_before = Time{});

  /// As send(), by a caller that has room: the transmitter alone.
  Sent put(Time now, PacketHandle handle, Packet& packet, Time not_before = Time{});

  /// Whether the frame behind the one just taken needs an event.
  bool wants_event() const { return !flight_.empty() && !overtaking_; }
  Time next_arrival() const { return flight_.front().arrival; }
  /// Takes the head off the wire.
  PacketHandle arrive() { return flight_.take_front().packet; }
  template <class Visit>
  void for_each_in_flight(Visit&& visit) const {
    for (std::size_t i = 0; i < flight_.size(); ++i) visit(flight_[i].packet);
  }

  /// From the next frame on. Frames never overtake each other.
  void set_rate(BitRate rate);
  void set_latency(Time latency) { latency_ = latency; }
  void set_loss(double probability) {
    impairment_.set_loss(probability);
    impaired_ = impairment_.any() || tap_ != nullptr;
  }
  /// Shows its frames to `tap` from now on, as those of wire `index`.
  void set_tap(WireTap* tap, std::uint32_t index) {
    tap_ = tap;
    index_ = index;
    impaired_ = true;
  }

  /// Frames on the wire or in front of it, a held-back one included.
  std::int64_t holds() const { return static_cast<std::int64_t>(flight_.size()) + (held_ ? 1 : 0); }

  /// When a frame queued now would start.
  Time idle_from() const { return free_at_; }
  BitRate rate() const { return config_.rate; }
  Time latency() const { return config_.latency; }
  Time serialization(std::uint32_t bytes) const {
    return ps_per_byte_ > 0 ? Time::picoseconds(ps_per_byte_ * bytes)
                            : serialization_time(Bytes(bytes), config_.rate);
  }
  /// Whether frames leave the host's memory as soon as they are handed over.
  bool emulated_path() const { return emulated_; }
  /// Whether an EgressPort decides what goes on this wire.
  bool has_port() const { return queue_ == Queue::port; }
  bool random() const { return impairment_.random(); }

  // Counters.
  std::int64_t frames_sent() const { return frames_; }
  std::int64_t wire_bytes_sent() const { return wire_bytes_; }
  Time busy() const { return busy_; }
  std::int64_t drops(Drop cause) const { return drops_[static_cast<std::size_t>(cause)]; }
  std::int64_t peak_queue() const { return peak_queue_; }
  /// The fate of a frame that a shared medium has carried over this wire by `now`.
  Drop carried(Time now, const Packet& packet);
  /// Shows the tap a frame whose last bit has gone onto this wire of a shared medium.
  void show_departure(Time now, const Packet& packet);
  /// Counts what a shared medium has carried over this wire.
  void count(std::int64_t frames, std::int64_t wire_bytes, Time busy) {
    frames_ += frames;
    wire_bytes_ += wire_bytes;
    busy_ += busy;
  }
  /// Part of a frame goes on the wire from `from` to `to`, and nothing of it is of use.
  void put_fragment(Time from, Time to, std::uint32_t wire_bytes) {
    busy_ += to - from;
    wire_bytes_ += wire_bytes;
    free_at_ = later(free_at_, to + gap_);
  }
  /// Counts what an EgressPort did in front of this wire.
  void count_drop(Drop cause) { ++drops_[static_cast<std::size_t>(cause)]; }
  void note_queue(std::int64_t bytes) {
    if (bytes > peak_queue_) peak_queue_ = bytes;
  }

 private:
  /// What limits the frames in front of the transmitter.
  enum class Queue : std::uint8_t { endless, path, memory, buffer, frames, port };
  struct InFlight {
    Time arrival;
    PacketHandle packet;
  };
  struct Held {
    PacketHandle packet;
    int positions;
    Packet frame;  ///< for the tap
  };

  bool room(Time now, std::uint32_t wire_bytes);
  std::int64_t bytes_sent_in(Time span) const;
  void keep(std::uint32_t wire_bytes);
  Drop judge(Time now, const Packet& packet);
  void put_impaired(Time now, Time arrival, PacketHandle handle, const Packet& packet);
  void overtake(Time now, Time arrival, PacketHandle handle, const Packet& packet);
  void show_arrival(Time now, Time arrival, const Packet& packet);
  Sent refused(Time now);
  Sent dropped(Drop cause, Time departure);

  // What every frame needs comes first and together.
  Queue queue_;
  bool announce_head_, impaired_, emulated_;
  bool overtaking_;           // frames have an event each, because a later one can come first
  std::int64_t ps_per_byte_;  // 0 if a byte does not last a whole number of picoseconds
  Time latency_;
  Time gap_;   // between the last bit and the line being free again
  Time head_;  // until the announced head has left
  Time free_at_{};
  Time last_arrival_{};
  sim::Ring<InFlight> flight_;
  std::int64_t frames_ = 0;
  Time busy_{};
  std::int64_t wire_bytes_ = 0;

  WireConfig config_;
  Backlog backlog_;  // kept only where this wire's own frames are limited
  std::int64_t peak_queue_ = 0;
  Impairment impairment_;
  std::optional<Held> held_;
  std::array<std::int64_t, kDropCauses> drops_{};
  WireTap* tap_ = nullptr;
  std::uint32_t index_ = 0;  // by which the tap knows it
};

// Inline: this is a third of what a frame costs on a link.
[[gnu::always_inline]] inline Wire::Sent Wire::send(Time now, PacketHandle handle, Packet& packet,
                                                    Time not_before) {
  if (queue_ != Queue::endless && !room(now, packet.wire_bytes)) [[unlikely]]
    return refused(now);
  return put(now, handle, packet, not_before);
}

[[gnu::always_inline]] inline Wire::Sent Wire::put(Time now, PacketHandle handle, Packet& packet,
                                                   Time not_before) {
  const std::uint32_t bytes = packet.wire_bytes;
  const Time start = later(later(now, free_at_), not_before);
  const Time duration = serialization(bytes);
  free_at_ = start + duration;
  ++frames_;
  busy_ += duration;
  wire_bytes_ += bytes;
  if (queue_ != Queue::endless) keep(bytes);

  Time latency = latency_;
  if (impaired_) [[unlikely]] {
    const Drop cause = judge(now, packet);
    if (cause != Drop::none) return dropped(cause, free_at_);
    latency += impairment_.jitter();
  }
  packet.tail = free_at_ - gap_ + latency;
  Time arrival = packet.tail;
  if (announce_head_) arrival = earlier(arrival, start + head_ + latency);
  // Jitter keeps the order unless told otherwise: a frame never arrives before the one ahead of it.
  const Time own_arrival = arrival;
  arrival = later(arrival, last_arrival_);
  last_arrival_ = arrival;
  const bool idle = flight_.empty();
  if (impaired_) [[unlikely]] {
    if (overtaking_) {
      overtake(now, own_arrival, handle, packet);
      return {Drop::none, true, free_at_, own_arrival};
    }
    put_impaired(now, arrival, handle, packet);
    return {Drop::none, idle && !flight_.empty(), free_at_, arrival};
  }
  flight_.push_back({arrival, handle});
  return {Drop::none, idle, free_at_, arrival};
}

}  // namespace linerate::models
