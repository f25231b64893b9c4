// The cores of a router: frames wait in the receive rings of its NICs and are passed on one after
// another. Passive: a core says when the frame in its hands is done, and is asked again then.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/host/idle_states.hpp"
#include "models/link/backlog.hpp"
#include "models/network/packet.hpp"
#include "sim/ring.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// How a core learns of frames.
struct ForwardingRule {
  /// Poll-mode drivers and NAPI take no interrupt while there is work; an interrupt for each frame
  /// goes before all forwarding (Mogul, Ramakrishnan: "Eliminating receive livelock", 1997).
  bool interrupt_per_frame = false;
  Time interrupt{};            ///< what one costs
  Time moderation{};           ///< a core without work hears of a frame so much later
  std::int64_t ring = 256;     ///< descriptors of a receive queue
  std::int64_t backlog = 300;  ///< with an interrupt per frame: frames that wait after theirs
  std::vector<experiments::IdleState> idle_states{};  ///< none: it never stops looking
};

class ForwardingCore {
 public:
  ForwardingCore(const ForwardingRule& rule, std::size_t queues) : rule_(rule), in_ring_(queues) {}

  enum class Added : std::uint8_t { waits, ring_full, backlog_full };
  /// A frame has come to memory for receive queue `queue`; forwarding it takes `cost`. A frame that
  /// is refused stays the caller's.
  Added add(Time now, PacketHandle packet, Time cost, std::size_t queue) {
    if (rule_.interrupt_per_frame) return interrupt(now, packet, cost, queue);
    if (in_ring_[queue] >= rule_.ring) {
      ++ring_drops_;
      return Added::ring_full;
    }
    ++in_ring_[queue];
    waiting_.push_back({packet, cost, queue});
    if (end_ == Time::never()) begin(roused(now + rule_.moderation), rule_.interrupt);
    return Added::waits;
  }

  /// When the frame in service is done, if no interrupt comes; never() without work.
  Time end() const { return end_; }
  /// Gives back the frame that is done at `now` and begins the next.
  PacketHandle finish(Time now) {
    LINERATE_CHECK(end_ == now, "a core is asked when its work is done");
    const Frame done = waiting_.take_front();
    if (!rule_.interrupt_per_frame) --in_ring_[done.queue];
    ++forwarded_;
    end_ = Time::never();
    last_end_ = now;
    if (!waiting_.empty()) begin(now, Time{});
    return done.packet;
  }

  std::int64_t holds() const { return static_cast<std::int64_t>(waiting_.size()); }
  std::int64_t forwarded() const { return forwarded_; }
  std::int64_t ring_drops() const { return ring_drops_; }
  std::int64_t backlog_drops() const { return backlog_drops_; }
  /// Time spent, on interrupts and in all.
  Time interrupted() const { return interrupted_; }
  Time busy() const { return busy_; }

  Time wakes = Time::never();  ///< when its pending event is due

 private:
  struct Frame {
    PacketHandle packet;
    Time cost;
    std::size_t queue;
  };

  // When a core without work that is told at `at` can begin.
  Time roused(Time at) const {
    if (rule_.idle_states.empty()) return at;
    return at + exit_latency(rule_.idle_states, at - later(last_end_, interrupts_until_));
  }

  void begin(Time at, Time interrupt_cost) {
    const Time cost = waiting_.front().cost + interrupt_cost;
    end_ = later(at, interrupts_until_) + cost;
    busy_ += cost;
    interrupted_ += interrupt_cost;
  }

  // Frames whose interrupt has not been served lie in the ring; the NIC drops what finds it full,
  // and that costs the core nothing. What an interrupt has brought is lost after its cost.
  Added interrupt(Time now, PacketHandle packet, Time cost, std::size_t queue) {
    pending_.expire(now);
    if (pending_.frames() >= rule_.ring) {
      ++ring_drops_;
      return Added::ring_full;
    }
    const bool idle = end_ == Time::never() && interrupts_until_ <= now;
    interrupts_until_ = (idle ? roused(now) : later(now, interrupts_until_)) + rule_.interrupt;
    pending_.add(interrupts_until_, 1);
    interrupted_ += rule_.interrupt;
    busy_ += rule_.interrupt;
    if (end_ != Time::never()) end_ += rule_.interrupt;
    if (holds() >= rule_.backlog) {
      ++backlog_drops_;
      return Added::backlog_full;
    }
    waiting_.push_back({packet, cost, queue});
    if (end_ == Time::never()) begin(now, Time{});
    return Added::waits;
  }

  ForwardingRule rule_;
  std::vector<std::int64_t> in_ring_;  // by queue
  sim::Ring<Frame> waiting_;           // the one in service first
  Backlog pending_;                    // interrupts not served yet
  Time interrupts_until_{};
  Time end_ = Time::never();
  Time last_end_{};
  Time busy_{}, interrupted_{};
  std::int64_t forwarded_ = 0, ring_drops_ = 0, backlog_drops_ = 0;
};

/// How long a frame keeps a poll-mode core whose own work on it is `work` while the DMA of it takes
/// `dma`. The two overlap as two stations do between which two frames circulate: exact mean-value
/// analysis (Reiser, Lavenberg, 1980) of that loop gives D1 + D2 - D1 D2 / (D1 + D2), between the
/// larger of both (no waiting) and their sum (no overlap). A core touches frames that the NIC has
/// just written and hands over buffers it reads next, so neither runs far ahead.
constexpr Time poll_mode_time(Time dma, Time work) {
  if (dma == Time{} || work == Time{}) return dma + work;
  const auto d1 = static_cast<double>(dma.picoseconds());
  const auto d2 = static_cast<double>(work.picoseconds());
  return Time::picoseconds(static_cast<std::int64_t>(d1 + d2 - d1 * d2 / (d1 + d2) + 0.5));
}

}  // namespace linerate::models
