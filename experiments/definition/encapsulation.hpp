// What may stand around an IP packet on its way: tunnels, labels, sessions and tags, with the bytes
// each adds. Sizes only; what a frame is made of besides is models/framing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/units.hpp"

namespace linerate::experiments {

// One struct each, its options as they stand in the experiment file. `ip` is the version of the
// outer header. Identifiers take no part in a prediction; captures show them.

/// An IEEE 802.1Q tag on the frame inside a tunnel; a NIC's own tag is its `vlan`.
struct InnerVlan {
  static constexpr const char* kName = "vlan";
  int id = 1;
  bool operator==(const InnerVlan&) const = default;
};
/// Two tags, IEEE 802.1ad (provider bridges): customer inside, service outside.
struct QinQ {
  static constexpr const char* kName = "qinq";
  int outer = 1, inner = 1;
  bool operator==(const QinQ&) const = default;
};
/// RFC 2516. The packet and 8 bytes share the MTU: 1492 of 1500; 1500 of 1508 is RFC 4638.
struct Pppoe {
  static constexpr const char* kName = "pppoe";
  bool operator==(const Pppoe&) const = default;
};
/// RFC 3032. Labels count against the MTU, as 3.2 there has it.
struct Mpls {
  static constexpr const char* kName = "mpls";
  int labels = 1;
  bool operator==(const Mpls&) const = default;
};
/// IEEE 802.1AE with a 128-bit integrity check value. The frame grows, the MTU stays.
struct MacSec {
  static constexpr const char* kName = "macsec";
  bool sci = false;  ///< the secure channel identifier stands in the tag
  bool operator==(const MacSec&) const = default;
};
/// An IP packet in an IP packet: RFC 2003, 2473, 4213.
struct IpInIp {
  static constexpr const char* kName = "ipip";
  int ip = 4;
  bool operator==(const IpInIp&) const = default;
};
/// RFC 2784 with the key and sequence number of RFC 2890.
struct Gre {
  static constexpr const char* kName = "gre";
  bool key = false, checksum = false, sequence = false;
  int ip = 4;
  bool operator==(const Gre&) const = default;
};
/// RFC 7348. Carries a frame without its FCS.
struct Vxlan {
  static constexpr const char* kName = "vxlan";
  int vni = 1;
  int ip = 4;
  bool operator==(const Vxlan&) const = default;
};
/// RFC 8926. Carries a frame without its FCS.
struct Geneve {
  static constexpr const char* kName = "geneve";
  Bytes options{0};  ///< a multiple of 4 up to 252
  int vni = 1;
  int ip = 4;
  bool operator==(const Geneve&) const = default;
};
/// Packets are padded to 16 bytes, but not beyond the tunnel's MTU (WireGuard paper, 5.4.6).
struct WireGuard {
  static constexpr const char* kName = "wireguard";
  std::optional<Bytes> mtu;  ///< inside; 80 below the outside unless given, as wg-quick sets it
  int ip = 4;
  bool operator==(const WireGuard&) const = default;
};

enum class EspCipher {
  gcm,        ///< AES-GCM with a 16-byte check value, RFC 4106
  cbc_sha1,   ///< AES-CBC (RFC 3602) and HMAC-SHA1-96 (RFC 2404)
  cbc_sha256  ///< AES-CBC and HMAC-SHA-256-128 (RFC 4868)
};
enum class EspMode { tunnel, transport };
/// RFC 4303; `nat_traversal` is the UDP header of RFC 3948.
struct Esp {
  static constexpr const char* kName = "esp";
  EspCipher cipher = EspCipher::gcm;
  EspMode mode = EspMode::tunnel;
  bool nat_traversal = false;
  int ip = 4;
  bool operator==(const Esp&) const = default;
};

using Encapsulation =
    std::variant<InnerVlan, QinQ, Pppoe, Mpls, MacSec, IpInIp, Gre, Vxlan, Geneve, WireGuard, Esp>;

/// What keeps payload secret and whole.
enum class Cipher { none, aes_gcm, aes_cbc, chacha20 };
/// The cipher of an encapsulation; none of one that hides nothing.
Cipher cipher_of(const Encapsulation& encapsulation);

/// The encapsulation's name in an experiment file.
const char* name_of(const Encapsulation& encapsulation);
/// Version of the outermost IP header around a packet of version `ip`.
int outer_ip_version(const std::vector<Encapsulation>& encapsulations, int ip);

/// A named run of bytes in a ledger.
struct Part {
  std::string name;
  Bytes size;
  bool operator==(const Part&) const = default;
};

/// Which rate a layer belongs to.
enum class Level {
  transport,      ///< TCP, UDP: l4
  network,        ///< IP: l3
  encapsulation,  ///< named as the layer
  link,           ///< frame, tags, FCS: l2; does not count against the MTU
  wire,           ///< preamble and gap
};

/// What a layer fills its contents with: what it enciphers, the carried bytes without the first
/// `clear` and with `filler` of its trailers, becomes a multiple of `block`; not beyond `limit`
/// carried bytes.
struct Padding {
  Bytes block{1}, clear{0}, filler{0};
  std::optional<Bytes> limit{};

  /// Bytes added to `inner` carried bytes.
  Bytes of(Bytes inner) const {
    const std::int64_t rest = (inner - clear + filler).count() % block.count();
    const Bytes pad = rest == 0 ? Bytes(0) : block - Bytes(rest);
    return limit ? std::min(pad, std::max(Bytes(0), *limit - inner)) : pad;
  }
  bool operator==(const Padding&) const = default;
};

/// One layer of framing: what it puts before and behind the bytes it carries. A value: protocols
/// differ in their parts, not in code.
struct Layer {
  std::string name;
  Level level = Level::link;
  std::vector<Part> headers;   ///< before the carried bytes, the innermost first
  std::vector<Part> trailers;  ///< behind them
  Padding padding{};
  Bytes minimum{0};          ///< shorter results are filled up to this
  bool outside_mtu = false;  ///< the frame grows by it, the MTU stays

  /// Bytes this layer adds when it does not pad.
  Bytes overhead() const;
  /// Size on the outside when `inner` is carried.
  Bytes expand(Bytes inner) const {
    return std::max(minimum, inner + padding.of(inner) + overhead());
  }
  /// The most it can carry when the outside may have `outer`.
  Bytes inner_mtu(Bytes outer) const;

  bool operator==(const Layer&) const = default;
};

/// The largest IP packet (not positive: none) that fits an interface of this MTU, which bounds what
/// is inside the Ethernet frame, its tags and its MACsec. `layers` from the packet outwards.
Bytes inner_mtu(const std::vector<Layer>& layers, Bytes mtu);

/// What `layers`, from the packet outwards, make of a packet.
Bytes expand(const std::vector<Layer>& layers, Bytes packet);

/// The layers of a NIC's encapsulations, from the packet outwards. `ip` is the version of the
/// packet, `mtu` the NIC's (padding can depend on it).
std::vector<Layer> encapsulation_layers(const std::vector<Encapsulation>& encapsulations, int ip,
                                        Bytes mtu);

/// Why these encapsulations cannot stand around each other, the first being the innermost, and what
/// to do about it; nothing if they can.
struct Misfit {
  std::size_t index = 0;  ///< of the encapsulation that cannot stand there
  std::string message, remedy;
};
std::optional<Misfit> find_misfit(const std::vector<Encapsulation>& encapsulations);

}  // namespace linerate::experiments
