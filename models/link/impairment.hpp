// What a link does to frames besides delaying them: random loss, bit errors, blackholes and the
// scripted drops and reorderings of a captured path.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "models/network/packet.hpp"
#include "sim/random.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// Why a frame did not reach the other end.
enum class Drop : std::uint8_t {
  none,
  queue,  ///< no room
  loss,
  bit_error,
  blackhole,
  script,
  early,                 ///< a queue discipline's decision
  down,                  ///< the link was down
  late_collision,        ///< beyond the slot: a half-duplex station gives the frame up
  excessive_collisions,  ///< after sixteen attempts too
  collision,             ///< its sender did not notice
  too_large,             ///< above the MTU of the path
};
inline constexpr std::size_t kDropCauses = 12;
const char* name_of(Drop drop);

/// The impairments of one direction of a link. Decides when a frame has been serialized.
class Impairment {
 public:
  Impairment(const experiments::Link& link, int from_end, sim::RandomStream random)
      : loss_(link.loss[from_end]),
        bit_error_rate_(link.bit_error_rate),
        jitter_(link.jitter),
        overtakes_(link.jitter_reorders),
        largest_(link.mtu ? link.mtu->count() : 0),
        blackholes_(link.blackholes),
        script_(link.script[from_end]),
        random_(random) {}

  /// Whether this direction draws random numbers, so that repeats differ.
  bool random() const { return loss_ > 0 || bit_error_rate_ > 0 || jitter_ > Time{}; }
  bool any() const {
    return random() || largest_ > 0 || !blackholes_.empty() ||
           !script_.drop_data_segments.empty() || script_.burst_frames > 0 ||
           script_.reorder_segment.has_value();
  }

  /// The fate of a frame that reaches the link at `now`.
  Drop judge(Time now, const Packet& packet) {
    if (largest_ > 0 && packet.wire_bytes - packet.outside_mtu > largest_) return Drop::too_large;
    const bool first_transmission = packet.segment.length > 0 && !packet.segment.retransmission;
    if (first_transmission) ++data_segments_;
    for (const auto& [from, to] : blackholes_)
      if (now >= from && now < to) return Drop::blackhole;
    if (first_transmission)
      for (const std::int64_t ordinal : script_.drop_data_segments)
        if (ordinal == data_segments_) return Drop::script;
    if (first_transmission && in_burst(packet.segment.length)) return Drop::script;
    if (loss_ > 0 && random_.uniform01() < loss_) return Drop::loss;
    if (bit_error_rate_ > 0) {
      // A frame survives when every bit does; preamble and gap carry none that matter.
      const double bits = 8.0 * (packet.wire_bytes - 20);
      if (random_.uniform01() >= std::exp(bits * std::log1p(-bit_error_rate_)))
        return Drop::bit_error;
    }
    return Drop::none;
  }

  void set_loss(double probability) { loss_ = probability; }

  /// Whether a frame arrives by its own jitter, before those ahead of it if that says so.
  bool overtakes() const { return overtakes_; }

  Time jitter() { return jitter_ > Time{} ? jitter_.scaled(random_.uniform01()) : Time{}; }

  /// Whether this frame, the one last judged, is the one to hold back.
  bool holds(const Packet& packet) const {
    return script_.reorder_segment && packet.segment.length > 0 && !packet.segment.retransmission &&
           data_segments_ == *script_.reorder_segment;
  }
  int positions() const { return script_.reorder_positions; }

 private:
  // Whether a first transmission falls into a burst of losses.
  bool in_burst(std::uint32_t payload) {
    if (script_.burst_frames == 0) return false;
    if (burst_left_ == 0 && passed_ >= script_.burst_every) {
      burst_left_ = script_.burst_frames;
      passed_ = {};
    }
    if (burst_left_ == 0) {
      passed_ += Bytes(payload);
      return false;
    }
    --burst_left_;
    return true;
  }

  double loss_;
  double bit_error_rate_;
  Time jitter_;
  bool overtakes_;
  std::int64_t largest_;  ///< wire bytes that pass; 0: any
  std::vector<std::pair<Time, Time>> blackholes_;
  experiments::Script script_;
  sim::RandomStream random_;
  std::int64_t data_segments_ = 0;
  Bytes passed_{};               ///< payload since the last burst
  std::int64_t burst_left_ = 0;  ///< of the burst in progress
};

}  // namespace linerate::models
