#include "models/framing/headers.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/check.hpp"

namespace linerate::models {

namespace {

using Octets = std::vector<std::uint8_t>;

// EtherTypes (IEEE 802 numbers).
constexpr std::uint16_t kEtherIp4 = 0x0800, kEtherIp6 = 0x86dd, kEtherVlan = 0x8100,
                        kEtherService = 0x88a8, kEtherMpls = 0x8847, kEtherPppoe = 0x8864,
                        kEtherMacsec = 0x88e5, kEtherBridged = 0x6558;
// IP protocol numbers.
constexpr std::uint8_t kProtoIp4 = 4, kProtoUdp = 17, kProtoIp6 = 41, kProtoGre = 47,
                       kProtoEsp = 50;
// UDP ports: RFC 3948, RFC 7348, RFC 8926, and what wg-quick's manual uses.
constexpr std::uint16_t kPortNatTraversal = 4500, kPortVxlan = 4789, kPortGeneve = 6081,
                        kPortWireGuard = 51820;
constexpr std::size_t kMacBytes = 12;
// How much of what is enciphered is laid out: as much as a reader wants to see to take a packet for
// whole. There is always so much of it.
constexpr std::size_t kCipherBytes = 16;

void append(Octets& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i)
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i) & 0xff));
}

std::uint16_t word_at(const Octets& bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}

void overwrite(Octets& out, std::size_t at, std::uint64_t value) {
  out[at] = static_cast<std::uint8_t>(value >> 8 & 0xff);
  out[at + 1] = static_cast<std::uint8_t>(value & 0xff);
}

