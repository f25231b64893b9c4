// What travels: one frame on one wire at a time, named by a handle into the packet pool.
#pragma once

#include <cstdint>

#include "models/tcp/segment.hpp"
#include "sim/slot_pool.hpp"
#include "sim/units.hpp"

namespace linerate::models {

enum class PacketKind : std::uint8_t {
  tcp,
  datagram,
  raw,
  fragment,  ///< part of a datagram: `acknowledgment` is its number, from 0
  // What the network itself makes; it goes to the other end of one wire.
  pause,  ///< `segment`: priorities in `flags`, quanta in `sequence`
  lost,   ///< was on a link that went down
};

struct Packet {
  std::uint32_t receiver = 0;    ///< index of the port of call (endpoint or sink) it goes to
  std::uint32_t hop = 0;         ///< where the network's list of hops names the wire it is on
  std::uint32_t wire_bytes = 0;  ///< with preamble and gap
  PacketKind kind = PacketKind::tcp;
  std::uint8_t priority = 0;     ///< class of service, 0 to 7 (IEEE 802.1Q PCP)
  std::uint8_t outside_mtu = 0;  ///< of `wire_bytes`: what no MTU bounds (Framing::outside_mtu)
  Time sent{};                   ///< when the application or stack handed it down
  Time tail{};           ///< when its last bit arrives; later than the frame where it was announced
                         ///< by its head
  tcp::Segment segment;  ///< kind tcp; else only `sequence` (ordinal) and `length`
};

using PacketHandle = sim::Handle;

}  // namespace linerate::models
