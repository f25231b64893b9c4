// How soon traffic is back after something happened to a link: one definition for both back ends.
#pragma once

#include <optional>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "sim/units.hpp"

namespace linerate::experiments {

/// How far a test had come at the end of an interval.
struct Progress {
  Time from, to;     ///< since the start of the group
  double bytes = 0;  ///< of payload, received by `to`
};

/// The longest time from the end of a disturbance (an event that lasts, or a link that goes down
/// and up again; one that goes down for good: from then) until payload came 90 % as fast as on
/// average before it, to one interval. Nothing without a disturbance that began after the first
/// payload and ended before `end`, and where traffic did not come back.
std::optional<Time> recovery(const std::vector<LinkEvent>& events,
                             const std::vector<Progress>& progress, Time end);

}  // namespace linerate::experiments
