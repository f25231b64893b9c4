// The DMA engines of a NIC: one moves received frames from the FIFO to memory, the other frames to
// be sent from memory to the FIFO. Both work on one frame at a time and share the bus of their
// host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "models/host/host_bus.hpp"
#include "models/network/packet.hpp"
#include "models/queue/queued_frame.hpp"
#include "sim/ring.hpp"

namespace linerate::models {

/// Preamble and gap: bytes of a packet's wire size that no FIFO holds.
inline constexpr std::uint32_t kOutsideFrame = 20;
inline constexpr std::uint32_t kFcsBytes = 4;

/// What a frame costs on the bus, remembered: most are as long as the one before.
class DmaCost {
 public:
  DmaCost(const experiments::Bus& bus, const experiments::Nic& nic,
          experiments::DmaDirection direction, bool with_others)
      : bus_(&bus), nic_(&nic), direction_(direction), with_others_(with_others) {}

  const experiments::DmaTime& of(std::uint32_t wire_bytes) {
    if (wire_bytes == last_bytes_) return last_;
    last_bytes_ = wire_bytes;
    const bool keeps_fcs = direction_ == experiments::DmaDirection::to_memory && nic_->dma.fcs;
    const Bytes frame{std::int64_t{wire_bytes} - kOutsideFrame - (keeps_fcs ? 0 : kFcsBytes)};
    last_ = experiments::dma_time(*bus_, *nic_, direction_, frame, with_others_);
    return last_;
  }

 private:
  const experiments::Bus* bus_;
  const experiments::Nic* nic_;
  experiments::DmaDirection direction_;
  bool with_others_;
  std::uint32_t last_bytes_ = 0;
  experiments::DmaTime last_;
};

class ReceiveDma {
 public:
  ReceiveDma(HostBus& bus, DmaCost cost, Bytes fifo)
      : bus_(&bus), cost_(cost), room_(fifo.count()) {}

  /// Takes a frame off the wire; false if the FIFO has no room for it, and it is lost.
  bool add(Time now, PacketHandle packet, std::uint32_t wire_bytes) {
    const std::int64_t bytes = std::int64_t{wire_bytes} - kOutsideFrame;
    if (bytes > room_) {
      ++drops_;
      return false;
    }
    room_ -= bytes;
    waiting_.push_back({packet, wire_bytes});
    run(now);
    return true;
  }
  /// Starts what can start at `now`.
  void run(Time now) {
    if (waiting_.empty() || free_at_ > now) return;
    const Frame frame = waiting_.take_front();
    room_ += std::int64_t{frame.wire_bytes} - kOutsideFrame;
    const experiments::DmaTime& time = cost_.of(frame.wire_bytes);
    const HostBus::Moved moved = bus_->move(now, experiments::DmaDirection::to_memory, time);
    free_at_ = later(moved.done, now + time.engine);
    busy_ += time.engine;
    moving_.push_back({moved.done + time.latency, frame.packet});
  }
  /// The frame that has come to memory by `now`, if there is one.
  std::optional<PacketHandle> take(Time now) {
    if (moving_.empty() || moving_.front().done > now) return std::nullopt;
    return moving_.take_front().packet;
  }
  /// When run() or take() will have something to do.
  Time next() const {
    const Time done = moving_.empty() ? Time::never() : moving_.front().done;
    return waiting_.empty() ? done : earlier(done, free_at_);
  }

  std::int64_t holds() const { return static_cast<std::int64_t>(waiting_.size() + moving_.size()); }
  std::int64_t drops() const { return drops_; }
  Time busy() const { return busy_; }

  Time wakes = Time::never();  ///< when its pending event is due

 private:
  struct Frame {
    PacketHandle packet;
    std::uint32_t wire_bytes;
  };
  struct Moving {
    Time done;
    PacketHandle packet;
  };
  HostBus* bus_;
  DmaCost cost_;
  std::int64_t room_;
  sim::Ring<Frame> waiting_;
  sim::Ring<Moving> moving_;
  Time free_at_{};
  Time busy_{};
  std::int64_t drops_ = 0;
};

class TransmitDma {
 public:
  TransmitDma(HostBus& bus, DmaCost cost, experiments::Fifo fifo, std::uint32_t largest)
      : bus_(&bus), cost_(cost), fifo_(fifo), largest_(largest) {}

  /// When the next frame can be fetched.
  Time free_at() const { return free_at_; }
  /// Whether the FIFO, which holds so many wire bytes, has room for a frame of any size.
  bool room(std::int64_t held) const {
    return held == 0 || held + largest_ <= fifo_.transmit.count();
  }

  /// How a fetched frame goes on the wire.
  struct Fetched {
    Time start;                 ///< of its first bit
    std::optional<Time> dry{};  ///< the FIFO ran out of it at this moment: the frame is broken
  };
  /// Fetches a frame that the wire could begin to send at `wire_free` and takes `serialization` to
  /// send.
  Fetched fetch(Time now, std::uint32_t wire_bytes, Time wire_free, Time serialization) {
    const experiments::DmaTime& time = cost_.of(wire_bytes);
    const HostBus::Moved moved = bus_->move(now, experiments::DmaDirection::to_nic, time);
    free_at_ = later(moved.done, now + time.engine);
    busy_ += time.engine;
    const Time first = moved.begun + time.latency, last = free_at_ + time.latency;
    const std::int64_t frame = std::int64_t{wire_bytes} - kOutsideFrame;
    if (fifo_.threshold == Bytes(0) || fifo_.threshold.count() >= frame)
      return {later(wire_free, last), {}};
    const Time filling = last - first;
    const double share = static_cast<double>(fifo_.threshold.count()) / static_cast<double>(frame);
    const Time start = later(wire_free, first + filling.scaled(share));
    if (start + serialization >= last) return {start, {}};
    ++underruns_;
    return {start, dry_at(start, serialization, first, filling)};
  }
  /// What drivers do about an underrun: a higher threshold, and at last whole frames.
  void raise_threshold() {
    fifo_.threshold += kThresholdStep;
    // Past any frame it means the same as waiting for all of one.
    if (fifo_.threshold.count() >= largest_) fifo_.threshold = Bytes(0);
  }

  /// A frame that was broken and is to be sent again, before any other.
  std::optional<QueuedFrame> again;

  std::int64_t underruns() const { return underruns_; }
  Time busy() const { return busy_; }

 private:
  // The tulip family raises it from 72 to 96, 128 and 160 words of 4 bytes (DEC 21140A, CSR6 TR).
  static constexpr Bytes kThresholdStep{128};

  // Filled and emptied evenly: where the lines of both cross.
  static Time dry_at(Time start, Time serialization, Time first, Time filling) {
    const double in = 1 / filling.seconds(), out = 1 / serialization.seconds();
    const double at = (start.seconds() * out - first.seconds() * in) / (out - in);
    return std::clamp(Time::from_seconds(at), start, start + serialization);
  }

  HostBus* bus_;
  DmaCost cost_;
  experiments::Fifo fifo_;
  std::int64_t largest_;
  Time free_at_{};
  Time busy_{};
  std::int64_t underruns_ = 0;
};

}  // namespace linerate::models
