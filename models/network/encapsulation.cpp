// Packets that are not one plain frame all the way: encapsulations and tags that change on it, and
// datagrams in fragments.
#include <algorithm>

#include "experiments/definition/encapsulated_path.hpp"
#include "models/network/network.hpp"

namespace linerate::models {

namespace {

constexpr Bytes kUdpHeaderBytes{8};  // RFC 768
constexpr Bytes kTag{4};             // IEEE 802.1Q

Bytes tag_size(const Carriage& carriage) { return carriage.vlan == Vlan::tagged ? kTag : Bytes(0); }

}  // namespace

// What is around an IP packet on each hop of a route: on the first its sender puts it there, and
// where a router's NIC or a switch makes it another, the frame changes.
void Network::follow_encapsulation(Route& route, const std::vector<experiments::Hop>& path,
                                   int ip) {
  const experiments::EncapsulatedPath around =
      experiments::encapsulated_path(experiment_, path, ip);
  route.mtu = around.mtu;
  route.narrowest = around.narrowest;
  Carriage before;
  for (std::size_t i = 0; i < path.size(); ++i) {
    // Hosts change what is around a packet, switches with VLANs its tag.
    const Carriage here{.ip = ip,
                        .vlan = path[i].tag != 0 ? Vlan::tagged : Vlan::untagged,
                        .encapsulation = around.hops[i].layers};
    if (i == 0) route.carriage = here;
    if (i > 0 && here != before) {
      reframed_.resize(route.first_hop + i, kSameFraming);
      reframed_.push_back(static_cast<std::uint32_t>(framings_.size()));
      Framing framing = packet_framing(here);
      const auto outside = static_cast<std::uint8_t>(framing.outside_mtu().count());
      framings_.push_back({std::move(framing), tag_size(here) - tag_size(route.carriage), outside});
    }
    before = here;
  }
}

// A router or a switch sends a packet on: the frame is what its port makes of it.
void Network::change_framing(Packet& packet) {
  const std::uint32_t index = reframed_[packet.hop];
  if (index == kSameFraming) return;
  const Reframing& frame = framings_[index];
  const Bytes carried{packet.segment.length};
  Bytes wire;
  if (packet.kind == PacketKind::tcp) {
    wire = frame.framing.wire_size(ip_size(packet));
  } else if (packet.kind == PacketKind::raw) {
    // A tester's frame is nobody's packet, but tags are put on it and taken off it.
    wire = wire_size_of_frame(carried + frame.added_tag);
  } else {
    const Bytes udp = packet.kind == PacketKind::datagram ? kUdpHeaderBytes : Bytes(0);
    const Bytes header = datagram_flows_[packet.receiver].fragments.header;
    wire = frame.framing.wire_size(header + udp + carried);
  }
  packet.wire_bytes = static_cast<std::uint32_t>(wire.count());
  packet.outside_mtu = frame.outside_mtu;
}

// All frames of a datagram at once. One that finds no room in the sender's own queue takes the rest
// of the datagram with it.
Drop Network::send_fragments(Time now, Time ready, std::uint32_t index, std::int64_t ordinal) {
  const DatagramFlow& flow = datagram_flows_[index];
  for (std::int64_t number = 0; number < flow.fragments.count; ++number) {
    const bool last = number + 1 == flow.fragments.count;
    const auto frame = packets_.take();
    Packet& packet = frame.value;
    packet.receiver = index;
    packet.hop = flow.first_hop;
    packet.kind = PacketKind::fragment;
    packet.priority = flow.priority;
    packet.outside_mtu = flow.outside_mtu;
    packet.wire_bytes = last ? flow.last_wire_bytes : flow.full_wire_bytes;
    packet.sent = now;
    packet.segment.sequence = static_cast<std::uint64_t>(ordinal);
    packet.segment.acknowledgment = static_cast<std::uint64_t>(number);
    packet.segment.length =
        static_cast<std::uint32_t>((flow.fragments.packet(number) - flow.fragments.header).count());
    packet.segment.retransmission = false;
    packet.segment.ecn = tcp::Ecn::not_ect;
    const Drop drop =
        transmit(now, hops_[flow.first_hop], frame, stations_[flow.from_host].transmit(ready)).drop;
    if (drop == Drop::queue) return drop;
  }
  return Drop::none;
}

void Network::hand_up_fragment(Time now, PacketHandle handle, const Packet& packet) {
  DatagramFlow& flow = datagram_flows_[packet.receiver];
  const auto ordinal = static_cast<std::int64_t>(packet.segment.sequence);
  stations_[flow.to_host].receive(now);
  if (flow.reassembly.complete(ordinal, flow.fragments.count)) {
    last_progress_ = now;
    const bool costs = flow.programs.receiver != DatagramPrograms::kFree;
    const Time read = costs ? read_on_core(now, flow) : now;
    if (read == Time::never()) return packets_.release(handle);
    flow.sink.receive(read, {.sent = packet.sent,
                             .ordinal = ordinal,
                             .payload = flow.payload,
                             .wire = flow.wire_bytes});
  }
  packets_.release(handle);
}

}  // namespace linerate::models
