#include "realnet/lab_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "experiments/definition/media.hpp"
#include "experiments/definition/topology.hpp"
#include "realnet/lab_vlans.hpp"
#include "realnet/lab_wires.hpp"
#include "realnet/measure.hpp"
#include "realnet/realisation.hpp"

namespace linerate::realnet {
namespace {

/// A link that carries less has no IPv6 (RFC 8200 section 5), and the kernel takes no address
/// there.
constexpr Bytes kSmallestIpv6{1280};

using experiments::Experiment;
using experiments::Host;
using experiments::Link;
using experiments::NodeKind;
using experiments::PortRef;

/// Preamble, gap and FCS, which it does not carry.
constexpr Bytes kFraming{24};
/// The smallest frame on a wire: 64 B and preamble and gap (IEEE 802.3).
constexpr Bytes kSmallestFrame{84};
/// Stands for a queue without limit.
constexpr Bytes kUnlimited{64'000'000};

/// Every greeting is answered, however short the repeats are.
const std::pair<std::string, std::string> kHostParameters[] = {{"net/ipv4/icmp_ratelimit", "0"},
                                                               {"net/ipv6/icmp/ratelimit", "0"}};

/// What makes a namespace forward packets whatever way they come, and keep quiet about better ones.
const std::pair<std::string, std::string> kRouterParameters[] = {
    {"net/ipv4/ip_forward", "1"},
    {"net/ipv4/conf/all/rp_filter", "0"},
    {"net/ipv4/conf/default/rp_filter", "0"},
    {"net/ipv4/conf/all/send_redirects", "0"},
    {"net/ipv4/conf/default/send_redirects", "0"},
    {"net/ipv6/conf/all/forwarding", "1"},
    {"net/ipv6/conf/default/forwarding", "1"}};

int node_of(const Experiment& experiment, const PortRef& port) {
  return port.node + (port.kind == NodeKind::host ? 0 : static_cast<int>(experiment.hosts.size()));
}

/// How many bytes of frames may wait to leave `end` of the link.
Bytes queue_limit(const Experiment& experiment, const PortRef& end) {
  if (end.kind == NodeKind::host) {
    const auto& nic = experiment.hosts[end.node].nics[end.port];
    return (nic.mtu + kEthernetHeader) * (nic.transmit_ring + nic.transmit_queue);
  }
  const auto& buffer = experiment.switches[end.node].buffer;
  if (buffer.total == Bytes(0)) return kUnlimited;
  if (buffer.policy == experiments::BufferPolicy::per_port) return buffer.total;
  // One queue alone settles where q = alpha x (total - q).
  const double share = buffer.alpha / (1 + buffer.alpha);
  return Bytes(static_cast<std::int64_t>(static_cast<double>(buffer.total.count()) * share));
}

/// Whether a transfer of the experiment is over so soon that the bucket's first burst would show.
bool has_short_transfers(const Experiment& experiment, BitRate rate) {
  return std::any_of(experiment.tests.begin(), experiment.tests.end(), [&](const auto& test) {
    return !test.writes.empty() ||
           (test.bytes && serialization_time(*test.bytes, rate) < Time::seconds(1));
  });
}

/// What a bucket may let pass at once. Whatever a timer or the processor is late by beyond that is
/// lost: on a busy virtual machine 2 ms cost 1 to 3 % of the rate and 10 ms nothing that shows
/// (94.14 to 94.15 of 94.148 Mbit/s). A queue that never empties does not notice the difference; a
/// short transfer would, and gets the small bucket; so does a wire, in which a burst would stay as
/// a queue.
Bytes burst_for(const Experiment& experiment, const Link& link, Bytes wire, BitRate rate) {
  const std::int64_t bytes_per_second = rate.bits_per_second() / 8;
  if (has_short_transfers(experiment, link.rate) || needs_wire(experiment, link)) {
    return std::max(Bytes(bytes_per_second / 500), wire * 2);
  }
  // At 10 Mbit/s 10 ms are eight frames, and 20 ms are better still.
  return std::max({Bytes(bytes_per_second / 100), Bytes(16 * 1538), wire * 2});
}

/// A token bucket for a line. Beyond kFrameByFrame the rate itself is scaled, which counts
/// full-sized frames alone exactly.
std::optional<Shaper> shaper_for(const Experiment& experiment, const Link& link, int end, Bytes mtu,
                                 BitRate rate) {
  // An emulated path queues frames itself, and hosts hand them over at once; so does a queue that
  // decides.
  if (link.rate > kFastestLine || link.queue || link.egress || discipline_of(experiment, link, end))
    return std::nullopt;
  Shaper shaper;
  const Bytes wire = mtu + kEthernetHeader + kFraming + tag_of(experiment, link);
  shaper.burst = burst_for(experiment, link, wire, rate);
  shaper.limit = std::max(queue_limit(experiment, link.ends[end]), wire);
  if (link.rate <= kFrameByFrame) {
    shaper.rate = rate;
    shaper.overhead = kFraming + tag_of(experiment, link);
    shaper.minimum = kSmallestFrame + tag_of(experiment, link);
  } else {
    const double scale =
        static_cast<double>((mtu + kEthernetHeader).count()) / static_cast<double>(wire.count());
    shaper.rate = BitRate::bits_per_second(
        static_cast<std::int64_t>(static_cast<double>(rate.bits_per_second()) * scale));
  }
  return shaper;
}

/// Disjoint sets of nodes that hear each other's broadcasts.
class Segments {
 public:
  explicit Segments(int nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0); }
  int root(int node) const {
    while (parent_[node] != node) node = parent_[node];
    return node;
  }
  /// False when both are joined already.
  bool join(int a, int b) {
    const int from = root(a), to = root(b);
    parent_[from] = to;
    return from != to;
  }

