// The bytes that encapsulations put around a packet, as a capture shows them. What is enciphered is
// zeros, like payload.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/definition/encapsulated_path.hpp"

namespace linerate::models {

/// A frame from its Ethernet header to before the FCS: what it begins with, and its whole length.
/// The rest is zeros.
struct FrameBytes {
  std::vector<std::uint8_t> bytes;
  std::uint32_t length = 0;
};

/// Between whom the tunnels run, and what counts their packets.
struct TunnelEnds {
  std::uint32_t source = 0, destination = 0;  ///< numbers of stations: 172.16.… or fd01::…
  std::uint16_t flow = 0;                     ///< from which UDP source ports come (RFC 7348 5)
  std::uint32_t ordinal = 0;                  ///< sequence numbers, IPv4 identification
};

/// Puts what is around a packet on a hop around the IP packet in a plain Ethernet frame, whose
/// 802.1Q tag, if it has one, stays outside. Nothing is padded to a minimum. Outer headers take
/// over the traffic class of what they carry (RFC 6040, RFC 2983). A frame that carries no IP
/// packet is returned as it is.
FrameBytes encapsulate(const FrameBytes& plain, const experiments::EncapsulatedHop& hop,
                       const TunnelEnds& ends);

}  // namespace linerate::models
