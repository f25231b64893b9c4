#include "realnet/wire/ecn.hpp"

#include <cstdint>

namespace linerate::realnet {
namespace {

constexpr std::size_t kHeader = 14;                 // Ethernet's
constexpr unsigned kIpv4 = 0x0800, kIpv6 = 0x86dd;  // EtherTypes
constexpr std::size_t kIpv4Header = 20, kIpv6Header = 40;
constexpr unsigned kCongestion = 3;  // both bits of the field

unsigned word(std::span<const std::byte> frame, std::size_t at) {
  return std::to_integer<unsigned>(frame[at]) << 8 | std::to_integer<unsigned>(frame[at + 1]);
}

void put_word(std::span<std::byte> frame, std::size_t at, unsigned value) {
  frame[at] = static_cast<std::byte>(value >> 8 & 0xff);
  frame[at + 1] = static_cast<std::byte>(value & 0xff);
}

/// Where the 16 bits with the field are and by how much it is shifted in them; 0: no IP packet.
struct Field {
  std::size_t at = 0;
  int shift = 0;
};

Field field_of(std::span<const std::byte> frame) {
  if (frame.size() >= kHeader + kIpv4Header && word(frame, 12) == kIpv4) return {kHeader, 0};
  if (frame.size() >= kHeader + kIpv6Header && word(frame, 12) == kIpv6) return {kHeader, 4};
  return {};
}

}  // namespace

bool is_capable(std::span<const std::byte> frame) {
  const Field field = field_of(frame);
  return field.at != 0 && (word(frame, field.at) >> field.shift & kCongestion) != 0;
}

void mark_congestion(std::span<std::byte> frame) {
  const Field field = field_of(frame);
  if (field.at == 0) return;
  const unsigned before = word(frame, field.at);
  const unsigned after = before | kCongestion << field.shift;
  put_word(frame, field.at, after);
  if (field.shift != 0) return;  // IPv6 has no checksum
  // RFC 1624: HC' = ~(~HC + ~m + m').
  constexpr std::size_t kChecksum = kHeader + 10;
  std::uint32_t sum = (~word(frame, kChecksum) & 0xffff) + (~before & 0xffff) + after;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  put_word(frame, kChecksum, ~sum & 0xffff);
}

}  // namespace linerate::realnet
