#include "experiments/definition/encapsulation.hpp"

#include <fmt/format.h>

#include <utility>

namespace linerate::experiments {

namespace {

constexpr Bytes kUdpHeader{8};
constexpr Bytes kInnerEthernet{14};

constexpr Bytes ip_header(int version) { return Bytes(version == 6 ? 40 : 20); }  // RFC 791, 8200

Layer layer(const char* name, std::vector<Part> headers, std::vector<Part> trailers = {}) {
  Layer result;
  result.name = name;
  result.level = Level::encapsulation;
  result.headers = std::move(headers);
  result.trailers = std::move(trailers);
  return result;
}

Part outer_ip(int version) {
  return {fmt::format("outer IPv{} header", version), ip_header(version)};
}

/// What a layer of a NIC's list can depend on.
struct Surroundings {
  int ip = 4;  ///< of the packet it carries
  Bytes mtu;   ///< of what is around it
};

Layer describe_layer(const InnerVlan&, const Surroundings&) {
  Layer tag = layer(InnerVlan::kName, {{"802.1Q tag", Bytes(4)}});
  tag.outside_mtu = true;
  return tag;
}

Layer describe_layer(const QinQ&, const Surroundings&) {
  Layer tags = layer(QinQ::kName, {{"802.1Q tag", Bytes(4)}, {"802.1ad tag", Bytes(4)}});
  tags.outside_mtu = true;
  return tags;
}

Layer describe_layer(const Pppoe&, const Surroundings&) {
  return layer(Pppoe::kName, {{"PPP protocol", Bytes(2)}, {"PPPoE header", Bytes(6)}});
}

Layer describe_layer(const Mpls& s, const Surroundings&) {
  return layer(Mpls::kName, {{s.labels == 1 ? "MPLS label" : "MPLS labels", Bytes(4) * s.labels}});
}

Layer describe_layer(const MacSec& s, const Surroundings&) {
  Layer sealed =
      layer(MacSec::kName, {{"MACsec SecTAG", Bytes(s.sci ? 16 : 8)}}, {{"MACsec ICV", Bytes(16)}});
  sealed.outside_mtu = true;
  return sealed;
}

Layer describe_layer(const IpInIp& s, const Surroundings&) {
  return layer(IpInIp::kName, {outer_ip(s.ip)});
}

Layer describe_layer(const Gre& s, const Surroundings&) {
  const int words = 1 + int{s.key} + int{s.checksum} + int{s.sequence};
  return layer(Gre::kName, {{"GRE header", Bytes(4) * words}, outer_ip(s.ip)});
}

Layer describe_layer(const Vxlan& s, const Surroundings&) {
  return layer(Vxlan::kName, {{"inner Ethernet header", kInnerEthernet},
                              {"VXLAN header", Bytes(8)},
                              {"outer UDP header", kUdpHeader},
                              outer_ip(s.ip)});
}

Layer describe_layer(const Geneve& s, const Surroundings&) {
  return layer(Geneve::kName, {{"inner Ethernet header", kInnerEthernet},
                               {"Geneve header", Bytes(8) + s.options},
                               {"outer UDP header", kUdpHeader},
                               outer_ip(s.ip)});
}

// WireGuard's transport data message: type, receiver and counter, then the packet and a Poly1305
// tag.
Layer describe_layer(const WireGuard& s, const Surroundings& around) {
  Layer sealed =
      layer(WireGuard::kName,
            {{"WireGuard header", Bytes(16)}, {"outer UDP header", kUdpHeader}, outer_ip(s.ip)},
            {{"WireGuard tag", Bytes(16)}});
  sealed.padding.block = Bytes(16);
  // wg-quick leaves room for an outer IPv6 header whichever is used.
  sealed.padding.limit = s.mtu.value_or(around.mtu - Bytes(80));
  return sealed;
}

// RFC 4303: SPI and sequence number, IV, what is enciphered with its pad, pad length and next
// header, check value. In transport mode the packet's own IP header stays in front of all that.
Layer describe_layer(const Esp& s, const Surroundings& around) {
  const bool counter_mode = s.cipher == EspCipher::gcm;
  const Bytes check(s.cipher == EspCipher::cbc_sha1 ? 12 : 16);
  Layer sealed =
      layer(Esp::kName, {{"ESP IV", Bytes(counter_mode ? 8 : 16)}, {"ESP header", Bytes(8)}},
            {{"ESP trailer", Bytes(2)}, {"ESP ICV", check}});
  if (s.nat_traversal) sealed.headers.push_back({"NAT-T UDP header", kUdpHeader});
  if (s.mode == EspMode::tunnel)
    sealed.headers.push_back(outer_ip(s.ip));
  else
    sealed.padding.clear = ip_header(around.ip);
  sealed.padding.block = Bytes(counter_mode ? 4 : 16);  // 4 bytes at least (RFC 4303, 2.4)
  sealed.padding.filler = Bytes(2);
  return sealed;
}

// The version of the outermost IP header once the layer is around a packet of version `ip`.
int ip_around(const Encapsulation& encapsulation, int ip) {
  return std::visit(
      [ip](const auto& s) {
        if constexpr (requires { s.mode; })
          return s.mode == EspMode::transport ? ip : s.ip;
        else if constexpr (requires { s.ip; })
          return s.ip;
        else
          return ip;
      },
      encapsulation);
}

/// What a layer carries or makes.
enum class Unit { packet, labelled, frame };

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::packet:
      return "IP packets";
    case Unit::labelled:
      return "labelled packets";
    case Unit::frame:
      return "Ethernet frames";
  }
  return "";
}

