// Flows that leave a link that is down and come back when it is up: which, when and to which route
// is known when the network is built, because its events are. While it runs a flow changes the
// number of its route; packets under way keep theirs.
#include <algorithm>
#include <iterator>
#include <utility>

#include "models/network/network.hpp"

namespace linerate::models {

namespace {

using experiments::LinkAction;

// A link that goes down or up, and when those who choose ways know of it.
struct CarrierChange {
  Time at{}, known{};
  int link = 0;
  bool down = false;
};

std::vector<CarrierChange> carrier_changes(const std::vector<experiments::LinkEvent>& events) {
  std::vector<CarrierChange> changes;
  for (const experiments::LinkEvent& event : events) {
    if (event.action != LinkAction::down && event.action != LinkAction::up) continue;
    const bool down = event.action == LinkAction::down;
    changes.push_back({event.at, event.at + event.reroute, event.link, down});
    if (!event.lasts) continue;
    const Time end = event.at + *event.lasts;
    changes.push_back({end, end + event.reroute, event.link, !down});
  }
  // What is undone before anybody has noticed moves no flow.
  std::vector<CarrierChange> noticed;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(noticed), [&](const auto& each) {
    return std::none_of(changes.begin(), changes.end(), [&](const auto& other) {
      return other.link == each.link && other.down != each.down && other.at > each.at &&
             other.at <= each.known;
    });
  });
  std::stable_sort(noticed.begin(), noticed.end(),
                   [](const auto& a, const auto& b) { return a.known < b.known; });
  return noticed;
}

}  // namespace

void Network::plan_reroutes() {
  const std::vector<CarrierChange> changes = carrier_changes(experiment_.events);
  if (changes.empty()) return;
  const std::size_t built = legs_.size();
  std::vector<std::uint32_t> current(built);
  for (std::uint32_t i = 0; i < built; ++i) current[i] = i;
  std::vector<Reroute::Move> users(built);  // who has which route
  for (std::uint32_t i = 0; i < ends_.size(); ++i) users[ends_[i].route] = {i, false, 0};
  for (std::uint32_t i = 0; i < datagram_flows_.size(); ++i)
    users[datagram_flows_[i].route] = {i, true, 0};

  std::set<int> down;
  for (const CarrierChange& change : changes) {
    if (change.down)
      down.insert(change.link);
    else
      down.erase(change.link);
    const experiments::Topology rest(experiment_, down);
    Reroute step{.at = change.known, .moves = {}};
    for (std::uint32_t i = 0; i < built; ++i) {
      const std::uint32_t route = way_around(rest, down, i, current[i]);
      if (route == std::exchange(current[i], route)) continue;
      step.moves.push_back({users[i].end, users[i].datagrams, route});
    }
    if (!step.moves.empty()) reroutes_.push_back(std::move(step));
  }
}

// The route for a flow while some links are down: the one it was built with where that works, else
// the one it has, else a new one. Only flows that lose their way move (RFC 2992 calls that minimal
// disruption); without another way they stay where they are.
std::uint32_t Network::way_around(const experiments::Topology& topology, const std::set<int>& down,
                                  std::uint32_t built, std::uint32_t current) {
  if (!crosses(built, down)) return built;
  if (!crosses(current, down)) return current;
  const std::optional<std::uint32_t> found = find_route(topology, legs_[built]);
  return found && can_replace(routes_[built], routes_[*found]) ? *found : current;
}

bool Network::crosses(std::uint32_t route, const std::set<int>& links) const {
  const std::vector<std::uint32_t>& wires = routes_[route].wires;
  return std::any_of(wires.begin(), wires.end(), [&](std::uint32_t wire) {
    return links.count(static_cast<int>(wire / 2)) > 0;
  });
}

// A flow keeps its frames, its largest packet and its host's way of handing them over, so it can
// only take a route that has room for these.
bool Network::can_replace(const Route& built, const Route& other) const {
  return other.carriage == built.carriage && other.mtu >= built.mtu &&
         other.narrowest >= built.narrowest && takes_at_once(other) == takes_at_once(built) &&
         is_virtual_pair(other) == is_virtual_pair(built);
}

void Network::schedule_link_changes() {
  for (std::uint32_t i = 0; i < experiment_.events.size(); ++i) {
    const experiments::LinkEvent& event = experiment_.events[i];
    const auto wire = static_cast<std::uint32_t>(event.link) * 2;
    engine_->schedule(wire, event.at, Kind::link_event, i);
    if (event.lasts) engine_->schedule(wire, event.at + *event.lasts, Kind::link_event, i, 1);
  }
  for (std::uint32_t i = 0; i < reroutes_.size(); ++i)
    engine_->schedule(0, reroutes_[i].at, Kind::reroute, i);
}

void Network::on_reroute(std::uint32_t index) {
  for (const auto& [end, datagrams, route] : reroutes_[index].moves) {
    if (!datagrams) {
      left_by_ends_[end].push_back({ends_[end].route, ends_[end].wire_bytes_sent});
      set_route(ends_[end], route);
      if (!ends_[end].on_core) continue;
      const std::uint32_t wire = routes_[route].wires.front();
      const experiments::PortRef& port = experiment_.links[wire / 2].ends[wire % 2];
      processes_[end].nic = nic_index(port.node, port.port);
      continue;
    }
    DatagramFlow& flow = datagram_flows_[end];
    left_by_datagrams_[end].push_back({flow.route, sent_by(flow)});
    flow.route = route;
    flow.first_hop = routes_[route].first_hop;
  }
}

std::vector<Network::Passage> Network::passages(const TcpEnd& end) const {
  std::vector<Passage> sums;
  const auto index = static_cast<std::uint32_t>(&end - ends_.data());
  if (const auto left = left_by_ends_.find(index); left != left_by_ends_.end()) sums = left->second;
  sums.push_back({end.route, end.wire_bytes_sent});
  return differences(std::move(sums));
}

std::vector<Network::Passage> Network::passages(const DatagramFlow& flow) const {
  std::vector<Passage> sums;
  const auto index = static_cast<std::uint32_t>(&flow - datagram_flows_.data());
  if (const auto left = left_by_datagrams_.find(index); left != left_by_datagrams_.end())
    sums = left->second;
  sums.push_back({flow.route, sent_by(flow)});
  return differences(std::move(sums));
}

std::vector<Network::Passage> Network::differences(std::vector<Passage> sums) {
  for (std::size_t i = sums.size() - 1; i > 0; --i) sums[i].wire_bytes -= sums[i - 1].wire_bytes;
  return sums;
}

std::uint32_t Network::route_at(std::uint32_t hop) const {
  const auto after = std::upper_bound(
      routes_.begin(), routes_.end(), hop,
      [](std::uint32_t place, const Route& route) { return place < route.first_hop; });
  return static_cast<std::uint32_t>(after - routes_.begin()) - 1;
}

}  // namespace linerate::models
