// What a lab would build for an experiment, as a value: no system call is made to plan one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"
#include "realnet/remote/host_setup.hpp"
#include "realnet/wire/wire_plan.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// A token bucket that makes a virtual port send at a line's rate.
struct Shaper {
  BitRate rate;
  Bytes burst;     ///< what may leave back to back
  Bytes limit;     ///< what may wait; more is dropped
  Bytes overhead;  ///< added to every frame before it is counted
  Bytes minimum;   ///< no frame counts less
  bool operator==(const Shaper&) const = default;
};

/// How a host reaches an address that is on none of its subnets.
struct PlannedRoute {
  std::string destination;  ///< one address
  std::string gateway;      ///< on a subnet of `device`
  std::string device;
  bool operator==(const PlannedRoute&) const = default;
};

/// A host or a switch: one network namespace.
struct PlannedNode {
  std::string name;
  bool is_switch = false;
  Bytes mtu{1500};                   ///< largest of its ports, for a switch's bridge
  std::vector<std::string> bridges;  ///< of a switch: one for each VLAN
  std::vector<std::pair<std::string, std::string>> parameters;  ///< below /proc/sys, with value
  std::vector<PlannedRoute> routes;                             ///< along the tests' paths
};

/// One end of a link: a virtual Ethernet device in the namespace of `node`.
struct PlannedPort {
  int node = 0;
  std::string device;
  std::string label;   ///< "a:eth0" or "s1:1", as in the experiment
  std::string bridge;  ///< of its switch that it belongs to
  Bytes mtu{1500};
  std::optional<Shaper> shaper;
  /// What the shaper becomes, and when, since the start of a group of tests.
  std::vector<std::pair<Time, Shaper>> shaper_changes;
  bool single_frames = false;  ///< the stack must hand over frame by frame
  bool plain_frames = false;   ///< no offload at all: a program reads what the port sends
  bool unsegmented = false;    ///< virtual, and its NIC has no segmentation offload
  std::string ipv4, ipv6;      ///< without prefix length; empty on a switch, and IPv6 below its MTU
};

struct PlannedLink {
  int number = 0;  ///< in the experiment
  std::string name;
  PlannedPort ends[2];
  /// A program between the ends, for what virtual devices cannot do. Its lines[i] carries what
  /// ends[i] sends.
  std::optional<WirePlan> wire;
};

/// How one element is realised, and whether a figure of a test that uses it depends on it.
struct PlannedElement {
  experiments::Realisation realisation;
  bool decisive = false;
  bool ends_only = false;  ///< of a host: matters where its own TCP speaks, not where it forwards
  int host = -1, link = -1, switch_ = -1;  ///< what it belongs to
};

/// A real host and what it must be for the tests.
struct PlannedAgent {
  int host = 0;                               ///< in the experiment
  const experiments::LabHost* how = nullptr;  ///< the experiment's
  HostSetup setup;
  /// Of a NIC of the host, without prefix length; `ip` is 4 or 6.
  std::string address(const std::string& nic, int ip) const;
  /// The interface that is the NIC.
  std::string device(const std::string& nic) const;
};

struct LabPlan {
  std::vector<PlannedNode> nodes;    ///< hosts, then switches, in the experiment's order
  std::vector<PlannedLink> links;    ///< empty in the loopback lab
  std::vector<PlannedAgent> agents;  ///< lab hosts: those that a test ends at
  std::vector<PlannedElement> elements;

  /// The port of a host's NIC, or nullptr if it has no link here.
  const PlannedPort* port(const std::string& label) const;
  /// Whether the link of the port `label` is a program.
  bool has_wire(const std::string& label) const;
};

/// Lengths of the lab's IPv4 and IPv6 prefixes: the ranges of RFC 2544 appendix C.2.2 (198.18/15)
/// and RFC 5180 (2001:2::/48), one subnet for every set of hosts joined by links and switches.
inline constexpr int kIpv4Prefix = 24, kIpv6Prefix = 64;

/// Up to here a kernel keeps up with a frame at a time; above, segmentation must stay on. Measured
/// on a small virtual machine: 100 Mbit/s is exact, 1 Gbit/s is limited by the CPU.
inline constexpr BitRate kFrameByFrame = BitRate::bits_per_second(200'000'000);
/// Above this no virtual link is held to its rate.
inline constexpr BitRate kFastestLine = BitRate::bits_per_second(10'000'000'000);
/// A shorter delay no figure of a lab can tell from none: 100 m of cable are half a microsecond.
inline constexpr Time kNoticeable = Time::microseconds(100);

/// Plans the lab the experiment asks for. Throws EnvironmentError for an experiment the lab cannot
/// build at all (a loop of switches, a lab of another kind).
LabPlan plan_lab(const experiments::Experiment& experiment);

/// The elements between the ends of `test` that decide its figures and are not realised.
std::vector<std::string> unrealised_for(const LabPlan& plan,
                                        const experiments::Experiment& experiment,
                                        const experiments::Test& test);

}  // namespace linerate::realnet
