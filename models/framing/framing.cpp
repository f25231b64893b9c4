#include "models/framing/framing.hpp"

#include <utility>

#include "sim/check.hpp"

namespace linerate::models {

namespace {

std::string level_name(Level level) {
  switch (level) {
    case Level::transport:
      return "l4";
    case Level::network:
      return "l3";
    case Level::link:
      return "l2";
    case Level::wire:
      return "wire";
  }
  LINERATE_CHECK(false, "a layer has a level");
}

bool bounded_by_mtu(const Layer& layer) {
  return layer.level != Level::link && layer.level != Level::wire;
}

// Tags and Ethernet belong to one level: the last of them gives its size.
void note_level(std::vector<Part>& levels, const std::string& name, Bytes size) {
  if (!levels.empty() && levels.back().name == name)
    levels.back().size = size;
  else
    levels.push_back({name, size});
}

std::vector<Layer> over_ethernet(Layer transport, int ip, Vlan vlan) {
  std::vector<Layer> layers{std::move(transport), ip_layer(ip)};
  if (vlan == Vlan::tagged) layers.push_back(vlan_layer());
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
    // max(m2, max(m1, x + h1) + h2) = max(max(m2, m1 + h2), x + h1 + h2)
    frame_minimum_ = std::max(layer.minimum, frame_minimum_ + layer.overhead());
    frame_overhead_ += layer.overhead();
  }
  wire_overhead_ = layers_.back().overhead();

  // The MTU ends below the outermost run of link layers; a link layer deeper inside (a tunnelled
  // frame) counts against it.
  std::size_t outermost = layers_.size();
  while (outermost > 0 && !bounded_by_mtu(layers_[outermost - 1])) --outermost;
  for (std::size_t i = 0; i < outermost; ++i) overhead_within_mtu_ += layers_[i].overhead();
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
    note_level(ledger.levels, level_name(layer.level), outer);
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

Framing tcp_framing(int ip, Bytes options, Vlan vlan) {
  return Framing(over_ethernet(tcp_layer(options), ip, vlan));
}

Framing udp_framing(int ip, Vlan vlan) { return Framing(over_ethernet(udp_layer(), ip, vlan)); }

Framing raw_framing() { return Framing({raw_frame_layer(), wire_layer()}); }

}  // namespace linerate::models
