#include "experiments/definition/shared_medium.hpp"

#include "experiments/definition/media.hpp"
#include "sim/check.hpp"

namespace linerate::experiments {

namespace {

constexpr std::int64_t kFastEthernet = 100'000'000, kGigabit = 1'000'000'000;

struct HubPort {
  int link = 0;
  int end = 0;   // of the link, at the hub
  int port = 0;  // of the hub
};
using HubPorts = std::vector<std::vector<HubPort>>;  // by hub

HubPorts ports_of_hubs(const Experiment& experiment) {
  HubPorts ports(experiment.hubs.size());
  for (std::size_t i = 0; i < experiment.links.size(); ++i)
    for (int end = 0; end < 2; ++end)
      if (const PortRef& at = experiment.links[i].ends[end]; at.kind == NodeKind::hub)
        ports[static_cast<std::size_t>(at.node)].push_back({static_cast<int>(i), end, at.port});
  return ports;
}

class MediumBuilder {
 public:
  MediumBuilder(const Experiment& experiment, const HubPorts& ports, SharedMedium& medium)
      : experiment_(experiment), ports_(ports), medium_(medium) {}

  // All that is linked to `hub` over hubs.
  void gather(int hub, std::vector<bool>& seen) {
    if (seen[static_cast<std::size_t>(hub)]) return;
    seen[static_cast<std::size_t>(hub)] = true;
    medium_.hubs.push_back(hub);
    for (const HubPort& at : ports_[static_cast<std::size_t>(hub)]) {
      const PortRef& far = link(at.link).ends[1 - at.end];
      if (far.kind == NodeKind::hub) {
        if (at.end == 0) medium_.links.push_back(at.link);  // found from both of its hubs
        gather(far.node, seen);
      } else {
        medium_.links.push_back(at.link);
        medium_.stations.push_back({at.link, 1 - at.end});
      }
    }
  }

  void find_ways() {
    const std::size_t count = medium_.stations.size();
    medium_.ways.resize(count * count);
    index_.assign(experiment_.links.size() * 2, -1);
    for (std::size_t i = 0; i < count; ++i) index_of(medium_.stations[i]) = static_cast<int>(i);
    for (std::size_t i = 0; i < count; ++i) follow(i, medium_.stations[i], {});
  }

 private:
  const Link& link(int index) const { return experiment_.links[static_cast<std::size_t>(index)]; }
  int& index_of(const Hop& hop) {
    return index_[static_cast<std::size_t>(hop.link * 2 + hop.from_end)];
  }

  // A signal goes over a link, and from a hub at its end on to all other ports. Hubs form a tree.
  void follow(std::size_t from, const Hop& hop, SignalWay way) {
    const Link& over = link(hop.link);
    way.delay += over.propagation + over.delay;
    const PortRef& end = over.ends[1 - hop.from_end];
    if (end.kind != NodeKind::hub) {
      const int to = index_of({hop.link, 1 - hop.from_end});
      medium_.ways[from * medium_.stations.size() + static_cast<std::size_t>(to)] = way;
      return;
    }
    const Hub& hub = experiment_.hubs[static_cast<std::size_t>(end.node)];
    way.repeaters += hub.coaxial() ? 0 : 1;
    way.segments += hub.coaxial() ? 1 : 0;
    for (const HubPort& next : ports_[static_cast<std::size_t>(end.node)]) {
      if (next.link == hop.link) continue;
      SignalWay onward = way;
      onward.delay += between(hub, end.port, next.port);
      follow(from, {next.link, next.end}, onward);
    }
  }

  static Time between(const Hub& hub, int one, int other) {
    if (!hub.coaxial()) return hub.latency;
    const double spacing = hub.length_m / (hub.ports - 1);
    return propagation_delay(*find_medium(hub.medium),
                             spacing * (one > other ? one - other : other - one));
  }

  const Experiment& experiment_;
  const HubPorts& ports_;
  SharedMedium& medium_;
  std::vector<int> index_;  // of the station that transmits on a link's end, -1: none
};

}  // namespace

bool is_shared(const Link& link) {
  for (int end = 0; end < 2; ++end)
    if (link.ends[end].kind == NodeKind::hub || link.duplex[end] == Duplex::half) return true;
  return false;
}

std::vector<SharedMedium> shared_media(const Experiment& experiment) {
  std::vector<SharedMedium> media;
  const HubPorts ports = ports_of_hubs(experiment);
  std::vector<bool> seen(experiment.hubs.size());
  for (std::size_t h = 0; h < experiment.hubs.size(); ++h) {
    if (seen[h] || ports[h].empty()) continue;
    SharedMedium& medium = media.emplace_back();
    medium.path = "hubs." + experiment.hubs[h].name;
    medium.rate = experiment.hubs[h].rate;
    MediumBuilder builder(experiment, ports, medium);
    builder.gather(static_cast<int>(h), seen);
    for (const int hub : medium.hubs)
      if (const auto& slot = experiment.hubs[static_cast<std::size_t>(hub)].slot)
        medium.slot = slot;
    builder.find_ways();
  }
  for (std::size_t i = 0; i < experiment.links.size(); ++i) {
    const Link& link = experiment.links[i];
    if (!is_shared(link) || link.ends[0].kind == NodeKind::hub ||
        link.ends[1].kind == NodeKind::hub)
      continue;
    SharedMedium& medium = media.emplace_back();
    medium.path = "links." + link.name;
    medium.rate = link.rate;
    medium.links = {static_cast<int>(i)};
    medium.stations = {{static_cast<int>(i), 0}, {static_cast<int>(i), 1}};
    MediumBuilder(experiment, ports, medium).find_ways();
  }
  return media;
}

// 10 Mbit/s: table 13-3 has 15.25 and 165 bit times for the end segments of a way over 10BASE-T, of
// which a repeater has 42; the sum may be 575. 100 Mbit/s: table 29-3, two TX or FX ports.
// 1 Gbit/s: table 42-3, two ports.
RoundTripBudget round_trip_budget(BitRate rate) {
  if (rate.bits_per_second() >= kGigabit) return {864, 4096};
  if (rate.bits_per_second() >= kFastEthernet) return {100, 512};
  return {15.25 + 165 - 42, 575};
}

// Half of what a repeater adds to the round trip in the tables of round_trip_budget(): 42 bit times
// at 10 Mbit/s, 140 (class I) or 92 (class II) at 100 Mbit/s, 976 at 1 Gbit/s.
Time repeater_latency(BitRate rate, RepeaterClass repeater_class) {
  std::int64_t bits = 21;
  if (rate.bits_per_second() >= kGigabit)
    bits = 488;
  else if (rate.bits_per_second() >= kFastEthernet)
    bits = repeater_class == RepeaterClass::one ? 70 : 46;
  return serialization_time(Bytes(bits), rate) / 8;
}

}  // namespace linerate::experiments
