#include "models/framing/framing.hpp"

#include <utility>

#include "experiments/definition/fragments.hpp"
#include "sim/check.hpp"

namespace linerate::models {

namespace {

std::string level_name(const Layer& layer) {
  switch (layer.level) {
    case Level::transport:
      return "l4";
    case Level::network:
      return "l3";
    case Level::encapsulation:
      return layer.name;
    case Level::link:
      return "l2";
    case Level::wire:
      return "wire";
  }
  LINERATE_CHECK(false, "a layer has a level");
}

// Tags and Ethernet belong to one level: the last of them gives its size. A tunnel in a tunnel of
// its kind is the second one, "vxlan-2".
void note_level(std::vector<Part>& levels, const Layer& layer, Bytes size) {
  std::string name = level_name(layer);
  if (layer.level != Level::encapsulation && levels.back().name == name) {
    levels.back().size = size;
    return;
  }
  const auto taken = [&](const std::string& text) {
    return std::any_of(levels.begin(), levels.end(),
                       [&](const Part& level) { return level.name == text; });
  };
  for (int ordinal = 2; taken(name); ++ordinal)
    name = level_name(layer) + "-" + std::to_string(ordinal);
  levels.push_back({name, size});
}

// The layers around an IP packet; `inside` are those of the packet.
std::vector<Layer> over_ethernet(std::vector<Layer> inside, const Carriage& carriage) {
  std::vector<Layer> layers = std::move(inside);
  layers.insert(layers.end(), carriage.encapsulation.begin(), carriage.encapsulation.end());
  if (carriage.vlan == Vlan::tagged) layers.push_back(vlan_layer());
  layers.push_back(ethernet_layer());
  layers.push_back(wire_layer());
  return layers;
}

}  // namespace

Framing::Framing(std::vector<Layer> layers) : layers_(std::move(layers)) {
  LINERATE_CHECK(!layers_.empty() && layers_.back().level == Level::wire,
                 "a framing ends at the wire");
  for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    LINERATE_CHECK(layer.level != Level::wire, "a framing has one wire");
    if (steps_.empty() || layer.padding != experiments::Padding{})
      steps_.push_back({layer.padding, Bytes(0), Bytes(0)});
    // max(m2, max(m1, x + h1) + h2) = max(max(m2, m1 + h2), x + h1 + h2)
    Step& step = steps_.back();
    step.minimum = std::max(layer.minimum, step.minimum + layer.overhead());
    step.overhead += layer.overhead();
  }
  wire_overhead_ = layers_.back().overhead();
  for (const Layer& layer : layers_) {
    if (layer.level == Level::transport || layer.level == Level::network)
      packet_overhead_ += layer.overhead();
    if (layer.outside_mtu) outside_mtu_ += layer.overhead();
  }
}

FrameSizes Framing::sizes(Bytes payload) const {
  return {.payload = static_cast<std::uint32_t>(payload.count()),
          .packet = static_cast<std::uint32_t>(packet_size(payload).count()),
          .wire = static_cast<std::uint32_t>(wire_size(payload).count())};
}

Ledger Framing::ledger(Bytes payload) const {
  Ledger ledger{.payload = payload, .parts = {}, .levels = {{"payload", payload}}};
  Bytes size = payload;
  for (const Layer& layer : layers_) {
    const Bytes outer = layer.expand(size);
    const Bytes pad = outer - size - layer.overhead();
    for (const Part& part : layer.headers) ledger.parts.push_back(part);
    if (pad > Bytes(0)) ledger.parts.push_back({"pad", pad});
    for (const Part& part : layer.trailers) ledger.parts.push_back(part);
    note_level(ledger.levels, layer, outer);
    size = outer;
  }
  return ledger;
}

std::vector<experiments::LayerRate> layer_rates(const Ledger& ledger, BitRate line) {
  std::vector<experiments::LayerRate> rates;
  const auto wire = static_cast<double>(ledger.wire().count());
  for (const Part& level : ledger.levels) {
    const double share = static_cast<double>(level.size.count()) / wire;
    rates.push_back({.name = level.name,
                     .rate = static_cast<double>(line.bits_per_second()) * share,
                     .bytes_per_frame = level.size.count()});
  }
  return rates;
}

double frame_rate(const Ledger& ledger, BitRate line) {
  return static_cast<double>(line.bits_per_second()) / static_cast<double>(ledger.wire().bits());
}

Framing tcp_framing(const Carriage& carriage, Bytes options) {
  return Framing(over_ethernet({tcp_layer(options), ip_layer(carriage.ip)}, carriage));
}

Framing udp_framing(const Carriage& carriage) {
  return Framing(over_ethernet({udp_layer(), ip_layer(carriage.ip)}, carriage));
}

Ledger datagram_ledger(const Carriage& carriage, Bytes datagram, Bytes mtu) {
  const Bytes in_packet = datagram + udp_layer().overhead();
  const experiments::Fragments packets = experiments::fragments(carriage.ip, in_packet, mtu);
  if (packets.count == 1) return udp_framing(carriage).ledger(datagram);
  const auto add = [](std::vector<Part>& to, const std::vector<Part>& parts, std::int64_t times) {
    for (const Part& part : parts) {
      auto own = std::find_if(to.begin(), to.end(),
                              [&](const Part& other) { return other.name == part.name; });
      if (own == to.end()) own = to.insert(to.end(), {part.name, Bytes(0)});
      own->size += part.size * times;
    }
  };
  Ledger sum{.payload = datagram,
             .parts = udp_layer().headers,
             .levels = {{"payload", datagram}, {"l4", in_packet}}};
  const Bytes ip_header = ip_layer(carriage.ip).overhead();
  add(sum.parts, ip_layer(carriage.ip).headers, packets.count);
  if (packets.header > ip_header)
    sum.parts.push_back({"IPv6 fragment header", (packets.header - ip_header) * packets.count});
  const Framing framing = packet_framing(carriage);
  for (const auto& [packet, times] :
       {std::pair{packets.full, packets.count - 1}, std::pair{packets.last, std::int64_t{1}}}) {
    Ledger one = framing.ledger(packet);
    one.levels.front().name = "l3";
    add(sum.parts, one.parts, times);
    add(sum.levels, one.levels, times);
  }
  return sum;
}

Framing packet_framing(const Carriage& carriage) { return Framing(over_ethernet({}, carriage)); }

Framing raw_framing() { return Framing({raw_frame_layer(), wire_layer()}); }

}  // namespace linerate::models
