#include "realnet/wire/segment_script.hpp"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>

#include <algorithm>
#include <cstring>

namespace linerate::realnet {
namespace {

constexpr std::size_t kTypeOffset = 12, kEthernetSize = 14, kTcpSize = 20;
constexpr std::uint16_t kIpv4 = 0x0800, kIpv6 = 0x86dd;

std::uint8_t byte_at(std::span<const std::byte> bytes, std::size_t place) {
  return static_cast<std::uint8_t>(bytes[place]);
}
std::uint16_t word_at(std::span<const std::byte> bytes, std::size_t place) {
  return static_cast<std::uint16_t>(byte_at(bytes, place) << 8 | byte_at(bytes, place + 1));
}
std::uint32_t long_at(std::span<const std::byte> bytes, std::size_t place) {
  return static_cast<std::uint32_t>(word_at(bytes, place)) << 16 | word_at(bytes, place + 2);
}

/// A TCP segment and the addresses in front of it; empty spans for anything else.
struct Segment {
  std::span<const std::byte> addresses, tcp;
};

Segment segment_in(std::span<const std::byte> frame) {
  if (frame.size() < kEthernetSize) return {};
  const std::uint16_t type = word_at(frame, kTypeOffset);
  const auto packet = frame.subspan(kEthernetSize);
  if (type == kIpv4 && packet.size() >= sizeof(iphdr)) {
    const std::size_t header = static_cast<std::size_t>(byte_at(packet, 0) & 0xf) * 4;
    const std::size_t length = word_at(packet, 2);
    const bool fragment = (word_at(packet, 6) & 0x3fff) != 0;
    if (byte_at(packet, 9) != IPPROTO_TCP || fragment || length > packet.size() || header > length)
      return {};
    return {packet.subspan(12, 8), packet.subspan(header, length - header)};
  }
  if (type == kIpv6 && packet.size() >= sizeof(ip6_hdr)) {
    const std::size_t length = word_at(packet, 4);
    if (byte_at(packet, 6) != IPPROTO_TCP || sizeof(ip6_hdr) + length > packet.size()) return {};
    return {packet.subspan(8, 32), packet.subspan(sizeof(ip6_hdr), length)};
  }
  return {};
}

}  // namespace

Bytes SegmentScript::fresh_payload(std::span<const std::byte> frame) {
  const auto [addresses, tcp] = segment_in(frame);
  if (tcp.size() < kTcpSize) return Bytes(0);
  const std::size_t header = static_cast<std::size_t>(byte_at(tcp, 12) >> 4) * 4;
  if (header < kTcpSize || header >= tcp.size()) return Bytes(0);
  const std::size_t payload = tcp.size() - header;
  Flow flow{};
  std::copy(addresses.begin(), addresses.end(), flow.begin());
  std::copy_n(tcp.begin(), 4, flow.end() - 4);
  const std::uint32_t until = long_at(tcp, 4) + static_cast<std::uint32_t>(payload);
  const auto [known, first] = sent_until_.try_emplace(flow, until);
  // Sequence numbers are compared modulo 2^32 (RFC 9293 3.4).
  if (!first && static_cast<std::int32_t>(until - known->second) <= 0) return Bytes(0);
  known->second = until;
  return Bytes(static_cast<std::int64_t>(payload));
}

SegmentScript::Verdict SegmentScript::judge(Bytes fresh_payload) {
  if (fresh_payload == Bytes(0)) return Verdict::pass;
  ++segments_;
  if (std::ranges::find(script_.drop_data_segments, segments_) != script_.drop_data_segments.end())
    return Verdict::drop;
  if (script_.burst_frames > 0) {
    if (burst_left_ == 0 && passed_ >= script_.burst_every) {
      burst_left_ = script_.burst_frames;
      passed_ = Bytes(0);
    }
    if (burst_left_ > 0) {
      --burst_left_;
      return Verdict::drop;
    }
    passed_ += fresh_payload;
  }
  return script_.reorder_segment == segments_ ? Verdict::hold : Verdict::pass;
}

void SegmentScript::restart() {
  sent_until_.clear();
  segments_ = 0;
  passed_ = Bytes(0);
  burst_left_ = 0;
}

}  // namespace linerate::realnet
