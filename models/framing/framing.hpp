// models/framing: how many bytes a payload is on its way. A framing is a list of layers and no sum
// is written down twice. Knows sizes only; does not know time, devices or stacks.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/results/result.hpp"
#include "models/framing/layer.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// Where the bytes of one frame go.
struct Ledger {
  Bytes payload;
  std::vector<Part> parts;   ///< every header, pad and trailer, from the payload outwards
  std::vector<Part> levels;  ///< size at "payload", "l4", "l3", "l2" and "wire", as far as present

  Bytes wire() const { return levels.back().size; }
  bool operator==(const Ledger&) const = default;
};

/// The rates at which the payload and each level's bytes pass when such frames fill a line of
/// `line` back to back: line x size / wire size.
std::vector<experiments::LayerRate> layer_rates(const Ledger& ledger, BitRate line);
/// Frames per second when they fill a line back to back: line / (8 x wire size).
double frame_rate(const Ledger& ledger, BitRate line);

/// A list of layers from the payload outwards, the last one being the wire. Sizes on the hot path
/// are an addition and a maximum: layers that add and pad compose to one that adds and pads.
class Framing {
 public:
  /// Needs a wire layer at the end and nowhere else.
  explicit Framing(std::vector<Layer> layers);

  const std::vector<Layer>& layers() const { return layers_; }

  /// The frame that carries `payload`, with FCS, padded to its minimum.
  Bytes frame_size(Bytes payload) const {
    return std::max(frame_minimum_, payload + frame_overhead_);
  }
  /// What the frame occupies on the wire, with preamble and gap.
  Bytes wire_size(Bytes payload) const { return frame_size(payload) + wire_overhead_; }
  /// The largest payload whose frame is not larger than an interface of this MTU sends. The MTU
  /// bounds what is inside the Ethernet frame and its tags. Not positive when nothing fits.
  Bytes max_payload(Bytes mtu) const { return mtu - overhead_within_mtu_; }
  /// Size of the packet that the MTU bounds, unpadded.
  Bytes packet_size(Bytes payload) const { return payload + overhead_within_mtu_; }

  Ledger ledger(Bytes payload) const;

 private:
  std::vector<Layer> layers_;
  Bytes frame_overhead_, frame_minimum_;  // composed over all layers but the wire
  Bytes wire_overhead_;
  Bytes overhead_within_mtu_;
};

enum class Vlan { untagged, tagged };

/// TCP over IP (`ip` is 4 or 6) over Ethernet, every segment with `options` bytes of TCP options.
/// For segments that differ in their options take a framing without any and count them as payload.
Framing tcp_framing(int ip, Bytes options = Bytes(0), Vlan vlan = Vlan::untagged);
/// UDP over IP (`ip` is 4 or 6) over Ethernet.
Framing udp_framing(int ip, Vlan vlan = Vlan::untagged);
/// Ethernet frames that are their own payload, FCS included (RFC 2544 counts so).
Framing raw_framing();

/// Preamble and gap added to a frame given with its FCS; a frame shorter than the minimum is
/// padded.
constexpr Bytes wire_size_of_frame(Bytes frame) {
  return std::max(kMinimumFrame, frame) + kPreamble + kInterFrameGap;
}

}  // namespace linerate::models
