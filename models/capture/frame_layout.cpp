#include "models/capture/frame_layout.hpp"

#include <algorithm>

#include "models/network/network.hpp"

namespace linerate::models {

namespace {

using experiments::NodeKind;
using experiments::PortRef;

constexpr std::uint16_t kFirstClientPort = 10'000;
constexpr std::uint16_t kClientPorts = 50'000;
constexpr std::uint16_t kFirstServerPort = 5'001;
constexpr std::uint8_t kHopLimit = 64;
constexpr std::uint32_t kNoFrame = kPreambleBytes + kGapBytes + 4;  // and the FCS
constexpr std::uint32_t kUdpBytes = 8;

// Client and server ports of the n-th flow of a test.
Ports ports_of_flow(std::uint32_t test, std::uint32_t flow, bool from_client) {
  const auto client = static_cast<std::uint16_t>(kFirstClientPort + flow % kClientPorts);
  // More flows than ports take another server port, so that no two connections look the same.
  const auto server = static_cast<std::uint16_t>(kFirstServerPort + test + flow / kClientPorts);
  return from_client ? Ports{client, server} : Ports{server, client};
}

FrameBytes with_payload(HeaderBytes headers, std::uint32_t payload) {
  const auto length = static_cast<std::uint32_t>(headers.size()) + payload;
  return {std::move(headers), length};
}

}  // namespace

FrameBytes FrameLayout::frame(std::uint32_t wire, WireEnd end, const Packet& packet) {
  FrameBytes frame;
  if (packet.kind == PacketKind::pause) {
    frame = pause_frame(wire, packet);
  } else {
    const Place place = place_of(packet);
    EthernetFields ethernet = ethernet_of(place);
    ethernet.priority = packet.priority;
    if (packet.kind == PacketKind::raw) {
      ethernet.vlan.reset();
      frame = with_payload(raw_headers(ethernet, packet.segment.sequence), 0);
    } else {
      const IpFields ip = ip_of(place, packet);
      frame = packet.kind == PacketKind::tcp ? segment_frame(packet, ethernet, ip)
                                             : datagram_frame(packet, ethernet, ip);
      const experiments::EncapsulatedHop& hop = around(place);
      if (!hop.encapsulations.empty())
        frame = encapsulate(frame, hop, tunnel_of(place, end, packet));
    }
  }
  const std::uint32_t on_wire = packet.wire_bytes - kNoFrame;
  LINERATE_CHECK(frame.length <= on_wire, "the headers of a frame are those it was counted for");
  frame.length = on_wire;
  return frame;
}

FrameLayout::Place FrameLayout::place_of(const Packet& packet) const {
  if (packet.kind == PacketKind::tcp) {
    const std::uint32_t sender = packet.receiver ^ 1u;
    const std::uint32_t index = network_.route_at(packet.hop);
    const Route& route = network_.route(index);
    const std::uint32_t test = network_.tcp_flows()[sender / 2].test;
    return {route, index, packet.hop - route.first_hop, network_.test(test).ip};
  }
  const DatagramFlow& flow = network_.datagram_flows()[packet.receiver];
  const std::uint32_t index = network_.route_at(packet.hop);
  const Route& route = network_.route(index);
  return {route, index, packet.hop - route.first_hop, network_.test(flow.test).ip};
}

FrameBytes FrameLayout::pause_frame(std::uint32_t wire, const Packet& packet) const {
  EthernetFields fields;
  // A switch's ports have addresses beyond those of all NICs.
  fields.source = from(wire).kind == NodeKind::host ? station(from(wire)) : 0xff0000u + wire;
  return with_payload(
      pause_headers(fields, {.priorities = packet.segment.flags,
                             .quanta = static_cast<std::uint16_t>(packet.segment.sequence)}),
      0);
}

FrameBytes FrameLayout::segment_frame(const Packet& packet, const EthernetFields& ethernet,
                                      const IpFields& ip) const {
  const std::uint32_t sender = packet.receiver ^ 1u;
  const TcpFlow& connection = network_.tcp_flows()[sender / 2];
  const TcpEnd& end = network_.end(sender);
  TcpFields fields;
  fields.ports = ports_of_flow(connection.test, sender / 2, sender == connection.client);
  fields.initial_sequence = initial_sequence(sender);
  fields.peer_initial_sequence = initial_sequence(packet.receiver);
  fields.window_shift = end.endpoint.window_scale();
  fields.bsd_option_order =
      experiment_.hosts[end.host].stack.window_rule == experiments::WindowRule::bsd_space;
  return with_payload(tcp_headers(ethernet, ip, fields, packet.segment), packet.segment.length);
}

FrameBytes FrameLayout::datagram_frame(const Packet& packet, const EthernetFields& ethernet,
                                       const IpFields& ip) const {
  const DatagramFlow& flow = network_.datagram_flows()[packet.receiver];
  const Ports ports = ports_of_flow(flow.test, packet.receiver, true);
  if (packet.kind != PacketKind::fragment)
    return with_payload(udp_headers(ethernet, ip, ports, packet.segment.length),
                        packet.segment.length);
  const auto number = static_cast<std::uint32_t>(packet.segment.acknowledgment);
  const experiments::Fragments& all = flow.fragments;
  const auto full = static_cast<std::uint32_t>((all.full - all.header).count());
  const FragmentFields fragment{.offset = number * full,
                                .length = packet.segment.length,
                                .more = number + 1 < all.count,
                                .payload = flow.payload};
  return with_payload(fragment_headers(ethernet, ip, ports, fragment),
                      packet.segment.length - (number == 0 ? kUdpBytes : 0));
}

// Addresses of the hop between two NICs: switches pass frames on as they are, routers make new
// ones.
EthernetFields FrameLayout::ethernet_of(const Place& place) const {
  const std::vector<std::uint32_t>& way = place.route.wires;
  std::size_t first = place.position, last = place.position;
  while (from(way[first]).kind != NodeKind::host) --first;
  while (to(way[last]).kind != NodeKind::host) ++last;
  EthernetFields fields;
  fields.source = station(from(way[first]));
  fields.destination = station(to(way[last]));
  if (const int tag = place.route.tags[place.position]; tag != 0) fields.vlan = tag;
  return fields;
}

IpFields FrameLayout::ip_of(const Place& place, const Packet& packet) const {
  const std::vector<std::uint32_t>& way = place.route.wires;
  IpFields ip;
  ip.version = place.ip;
  ip.hop_limit = kHopLimit;
  for (std::size_t i = 0; i < place.position; ++i)
    if (to(way[i]).kind == NodeKind::host) --ip.hop_limit;
  ip.source = station(from(way.front()));
  ip.destination = station(to(way.back()));
  ip.priority = packet.priority;
  ip.ecn = packet.segment.ecn;
  // The same at every port and in every fragment; with DF it need not be unique (RFC 6864 4).
  ip.identification = static_cast<std::uint16_t>(packet.sent.picoseconds() / 1000);
  return ip;
}

const experiments::EncapsulatedHop& FrameLayout::around(const Place& place) {
  auto found = around_.find(place.index);
  if (found == around_.end()) {
    std::vector<experiments::Hop> path;
    for (const std::uint32_t wire : place.route.wires)
      path.push_back({.link = static_cast<int>(wire / 2), .from_end = static_cast<int>(wire % 2)});
    found =
        around_.emplace(place.index, experiments::encapsulated_path(experiment_, path, place.ip))
            .first;
  }
  return found->second.hops[place.position];
}

// A tunnel runs from the last NIC that put it there to the first that takes it off.
TunnelEnds FrameLayout::tunnel_of(const Place& place, WireEnd end, const Packet& packet) {
  const std::vector<std::uint32_t>& way = place.route.wires;
  std::size_t first = place.position, last = place.position;
  while (first > 0 && !encapsulates(from(way[first]))) --first;
  while (last + 1 < way.size() && !encapsulates(to(way[last]))) ++last;
  const std::uint32_t source = station(from(way[first])), destination = station(to(way[last]));
  return {.source = source,
          .destination = destination,
          .flow = static_cast<std::uint16_t>(packet.receiver / 2),
          .ordinal = passed_[{way[place.position], end, source, destination}]++};
}

bool FrameLayout::encapsulates(const PortRef& port) const {
  return port.kind == NodeKind::host &&
         !experiment_.hosts[port.node].nics[port.port].encapsulation.empty();
}

std::uint32_t FrameLayout::station(const PortRef& port) const {
  return network_.nic_index(port.node, port.port);
}

const PortRef& FrameLayout::from(std::uint32_t wire) const {
  return experiment_.links[wire / 2].ends[wire % 2];
}

const PortRef& FrameLayout::to(std::uint32_t wire) const { return from(wire ^ 1u); }

// Anything that looks random and is the same every time (RFC 9293 3.4.1 asks for the first half).
std::uint32_t FrameLayout::initial_sequence(std::uint32_t end) const {
  return static_cast<std::uint32_t>(
      sim::RandomStream({.seed = experiment_.seed, .entity = end, .name = "initial-sequence"})
          .bits());
}

}  // namespace linerate::models
