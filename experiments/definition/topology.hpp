// The network as a graph (Boost.Graph): who reaches whom, over which links.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "experiments/definition/experiment.hpp"

namespace linerate::experiments {

/// One link crossed in one direction: `ends[from_end]` transmits.
struct Hop {
  int link = 0;
  int from_end = 0;
  bool operator==(const Hop&) const = default;
};

class Topology {
 public:
  explicit Topology(const Experiment& experiment);
  ~Topology();
  Topology(Topology&&) noexcept;
  Topology& operator=(Topology&&) noexcept;

  /// The links from NIC to NIC along a shortest path by hop count; hosts are passed through only if
  /// they forward. Equal-cost choices are made by `flow_hash`, at every node anew, so the same hash
  /// always takes the same path. Empty if unreachable.
  std::vector<Hop> path(int from_host, int from_nic, int to_host, int to_nic,
                        std::uint64_t flow_hash) const;

  /// How many equal-cost shortest paths there are (capped at 1,000,000); 0 if unreachable.
  std::int64_t path_count(int from_host, int from_nic, int to_host, int to_nic) const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace linerate::experiments