 private:
  std::vector<int> parent_;
};

void plan_nodes(const Experiment& experiment, LabPlan& plan) {
  for (const Host& host : experiment.hosts) {
    auto parameters = stack_parameters(host.stack);
    parameters.insert(parameters.end(), std::begin(kHostParameters), std::end(kHostParameters));
    if (host.forwarding != experiments::Forwarding::none) {
      parameters.insert(parameters.end(), std::begin(kRouterParameters),
                        std::end(kRouterParameters));
    }
    plan.nodes.push_back({host.name, false, Bytes(0), {}, std::move(parameters), {}});
  }
  for (const auto& device : experiment.switches) {
    std::vector<std::string> bridges;
    for (int port = 0; port < static_cast<int>(device.port_rates.size()); ++port) {
      const std::string bridge = bridge_of(device, port);
      if (std::find(bridges.begin(), bridges.end(), bridge) == bridges.end())
        bridges.push_back(bridge);
    }
    // A bridge needs no addresses; with IPv6 it would send frames of its own.
    plan.nodes.push_back(
        {device.name,
         true,
         Bytes(1500),
         std::move(bridges),
         {{"net/ipv6/conf/all/disable_ipv6", "1"}, {"net/ipv6/conf/default/disable_ipv6", "1"}},
         {}});
  }
}

/// A bucket in front of a line whose rate changes changes with it. It slows down a little early:
/// what it let pass at the old rate would stand as a queue in front of a slower line.
void plan_shaper_changes(const Experiment& experiment, const Link& link, const LineConfig& line,
                         int end, PlannedPort& port) {
  constexpr Time kEarly = Time::milliseconds(2);
  BitRate rate = line.rate;
  for (const auto& [at, state] : line.changes) {
    if (!port.shaper || state.rate == rate) continue;
    const Time when = state.rate < rate ? later(at - kEarly, Time{}) : at;
    port.shaper_changes.emplace_back(when,
                                     *shaper_for(experiment, link, end, port.mtu, state.rate));
    rate = state.rate;
  }
}

PlannedPort plan_port(const Experiment& experiment, const Link& link, int from, Bytes largest_mtu) {
  const PortRef& end = link.ends[from];
  PlannedPort port;
  port.node = node_of(experiment, end);
  if (end.kind == NodeKind::host) {
    const Host& host = experiment.hosts[end.node];
    port.device = host.nics[end.port].name;
    port.label = host.name + ":" + port.device;
    port.mtu = host.nics[end.port].mtu;
    port.unsegmented =
        link.medium == experiments::kVirtualPair && !host.nics[end.port].offloads.tso;
    if (port.device.size() > 15) {
      throw EnvironmentError(
          fmt::format("the name of {} has more than 15 characters, which no Linux device may have",
                      port.label));
    }
  } else {
    // A switch forwards what its hosts send; its ports take the largest frame of any of them.
    port.device = fmt::format("port{}", end.port + 1);
    port.label = fmt::format("{}:{}", experiment.switches[end.node].name, end.port + 1);
    port.bridge = bridge_of(experiment.switches[end.node], end.port);
    port.mtu = largest_mtu;
  }
  port.shaper = shaper_for(experiment, link, from, port.mtu, link.rate);
  // Only a token bucket must see frames one by one. Without one, TCP fills its send buffer with
  // large packets as it does above any NIC, and the kernel cuts them up when they leave.
  port.single_frames = port.shaper && link.rate <= kFrameByFrame;
  port.plain_frames = needs_wire(experiment, link);
  return port;
}

Bytes largest_mtu(const Experiment& experiment) {
  Bytes largest(1500);
  for (const Host& host : experiment.hosts) {
    for (const auto& nic : host.nics) largest = std::max(largest, nic.mtu);
  }
  return largest;
}

void plan_links(const Experiment& experiment, LabPlan& plan) {
  const Bytes largest = largest_mtu(experiment);
  for (int i = 0; i < static_cast<int>(experiment.links.size()); ++i) {
    const Link& link = experiment.links[i];
    PlannedLink planned;
    planned.number = i;
    planned.name = link.name;
    if (needs_wire(experiment, link)) planned.wire = wire_for(experiment, i, largest);
    for (int end = 0; end < 2; ++end) {
      planned.ends[end] = plan_port(experiment, link, end, largest);
      if (planned.wire) {
        plan_shaper_changes(experiment, link, planned.wire->lines[end], end, planned.ends[end]);
      }
      PlannedNode& node = plan.nodes[planned.ends[end].node];
      node.mtu = std::max(node.mtu, planned.ends[end].mtu);
    }
    plan.links.push_back(std::move(planned));
  }
}

void plan_addresses(LabPlan& plan) {
  // Each link is a node of its own here, and joins only its bridges: a host with two links has a
  // subnet on each.
  std::map<std::pair<int, std::string>, int> bridges;
  for (int i = 0; i < static_cast<int>(plan.nodes.size()); ++i) {
    for (const std::string& bridge : plan.nodes[i].bridges)
      bridges.emplace(std::pair(i, bridge), static_cast<int>(bridges.size()));
  }
  const int nodes = static_cast<int>(bridges.size());
  Segments segments(nodes + static_cast<int>(plan.links.size()));
  for (int i = 0; i < static_cast<int>(plan.links.size()); ++i) {
    for (const PlannedPort& port : plan.links[i].ends) {
      if (plan.nodes[port.node].is_switch &&
          !segments.join(nodes + i, bridges.at({port.node, port.bridge}))) {
        throw EnvironmentError(fmt::format(
            "link {} closes a loop of switches; the netns lab bridges without spanning tree, so "
            "the network must be a tree",
            plan.links[i].name));
      }
    }
  }
  std::map<int, std::pair<int, int>> subnets;  // by root: subnet number and hosts so far
  for (int i = 0; i < static_cast<int>(plan.links.size()); ++i) {
    auto [entry, fresh] =
        subnets.try_emplace(segments.root(nodes + i), static_cast<int>(subnets.size()), 0);
    auto& [subnet, hosts] = entry->second;
    for (PlannedPort& port : plan.links[i].ends) {
      if (plan.nodes[port.node].is_switch) continue;
      ++hosts;
      if (hosts > 254 || subnet > 511) {
        throw EnvironmentError(
            "the netns lab numbers at most 254 hosts a subnet and 512 subnets (198.18.0.0/15)");
      }
      port.ipv4 = fmt::format("198.{}.{}.{}", 18 + subnet / 256, subnet % 256, hosts);
      if (port.mtu < kSmallestIpv6) continue;
      port.ipv6 = fmt::format("2001:2:0:{:x}::{:x}", subnet, hosts);
    }
  }
}

/// A NIC on a path: the port where frames leave or enter a host.
const PlannedPort& port_at(const LabPlan& plan, int link, int end) {
  return plan.links[link].ends[end];
}

void add_route(PlannedNode& node, const PlannedRoute& route) {
  const auto same = std::find_if(node.routes.begin(), node.routes.end(), [&](const auto& known) {
    return known.destination == route.destination;
  });
  if (same == node.routes.end()) {
    node.routes.push_back(route);
  } else if (*same != route) {
    throw EnvironmentError(fmt::format(
        "host {} would send to {} by {} and by {}, but the netns lab routes by destination alone; "
        "let the tests that differ end at different NICs",
        node.name, route.destination, same->device, route.device));
  }
}

/// Routes for one direction of a test's path: every host on it that is not on the next host's
/// subnet, or is not the last before the end, gets one.
void plan_routes_along(const std::vector<experiments::Hop>& path, const Experiment& experiment,
                       LabPlan& plan) {
  const auto& last = path.back();
  const PlannedPort& target = port_at(plan, last.link, 1 - last.from_end);
  std::size_t leaves = 0;  // the hop by which the current host sends
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto& hop = path[i];
    if (experiment.links[hop.link].ends[1 - hop.from_end].kind != NodeKind::host) continue;
    const PlannedPort& from = port_at(plan, path[leaves].link, path[leaves].from_end);
    const PlannedPort& next = port_at(plan, hop.link, 1 - hop.from_end);
    if (i + 1 < path.size()) {
      add_route(plan.nodes[from.node], {target.ipv4, next.ipv4, from.device});
      if (!target.ipv6.empty() && !next.ipv6.empty())
        add_route(plan.nodes[from.node], {target.ipv6, next.ipv6, from.device});
    }
    leaves = i + 1;
  }
}

