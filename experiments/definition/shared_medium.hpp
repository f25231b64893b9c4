// Collision domains: which ports share a medium, and how far they are from each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/definition/topology.hpp"

namespace linerate::experiments {

/// The way of a signal from one station to another.
struct SignalWay {
  Time delay{};       ///< cables, and the latency of repeaters
  int repeaters = 0;  ///< passed
  int segments = 0;   ///< coaxial segments passed
};

/// The ports that share a medium: those at a hub or at hubs that are linked, or the two ends of a
/// cable of which at least one is half duplex.
struct SharedMedium {
  std::string path;  ///< "hubs.h1", or "links.a-b" without a hub
  BitRate rate;
  std::optional<Time> slot;  ///< instead of the standard's
  std::vector<int> hubs, links;
  std::vector<Hop> stations;    ///< each by what it transmits on: a link and its own end
  std::vector<SignalWay> ways;  ///< from station i to j at i * stations + j

  const SignalWay& way(std::size_t from, std::size_t to) const {
    return ways[from * stations.size() + to];
  }
};

/// Whether a link shares its medium in both directions or with others.
bool is_shared(const Link& link);

/// All of an experiment, each link in at most one. Hubs without a link have none.
std::vector<SharedMedium> shared_media(const Experiment& experiment);

/// What the standard allots to both ports of the longest way, and what the round trip may take, in
/// bit times (IEEE 802.3 clauses 13, 29 and 42).
struct RoundTripBudget {
  double ports;
  double limit;
};
RoundTripBudget round_trip_budget(BitRate rate);

/// What a repeater of this rate and class delays a signal by when nothing else is said.
Time repeater_latency(BitRate rate, RepeaterClass repeater_class);

}  // namespace linerate::experiments
