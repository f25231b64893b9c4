// Ports that decide late: the way of a frame through an EgressPort, flow control between ports, and
// links that change while the network runs.
#include <algorithm>
#include <utility>

#include "models/network/network.hpp"

namespace linerate::models {

namespace {

// A PAUSE frame is as small as a frame can be (IEEE 802.3 annex 31B).
constexpr std::uint32_t kPauseWireBytes = 84;
// What one quantum of pause time lasts, in bit times (annex 31B.2).
constexpr std::uint32_t kQuantumBytes = 512 / 8;
constexpr std::uint16_t kLongestPause = 0xffff;

}  // namespace

Network::HandedDown Network::not_sent(Time now, std::uint32_t wire,
                                      sim::SlotPool<Packet>::Taken frame, Time not_before,
                                      HandedDown refused) {
  if (!wires_[wire].has_port()) {
    packets_.release(frame.handle);
    return refused;
  }
  // The time a switch takes before a frame is in its queue.
  if (not_before > now) {
    ++between_ports_;
    engine_->schedule(wire, not_before, Kind::enqueue, wire, frame.handle.packed());
    return {Drop::none, Time::never()};
  }
  return {enter_port(now, wire, frame), Time::never()};
}

// Puts a frame into the queue in front of a wire, or drops and counts it.
Drop Network::enter_port(Time now, std::uint32_t wire, sim::SlotPool<Packet>::Taken frame) {
  EgressPort& port = *ports_[wire];
  const Packet& packet = frame.value;
  const QueuedFrame queued{.packet = frame.handle,
                           .bytes = packet.wire_bytes,
                           .flow = packet.receiver * 2 + (packet.kind == PacketKind::tcp ? 0 : 1),
                           .priority = packet.priority,
                           .ecn = packet.segment.ecn,
                           .cause = Drop::none,
                           .queued = now};
  Drop drop = port.down ? Drop::down : Drop::none;
  if (drop == Drop::none && !admits(now, port, packet)) drop = Drop::queue;
  if (drop == Drop::none) drop = port.queue.enqueue(now, queued);
  if (drop != Drop::none) {
    wires_[wire].count_drop(drop);
    let_go(now, packet);
    packets_.release(frame.handle);
    return drop;
  }
  if (port.buffer) port.buffer->hold(port.buffer_port, packet.wire_bytes);
  wires_[wire].note_queue(port.queue.bytes());
  count_ingress(now, packet, packet.wire_bytes);
  drop_evicted(now, port);
  serve_port(now, port);
  return Drop::none;
}

bool Network::admits(Time now, EgressPort& port, const Packet& packet) {
  if (port.buffer)
    return lossless(packet) ? port.buffer->fits(now, packet.wire_bytes)
                            : port.buffer->admits(now, port.buffer_port, packet.wire_bytes);
  if (!port.memory) return true;
  port.leaving.expire(now);
  return port.leaving.bytes() + port.queue.bytes() + packet.wire_bytes <= *port.memory;
}

// Sends what can be sent now and arranges for being called when more can.
void Network::serve_port(Time now, EgressPort& port) {
  if (port.medium != EgressPort::kNone) return serve_station(now, port);
  if (port.dma) return serve_dma(now, port);
  Wire& wire = wires_[port.wire];
  while (!port.down && !(port.queue.empty() && port.control.empty())) {
    if (wire.idle_from() > now) return wake_port(port, wire.idle_from());
    if (!port.control.empty()) {
      send_pause(now, port);
      continue;
    }
    const std::uint8_t paused = port.paused(now);
    const std::optional<QueuedFrame> frame = port.queue.dequeue(now, paused);
    drop_evicted(now, port);
    if (!frame) {
      if (paused != 0) wake_port(port, port.next_release(now));
      return;
    }
    launch(now, port, *frame);
  }
}

void Network::launch(Time now, EgressPort& port, const QueuedFrame& frame, Time not_before) {
  Packet& packet = packets_.get(frame.packet);
  packet.segment.ecn = frame.ecn;
  release_memory(now, port, packet);
  const bool first_hop = leaves_its_host(packet);
  const std::uint32_t sender = packet.receiver ^ 1u;
  const Bytes ip_bytes = first_hop ? ip_size(packet) : Bytes(0);
  const Wire::Sent sent = wires_[port.wire].put(now, frame.packet, packet, not_before);
  if (port.buffer)
    port.buffer->store(port.buffer_port, sent.departure, frame.bytes);
  else if (port.memory || port.dma)
    port.leaving.add(sent.departure, frame.bytes);
  if (sent.drop != Drop::none)
    packets_.release(frame.packet);
  else if (sent.wake)
    engine_->schedule(port.wire, sent.arrival, Kind::arrival, port.wire);
  if (!first_hop) return;
  ends_[sender].in_device.add(sent.departure, static_cast<std::uint32_t>(ip_bytes.count()));
  if (ends_[sender].on_core) watch_completion(ends_[sender], sender);
  watch_device(sender);
}

// Frames that the queue gave up after it had taken them.
void Network::drop_evicted(Time now, EgressPort& port) {
  std::vector<QueuedFrame>& dropped = port.queue.dropped();
  for (const QueuedFrame& frame : dropped) {
    const Packet& packet = packets_.get(frame.packet);
    wires_[port.wire].count_drop(frame.cause);
    release_memory(now, port, packet);
    let_go(now, packet);
    packets_.release(frame.packet);
  }
  dropped.clear();
}

void Network::release_memory(Time now, EgressPort& port, const Packet& packet) {
  if (port.buffer) port.buffer->release(port.buffer_port, packet.wire_bytes);
  count_ingress(now, packet, -static_cast<std::int64_t>(packet.wire_bytes));
}

// Whether a packet is a segment in front of its sender's own wire, for which its stack waits.
bool Network::leaves_its_host(const Packet& packet) const {
  if (packet.kind != PacketKind::tcp) return false;
  // Its sender may have taken another route since, so what tells is where this one begins.
  const bool first = packet.hop == 0 || hops_[packet.hop - 1] == kArrived;
  return first && !wires_[hops_[packet.hop]].emulated_path();
}

Bytes Network::ip_size(const Packet& packet) const {
  return ends_[packet.receiver ^ 1u].framing.packet_size(
      Bytes(std::int64_t{packet.segment.length} + packet.segment.option_bytes));
}

// A sender gets its memory back when its device has sent a segment, or its own queue has dropped
// it.
void Network::let_go(Time now, const Packet& packet) {
  if (!leaves_its_host(packet)) return;
  const std::uint32_t sender = packet.receiver ^ 1u;
  TcpEnd& end = ends_[sender];
  end.endpoint.on_transmitted(now, ip_size(packet));
  if (end.device_event || !end.endpoint.waits_for_device()) return;
  end.device_event = true;
  engine_->schedule(end_source(sender), now, Kind::device, sender);
}

void Network::wake_port(EgressPort& port, Time at) {
  if (port.wakes <= at) return;  // it will look again then
  port.wakes = at;
  engine_->schedule(port.wire, at, Kind::port, port.wire);
}

void Network::on_port(Time now, std::uint32_t wire) {
  EgressPort& port = *ports_[wire];
  if (port.wakes != now) return;  // an earlier event took its place
  port.wakes = Time::never();
  serve_port(now, port);
}

// ---- flow control ----

// A switch with `pause` stops the sender of what it holds too much of. All its ports decide late,
// so every frame that leaves is seen here.
void Network::count_ingress(Time now, const Packet& packet, std::int64_t bytes) {
  const std::uint32_t wire = ingress_of(packet);
  if (wire == kArrived) return;
  const experiments::Pause& rule = *experiment_.switches[junctions_[wire].node].pause;
  const bool by_priority = rule.by_priority();
  if (by_priority && (rule.mask() >> packet.priority & 1u) == 0) return;
  Ingress& ingress = ingress_[wire];
  const unsigned group = by_priority ? packet.priority : 0u;
  const auto bit = static_cast<std::uint8_t>(1u << group);
  std::int64_t& held = ingress.bytes[group];
  held += bytes;
  if (held > rule.xoff.count() && (ingress.pausing & bit) == 0) {
    ingress.pausing |= bit;
    tell_to_pause(now, wire, group);
  } else if (held <= rule.xon.count() && (ingress.pausing & bit) != 0) {
    ingress.pausing &= static_cast<std::uint8_t>(~bit);
    queue_pause(now, wire ^ 1u, {by_priority ? bit : kEveryPriority, 0});
  }
}

// The wire over which a packet came to the switch it is in, if that switch sends PAUSE frames.
std::uint32_t Network::ingress_of(const Packet& packet) const {
  if (ingress_.empty() || packet.hop == 0) return kArrived;
  const std::uint32_t wire = hops_[packet.hop - 1];
  if (wire == kArrived || !leads_to_switch(wire)) return kArrived;
  return experiment_.switches[junctions_[wire].node].pause ? wire : kArrived;
}

bool Network::lossless(const Packet& packet) const {
  const std::uint32_t wire = ingress_of(packet);
  if (wire == kArrived) return false;
  return (experiment_.switches[junctions_[wire].node].pause->mask() >> packet.priority & 1u) != 0;
}

// Says it now, and again before the pause runs out while the reason lasts.
void Network::tell_to_pause(Time now, std::uint32_t wire, unsigned group) {
  const experiments::Pause& rule = *experiment_.switches[junctions_[wire].node].pause;
  const auto mask = rule.by_priority() ? static_cast<std::uint8_t>(1u << group) : kEveryPriority;
  queue_pause(now, wire ^ 1u, {mask, kLongestPause});
  const Time pause = wires_[wire].serialization(kQuantumBytes) * kLongestPause;
  engine_->schedule(wire, now + pause / 2, Kind::pause, wire, group);
}

void Network::on_pause_refresh(Time now, std::uint32_t wire, unsigned group) {
  if ((ingress_[wire].pausing >> group & 1u) != 0) tell_to_pause(now, wire, group);
}

void Network::queue_pause(Time now, std::uint32_t wire, PauseFrame frame) {
  ports_[wire]->control.push_back(frame);
  serve_port(now, *ports_[wire]);
}

void Network::send_pause(Time now, EgressPort& port) {
  const PauseFrame frame = port.control.take_front();
  const auto taken = packets_.take();
  Packet& packet = taken.value;
  packet.receiver = 0;
  packet.hop = control_hops_[port.wire];
  packet.kind = PacketKind::pause;
  packet.wire_bytes = kPauseWireBytes;
  packet.outside_mtu = kPauseWireBytes;  // there is no packet in it
  packet.sent = now;
  packet.segment.sequence = frame.quanta;
  packet.segment.length = 0;
  packet.segment.flags = frame.priorities;
  packet.segment.retransmission = false;
  packet.segment.ecn = tcp::Ecn::not_ect;
  ++pause_frames_[port.wire];
  const Wire::Sent sent = wires_[port.wire].put(now, taken.handle, packet);
  if (sent.drop != Drop::none)
    packets_.release(taken.handle);
  else if (sent.wake)
    engine_->schedule(port.wire, sent.arrival, Kind::arrival, port.wire);
}

void Network::heed_control(Time now, PacketHandle handle, const Packet& packet) {
  if (packet.kind == PacketKind::pause) return heed_pause(now, handle, packet);
  if (packet.kind == PacketKind::fragment) return hand_up_fragment(now, handle, packet);
  packets_.release(handle);
}

// A PAUSE frame has arrived over the wire it names: what sends in the other direction stops.
void Network::heed_pause(Time now, PacketHandle handle, const Packet& packet) {
  const std::uint32_t wire = hops_[packet.hop - 1] ^ 1u;
  const auto mask = packet.segment.flags;
  const auto quanta = static_cast<std::int64_t>(packet.segment.sequence);
  packets_.release(handle);
  if (!wires_[wire].has_port() || !ports_[wire]->heeds_pause) return;
  EgressPort& port = *ports_[wire];
  const Time until = now + wires_[wire].serialization(kQuantumBytes) * quanta;
  for (unsigned i = 0; i < kPriorities; ++i)
    if ((mask >> i & 1u) != 0) port.paused_until[i] = until;
  serve_port(now, port);
}

// ---- links that change ----

void Network::on_link_event(Time now, std::uint32_t index, bool ends) {
  using experiments::LinkAction;
  const experiments::LinkEvent& event = experiment_.events[index];
  const experiments::Link& link = experiment_.links[event.link];
  for (const unsigned end : {0u, 1u}) {
    const std::uint32_t wire = static_cast<std::uint32_t>(event.link) * 2 + end;
    EgressPort& port = *ports_[wire];
    switch (event.action) {
      case LinkAction::down:
        ends ? bring_up(now, port) : take_down(now, port);
        break;
      case LinkAction::up:
        bring_up(now, port);
        break;
      case LinkAction::loss:
        wires_[wire].set_loss(ends ? link.loss[end] : event.loss);
        break;
      case LinkAction::rate:
        wires_[wire].set_rate(ends ? link.rate : event.rate);
        break;
      case LinkAction::delay:
        wires_[wire].set_latency(link.propagation + (ends ? link.delay : event.delay));
        break;
    }
  }
}

// A link without carrier loses what is on it, and its ports what they hold.
void Network::take_down(Time now, EgressPort& port) {
  port.down = true;
  if (capture_) capture_->cut(now, port.wire);
  Wire& wire = wires_[port.wire];
  wire.for_each_in_flight([&](PacketHandle handle) {
    Packet& packet = packets_.get(handle);
    if (packet.kind == PacketKind::lost) return;
    wire.count_drop(Drop::down);
    packet.kind = PacketKind::lost;
    packet.hop = control_hops_[port.wire];
  });
  while (const std::optional<QueuedFrame> frame = port.queue.dequeue(now, 0)) {
    const Packet& packet = packets_.get(frame->packet);
    wire.count_drop(Drop::down);
    release_memory(now, port, packet);
    let_go(now, packet);
    packets_.release(frame->packet);
  }
  if (port.dma && port.dma->again) {
    packets_.release(std::exchange(port.dma->again, std::nullopt)->packet);
    wire.count_drop(Drop::down);
  }
  drop_evicted(now, port);
  port.control.clear();
}

void Network::bring_up(Time now, EgressPort& port) {
  port.down = false;
  port.paused_until = {};
  serve_port(now, port);
}

}  // namespace linerate::models
