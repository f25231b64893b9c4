// A TCP segment as the models see it: header fields and a length, no payload bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sim/units.hpp"

namespace linerate::models::tcp {

/// A position in the byte stream, unwrapped and relative to its direction's ISN: the SYN is 0, the
/// first data byte 1.
using Sequence = std::uint64_t;

struct SackBlock {
  Sequence left = 0;   ///< first byte held
  Sequence right = 0;  ///< one past the last byte held
  bool operator==(const SackBlock&) const = default;
};

/// Control bits of the TCP header, as they stand on the wire (RFC 9293 3.1; ECE, CWR: RFC 3168).
enum Flag : std::uint8_t {
  kFin = 1,
  kSyn = 2,
  kRst = 4,
  kPush = 8,
  kAck = 16,
  kEce = 64,
  kCwr = 128
};

/// The ECN field of the IP header (RFC 3168 5).
enum class Ecn : std::uint8_t { not_ect = 0, ect1 = 1, ect0 = 2, ce = 3 };

/// Options offered in a SYN.
struct SynOptions {
  std::uint16_t max_segment = 0;  ///< MSS option, bytes
  std::uint8_t window_scale = 0;
  bool window_scaling = false;
  bool sack_permitted = false;
  bool timestamps = false;
  bool connection_count = false;  ///< RFC 1644
  bool operator==(const SynOptions&) const = default;
};

struct Segment {
  Sequence sequence = 0;
  Sequence acknowledgment = 0;
  std::uint32_t length = 0;          ///< payload, bytes
  std::uint32_t window = 0;          ///< bytes, already scaled (as sent in a SYN: unscaled)
  std::uint32_t timestamp = 0;       ///< TSval, in the sender's clock units
  std::uint32_t timestamp_echo = 0;  ///< TSecr
  std::uint8_t flags = 0;
  std::uint8_t option_bytes = 0;  ///< TCP options, padded to 4
  std::uint8_t sack_count = 0;
  std::uint8_t frames = 1;          ///< wire frames this stands for (GRO merges)
  bool retransmission = false;      ///< for counters; nothing on the wire says so
  Ecn ecn = Ecn::not_ect;           ///< of the IP packet that carries it
  SynOptions syn;                   ///< valid with kSyn
  std::array<SackBlock, 4> sack{};  ///< first `sack_count` valid

  bool has(Flag flag) const { return (flags & flag) != 0; }
  /// Sequence space used: payload, plus one each for SYN and FIN.
  std::uint32_t span() const { return length + (has(kSyn) ? 1u : 0u) + (has(kFin) ? 1u : 0u); }
};

/// Copies a segment, of its SACK blocks only those in use; the rest of `to` keeps what it holds.
inline void copy(const Segment& from, Segment& to) {
  static_assert(std::is_trivially_copyable_v<Segment> && std::is_standard_layout_v<Segment>);
  std::memcpy(static_cast<void*>(&to), &from, offsetof(Segment, sack));
  for (std::size_t i = 0; i < from.sack_count; ++i) to.sack[i] = from.sack[i];
}

}  // namespace linerate::models::tcp
