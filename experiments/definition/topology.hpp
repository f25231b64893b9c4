// The network as a graph (Boost.Graph): who reaches whom, over which links.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "experiments/definition/experiment.hpp"

namespace linerate::experiments {

/// One link crossed in one direction: `ends[from_end]` transmits.
struct Hop {
  int link = 0;
  int from_end = 0;
  int tag = 0;  ///< VLAN of the 802.1Q tag that frames carry on it; 0: none
  bool operator==(const Hop&) const = default;
};

/// By what a node tells flows apart when several links lead on (LACP groups, equal-cost paths):
/// each node looks at one of the two, as its `hash` says.
struct FlowKey {
  std::uint64_t flow = 0;   ///< differs for every connection
  std::uint64_t hosts = 0;  ///< the same for all connections between two hosts
};

class Topology {
 public:
  /// All links but those of these indices, as if they were unplugged.
  explicit Topology(const Experiment& experiment, const std::set<int>& without = {});
  ~Topology();
  Topology(Topology&&) noexcept;
  Topology& operator=(Topology&&) noexcept;

  /// The links from NIC to NIC along a shortest path by hop count; hosts are passed through only if
  /// they forward, and switches only within a VLAN. Equal-cost choices are made by `key`, at every
  /// node anew, so the same key always takes the same path. Empty if unreachable.
  std::vector<Hop> path(int from_host, int from_nic, int to_host, int to_nic,
                        const FlowKey& key = {}) const;

  /// The NICs that a bond of `host` with `nic` in it spreads flows over; `nic` alone if there is
  /// none. One of those that are plugged in, by the host's hash policy: the sender's choice of
  /// link.
  int bonded_nic(int host, int nic, const FlowKey& key) const;

  /// Whether there is any way between a test's two ends, over any NICs of their bonds.
  bool reaches(const Test::Pair& pair) const;

  /// How many equal-cost shortest paths there are (capped at 1,000,000); 0 if unreachable.
  std::int64_t path_count(int from_host, int from_nic, int to_host, int to_nic) const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace linerate::experiments
