#include "experiments/definition/topology.hpp"

#include <algorithm>
#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/pending/queue.hpp>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "sim/random.hpp"

namespace linerate::experiments {
namespace {

constexpr int kNone = -1;
constexpr std::int64_t kMostPaths = 1'000'000;
// Distances are kept per access node; the cache is emptied beyond this many entries so that a
// network of a hundred thousand hosts does not hold the square of its size.
constexpr std::size_t kMostCachedEntries = 8'000'000;

// Only nodes that pass packets on are vertices: forwarding hosts, and switches and hubs once for
// every VLAN they keep apart. Every other NIC is a leaf whose first and last link is known, so a
// packet cannot cross a host that does not forward.
using Network =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Hop>;
using Colors = std::vector<boost::default_color_type>;

// Where a NIC's cable leads.
struct Attachment {
  int link = kNone;
  int own_end = 0;
  int tag = 0;  // that its frames carry
};

// From every vertex: hops to one access node, and over how many shortest paths.
struct Distances {
  std::vector<int> hops;
  std::vector<std::int64_t> paths;
};

class DistanceRecorder : public boost::default_bfs_visitor {
 public:
  explicit DistanceRecorder(Distances& distances) : distances_(&distances) {}
  void tree_edge(Network::edge_descriptor edge, const Network& network) const {
    distances_->hops[target(edge, network)] = distances_->hops[source(edge, network)] + 1;
    add_paths(edge, network);
  }
  // Reached again: from the same level as the first time it is one more shortest path. BFS settles
  // a whole level before the next, so the count of the nearer vertex is already final.
  void non_tree_edge(Network::edge_descriptor edge, const Network& network) const {
    const int near = distances_->hops[source(edge, network)];
    if (distances_->hops[target(edge, network)] == near + 1) add_paths(edge, network);
  }

 private:
  void add_paths(Network::edge_descriptor edge, const Network& network) const {
    std::int64_t& paths = distances_->paths[target(edge, network)];
    paths = std::min(kMostPaths, paths + distances_->paths[source(edge, network)]);
  }
  Distances* distances_;
};

// Every input bit reaches every output bit, so neighbouring flow hashes and equal switches in a row
// choose independently.
std::uint64_t mix(std::uint64_t x) { return sim::splitmix64(x); }

// The VLANs of a switch's ports. A switch without any forwards frames with their tags as they are.
class PortVlans {
 public:
  explicit PortVlans(const Switch& device) : aware_(!device.vlans.empty()) {
    // A port that is named nowhere stands in VLAN 1 (the default of IEEE 802.1Q table 9-2).
    ports_.resize(device.port_rates.size(), {1, {}});
    for (const VlanPorts& vlan : device.vlans) {
      for (const int port : vlan.untagged)
        ports_[static_cast<std::size_t>(port)].untagged = vlan.id;
      for (const int port : vlan.tagged)
        ports_[static_cast<std::size_t>(port)].tagged.push_back(vlan.id);
    }
  }

  /// Inside which VLAN frames with `tag` are at `port`, arriving or leaving; kNone if they may not.
  int inside(int port, int tag) const {
    if (!aware_) return tag;
    const Port& at = ports_[static_cast<std::size_t>(port)];
    if (tag == 0) return at.untagged;
    return std::count(at.tagged.begin(), at.tagged.end(), tag) > 0 ? tag : kNone;
  }

 private:
  struct Port {
    int untagged;
    std::vector<int> tagged;
  };
  bool aware_;
  std::vector<Port> ports_;
};

// Every tag that a frame can carry anywhere.
std::vector<int> tags_of(const Experiment& experiment) {
  std::set<int> tags{0};
  for (const Host& host : experiment.hosts)
    for (const Nic& nic : host.nics)
      if (nic.vlan) tags.insert(*nic.vlan);
  for (const Switch& device : experiment.switches)
    for (const VlanPorts& vlan : device.vlans)
      if (!vlan.tagged.empty()) tags.insert(vlan.id);
  return {tags.begin(), tags.end()};
}

}  // namespace

struct Topology::Graph {
  Graph(const Experiment& experiment, const std::set<int>& without);

