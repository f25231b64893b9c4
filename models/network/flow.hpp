// The traffic of a run: the two ends of every TCP connection with their applications, and the
// sources and sinks of datagrams.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "experiments/definition/fragments.hpp"
#include "models/apps/datagram.hpp"
#include "models/apps/datagram_pattern.hpp"
#include "models/apps/reassembly.hpp"
#include "models/apps/request_response.hpp"
#include "models/apps/stream.hpp"
#include "models/framing/framing.hpp"
#include "models/link/backlog.hpp"
#include "models/network/packet.hpp"
#include "models/tcp/endpoint.hpp"
#include "sim/ring.hpp"
#include "sim/timer.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// Where frames of one conversation go: the wires to cross, in order, and what is around an IP
/// packet on the first of them.
struct Route {
  std::vector<std::uint32_t> wires;
  std::vector<int> tags;  ///< VLAN of the frames' tags by wire, 0: none; only if captured
  Carriage carriage;
  Bytes mtu;                    ///< largest IP packet all NICs on the way take
  Bytes narrowest;              ///< largest all links on the way take
  std::uint32_t first_hop = 0;  ///< where they stand in the network's list of hops
  std::uint32_t from_host = 0, to_host = 0;
};

using Application = std::variant<StreamWriter, StreamReader, Requester, Responder>;

/// One end of a TCP connection. Ends 2i and 2i+1 are each other's peers.
struct TcpEnd {
  TcpEnd(const tcp::EndpointConfig& config, Framing frames, Application app)
      : endpoint(config),
        application(std::move(app)),
        streams(std::holds_alternative<StreamWriter>(application) ||
                std::holds_alternative<StreamReader>(application)),
        framing(std::move(frames)),
        last_sizes(framing.sizes(Bytes(0))),
        outside_mtu(static_cast<std::uint8_t>(framing.outside_mtu().count())) {}

  /// When the application wants to be called without news.
  [[gnu::always_inline]] Time program_deadline() const {
    if (const auto* reader = std::get_if<StreamReader>(&application)) return reader->deadline();
    if (const auto* writer = std::get_if<StreamWriter>(&application)) return writer->deadline();
    if (const auto* requester = std::get_if<Requester>(&application)) return requester->deadline();
    return Time::never();
  }

  tcp::Endpoint endpoint;
  Application application;
  bool streams;  ///< its flow is over when both ends have closed, not earlier
  std::uint32_t route = 0;
  std::uint32_t first_hop = 0;  ///< of its route
  std::uint32_t host = 0;       ///< where it runs
  Framing framing;              ///< of a segment without options
  FrameSizes last_sizes;        ///< of the segment sent last; most are like the one before
  std::uint8_t outside_mtu;     ///< of its packets
  sim::LazyTimer timer;
  Backlog in_device;  ///< our frames the device still holds (for small queues)
  Time connected = Time::never();
  Time last_acked{};                 ///< when everything written so far was last acknowledged
  Time closed = Time::never();       ///< when the peer's end of stream arrived
  std::int64_t wire_bytes_sent = 0;  ///< with preamble and gap, retransmissions included
  std::uint8_t priority = 0;         ///< of its packets
  bool on_core = false;              ///< its host's cores cost something
  bool hands_over_whole = false;     ///< what segmentation offload makes of segments is one packet
  bool device_event = false;         ///< an event is pending for when the device has room
};

/// A TCP conversation of a test.
struct TcpFlow {
  std::uint32_t test = 0;
  std::uint32_t client = 0, server = 0;  ///< indices into the ends
  bool data_from_client = true;
  Time start{};
  bool finished = false;
};

/// The programs that send and receive datagrams, on hosts whose cores cost something.
struct DatagramPrograms {
  static constexpr std::uint32_t kFree = ~0u;
  std::uint32_t sender = kFree, receiver = kFree;  ///< cores they run on
  std::uint32_t from_nic = 0, to_nic = 0;          ///< by which datagrams leave and come
  Bytes buffer;                                    ///< of the receiving socket
  std::int64_t lost = 0;                           ///< because it was full
  /// Of each that waits there, how much its core's programs have done when it has been read.
  sim::Ring<Time> unread;
};

/// A datagram conversation of a test.
struct DatagramFlow {
  DatagramFlow(DatagramSource from, DatagramSink to) : source(from), sink(to) {}

  DatagramSource source;
  DatagramSink sink;
  std::uint32_t test = 0;
  std::uint32_t route = 0;
  std::uint32_t first_hop = 0;  ///< of its route
  std::uint32_t from_host = 0, to_host = 0;
  std::uint32_t payload = 0;     ///< datagram payload, or the whole frame when raw; of the last one
  std::uint32_t wire_bytes = 0;  ///< of all its frames
  std::unique_ptr<DatagramPattern> pattern;                ///< null: one size at one interval
  Bytes mtu;                                               ///< largest IP packet they may be
  experiments::Fragments fragments;                        ///< the IP packets of a datagram
  std::uint32_t full_wire_bytes = 0, last_wire_bytes = 0;  ///< of the frames with these packets
  Reassembly reassembly;
  std::int64_t refused = 0;    ///< frames the sender's own queue had no room for
  std::int64_t in_flight = 0;  ///< datagrams neither received nor lost when the run ended
  Time start{};
  DatagramPrograms programs;
  bool raw = false;
  PacketKind kind = PacketKind::datagram;  ///< of its packets: as `raw` says
  std::uint8_t priority = 0;               ///< of its packets
  std::uint8_t outside_mtu = 0;            ///< of its packets
};

}  // namespace linerate::models
