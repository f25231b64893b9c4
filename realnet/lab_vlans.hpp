// VLANs in the netns lab: a bridge for each, and the tag counted where frames would carry it.
#pragma once

#include <optional>
#include <string>

#include "experiments/definition/experiment.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// Whether every port of `device` belongs to one VLAN, so that its VLANs can be bridges of their
/// own. A trunk, which carries several over one link, cannot.
bool has_vlans_apart(const experiments::Switch& device);

/// The bridge that a port of `device` belongs to: one for each VLAN where they are apart, else one
/// for all.
std::string bridge_of(const experiments::Switch& device, int port);

/// What every frame of `link` carries more than an untagged one (IEEE 802.1Q 9.3).
Bytes tag_of(const experiments::Experiment& experiment, const experiments::Link& link);

}  // namespace linerate::realnet