/// The richest unit it carries, each unit including those before it, and what it makes of it.
struct Conversion {
  Unit carries, makes;
};
Conversion conversion(const InnerVlan&) { return {Unit::frame, Unit::frame}; }
Conversion conversion(const QinQ&) { return {Unit::frame, Unit::frame}; }
Conversion conversion(const Pppoe&) { return {Unit::labelled, Unit::frame}; }
Conversion conversion(const Mpls&) { return {Unit::labelled, Unit::labelled}; }
Conversion conversion(const MacSec&) { return {Unit::frame, Unit::frame}; }
Conversion conversion(const IpInIp&) { return {Unit::packet, Unit::packet}; }
Conversion conversion(const Gre&) { return {Unit::labelled, Unit::packet}; }  // RFC 4023
Conversion conversion(const Vxlan&) { return {Unit::frame, Unit::packet}; }
Conversion conversion(const Geneve&) { return {Unit::frame, Unit::packet}; }
Conversion conversion(const WireGuard&) { return {Unit::packet, Unit::packet}; }
Conversion conversion(const Esp&) { return {Unit::packet, Unit::packet}; }

// What is wrong with an encapsulation by itself.
std::optional<Misfit> own_misfit(const Encapsulation& encapsulation) {
  if (const auto* geneve = std::get_if<Geneve>(&encapsulation)) {
    const std::int64_t options = geneve->options.count();
    if (options % 4 != 0 || options > 252)
      return Misfit{0, fmt::format("{} B of Geneve options", options),
                    "a multiple of 4 up to 252 (RFC 8926 3.4)"};
  }
  const auto version = [](int ip) -> std::optional<Misfit> {
    if (ip == 4 || ip == 6) return std::nullopt;
    return Misfit{0, fmt::format("there is no IP version {} here", ip), "write 4 or 6"};
  };
  return std::visit(
      [&](const auto& s) -> std::optional<Misfit> {
        if constexpr (requires { s.ip; }) return version(s.ip);
        return std::nullopt;
      },
      encapsulation);
}

}  // namespace

