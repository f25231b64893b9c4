// Hosts whose frames cross a bus, and hosts that forward: from the wire to memory, through a core
// of a router, and from memory to the wire.
#include <algorithm>
#include <utility>

#include "models/network/network.hpp"
#include "models/nic/receive_hash.hpp"

namespace linerate::models {

namespace {

using experiments::DmaDirection;
using experiments::Host;
using experiments::Nic;

// A line of forwarding costs, as experiments::ForwardCosts counts it.
constexpr std::uint32_t kCacheLine = 64;

// Whether forwarding a frame takes a core any time.
bool forwarding_costs(const Host& host) {
  const experiments::ForwardCosts& costs = host.forward_costs;
  if (host.forwarding == experiments::Forwarding::none) return false;
  if (host.forward_frame() > Time{} || costs.line > Time{} || costs.interrupt > Time{}) return true;
  if (host.cpu.ciphers != experiments::Ciphers{}) return true;
  return host.forwarding == experiments::Forwarding::poll_mode &&
         host.bus.type != experiments::BusType::none;
}

std::uint32_t bytes_in_memory(const Packet& packet, const Nic& nic) {
  return packet.wire_bytes - kOutsideFrame - (nic.dma.fcs ? 0 : kFcsBytes);
}

}  // namespace

void Network::build_hosts() {
  const auto count = static_cast<std::uint32_t>(experiment_.hosts.size());
  routers_.resize(count);
  for (std::uint32_t h = 0; h < count; ++h) {
    const Host& host = experiment_.hosts[h];
    buses_.emplace_back();
    if (host.bus.type != experiments::BusType::none)
      buses_.back() = std::make_unique<HostBus>(experiments::half_duplex(host.bus));
    for (std::uint32_t n = 0; n < host.nics.size(); ++n) {
      const Nic& nic = host.nics[n];
      nic_places_.push_back({h, n});
      receive_dma_.emplace_back();
      if (!buses_.back() || nic.ideal || !nic.on_bus) continue;
      const DmaCost cost(host.bus, nic, DmaDirection::to_memory, host.nics.size() > 1);
      receive_dma_.back() = std::make_unique<ReceiveDma>(*buses_.back(), cost, nic.fifo.receive);
    }
    if (forwarding_costs(host)) build_router(h);
  }
  forward_drops_.resize(nic_places_.size());
}

void Network::build_router(std::uint32_t index) {
  const Host& host = experiment_.hosts[index];
  const experiments::ForwardCosts& costs = host.forward_costs;
  Router& router = routers_[index];
  std::uint32_t queues = 0;
  ForwardingRule rule{.interrupt_per_frame = false,
                      .interrupt = Time{},
                      .moderation = Time{},
                      .ring = 1,
                      .backlog = costs.backlog};
  for (const Nic& nic : host.nics) {
    router.first_queue.push_back(queues);
    queues += static_cast<std::uint32_t>(nic.queues);
    rule.ring = std::max<std::int64_t>(rule.ring, nic.receive_ring);
    rule.moderation = later(rule.moderation, nic.receive_coalescing.delay);
  }
  if (host.forwarding == experiments::Forwarding::kernel) {
    rule.interrupt_per_frame = costs.interrupts == experiments::ForwardInterrupts::per_frame;
    rule.interrupt = costs.interrupt;
    rule.idle_states = host.cpu.idle_states;
  } else {
    rule.moderation = Time{};  // it never stops looking
  }
  const int cores = costs.cores > 0 ? std::min(costs.cores, host.cpu.cores) : host.cpu.cores;
  router.first_core = static_cast<std::uint32_t>(core_hosts_.size());
  for (int core = 0; core < cores; ++core) {
    router.cores.emplace_back(rule, queues);
    core_hosts_.push_back(index);
  }
}

void Network::add_dma(EgressPort& port, const experiments::PortRef& from) {
  const std::uint32_t index = nic_index(from.node, from.port);
  if (!receive_dma_[index]) return;
  const Host& host = experiment_.hosts[from.node];
  const Nic& nic = host.nics[from.port];
  // With Ethernet header, a tag and what the wire adds (IEEE 802.3 3.2.7, 802.1Q).
  const Bytes largest = nic.mtu + Bytes(14 + 4 + kFcsBytes + kOutsideFrame);
  port.dma.emplace(*buses_[static_cast<std::size_t>(from.node)],
                   DmaCost(host.bus, nic, DmaDirection::to_nic, host.nics.size() > 1), nic.fifo,
                   static_cast<std::uint32_t>(largest.count()));
}

// ---- from the wire to memory ----

// A frame has come to a NIC whose host has a bus.
void Network::land(Time now, std::uint32_t nic, PacketHandle handle, Packet& packet) {
  // The MAC deals with control frames itself.
  if (packet.kind >= PacketKind::pause) [[unlikely]]
    return heed_control(now, handle, packet);
  if (!receive_dma_[nic]->add(now, handle, packet.wire_bytes)) return packets_.release(handle);
  run_dma(now, nic);
}

void Network::run_dma(Time now, std::uint32_t nic) {
  ReceiveDma& dma = *receive_dma_[nic];
  const Time next = dma.next();
  if (dma.wakes <= next) return;  // it will look again then
  dma.wakes = next;
  engine_->schedule(nic_source(nic), later(next, now), Kind::dma, nic);
}

void Network::on_dma(Time now, std::uint32_t nic) {
  ReceiveDma& dma = *receive_dma_[nic];
  if (dma.wakes != now) return;  // an earlier event took its place
  dma.wakes = Time::never();
  dma.run(now);
  while (const std::optional<PacketHandle> handle = dma.take(now)) in_memory(now, nic, *handle);
  run_dma(now, nic);
}

void Network::in_memory(Time now, std::uint32_t nic, PacketHandle handle) {
  Packet& packet = packets_.get(handle);
  const std::uint32_t next = hops_[packet.hop];
  if (next == kArrived) {
    if (nics_[nic].moderated() || on_core(nic)) return enqueue(now, nic, handle);
    return hand_up(now, handle, packet);
  }
  Router& router = routers_[nic_places_[nic].host];
  if (router.cores.empty()) {
    transmit(now, next, {handle, packet}, now);
    return;
  }
  const experiments::Nic& from =
      experiment_.hosts[nic_places_[nic].host].nics[nic_places_[nic].nic];
  const std::size_t queue = router.first_queue[nic_places_[nic].nic] +
                            receive_hash(packet.receiver) % static_cast<std::uint64_t>(from.queues);
  const auto index = static_cast<std::uint32_t>(queue % router.cores.size());
  ForwardingCore& core = router.cores[index];
  switch (core.add(now, handle, forwarding_time(router, nic, packet), queue)) {
    case ForwardingCore::Added::waits:
      return wake_core(router.first_core + index);
    case ForwardingCore::Added::ring_full:
      ++forward_drops_[nic].ring;
      return packets_.release(handle);
    case ForwardingCore::Added::backlog_full:
      ++forward_drops_[nic].backlog;
      packets_.release(handle);
      return wake_core(router.first_core + index);
  }
}

// ---- through a router ----

// A frame on its way further has come to a host with a bus or with costs of forwarding.
void Network::pass_host(Time now, std::uint32_t nic, PacketHandle handle, Packet& packet) {
  if (receive_dma_[nic]) return land(now, nic, handle, packet);
  in_memory(now, nic, handle);
}

// What forwarding a frame that came through `nic` takes a core.
Time Network::forwarding_time(Router& router, std::uint32_t nic, const Packet& packet) {
  const std::uint32_t wire = hops_[packet.hop];
  if (packet.wire_bytes == router.last_bytes && wire == router.last_wire && nic == router.last_nic)
    return router.last_cost;
  router.last_bytes = packet.wire_bytes;
  router.last_wire = wire;
  router.last_nic = nic;
  const Host& host = experiment_.hosts[nic_places_[nic].host];
  const Nic& in = host.nics[nic_places_[nic].nic];
  const Nic& out = host.nics[experiment_.links[wire / 2].ends[wire % 2].port];
  const std::uint32_t lines = (bytes_in_memory(packet, in) + kCacheLine - 1) / kCacheLine;
  // Tunnels end and begin at the NICs that have them. IP and TCP with timestamps, or UDP.
  const std::uint32_t headers = packet.kind == PacketKind::tcp ? 52 : 28;
  const Bytes inside{packet.segment.length + headers};
  const Time work = host.forward_frame() + host.forward_costs.line * lines +
                    host.cpu.ciphers.tunnel_time(in.encapsulation, inside) +
                    host.cpu.ciphers.tunnel_time(out.encapsulation, inside);
  router.last_cost = work;
  if (host.forwarding != experiments::Forwarding::poll_mode) return work;
  const bool shared = host.nics.size() > 1;
  const auto dma = [&](const Nic& end, DmaDirection direction) {
    const bool received = direction == DmaDirection::to_memory;
    const Bytes frame{received ? bytes_in_memory(packet, end)
                               : packet.wire_bytes - kOutsideFrame - kFcsBytes};
    return experiments::dma_time(host.bus, end, direction, frame, shared);
  };
  const experiments::DmaTime reading = dma(out, DmaDirection::to_nic);
  const experiments::DmaTime writing = dma(in, DmaDirection::to_memory);
  const Time up = reading.up + writing.up, down = reading.down + writing.down;
  const Time both = experiments::half_duplex(host.bus) ? up + down : later(up, down);
  router.last_cost = poll_mode_time(later(both, later(reading.memory, writing.memory)), work);
  return router.last_cost;
}

ForwardingCore& Network::core(std::uint32_t index) {
  Router& router = routers_[core_hosts_[index]];
  return router.cores[index - router.first_core];
}

// Interrupts put the end of a core's work off; the event that comes too early looks again.
void Network::wake_core(std::uint32_t index) {
  ForwardingCore& at = core(index);
  if (at.wakes <= at.end()) return;
  at.wakes = at.end();
  engine_->schedule(core_source(index), at.end(), Kind::forward, index);
}

void Network::on_forwarded(Time now, std::uint32_t index) {
  ForwardingCore& at = core(index);
  if (at.wakes != now) return;
  at.wakes = Time::never();
  if (at.end() == now) {
    const PacketHandle handle = at.finish(now);
    Packet& packet = packets_.get(handle);
    transmit(now, hops_[packet.hop], {handle, packet}, now);
  }
  wake_core(index);
}

// ---- from memory to the wire ----

// As serve_port(): frames are fetched one by one, as far ahead of the wire as the FIFO has room.
void Network::serve_dma(Time now, EgressPort& port) {
  TransmitDma& dma = *port.dma;
  while (!port.down && !(port.queue.empty() && port.control.empty() && !dma.again)) {
    if (!port.control.empty()) {
      send_pause(now, port);
      continue;
    }
    if (dma.free_at() > now) return wake_port(port, dma.free_at());
    port.leaving.expire(now);
    if (!dma.room(port.leaving.bytes())) return wake_port(port, port.leaving.departure(0));
    const std::uint8_t paused = port.paused(now);
    if (dma.again) {
      const QueuedFrame frame = *std::exchange(dma.again, std::nullopt);
      fetch(now, port, frame);
      continue;
    }
    const std::optional<QueuedFrame> frame = port.queue.dequeue(now, paused);
    drop_evicted(now, port);
    if (!frame) {
      if (paused != 0) wake_port(port, port.next_release(now));
      return;
    }
    fetch(now, port, *frame);
  }
}

void Network::fetch(Time now, EgressPort& port, const QueuedFrame& frame) {
  Wire& wire = wires_[port.wire];
  const Time serialization = wire.serialization(frame.bytes);
  const TransmitDma::Fetched fetched =
      port.dma->fetch(now, frame.bytes, later(wire.idle_from(), now), serialization);
  if (!fetched.dry) return launch(now, port, frame, fetched.start);
  // The MAC ends the frame with a wrong checksum; the driver sends it again.
  const double share = (*fetched.dry - fetched.start).seconds() / serialization.seconds();
  wire.put_fragment(fetched.start, *fetched.dry,
                    static_cast<std::uint32_t>(share * static_cast<double>(frame.bytes)));
  port.dma->raise_threshold();
  port.dma->again = frame;
}

}  // namespace linerate::models
