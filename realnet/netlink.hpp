// The network devices of one namespace, through libnl-route.
#pragma once

#include <memory>
#include <string>

#include "experiments/results/result.hpp"
#include "realnet/lab_plan.hpp"
#include "realnet/system.hpp"
#include "sim/units.hpp"

struct nl_sock;

namespace linerate::realnet {

/// One end of a veth pair to be made.
struct VethEnd {
  std::string device;
  int index = 0;  ///< interface index to have
};

/// A routing socket that belongs to the namespace its maker was in, wherever it is used later. All
/// calls throw std::runtime_error that names the device and what the kernel answered.
class Devices {
 public:
  Devices();

  /// Makes a virtual Ethernet pair; `far` goes to the namespace `far_namespace`.
  void add_veth(const VethEnd& near, const VethEnd& far, int far_namespace);
  void add_bridge(const std::string& device);
  void set_master(const std::string& device, const std::string& bridge);
  void set_mtu(const std::string& device, Bytes mtu);
  void set_up(const std::string& device);
  /// `address` with prefix length, "198.18.0.1/24".
  void add_address(const std::string& device, const std::string& address);
  /// Sends to `destination` by `gateway` on `device`.
  void add_route(const PlannedRoute& route);
  /// Largest number of segments TCP may hand over as one packet.
  void set_largest_burst(const std::string& device, int segments);
  /// Replaces the device's queueing discipline by a token bucket. Throws EnvironmentError when the
  /// kernel has none.
  void shape(const std::string& device, const Shaper& shaper);
  /// Turns segmentation and receive merging off (ethtool), so that every packet is a frame; with
  /// `checksums` also those, so that a program may pass frames on.
  void disable_offloads(const std::string& device, bool checksums);
  /// Turns segmentation alone off: TCP's buffers are cut up before the device gets them.
  void disable_segmentation(const std::string& device);

  /// Frames and bytes sent, and frames dropped, by the token bucket of a shaped device; of another,
  /// what the device itself has sent. Bytes are on the wire: with preamble, gap and FCS.
  experiments::PortCounters counters(const std::string& device) const;
  /// Whether it is up and has seen its peer.
  bool operational(const std::string& device) const;
  /// Bytes waiting in the queueing discipline.
  Bytes backlog(const std::string& device) const;

 private:
  struct SocketFree {
    void operator()(nl_sock* socket) const;
  };
  int index(const std::string& device) const;
  /// `command` is one of ethtool's (ETHTOOL_STSO).
  void switch_off(const std::string& device, std::uint32_t command);
  experiments::PortCounters sent_by_device(const std::string& device) const;

  std::unique_ptr<nl_sock, SocketFree> socket_;
  FileDescriptor control_;  ///< a datagram socket for ethtool's ioctl
};

}  // namespace linerate::realnet
