// Shared media: stations take frames from the queues of their ports, and the medium says what has
// become of each. A frame crosses all wires from its station to the next at once: a hub keeps none.
#include <algorithm>

#include "experiments/definition/shared_medium.hpp"
#include "models/network/network.hpp"

namespace linerate::models {

void Network::build_media() {
  for (const experiments::SharedMedium& shared : experiments::shared_media(experiment_)) {
    DomainConfig domain{.rate = shared.rate,
                        .slot = shared.slot,
                        .separate_pairs = shared.hubs.empty(),
                        .stations = {},
                        .delays = {}};
    std::vector<std::uint32_t> wires;
    for (const experiments::Hop& station : shared.stations) {
      const auto wire = static_cast<std::uint32_t>(station.link * 2 + station.from_end);
      const experiments::Link& link = experiment_.links[station.link];
      domain.stations.push_back(
          {link.duplex[station.from_end] == experiments::Duplex::half,
           sim::RandomStream({.seed = config_.seed, .entity = wire, .name = "back-off"})});
      ports_[wire]->medium = static_cast<std::uint32_t>(media_.size());
      ports_[wire]->station = static_cast<std::uint32_t>(wires.size());
      wires.push_back(wire);
    }
    for (const experiments::SignalWay& way : shared.ways) domain.delays.push_back(way.delay);
    media_.push_back(std::make_unique<Medium>(
        Medium{CollisionDomain(std::move(domain)), std::move(wires), Time::never(), false}));
    random_ = true;
  }
}

// The station that a frame on `hop` reaches first.
std::uint32_t Network::next_station(std::uint32_t hop) const {
  while (junctions_[hops_[hop]].kind == Junction::Kind::hub) ++hop;
  return ports_[hops_[hop] ^ 1u]->station;
}

// Gives a station without a frame the head of its port's queue.
void Network::load_station(Time now, EgressPort& port) {
  Medium& medium = *media_[port.medium];
  if (!medium.domain.ready(port.station)) return;
  const std::optional<QueuedFrame> frame = port.queue.dequeue(now, 0);
  drop_evicted(now, port);
  if (!frame) return;
  Packet& packet = packets_.get(frame->packet);
  packet.segment.ecn = frame->ecn;
  medium.domain.offer(now, port.station, {frame->packet, frame->bytes, next_station(packet.hop)});
}

void Network::serve_station(Time now, EgressPort& port) {
  load_station(now, port);
  run_medium(now, port.medium);
}

void Network::run_medium(Time now, std::uint32_t index) {
  Medium& medium = *media_[index];
  // What a report leads to can queue another frame here: it is taken up further down the loop.
  if (medium.running) return;
  medium.running = true;
  while (const std::optional<MacReport> report = medium.domain.next(now))
    heed_report(now, medium, *report);
  medium.running = false;
  const Time at = medium.domain.deadline();
  if (medium.wakes <= at) return;
  medium.wakes = at;
  engine_->schedule(medium.wires.front(), at, Kind::medium, index);
}

void Network::on_medium(Time now, std::uint32_t index) {
  if (media_[index]->wakes != now) return;  // an earlier event took its place
  media_[index]->wakes = Time::never();
  run_medium(now, index);
}

void Network::heed_report(Time now, Medium& medium, const MacReport& report) {
  const std::uint32_t wire = medium.wires[report.station];
  Packet& packet = packets_.get(report.packet);
  switch (report.kind) {
    case MacReport::Kind::sent:
      wires_[wire].show_departure(now, packet);
      leave_station(now, *ports_[wire], packet);
      return;
    case MacReport::Kind::late_collision:
    case MacReport::Kind::excessive_collisions:
      wires_[wire].count_drop(report.kind == MacReport::Kind::late_collision
                                  ? Drop::late_collision
                                  : Drop::excessive_collisions);
      leave_station(now, *ports_[wire], packet);
      packets_.release(report.packet);
      return;
    case MacReport::Kind::destroyed:
      wires_[wire ^ 1u].count_drop(Drop::collision);
      packets_.release(report.packet);
      return;
    case MacReport::Kind::delivered:
      deliver(now, report.packet, packet);
      return;
  }
}

// The MAC is done with a frame, and takes the next before anything else happens.
void Network::leave_station(Time now, EgressPort& port, const Packet& packet) {
  release_memory(now, port, packet);
  let_go(now, packet);
  load_station(now, port);
}

void Network::deliver(Time now, PacketHandle handle, Packet& packet) {
  for (;; ++packet.hop) {
    const std::uint32_t wire = hops_[packet.hop];
    if (wires_[wire].carried(now, packet) != Drop::none) return packets_.release(handle);
    if (junctions_[wire].kind == Junction::Kind::hub) {
      wires_[hops_[packet.hop + 1]].show_departure(now, packet);
      continue;
    }
    packet.tail = now;
    return arrive(now, wire, handle, packet);
  }
}

// A hub repeats what comes in at one port at all others.
void Network::count_from(std::uint32_t wire, const MacCounters& counters) {
  wires_[wire].count(counters.frames, counters.wire_bytes, counters.sending);
  const experiments::PortRef& far = experiment_.links[wire / 2].ends[1 - wire % 2];
  if (far.kind != experiments::NodeKind::hub) return;
  for (std::uint32_t next = 0; next < wires_.size(); ++next) {
    const experiments::PortRef& from = experiment_.links[next / 2].ends[next % 2];
    if (from.kind == far.kind && from.node == far.node && next != (wire ^ 1u))
      count_from(next, counters);
  }
}

void Network::count_media() {
  for (const auto& medium : media_)
    for (std::uint32_t i = 0; i < medium->wires.size(); ++i)
      count_from(medium->wires[i], medium->domain.counters(i));
}

}  // namespace linerate::models
