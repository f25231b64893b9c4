// What a packet looks like on each wire of its way: addresses, ports, sequence numbers and tunnels
// of the flow it belongs to, as bytes.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "experiments/definition/encapsulated_path.hpp"
#include "experiments/definition/experiment.hpp"
#include "models/capture/headers.hpp"
#include "models/framing/headers.hpp"
#include "models/network/packet.hpp"

namespace linerate::models {

class Network;
struct Route;

/// At which end of a wire a port sees frames.
enum class WireEnd : std::uint8_t { sender, receiver };

class FrameLayout {
 public:
  FrameLayout(const experiments::Experiment& experiment, const Network& network)
      : experiment_(experiment), network_(network) {}

  /// The frame that `packet` is on `wire`, without FCS: headers, and its length with payload and
  /// padding. Tunnels number what passes this end of the wire, in the order of calls.
  FrameBytes frame(std::uint32_t wire, WireEnd end, const Packet& packet);

 private:
  /// A packet's place on its way.
  struct Place {
    const Route& route;
    std::uint32_t index;   ///< of the route
    std::size_t position;  ///< among the wires of the route
    int ip;
  };

  Place place_of(const Packet& packet) const;
  FrameBytes pause_frame(std::uint32_t wire, const Packet& packet) const;
  FrameBytes segment_frame(const Packet& packet, const EthernetFields& ethernet,
                           const IpFields& ip) const;
  FrameBytes datagram_frame(const Packet& packet, const EthernetFields& ethernet,
                            const IpFields& ip) const;
  EthernetFields ethernet_of(const Place& place) const;
  IpFields ip_of(const Place& place, const Packet& packet) const;
  const experiments::EncapsulatedHop& around(const Place& place);
  TunnelEnds tunnel_of(const Place& place, WireEnd end, const Packet& packet);
  bool encapsulates(const experiments::PortRef& port) const;
  std::uint32_t station(const experiments::PortRef& port) const;
  const experiments::PortRef& from(std::uint32_t wire) const;
  const experiments::PortRef& to(std::uint32_t wire) const;
  std::uint32_t initial_sequence(std::uint32_t end) const;

  const experiments::Experiment& experiment_;
  const Network& network_;
  std::map<std::uint32_t, experiments::EncapsulatedPath> around_;  // by route
  // Packets of a tunnel that have passed an end of a wire: by wire, end and the tunnel's stations.
  std::map<std::tuple<std::uint32_t, WireEnd, std::uint32_t, std::uint32_t>, std::uint32_t> passed_;
};

}  // namespace linerate::models
