// Which links of the netns lab are a program between their ends, and what that program does.
#pragma once

#include <optional>

#include "experiments/definition/experiment.hpp"
#include "realnet/wire/wire_plan.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// Whether the link does more than a token bucket can.
bool needs_wire(const experiments::Experiment& experiment, const experiments::Link& link);

/// Whether the wire can do what the link's script says: where a queue decides, or the link changes,
/// frames are not known by their segments any more when they leave.
bool can_follow_script(const experiments::Experiment& experiment, const experiments::Link& link);

/// The wire of the link with the number `index`, for packets of up to `largest_mtu`.
WirePlan wire_for(const experiments::Experiment& experiment, int index, Bytes largest_mtu);

/// The discipline of the queue in front of what `end` of the link sends, if it has one that decides
/// and that a user-space wire can follow: of the link, the switch or the NIC.
std::optional<experiments::QueueSpec> discipline_of(const experiments::Experiment& experiment,
                                                    const experiments::Link& link, int end);

}  // namespace linerate::realnet
