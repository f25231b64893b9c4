#include "experiments/definition/topology.hpp"

#include <algorithm>
#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/pending/queue.hpp>
#include <map>
#include <utility>

namespace linerate::experiments {
namespace {

constexpr int kNone = -1;
constexpr std::int64_t kMostPaths = 1'000'000;
// Distances are kept per access node; the cache is emptied beyond this many entries so that a
// network of a hundred thousand hosts does not hold the square of its size.
constexpr std::size_t kMostCachedEntries = 8'000'000;

// Only nodes that pass packets on are vertices: switches and forwarding hosts. Every other NIC is a
// leaf whose first and last link is known, so a packet cannot cross a host that does not forward.
using Network =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Hop>;
using Colors = std::vector<boost::default_color_type>;

// Where a NIC's cable leads.
struct Attachment {
  int link = kNone;
  int own_end = 0;
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

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit,
// so neighbouring flow hashes and equal switches in a row choose independently.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

struct Topology::Graph {
  explicit Graph(const Experiment& experiment);

  int vertex_of(const PortRef& end) const {
    return end.kind == NodeKind::host ? host_vertex[static_cast<std::size_t>(end.node)]
                                      : switch_vertex[static_cast<std::size_t>(end.node)];
  }
  const Attachment& attachment(int host, int nic) const {
    return attachments[static_cast<std::size_t>(host)][static_cast<std::size_t>(nic)];
  }
  const PortRef& far_end(const Attachment& at) const {
    return ends[static_cast<std::size_t>(at.link)][static_cast<std::size_t>(1 - at.own_end)];
  }
  const Distances& distances_to(int access, int from_host, int to_host);

  Network network;
  std::vector<int> host_vertex, switch_vertex;       // kNone for a host that does not forward
  std::vector<std::vector<Attachment>> attachments;  // by host and NIC
  std::vector<std::array<PortRef, 2>> ends;          // by link
  std::map<std::array<int, 3>, Distances> cache;
  std::size_t cached_entries = 0;
};

Topology::Graph::Graph(const Experiment& experiment) {
  for (const Host& host : experiment.hosts) {
    const bool forwards = host.forwarding != Forwarding::none;
    host_vertex.push_back(forwards ? static_cast<int>(add_vertex(network)) : kNone);
    attachments.emplace_back(host.nics.size());
  }
  for (std::size_t i = 0; i < experiment.switches.size(); ++i)
    switch_vertex.push_back(static_cast<int>(add_vertex(network)));

  for (const Link& link : experiment.links) {
    const int index = static_cast<int>(ends.size());
    ends.push_back({link.ends[0], link.ends[1]});
    for (int end = 0; end < 2; ++end) {
      const PortRef& port = link.ends[end];
      if (port.kind == NodeKind::host)
        attachments[static_cast<std::size_t>(port.node)][static_cast<std::size_t>(port.port)] = {
            index, end};
      const int from = vertex_of(port), to = vertex_of(link.ends[1 - end]);
      if (from != kNone && to != kNone)
        add_edge(static_cast<std::size_t>(from), static_cast<std::size_t>(to), Hop{index, end},
                 network);
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

Topology::Topology(const Experiment& experiment) : graph_(std::make_unique<Graph>(experiment)) {}
Topology::~Topology() = default;
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;

std::vector<Hop> Topology::path(int from_host, int from_nic, int to_host, int to_nic,
                                std::uint64_t flow_hash) const {
  const Attachment& first = graph_->attachment(from_host, from_nic);
  const Attachment& last = graph_->attachment(to_host, to_nic);
  if (first.link == kNone || last.link == kNone) return {};
  if (first.link == last.link) {
    if (first.own_end == last.own_end) return {};  // a NIC does not reach itself over its cable
    return {{first.link, first.own_end}};
  }
  int here = graph_->vertex_of(graph_->far_end(first));
  const int access = graph_->vertex_of(graph_->far_end(last));
  if (here == kNone || access == kNone) return {};
  const Distances& distances = graph_->distances_to(access, from_host, to_host);
  int remaining = distances.hops[static_cast<std::size_t>(here)];
  if (remaining == kNone) return {};

  std::vector<Hop> hops{{first.link, first.own_end}};
  hops.reserve(static_cast<std::size_t>(remaining) + 2);
  const Network& network = graph_->network;
  while (remaining > 0) {
    const auto [begin, end] = out_edges(static_cast<std::size_t>(here), network);
    const auto nearer = [&](Network::edge_descriptor edge) {
      return distances.hops[target(edge, network)] == remaining - 1;
    };
    const auto choices = static_cast<std::uint64_t>(std::count_if(begin, end, nearer));
    std::uint64_t skip = mix(flow_hash ^ mix(static_cast<std::uint64_t>(here))) % choices;
    const auto chosen = std::find_if(
        begin, end, [&](Network::edge_descriptor edge) { return nearer(edge) && skip-- == 0; });
    hops.push_back(network[*chosen]);
    here = static_cast<int>(target(*chosen, network));
    --remaining;
  }
  hops.push_back({last.link, 1 - last.own_end});
  return hops;
}

std::int64_t Topology::path_count(int from_host, int from_nic, int to_host, int to_nic) const {
  const Attachment& first = graph_->attachment(from_host, from_nic);
  const Attachment& last = graph_->attachment(to_host, to_nic);
  if (first.link == kNone || last.link == kNone) return 0;
  if (first.link == last.link) return first.own_end == last.own_end ? 0 : 1;
  const int here = graph_->vertex_of(graph_->far_end(first));
  const int access = graph_->vertex_of(graph_->far_end(last));
  if (here == kNone || access == kNone) return 0;
  return graph_->distances_to(access, from_host, to_host).paths[static_cast<std::size_t>(here)];
}

}  // namespace linerate::experiments