// RFC 1071. Zeros behind the bytes add nothing.
std::uint16_t internet_checksum(const Octets& bytes, std::size_t from, std::size_t to) {
  std::uint64_t sum = 0;
  for (std::size_t i = from; i < to; i += 2)
    sum += static_cast<unsigned>(bytes[i]) << 8 | (i + 1 < to ? bytes[i + 1] : 0u);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// A packet on its way outwards: what an Ethernet frame would carry, with its type.
class Wrapper {
 public:
  Wrapper(Octets packet, std::uint32_t length, std::uint16_t type, const TunnelEnds& ends)
      : bytes_(std::move(packet)), length_(length), type_(type), ends_(ends) {}

  /// `outside` is the length the layer makes of it.
  void wrap(const experiments::Encapsulation& encapsulation, std::uint32_t outside) {
    std::visit([&](const auto& s) { wrap(s, outside); }, encapsulation);
    LINERATE_CHECK(length_ == outside, "the bytes of a layer are those it was counted for");
  }

  const Octets& bytes() const { return bytes_; }
  std::uint32_t length() const { return length_; }
  std::uint16_t type() const { return type_; }

 private:
  void prepend(const Octets& header) {
    bytes_.insert(bytes_.begin(), header.begin(), header.end());
    length_ += static_cast<std::uint32_t>(header.size());
  }

  /// What was there is enciphered from now on, and with check value and padding of this length.
  void encipher(std::uint32_t length) {
    bytes_.assign(kCipherBytes, 0);
    length_ = length;
  }

  void tag(std::uint16_t kind, int id) {
    Octets header;
    append(header, static_cast<std::uint64_t>(id), 2);
    append(header, type_, 2);
    prepend(header);
    type_ = kind;
  }

  void frame() {
    Octets header;
    // Locally administered addresses behind the tunnel's ends (IEEE 802 8.4).
    append(header, 0x0201, 2);
    append(header, ends_.destination + 1, 4);
    append(header, 0x0201, 2);
    append(header, ends_.source + 1, 4);
    append(header, type_, 2);
    prepend(header);
  }

  // Differentiated services and ECN of the outermost IP header, 0 behind anything else.
  unsigned traffic_class() const {
    if (type_ == kEtherIp4 && bytes_.size() > 1) return bytes_[1];
    if (type_ == kEtherIp6 && bytes_.size() > 1)
      return static_cast<unsigned>(bytes_[0] << 4 | bytes_[1] >> 4) & 0xff;
    return 0;
  }

  void ip(int version, std::uint8_t protocol, unsigned traffic_class) {
    const Octets header =
        version == 6 ? ip6_header(protocol, traffic_class) : ip4_header(protocol, traffic_class);
    // Over IPv4 these tunnels go without, over IPv6 hosts compute it unless told (RFC 6935).
    if (version == 6 && protocol == kProtoUdp) {
      Octets pseudo(header.begin() + 8, header.end());  // the addresses
      append(pseudo, length_, 4);
      append(pseudo, protocol, 4);
      pseudo.insert(pseudo.end(), bytes_.begin(), bytes_.end());
      const std::uint16_t sum = internet_checksum(pseudo, 0, pseudo.size());
      overwrite(bytes_, 6, sum == 0 ? 0xffff : sum);  // RFC 768
    }
    prepend(header);
    type_ = version == 6 ? kEtherIp6 : kEtherIp4;
  }

  Octets ip6_header(std::uint8_t protocol, unsigned traffic_class) const {
    Octets header;
    append(header, 0x60000000u | traffic_class << 20, 4);
    append(header, length_, 2);
    append(header, static_cast<std::uint64_t>(protocol) << 8 | 64, 2);
    for (const std::uint32_t end : {ends_.source, ends_.destination}) {
      append(header, 0xfd01, 2);  // RFC 4193
      append(header, 0, 8);
      append(header, end + 1, 6);
    }
    return header;
  }

  Octets ip4_header(std::uint8_t protocol, unsigned traffic_class) const {
    Octets header;
    append(header, 0x4500u | traffic_class, 2);
    append(header, length_ + 20, 2);
    append(header, ends_.ordinal & 0xffff, 2);
    append(header, 0x4000, 2);
    append(header, 64u << 8 | protocol, 2);
    append(header, 0, 2);
    for (const std::uint32_t end : {ends_.source, ends_.destination})
      append(header, 0xac100000u | ((end + 1) & 0xfffff), 4);  // 172.16.0.0/12, RFC 1918
    overwrite(header, 10, internet_checksum(header, 0, header.size()));
    return header;
  }

  void udp(std::uint16_t source, std::uint16_t destination) {
    Octets header;
    append(header, source, 2);
    append(header, destination, 2);
    append(header, length_ + 8, 2);
    append(header, 0, 2);
    prepend(header);
  }

  // Dynamic ports (RFC 6335), by flow.
  std::uint16_t flow_port() const {
    return static_cast<std::uint16_t>(0xc000u | (ends_.flow & 0x3fffu));
  }

  void wrap(const experiments::InnerVlan& s, std::uint32_t) { tag(kEtherVlan, s.id); }

  void wrap(const experiments::QinQ& s, std::uint32_t) {
    tag(kEtherVlan, s.inner);
    tag(kEtherService, s.outer);
  }

  void wrap(const experiments::Pppoe&, std::uint32_t) {
    Octets header;
    append(header, 0x1100, 2);
    append(header, 1, 2);  // session
    append(header, length_ + 2, 2);
    // PPP's own numbers (RFC 1661, 5072, 3032).
    append(header, type_ == kEtherIp4 ? 0x0021u : type_ == kEtherIp6 ? 0x0057u : 0x0281u, 2);
    prepend(header);
    type_ = kEtherPppoe;
  }

  void wrap(const experiments::Mpls& s, std::uint32_t) {
    for (int i = 0; i < s.labels; ++i) {
      const bool bottom = type_ != kEtherMpls;
      Octets label;
      // Labels below 16 are reserved (RFC 3032 2.1).
      append(label, (16u + static_cast<unsigned>(i)) << 12 | unsigned{bottom} << 8 | 64u, 4);
      prepend(label);
      type_ = kEtherMpls;
    }
  }

  void wrap(const experiments::MacSec& s, std::uint32_t outside) {
    const std::uint32_t enciphered = length_ + 2;  // with its EtherType
    encipher(outside - (s.sci ? 14u : 6u));
    Octets tag;
    // Version 0, encrypted and changed; with or without the identifier (IEEE 802.1AE 9.5).
    append(tag, s.sci ? 0x2c : 0x0c, 1);
    append(tag, enciphered < 48 ? enciphered : 0, 1);
    append(tag, ends_.ordinal + 1, 4);
    if (s.sci) {
      append(tag, 0x0200, 2);
      append(tag, ends_.source + 1, 4);
      append(tag, 1, 2);
    }
    prepend(tag);
    type_ = kEtherMacsec;
  }

  void wrap(const experiments::IpInIp& s, std::uint32_t) {
    ip(s.ip, type_ == kEtherIp6 ? kProtoIp6 : kProtoIp4, traffic_class());
  }

  void wrap(const experiments::Gre& s, std::uint32_t) {
    const unsigned inner_class = traffic_class();
    Octets header;
    append(header,
           (s.checksum ? 0x8000u : 0u) | (s.key ? 0x2000u : 0u) | (s.sequence ? 0x1000u : 0u), 2);
    append(header, type_, 2);
    if (s.checksum) append(header, 0, 4);
    if (s.key) append(header, 1, 4);
    if (s.sequence) append(header, ends_.ordinal, 4);
    prepend(header);
    if (s.checksum) overwrite(bytes_, 4, internet_checksum(bytes_, 0, bytes_.size()));
    ip(s.ip, kProtoGre, inner_class);
  }

  void wrap(const experiments::Vxlan& s, std::uint32_t) {
    const unsigned inner_class = traffic_class();
    frame();
    Octets header;
    append(header, 0x08000000, 4);
    append(header, static_cast<std::uint64_t>(s.vni) << 8, 4);
    prepend(header);
    udp(flow_port(), kPortVxlan);
    ip(s.ip, kProtoUdp, inner_class);
  }

  void wrap(const experiments::Geneve& s, std::uint32_t) {
    const unsigned inner_class = traffic_class();
    frame();
    Octets header;
    const auto words = static_cast<unsigned>(s.options.count() / 4);
    append(header, words << 8, 2);
    append(header, kEtherBridged, 2);
    append(header, static_cast<std::uint64_t>(s.vni) << 8, 4);
    // Options of the experimental class, each of at most 31 words behind its own (RFC 8926 3.5).
    for (unsigned left = words; left > 0;) {
      const unsigned data = std::min(left - 1, 31u);
      append(header, 0xff000000u | data, 4);
      header.resize(header.size() + std::size_t{data} * 4);
      left -= data + 1;
    }
    prepend(header);
    udp(flow_port(), kPortGeneve);
    ip(s.ip, kProtoUdp, inner_class);
  }

  void wrap(const experiments::WireGuard& s, std::uint32_t outside) {
    const unsigned inner_class = traffic_class();
    encipher(outside - (s.ip == 6 ? 40u : 20u) - 8 - 16);
    Octets header;
    append(header, 0x04000000, 4);  // transport data
    append(header, 0x01000000, 4);  // receiver, little-endian as the counter
    for (int i = 0; i < 8; ++i)
      header.push_back(static_cast<std::uint8_t>(std::uint64_t{ends_.ordinal} >> (8 * i) & 0xff));
    prepend(header);
    udp(kPortWireGuard, kPortWireGuard);
    ip(s.ip, kProtoUdp, inner_class);
  }

  void wrap(const experiments::Esp& s, std::uint32_t outside) {
    const unsigned inner_class = traffic_class();
    const bool tunnel = s.mode == experiments::EspMode::tunnel;
    const bool six = tunnel ? s.ip == 6 : type_ == kEtherIp6;
    const std::uint32_t ip_bytes = six ? 40 : 20;
    const Octets own(bytes_.begin(), bytes_.begin() + (tunnel ? 0 : ip_bytes));
    encipher(outside - ip_bytes - (s.nat_traversal ? 8u : 0u) - 8);
    Octets header;
    // Each direction has its own; up to 255 they are reserved (RFC 4303 2.1).
    append(header, 0x01000000u | (ends_.source & 0xfff) << 12 | (ends_.destination & 0xfff), 4);
    append(header, ends_.ordinal + 1, 4);
    prepend(header);
    if (s.nat_traversal) udp(kPortNatTraversal, kPortNatTraversal);
    const std::uint8_t protocol = s.nat_traversal ? kProtoUdp : kProtoEsp;
    if (tunnel) return ip(s.ip, protocol, inner_class);
    prepend(own);
    if (six) {
      overwrite(bytes_, 4, length_ - 40);
      bytes_[6] = protocol;
    } else {
      overwrite(bytes_, 2, length_);
      bytes_[9] = protocol;
      overwrite(bytes_, 10, 0);
      overwrite(bytes_, 10, internet_checksum(bytes_, 0, 20));
    }
  }

  Octets bytes_;
  std::uint32_t length_;
  std::uint16_t type_;
  const TunnelEnds& ends_;
};

}  // namespace

