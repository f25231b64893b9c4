// Drops and reorderings that a link's script asks for by the ordinals of TCP data segments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "experiments/definition/experiment.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// The script of one direction, told of its frames in their order. Only segments with payload that
/// go out for the first time count, those of all connections together, as in a prediction.
class SegmentScript {
 public:
  explicit SegmentScript(const experiments::Script& script) : script_(script) {}

  /// Whether there is nothing to look for.
  bool empty() const { return script_ == experiments::Script{}; }

  /// Payload of a TCP segment (over Ethernet and IPv4 or IPv6, fragments not looked into) that has
  /// not been sent before, else 0 bytes. To be asked for every frame, those the queue drops too.
  Bytes fresh_payload(std::span<const std::byte> frame);

  enum class Verdict : std::uint8_t { pass, drop, hold };
  /// What happens to a frame that the line has carried.
  Verdict judge(Bytes fresh_payload);
  /// A held frame leaves behind so many later data segments.
  int positions() const { return script_.reorder_positions; }

  /// Counts from 1 again, for new connections.
  void restart();

 private:
  /// Addresses and ports of one direction of a connection.
  using Flow = std::array<std::byte, 36>;

  experiments::Script script_;
  std::map<Flow, std::uint32_t> sent_until_;  ///< sequence number behind the highest byte sent
  std::int64_t segments_ = 0;
  Bytes passed_{0};              ///< payload since the last burst
  std::int64_t burst_left_ = 0;  ///< of the burst in progress
};

}  // namespace linerate::realnet
