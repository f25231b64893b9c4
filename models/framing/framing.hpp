// models/framing: how many bytes a payload is on its way. A framing is a list of layers and no sum
// is written down twice. Knows sizes only; does not know time, devices or stacks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/results/result.hpp"
#include "models/framing/layer.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// Where the bytes of one frame go.
struct Ledger {
  Bytes payload;
  std::vector<Part> parts;  ///< every header, pad and trailer, from the payload outwards
  /// Size at "payload", "l4", "l3", each encapsulation by its name, "l2" and "wire", as far as
  /// present.
  std::vector<Part> levels;

  Bytes wire() const { return levels.back().size; }
  bool operator==(const Ledger&) const = default;
};

/// The rates at which the payload and each level's bytes pass when such frames fill a line of
/// `line` back to back: line x size / wire size.
std::vector<experiments::LayerRate> layer_rates(const Ledger& ledger, BitRate line);
/// Frames per second when they fill a line back to back: line / (8 x wire size).
double frame_rate(const Ledger& ledger, BitRate line);

/// What a payload becomes, in bytes. Who sends many frames of one size keeps it.
struct FrameSizes {
  std::uint32_t payload = 0;
  std::uint32_t packet = 0;  ///< the IP packet
  std::uint32_t wire = 0;    ///< with preamble and gap
};

/// A list of layers from the payload outwards, the last one being the wire. Layers that add and
/// fill up to a minimum compose to one that does; those that pad to a block stand alone.
class Framing {
 public:
  /// Needs a wire layer at the end and nowhere else.
  explicit Framing(std::vector<Layer> layers);

  const std::vector<Layer>& layers() const { return layers_; }

  /// The frame that carries `payload`, with FCS, padded to its minimum.
  Bytes frame_size(Bytes payload) const {
    for (const Step& step : steps_) payload = step.expand(payload);
    return payload;
  }
  /// What the frame occupies on the wire, with preamble and gap.
  Bytes wire_size(Bytes payload) const { return frame_size(payload) + wire_overhead_; }
  /// The largest payload whose frame is not larger than an interface of this MTU sends. The MTU
  /// bounds what is inside the Ethernet frame, its tags and its MACsec. Not positive when nothing
  /// fits.
  Bytes max_payload(Bytes mtu) const { return experiments::inner_mtu(layers_, mtu); }
  /// Size of the IP packet before anything encapsulates it; of a raw frame its own.
  Bytes packet_size(Bytes payload) const { return payload + packet_overhead_; }
  FrameSizes sizes(Bytes payload) const;
  /// What a frame has around that which an MTU bounds: header, FCS, tags, MACsec, preamble, gap.
  Bytes outside_mtu() const { return outside_mtu_; }

  Ledger ledger(Bytes payload) const;

 private:
  // A layer that may pad, with those outside it that do not.
  struct Step {
    experiments::Padding padding;
    Bytes overhead, minimum;
    Bytes expand(Bytes inner) const {
      return std::max(minimum, inner + padding.of(inner) + overhead);
    }
  };
  std::vector<Layer> layers_;
  std::vector<Step> steps_;  // all layers but the wire
  Bytes wire_overhead_;
  Bytes packet_overhead_;
  Bytes outside_mtu_;
};

enum class Vlan { untagged, tagged };

/// What is around an IP packet of version `ip` (4 or 6) on an Ethernet: encapsulations from the
/// packet outwards, then a tag.
struct Carriage {
  int ip = 4;
  Vlan vlan = Vlan::untagged;
  std::vector<Layer> encapsulation{};
  bool operator==(const Carriage&) const = default;
};

/// TCP over IP over Ethernet, every segment with `options` bytes of TCP options. For segments that
/// differ in their options take a framing without any and count them as payload.
Framing tcp_framing(const Carriage& carriage, Bytes options = Bytes(0));
/// UDP over IP over Ethernet.
Framing udp_framing(const Carriage& carriage);
/// Where the bytes of one UDP datagram go, over all its fragments if the MTU (for IP packets) is
/// too small for it.
Ledger datagram_ledger(const Carriage& carriage, Bytes datagram, Bytes mtu);
/// IP packets, whatever they carry, over Ethernet: the payload is the packet.
Framing packet_framing(const Carriage& carriage);
/// Ethernet frames that are their own payload, FCS included (RFC 2544 counts so).
Framing raw_framing();

/// Preamble and gap added to a frame given with its FCS; a frame shorter than the minimum is
/// padded.
constexpr Bytes wire_size_of_frame(Bytes frame) {
  return std::max(kMinimumFrame, frame) + kPreamble + kInterFrameGap;
}

}  // namespace linerate::models
