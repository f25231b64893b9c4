// The bytes of a frame's headers, as they stand on the wire: Ethernet, 802.1Q, IP, TCP, UDP and MAC
// control, with right lengths and checksums. Payload is zeros and never laid out. Knows header
// fields; does not know networks or files.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/tcp/segment.hpp"

namespace linerate::models {

using HeaderBytes = std::vector<std::uint8_t>;

/// Stations are numbered NICs: MAC addresses 02:00:…, IP addresses 10.…, or fd00::….
struct EthernetFields {
  std::uint32_t source = 0, destination = 0;  ///< stations
  std::optional<int> vlan;                    ///< 802.1Q tag with this VLAN
  std::uint8_t priority = 0;                  ///< PCP of the tag
};

struct IpFields {
  int version = 4;
  std::uint32_t source = 0, destination = 0;  ///< stations
  std::uint8_t hop_limit = 64;
  std::uint8_t priority = 0;  ///< class selector of the DSCP (RFC 2474 4.2.2)
  tcp::Ecn ecn = tcp::Ecn::not_ect;
  std::uint16_t identification = 0;  ///< IPv4
};

struct Ports {
  std::uint16_t source = 0, destination = 0;
};

/// What the wire says beyond the segment: its sequence numbers count from 0, the wire's from an
/// initial one, and the wire's window is scaled.
struct TcpFields {
  Ports ports;
  std::uint32_t initial_sequence = 0, peer_initial_sequence = 0;
  std::uint8_t window_shift = 0;  ///< as agreed; a SYN's window is never shifted
  bool bsd_option_order = false;  ///< window scale before timestamps, as BSD lays out a SYN
};

/// What the network's own MAC control frames say (IEEE 802.3 annex 31B, 802.1Qbb).
struct PauseFields {
  std::uint8_t priorities = 0xff;  ///< bit mask; all: a PAUSE frame without priorities
  std::uint16_t quanta = 0;
};

/// Headers in front of the payload.
HeaderBytes tcp_headers(const EthernetFields& ethernet, const IpFields& ip, const TcpFields& tcp,
                        const tcp::Segment& segment);
HeaderBytes udp_headers(const EthernetFields& ethernet, const IpFields& ip, Ports ports,
                        std::uint32_t payload);
/// Part of a datagram whose UDP payload has `payload` bytes.
struct FragmentFields {
  std::uint32_t offset = 0;  ///< of its first byte behind the IP header of the whole
  std::uint32_t length = 0;  ///< bytes behind its own IP headers
  bool more = false;         ///< another one follows
  std::uint32_t payload = 0;
};
/// Headers of a fragment (RFC 791 3.2, RFC 8200 4.5); the first has the UDP header.
HeaderBytes fragment_headers(const EthernetFields& ethernet, const IpFields& ip, Ports ports,
                             const FragmentFields& fragment);
/// An Ethernet header with the EtherType for local experiments (IEEE 802) and the frame's ordinal.
HeaderBytes raw_headers(const EthernetFields& ethernet, std::uint64_t ordinal);
HeaderBytes pause_headers(const EthernetFields& ethernet, const PauseFields& pause);

}  // namespace linerate::models
