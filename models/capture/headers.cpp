#include "models/capture/headers.hpp"

#include <array>
#include <cstddef>

#include "sim/check.hpp"

namespace linerate::models {

namespace {

constexpr std::uint16_t kTypeVlan = 0x8100, kTypeIp4 = 0x0800, kTypeIp6 = 0x86dd,
                        kTypeExperiment = 0x88b5, kTypeMacControl = 0x8808;
constexpr std::uint8_t kTcp = 6, kUdp = 17;
// TCP option kinds (RFC 9293, 7323, 2018, 1644).
constexpr std::uint8_t kNop = 1, kMss = 2, kWindowScale = 3, kSackPermitted = 4, kSack = 5,
                       kTimestamps = 8, kConnectionCount = 11;
// Padded sizes of options on segments without SYN.
constexpr int kTimestampBytes = 12, kConnectionCountBytes = 8;

void put(HeaderBytes& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i)
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i) & 0xff));
}

void patch(HeaderBytes& out, std::size_t at, std::uint16_t value) {
  out[at] = static_cast<std::uint8_t>(value >> 8);
  out[at + 1] = static_cast<std::uint8_t>(value & 0xff);
}

// RFC 1071, over [from, end) and what `sum` holds already.
std::uint16_t checksum(const HeaderBytes& bytes, std::size_t from, std::uint64_t sum) {
  for (std::size_t i = from; i < bytes.size(); i += 2)
    sum += static_cast<std::uint64_t>(bytes[i]) << 8 | (i + 1 < bytes.size() ? bytes[i + 1] : 0u);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void put_mac(HeaderBytes& out, std::uint32_t station) {
  put(out, 0x0200, 2);  // locally administered (IEEE 802 8.4)
  put(out, station + 1, 4);
}

void put_ethernet(HeaderBytes& out, const EthernetFields& ethernet, std::uint16_t type) {
  put_mac(out, ethernet.destination);
  put_mac(out, ethernet.source);
  if (ethernet.vlan) {
    put(out, kTypeVlan, 2);
    put(out,
        static_cast<std::uint64_t>(ethernet.priority) << 13 |
            static_cast<std::uint64_t>(*ethernet.vlan),
        2);
  }
  put(out, type, 2);
}

std::array<std::uint8_t, 16> address(int version, std::uint32_t station) {
  std::array<std::uint8_t, 16> bytes{};
  const std::uint32_t number = station + 1;
  const std::size_t size = version == 6 ? 16 : 4;
  bytes[0] = version == 6 ? 0xfd : 10;  // RFC 4193, RFC 1918
  for (std::size_t i = 0; i < 3; ++i)
    bytes[size - 1 - i] = static_cast<std::uint8_t>(number >> (8 * i) & 0xff);
  return bytes;
}

// The sum of the pseudo-header (RFC 9293 3.1, RFC 8200 8.1) for the checksum of what IP carries.
std::uint64_t pseudo_sum(const IpFields& ip, std::uint8_t protocol, std::uint32_t carried) {
  std::uint64_t sum = std::uint64_t{protocol} + carried;
  for (const std::uint32_t station : {ip.source, ip.destination}) {
    const std::array<std::uint8_t, 16> bytes = address(ip.version, station);
    for (std::size_t i = 0; i < bytes.size(); i += 2)
      sum += std::uint64_t{bytes[i]} << 8 | bytes[i + 1];
  }
  return sum;
}

constexpr std::uint16_t kDontFragment = 0x4000, kMoreFragments = 0x2000;  // RFC 791 3.1

// The IP header in front of `carried` bytes.
void put_ip(HeaderBytes& out, const IpFields& ip, std::uint8_t protocol, std::uint32_t carried,
            std::uint32_t fragmentation = kDontFragment) {
  const unsigned traffic_class = unsigned(ip.priority) << 5 | unsigned(ip.ecn);
  const std::array<std::uint8_t, 16> ends[2] = {address(ip.version, ip.source),
                                                address(ip.version, ip.destination)};
  const std::size_t size = ip.version == 6 ? 16 : 4;
  const std::size_t start = out.size();
  if (ip.version == 6) {
    put(out, 0x60000000u | traffic_class << 20, 4);
    put(out, carried, 2);
    put(out, protocol, 1);
    put(out, ip.hop_limit, 1);
  } else {
    put(out, 0x4500u | traffic_class, 2);
    put(out, carried + 20, 2);
    put(out, ip.identification, 2);
    put(out, fragmentation, 2);
    put(out, ip.hop_limit, 1);
    put(out, protocol, 1);
    put(out, 0, 2);
  }
  for (const auto& end : ends) out.insert(out.end(), end.begin(), end.begin() + long(size));
  if (ip.version == 4) patch(out, start + 10, checksum(out, start, 0));
}

// A UDP header (RFC 768) in front of `payload` zeros.
void put_udp(HeaderBytes& out, const IpFields& ip, Ports ports, std::uint32_t payload) {
  const std::size_t start = out.size();
  put(out, ports.source, 2);
  put(out, ports.destination, 2);
  put(out, payload + 8, 2);
  put(out, 0, 2);
  const std::uint16_t sum = checksum(out, start, pseudo_sum(ip, kUdp, payload + 8));
  patch(out, start + 6, sum == 0 ? 0xffff : sum);  // 0 would mean: none
}

void put_timestamps(HeaderBytes& out, const tcp::Segment& segment) {
  put(out, kTimestamps, 1);
  put(out, 10, 1);
  put(out, segment.timestamp, 4);
  put(out, segment.timestamp_echo, 4);
}

void put_window_scale(HeaderBytes& out, const tcp::Segment& segment) {
  put(out, kNop, 1);
  put(out, kWindowScale, 1);
  put(out, 3, 1);
  put(out, segment.syn.window_scale, 1);
}

void put_connection_count(HeaderBytes& out, const TcpFields& tcp) {
  put(out, kNop << 8 | kNop, 2);
  put(out, kConnectionCount, 1);
  put(out, 6, 1);
  put(out, (tcp.initial_sequence >> 8) + 1, 4);  // any but 0 (RFC 1644 3.1)
}

void put_syn_options(HeaderBytes& out, const TcpFields& tcp, const tcp::Segment& segment) {
  const tcp::SynOptions& syn = segment.syn;
  put(out, kMss, 1);
  put(out, 4, 1);
  put(out, syn.max_segment, 2);
  if (syn.window_scaling && tcp.bsd_option_order) put_window_scale(out, segment);
  if (syn.timestamps || syn.sack_permitted) {
    // Linux lets SACK-permitted take the place of the padding.
    const bool merged = syn.sack_permitted && syn.timestamps;
    if (!merged) put(out, kNop << 8 | kNop, 2);
    if (syn.sack_permitted) put(out, kSackPermitted << 8 | 2, 2);
    if (syn.timestamps) put_timestamps(out, segment);
  }
  if (syn.window_scaling && !tcp.bsd_option_order) put_window_scale(out, segment);
  if (syn.connection_count) put_connection_count(out, tcp);
}

void put_options(HeaderBytes& out, const TcpFields& tcp, const tcp::Segment& segment) {
  const int sack_bytes = segment.sack_count > 0 ? 4 + 8 * segment.sack_count : 0;
  // What is not SACK says by its size which options the connection agreed upon.
  const int fixed = segment.option_bytes - sack_bytes;
  if (fixed >= kTimestampBytes) {
    put(out, kNop << 8 | kNop, 2);
    put_timestamps(out, segment);
  }
  if (sack_bytes > 0) {
    put(out, kNop << 8 | kNop, 2);
    put(out, kSack, 1);
    put(out, 2u + 8u * segment.sack_count, 1);
    for (std::size_t i = 0; i < segment.sack_count; ++i) {
      put(out, (tcp.peer_initial_sequence + segment.sack[i].left) & 0xffffffff, 4);
      put(out, (tcp.peer_initial_sequence + segment.sack[i].right) & 0xffffffff, 4);
    }
  }
  if (fixed % kTimestampBytes == kConnectionCountBytes) put_connection_count(out, tcp);
}

}  // namespace

