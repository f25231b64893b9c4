// A port that decides what to send at the moment it can send: queue disciplines, classes of
// service, flow control and links that change. It hands its wire one frame at a time and has at
// most one event pending. Ports without any of these compute departures when a frame is queued
// (Wire) and have no EgressPort.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "models/link/backlog.hpp"
#include "models/nic/dma.hpp"
#include "models/queue/egress_queue.hpp"
#include "models/switch/shared_buffer.hpp"
#include "sim/ring.hpp"
#include "sim/units.hpp"

namespace linerate::models {

inline constexpr int kPriorities = 8;  // IEEE 802.1Q PCP
inline constexpr std::uint8_t kEveryPriority = 0xff;

/// A PAUSE frame (IEEE 802.3 annex 31B) or a priority-based one (IEEE 802.1Qbb).
struct PauseFrame {
  std::uint8_t priorities = kEveryPriority;  ///< bit mask
  std::uint16_t quanta = 0;                  ///< of 512 bit times; 0: go on
};

struct EgressPort {
  EgressPort(std::uint32_t of_wire, EgressQueue frames) : wire(of_wire), queue(std::move(frames)) {}

  std::uint32_t wire;
  EgressQueue queue;
  sim::Ring<PauseFrame> control;  ///< goes before everything else and is never paused

  // Where frames lie while they wait and are sent: memory of the port's own, or the ports'.
  std::optional<std::int64_t> memory{};
  Backlog leaving{};  ///< given to the wire, in memory of the port's own until it has left
  SharedBuffer* buffer = nullptr;
  std::size_t buffer_port = 0;

  /// Of a host with a bus: fetches frames before they can be sent.
  std::optional<TransmitDma> dma{};
  bool plain = false;  ///< there is only a bus to decide about

  /// At a shared medium: which, and as which of its stations.
  static constexpr std::uint32_t kNone = ~0u;
  std::uint32_t medium = kNone, station = 0;

  bool heeds_pause = false;
  bool down = false;
  std::array<Time, kPriorities> paused_until{};
  Time wakes = Time::never();  ///< when its pending event is due

  /// The priorities that may not be sent at `now`.
  std::uint8_t paused(Time now) const {
    unsigned mask = 0;
    for (unsigned i = 0; i < kPriorities; ++i) mask |= unsigned(paused_until[i] > now) << i;
    return static_cast<std::uint8_t>(mask);
  }
  /// When the first pause after `now` ends.
  Time next_release(Time now) const {
    Time next = Time::never();
    for (const Time until : paused_until)
      if (until > now) next = std::min(next, until);
    return next;
  }
  /// Frames this port answers for.
  std::int64_t holds() const { return queue.frames() + (dma && dma->again ? 1 : 0); }
};

/// What arrived at a switch over one wire and has not left it, by priority group: what PAUSE frames
/// are sent for.
struct Ingress {
  std::array<std::int64_t, kPriorities> bytes{};
  std::uint8_t pausing = 0;  ///< groups whose sender has been told to stop
};

}  // namespace linerate::models