FrameBytes encapsulate(const FrameBytes& plain, const experiments::EncapsulatedHop& hop,
                       const TunnelEnds& ends) {
  LINERATE_CHECK(plain.bytes.size() >= kMacBytes + 2, "a frame has an Ethernet header");
  const bool tagged = word_at(plain.bytes, kMacBytes) == kEtherVlan;
  const std::size_t at = kMacBytes + (tagged ? 4 : 0);  // of the EtherType
  const std::uint16_t type = word_at(plain.bytes, at);
  if (type != kEtherIp4 && type != kEtherIp6) return plain;

  const int version = type == kEtherIp6 ? 6 : 4;
  const Octets packet(plain.bytes.begin() + static_cast<long>(at) + 2, plain.bytes.end());
  // Not the pad of a minimum frame: the packet says its length.
  const std::uint32_t length =
      version == 6 ? 40u + word_at(packet, 4) : std::uint32_t{word_at(packet, 2)};
  Wrapper wrapper(packet, length, type, ends);
  for (std::size_t i = 0; i < hop.layers.size(); ++i)
    wrapper.wrap(hop.encapsulations[i],
                 static_cast<std::uint32_t>(hop.layers[i].expand(Bytes(wrapper.length())).count()));

  FrameBytes result;
  result.bytes.assign(plain.bytes.begin(), plain.bytes.begin() + static_cast<long>(at));
  append(result.bytes, wrapper.type(), 2);
  result.bytes.insert(result.bytes.end(), wrapper.bytes().begin(), wrapper.bytes().end());
  result.length = static_cast<std::uint32_t>(at) + 2 + wrapper.length();
  return result;
}

}  // namespace linerate::models