Cipher cipher_of(const Encapsulation& encapsulation) {
  if (std::holds_alternative<WireGuard>(encapsulation)) return Cipher::chacha20;
  if (std::holds_alternative<MacSec>(encapsulation)) return Cipher::aes_gcm;
  const Esp* esp = std::get_if<Esp>(&encapsulation);
  if (esp == nullptr) return Cipher::none;
  return esp->cipher == EspCipher::gcm ? Cipher::aes_gcm : Cipher::aes_cbc;
}

const char* name_of(const Encapsulation& encapsulation) {
  return std::visit([](const auto& s) { return s.kName; }, encapsulation);
}

int outer_ip_version(const std::vector<Encapsulation>& encapsulations, int ip) {
  for (const Encapsulation& encapsulation : encapsulations) ip = ip_around(encapsulation, ip);
  return ip;
}

Bytes Layer::overhead() const {
  Bytes sum;
  for (const Part& part : headers) sum += part.size;
  for (const Part& part : trailers) sum += part.size;
  return sum;
}

Bytes Layer::inner_mtu(Bytes outer) const {
  const Bytes room = outer - overhead();
  if (padding.limit) return std::min(room, *padding.limit);
  const Bytes sealed = room - padding.clear + padding.filler;
  if (sealed < Bytes(0)) return room;
  return room - Bytes(sealed.count() % padding.block.count());
}

Bytes inner_mtu(const std::vector<Layer>& layers, Bytes mtu) {
  bool outermost = true;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    outermost = outermost && layer->outside_mtu;
    if (!outermost) mtu = layer->inner_mtu(mtu);
  }
  return mtu;
}

Bytes expand(const std::vector<Layer>& layers, Bytes packet) {
  for (const Layer& layer : layers) packet = layer.expand(packet);
  return packet;
}

std::vector<Layer> encapsulation_layers(const std::vector<Encapsulation>& encapsulations, int ip,
                                        Bytes mtu) {
  std::vector<int> versions;  // of what each carries
  for (const Encapsulation& encapsulation : encapsulations) {
    versions.push_back(ip);
    ip = ip_around(encapsulation, ip);
  }
  // From outside in: what is around a layer leaves it its MTU.
  std::vector<Layer> layers(encapsulations.size());
  bool outermost = true;
  for (std::size_t i = encapsulations.size(); i-- > 0;) {
    const Surroundings around{.ip = versions[i], .mtu = mtu};
    layers[i] =
        std::visit([&](const auto& s) { return describe_layer(s, around); }, encapsulations[i]);
    outermost = outermost && layers[i].outside_mtu;
    if (!outermost) mtu = layers[i].inner_mtu(mtu);
  }
  return layers;
}

std::optional<Misfit> find_misfit(const std::vector<Encapsulation>& encapsulations) {
  Unit unit = Unit::packet;
  for (std::size_t i = 0; i < encapsulations.size(); ++i) {
    const Encapsulation& encapsulation = encapsulations[i];
    if (auto own = own_misfit(encapsulation)) {
      own->index = i;
      return own;
    }
    const Conversion fits = std::visit([](const auto& s) { return conversion(s); }, encapsulation);
    if (unit > fits.carries)
      return Misfit{
          i,
          fmt::format("`{}` carries {}, and `{}` inside it makes {}", name_of(encapsulation),
                      unit_name(fits.carries), name_of(encapsulations[i - 1]), unit_name(unit)),
          "list the layers from the packet outwards: [vxlan, esp] is VXLAN inside ESP"};
    unit = fits.makes;
  }
  for (std::size_t i = encapsulations.size(); i-- > 0;) {
    if (std::holds_alternative<InnerVlan>(encapsulations[i]))
      return Misfit{i, "`vlan` is not inside a tunnel", "write `vlan` at the NIC for its own tag"};
    const bool stays = std::holds_alternative<QinQ>(encapsulations[i]) ||
                       std::holds_alternative<MacSec>(encapsulations[i]);
    if (!stays) break;
  }
  return std::nullopt;
}

}  // namespace linerate::experiments
