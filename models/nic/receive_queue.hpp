// The receiving half of a NIC: frames wait in the ring until the interrupt, which comes so long
// after the first or with the n-th; the poll then merges what belongs together (GRO).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "models/network/packet.hpp"
#include "sim/units.hpp"

namespace linerate::models {

class ReceiveQueue {
 public:
  explicit ReceiveQueue(const experiments::Nic& nic)
      : moderation_(nic.receive_coalescing),
        ring_(nic.receive_ring),
        gro_(nic.offloads.gro),
        moderated_(!nic.ideal && (moderation_.delay > Time{} || moderation_.frames > 1 ||
                                  moderation_.gap > Time{})) {}

  /// Whether frames wait at all; if not, each is handed up as it arrives.
  bool moderated() const { return moderated_; }
  bool gro() const { return gro_; }

  enum class Step : std::uint8_t { wait, arm, poll, full };
  /// Stores a frame. `arm`: it is the first, poll at `due()`; `poll`: poll now; `full`: no
  /// descriptor free, the frame is lost and stays the caller's.
  Step add(Time now, PacketHandle handle) {
    if (static_cast<std::int64_t>(waiting_.size()) + held_ >= ring_) {
      ++drops_;
      return Step::full;
    }
    waiting_.push_back(handle);
    const bool enough =
        moderation_.frames > 0 && static_cast<std::int64_t>(waiting_.size()) >= moderation_.frames;
    if (enough && now >= earliest_) return Step::poll;
    if (waiting_.size() > 1) {
      if (!enough || due_ <= earliest_) return Step::wait;
      due_ = earliest_;  // enough are there, but it is too soon
      return Step::arm;
    }
    due_ = later(now + moderation_.delay, earliest_);
    return due_ == now && moderation_.frames == 0 ? Step::poll : Step::arm;
  }
  /// When the interrupt for what waits comes.
  Time due() const { return due_; }

  /// What the poll finds; the caller processes and then clears it.
  std::vector<PacketHandle>& waiting() { return waiting_; }
  /// Moves the first `most` of what waits to the end of `taken`; their descriptors stay taken until
  /// let_go().
  void take(std::size_t most, std::vector<PacketHandle>& taken) {
    const auto end = waiting_.begin() + static_cast<long>(std::min(most, waiting_.size()));
    held_ += end - waiting_.begin();
    taken.insert(taken.end(), waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
  }
  void let_go(std::int64_t frames) { held_ -= frames; }
  /// Tells a timer set for an earlier batch from the one for this.
  std::uint64_t batch() const { return batch_; }
  void polled(Time now) {
    waiting_.clear();
    ++batch_;
    earliest_ = now + moderation_.gap;
  }
  std::int64_t drops() const { return drops_; }
  std::uint64_t polls() const { return batch_; }

 private:
  experiments::Coalescing moderation_;
  std::int64_t ring_;
  std::int64_t held_ = 0;  // taken, but not let go
  bool gro_;
  bool moderated_;
  std::vector<PacketHandle> waiting_;
  Time due_{};
  Time earliest_{};  // of the next interrupt
  std::uint64_t batch_ = 0;
  std::int64_t drops_ = 0;
};

/// Whether `next` continues `merged` so that GRO would make one of them: consecutive data of one
/// flow with the same acknowledgment and ECN field, no flag but ACK and PSH; a PSH ends a merge.
inline bool gro_continues(const Packet& merged, const Packet& next) {
  constexpr std::uint32_t kLargest = 65535;
  const tcp::Segment& a = merged.segment;
  const tcp::Segment& b = next.segment;
  constexpr auto kMergeable = static_cast<std::uint8_t>(tcp::kAck | tcp::kPush);
  return merged.kind == PacketKind::tcp && next.kind == PacketKind::tcp &&
         merged.receiver == next.receiver && a.length > 0 && b.length > 0 &&
         a.sequence + a.length == b.sequence && a.acknowledgment == b.acknowledgment &&
         (a.flags | b.flags | kMergeable) == kMergeable && !a.has(tcp::kPush) &&
         a.sack_count == 0 && b.sack_count == 0 && a.option_bytes == b.option_bytes &&
         a.ecn == b.ecn && a.length + b.length <= kLargest;
}

}  // namespace linerate::models
