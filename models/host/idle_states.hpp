// What an idle core has to leave before it does anything: C-states.
#pragma once

#include <vector>

#include "experiments/definition/experiment.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// How long a core that has had nothing to do for `idle` takes until it runs again: the exit
/// latency of the deepest state whose residency that covers, as if the idle time had been foreseen.
/// Linux's governors foresee it from timers and from recent idle times.
inline Time exit_latency(const std::vector<experiments::IdleState>& states, Time idle) {
  Time exit{};
  for (const experiments::IdleState& state : states)
    if (state.residency <= idle) exit = state.exit;
  return exit;
}

}  // namespace linerate::models