void plan_routes(const Experiment& experiment, LabPlan& plan) {
  const experiments::Topology topology(experiment);
  for (const auto& test : experiment.tests) {
    for (const auto& pair : test.pairs) {
      const auto there = topology.path(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic);
      const auto back = topology.path(pair.to_host, pair.to_nic, pair.from_host, pair.from_nic);
      if (there.empty() || back.empty()) {
        throw EnvironmentError(fmt::format("test {}: no path from {} to {}", test.name,
                                           experiment.hosts[pair.from_host].name,
                                           experiment.hosts[pair.to_host].name));
      }
      plan_routes_along(there, experiment, plan);
      plan_routes_along(back, experiment, plan);
    }
  }
}

std::string without_prefix(const std::string& address) {
  return address.substr(0, address.find('/'));
}

/// Every host that a test ends at, with the interfaces the file names.
void plan_agents(const Experiment& experiment, LabPlan& plan) {
  std::set<int> used;
  for (const auto& test : experiment.tests) {
    for (const auto& pair : test.pairs) used.insert({pair.from_host, pair.to_host});
  }
  for (const int index : used) {
    const Host& host = experiment.hosts[index];
    PlannedAgent agent;
    agent.host = index;
    for (const auto& entry : experiment.lab_hosts) {
      if (entry.name == host.name) agent.how = &entry;
    }
    if (!agent.how)
      throw EnvironmentError("lab.hosts does not say where host " + host.name + " is");
    agent.setup.apply = experiment.lab_configure == experiments::LabConfigure::apply_and_restore;
    agent.setup.parameters = stack_parameters(host.stack);
    for (const auto& interface : agent.how->interfaces) {
      HostSetup::Interface wanted{interface.device, {}, Bytes(0)};
      for (const auto& nic : host.nics) {
        if (nic.name == interface.name) wanted.mtu = nic.mtu;
      }
      for (const std::string& address : {interface.address, interface.address6}) {
        if (!address.empty()) wanted.addresses.push_back(without_prefix(address));
      }
      agent.setup.interfaces.push_back(std::move(wanted));
    }
    plan.agents.push_back(std::move(agent));
  }
}

}  // namespace