HeaderBytes tcp_headers(const EthernetFields& ethernet, const IpFields& ip, const TcpFields& tcp,
                        const tcp::Segment& segment) {
  HeaderBytes out;
  out.reserve(120);
  put_ethernet(out, ethernet, ip.version == 6 ? kTypeIp6 : kTypeIp4);
  const std::uint32_t header = 20u + segment.option_bytes;
  put_ip(out, ip, kTcp, header + segment.length);
  const std::size_t start = out.size();
  put(out, tcp.ports.source, 2);
  put(out, tcp.ports.destination, 2);
  put(out, (tcp.initial_sequence + segment.sequence) & 0xffffffff, 4);
  const bool acknowledges = segment.has(tcp::kAck);
  put(out,
      acknowledges ? (tcp.peer_initial_sequence + segment.acknowledgment) & 0xffffffff
                   : std::uint64_t{0},
      4);
  put(out, (header / 4) << 12 | segment.flags, 2);
  const std::uint32_t shift = segment.has(tcp::kSyn) ? 0 : tcp.window_shift;
  put(out, segment.window >> shift, 2);
  put(out, 0, 4);  // checksum, urgent pointer
  if (segment.has(tcp::kSyn))
    put_syn_options(out, tcp, segment);
  else
    put_options(out, tcp, segment);
  LINERATE_CHECK(out.size() - start == header, "the options take the bytes they were counted for");
  patch(out, start + 16, checksum(out, start, pseudo_sum(ip, kTcp, header + segment.length)));
  return out;
}