  /// The vertex at one end of a link for frames with `tag`; kNone if it passes none on.
  int vertex_of(const PortRef& end, int tag) const {
    if (end.kind == NodeKind::host) {
      const bool takes =
          nic_tags[static_cast<std::size_t>(end.node)][static_cast<std::size_t>(end.port)] == tag;
      return takes ? host_vertex[static_cast<std::size_t>(end.node)] : kNone;
    }
    const auto found = switch_vertex.find(place_of(end, tag));
    return found == switch_vertex.end() ? kNone : found->second;
  }
  /// The switch or hub at one end of a link, and the VLAN inside it that frames with `tag` are in,
  /// kNone if they may not pass. Hubs stand behind the switches; they repeat any tag.
  std::pair<int, int> place_of(const PortRef& end, int tag) const {
    if (end.kind == NodeKind::hub) return {static_cast<int>(port_vlans.size()) + end.node, tag};
    return {end.node, port_vlans[static_cast<std::size_t>(end.node)].inside(end.port, tag)};
  }
  const Attachment& attachment(int host, int nic) const {
    return attachments[static_cast<std::size_t>(host)][static_cast<std::size_t>(nic)];
  }
  const PortRef& far_end(const Attachment& at) const {
    return ends[static_cast<std::size_t>(at.link)][static_cast<std::size_t>(1 - at.own_end)];
  }
  const Distances& distances_to(int access, int from_host, int to_host);

