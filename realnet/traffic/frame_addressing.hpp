// How a frame finds its receiver: as it is through bridges and switches, or as an IP packet where a
// router lies between (RFC 2544 appendix C.2.6).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "realnet/transfer.hpp"

namespace linerate::realnet {

using HardwareAddress = std::array<std::uint8_t, 6>;

/// Local Experimental EtherType 1 (IEEE 802), never forwarded by mistake as something else.
inline constexpr std::uint16_t kExperimentalType = 0x88b5;
/// UDP's discard port (RFC 863): nobody answers.
inline constexpr std::uint16_t kDiscardPort = 9;

/// The router on the way from `end` to its peer, or "" where they share a network. By the routes of
/// the namespace this process is in.
std::string next_hop(const TransferEnd& end);

/// The header that all frames of a transfer share.
class FrameAddressing {
 public:
  /// Frames from `from` to `to` with the experimental type.
  FrameAddressing(const HardwareAddress& to, const HardwareAddress& from);
  /// IPv4 and UDP through the router `hop`, whose hardware address is asked for (RFC 826). Throws
  /// std::runtime_error when it does not answer.
  FrameAddressing(const TransferEnd& end, const std::string& hop, const HardwareAddress& from);

  /// Bytes before a frame's stamp.
  std::size_t header_size() const { return routed_ ? kRoutedHeader : kHeader; }
  /// Writes the header of a frame of `size` bytes without FCS.
  void write_header(std::uint8_t* frame, std::size_t size) const;

  static constexpr std::size_t kHeader = 14, kRoutedHeader = 14 + 20 + 8;

 private:
  std::array<std::uint8_t, kRoutedHeader> header_{};
  bool routed_ = false;
};

}  // namespace linerate::realnet