HeaderBytes udp_headers(const EthernetFields& ethernet, const IpFields& ip, Ports ports,
                        std::uint32_t payload) {
  HeaderBytes out;
  put_ethernet(out, ethernet, ip.version == 6 ? kTypeIp6 : kTypeIp4);
  put_ip(out, ip, kUdp, payload + 8);
  put_udp(out, ip, ports, payload);
  return out;
}

HeaderBytes fragment_headers(const EthernetFields& ethernet, const IpFields& ip, Ports ports,
                             const FragmentFields& fragment) {
  constexpr std::uint8_t kFragmentHeader = 44;
  HeaderBytes out;
  put_ethernet(out, ethernet, ip.version == 6 ? kTypeIp6 : kTypeIp4);
  if (ip.version == 6) {
    put_ip(out, ip, kFragmentHeader, fragment.length + 8);
    put(out, kUdp, 1);
    put(out, 0, 1);
    put(out, fragment.offset | (fragment.more ? 1u : 0u), 2);  // its low three bits are zero
    put(out, ip.identification, 4);
  } else {
    put_ip(out, ip, kUdp, fragment.length,
           fragment.offset / 8 | (fragment.more ? kMoreFragments : 0u));
  }
  if (fragment.offset == 0) put_udp(out, ip, ports, fragment.payload);
  return out;
}

HeaderBytes raw_headers(const EthernetFields& ethernet, std::uint64_t ordinal) {
  HeaderBytes out;
  put_ethernet(out, ethernet, kTypeExperiment);
  put(out, ordinal, 8);
  return out;
}

HeaderBytes pause_headers(const EthernetFields& ethernet, const PauseFields& pause) {
  HeaderBytes out;
  put(out, 0x0180c2000001, 6);  // the MAC control address
  put_mac(out, ethernet.source);
  put(out, kTypeMacControl, 2);
  if (pause.priorities == 0xff) {
    put(out, 0x0001, 2);
    put(out, pause.quanta, 2);
    return out;
  }
  put(out, 0x0101, 2);
  put(out, pause.priorities, 2);
  for (int i = 0; i < 8; ++i)
    put(out, pause.priorities >> i & 1 ? pause.quanta : std::uint16_t{0}, 2);
  return out;
}

}  // namespace linerate::models