  Network network;
  std::vector<int> host_vertex;                      // kNone for a host that does not forward
  std::map<std::pair<int, int>, int> switch_vertex;  // by place_of()
  std::vector<bool> by_hosts;                        // by vertex: how it chooses among links
  std::vector<PortVlans> port_vlans;                 // by switch
  std::vector<std::vector<int>> nic_tags;            // by host and NIC
  const Experiment* experiment;
  std::vector<std::vector<Attachment>> attachments;  // by host and NIC
  std::vector<std::array<PortRef, 2>> ends;          // by link
  std::map<std::array<int, 3>, Distances> cache;
  std::size_t cached_entries = 0;
};

Topology::Graph::Graph(const Experiment& from, const std::set<int>& without) : experiment(&from) {
  const auto add = [&](FlowHash hash) {
    by_hosts.push_back(hash == FlowHash::hosts);
    return static_cast<int>(add_vertex(network));
  };
  for (const Host& host : from.hosts) {
    host_vertex.push_back(host.forwarding != Forwarding::none ? add(host.hash) : kNone);
    attachments.emplace_back(host.nics.size());
    nic_tags.emplace_back();
    for (const Nic& nic : host.nics) nic_tags.back().push_back(nic.vlan.value_or(0));
  }
  for (const Switch& device : from.switches) port_vlans.emplace_back(device);

  const std::vector<int> tags = tags_of(from);
  std::set<std::pair<int, int>> kept_apart;
  for (const Link& link : from.links)
    for (const PortRef& end : link.ends)
      for (const int tag : end.kind == NodeKind::host ? std::vector<int>{} : tags) {
        const auto place = place_of(end, tag);
        if (place.second != kNone) kept_apart.insert(place);
      }
  for (const auto& place : kept_apart) {
    const auto node = static_cast<std::size_t>(place.first);
    // A hub has no links to choose among.
    switch_vertex[place] =
        add(node < from.switches.size() ? from.switches[node].hash : FlowHash::flow);
  }
  for (const Link& link : from.links) {
    const int index = static_cast<int>(ends.size());
    ends.push_back({link.ends[0], link.ends[1]});
    if (without.count(index) > 0) continue;
    for (int end = 0; end < 2; ++end) {
      const PortRef& port = link.ends[end];
      if (port.kind == NodeKind::host) {
        const auto host = static_cast<std::size_t>(port.node),
                   nic = static_cast<std::size_t>(port.port);
        attachments[host][nic] = {index, end, nic_tags[host][nic]};
      }
      for (const int tag : tags) {
        const int here = vertex_of(port, tag), there = vertex_of(link.ends[1 - end], tag);
        if (here != kNone && there != kNone)
          add_edge(static_cast<std::size_t>(here), static_cast<std::size_t>(there),
                   Hop{index, end, tag}, network);
      }
    }
  }
}

// Every link has an edge each way, so the search may run from the target outwards. A sender or
// receiver that also forwards is no way through for its own packets: it is coloured as visited.
const Distances& Topology::Graph::distances_to(int access, int from_host, int to_host) {
  const int from_vertex = host_vertex[static_cast<std::size_t>(from_host)];
  const int to_vertex = host_vertex[static_cast<std::size_t>(to_host)];
  const std::array<int, 3> key{access, from_vertex, to_vertex};
  if (const auto found = cache.find(key); found != cache.end()) return found->second;

  const std::size_t vertices = num_vertices(network);
  if (cached_entries + vertices > kMostCachedEntries) {
    cache.clear();
    cached_entries = 0;
  }
  cached_entries += vertices;
  Distances& distances = cache[key];
  distances.hops.assign(vertices, kNone);
  distances.paths.assign(vertices, 0);

  Colors colors(vertices, boost::white_color);
  for (const int closed : {from_vertex, to_vertex})
    if (closed != kNone) colors[static_cast<std::size_t>(closed)] = boost::black_color;
  const auto start = static_cast<std::size_t>(access);
  if (colors[start] == boost::black_color) return distances;
  distances.hops[start] = 0;
  distances.paths[start] = 1;
  boost::queue<Network::vertex_descriptor> pending;
  boost::breadth_first_visit(
      network, start, pending, DistanceRecorder(distances),
      boost::make_iterator_property_map(colors.begin(), get(boost::vertex_index, network)));
  return distances;
}

Topology::Topology(const Experiment& experiment, const std::set<int>& without)
    : graph_(std::make_unique<Graph>(experiment, without)) {}
Topology::~Topology() = default;
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;

std::vector<Hop> Topology::path(int from_host, int from_nic, int to_host, int to_nic,
                                const FlowKey& key) const {
  const Attachment& first = graph_->attachment(from_host, from_nic);
  const Attachment& last = graph_->attachment(to_host, to_nic);
  if (first.link == kNone || last.link == kNone) return {};
  if (first.link == last.link) {
    if (first.own_end == last.own_end) return {};  // a NIC does not reach itself over its cable
    if (first.tag != last.tag) return {};
    return {{first.link, first.own_end, first.tag}};
  }
  int here = graph_->vertex_of(graph_->far_end(first), first.tag);
  const int access = graph_->vertex_of(graph_->far_end(last), last.tag);
  if (here == kNone || access == kNone) return {};
  const Distances& distances = graph_->distances_to(access, from_host, to_host);
  int remaining = distances.hops[static_cast<std::size_t>(here)];
  if (remaining == kNone) return {};

  std::vector<Hop> hops{{first.link, first.own_end, first.tag}};
  hops.reserve(static_cast<std::size_t>(remaining) + 2);
  const Network& network = graph_->network;
  while (remaining > 0) {
    const auto [begin, end] = out_edges(static_cast<std::size_t>(here), network);
    const auto nearer = [&](Network::edge_descriptor edge) {
      return distances.hops[target(edge, network)] == remaining - 1;
    };
    const auto choices = static_cast<std::uint64_t>(std::count_if(begin, end, nearer));
    const std::uint64_t hash =
        graph_->by_hosts[static_cast<std::size_t>(here)] ? key.hosts : key.flow;
    std::uint64_t skip = mix(hash ^ mix(static_cast<std::uint64_t>(here))) % choices;
    const auto chosen = std::find_if(
        begin, end, [&](Network::edge_descriptor edge) { return nearer(edge) && skip-- == 0; });
    hops.push_back(network[*chosen]);
    here = static_cast<int>(target(*chosen, network));
    --remaining;
  }
  hops.push_back({last.link, 1 - last.own_end, last.tag});
  return hops;
}

int Topology::bonded_nic(int host, int nic, const FlowKey& key) const {
  const Host& owner = graph_->experiment->hosts[static_cast<std::size_t>(host)];
  for (const Bond& bond : owner.bonds) {
    if (std::count(bond.nics.begin(), bond.nics.end(), nic) == 0) continue;
    const std::uint64_t hash = owner.hash == FlowHash::hosts ? key.hosts : key.flow;
    std::vector<int> plugged;
    std::copy_if(bond.nics.begin(), bond.nics.end(), std::back_inserter(plugged),
                 [&](int each) { return graph_->attachment(host, each).link != kNone; });
    if (plugged.empty()) return nic;
    return plugged[mix(hash ^ mix(static_cast<std::uint64_t>(host))) % plugged.size()];
  }
  return nic;
}

bool Topology::reaches(const Test::Pair& pair) const {
  const int from = bonded_nic(pair.from_host, pair.from_nic, {});
  return path_count(pair.from_host, from, pair.to_host, bonded_nic(pair.to_host, pair.to_nic, {})) >
         0;
}

std::int64_t Topology::path_count(int from_host, int from_nic, int to_host, int to_nic) const {
  const Attachment& first = graph_->attachment(from_host, from_nic);
  const Attachment& last = graph_->attachment(to_host, to_nic);
  if (first.link == kNone || last.link == kNone) return 0;
  if (first.link == last.link)
    return first.own_end == last.own_end || first.tag != last.tag ? 0 : 1;
  const int here = graph_->vertex_of(graph_->far_end(first), first.tag);
  const int access = graph_->vertex_of(graph_->far_end(last), last.tag);
  if (here == kNone || access == kNone) return 0;
  return graph_->distances_to(access, from_host, to_host).paths[static_cast<std::size_t>(here)];
}

}  // namespace linerate::experiments