std::string PlannedAgent::address(const std::string& nic, int ip) const {
  for (const auto& interface : how->interfaces) {
    if (interface.name == nic)
      return without_prefix(ip == 6 ? interface.address6 : interface.address);
  }
  return {};
}

std::string PlannedAgent::device(const std::string& nic) const {
  for (const auto& interface : how->interfaces) {
    if (interface.name == nic) return interface.device;
  }
  return {};
}

const PlannedPort* LabPlan::port(const std::string& label) const {
  for (const PlannedLink& link : links) {
    for (const PlannedPort& end : link.ends) {
      if (end.label == label) return &end;
    }
  }
  return nullptr;
}

bool LabPlan::has_wire(const std::string& label) const {
  return std::any_of(links.begin(), links.end(), [&](const PlannedLink& link) {
    return link.wire && (link.ends[0].label == label || link.ends[1].label == label);
  });
}

LabPlan plan_lab(const Experiment& experiment) {
  LabPlan plan;
  switch (experiment.lab) {
    case experiments::LabType::loopback:
      plan_nodes(experiment, plan);
      break;
    case experiments::LabType::netns:
      if (!experiment.hubs.empty()) {
        throw EnvironmentError("the netns lab builds no hubs: virtual links are full duplex");
      }
      plan_nodes(experiment, plan);
      plan_links(experiment, plan);
      plan_addresses(plan);
      plan_routes(experiment, plan);
      break;
    case experiments::LabType::hosts:
      plan_agents(experiment, plan);
      break;
  }
  plan.elements = list_elements(experiment, plan);
  return plan;
}

std::vector<std::string> unrealised_for(const LabPlan& plan, const Experiment& experiment,
                                        const experiments::Test& test) {
  std::vector<bool> ends(experiment.hosts.size()), hosts(experiment.hosts.size()),
      links(experiment.links.size()), switches(experiment.switches.size());
  const experiments::Topology topology(experiment);
  for (const auto& pair : test.pairs) {
    ends[pair.from_host] = ends[pair.to_host] = true;
    for (const auto& hop :
         topology.path(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic)) {
      links[hop.link] = true;
      for (const PortRef& end : experiment.links[hop.link].ends) {
        if (end.kind == NodeKind::switch_) switches[end.node] = true;
        if (end.kind == NodeKind::host) hosts[end.node] = true;
      }
    }
  }
  std::vector<std::string> missing;
  for (const PlannedElement& element : plan.elements) {
    if (!element.decisive || element.realisation.how != "ignored") continue;
    if ((element.host >= 0 && (element.ends_only ? ends : hosts)[element.host]) ||
        (element.link >= 0 && links[element.link]) ||
        (element.switch_ >= 0 && switches[element.switch_])) {
      missing.push_back(element.realisation.element);
    }
  }
  return missing;
}

}  // namespace linerate::realnet
