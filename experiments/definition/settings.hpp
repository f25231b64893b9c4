// `--set hosts.a.nics.eth0.mtu=9000B`: one value of the experiment changed from the command line.
#pragma once

#include <string>

#include "experiments/definition/presets.hpp"

namespace linerate::experiments {

/// Applies "PATH=VALUE" (VALUE is YAML; null deletes) to the tree after copies and patterns. A name
/// of a host, switch, link, test or NIC in PATH must exist, list entries are found by their `name`,
/// `*` matches every entry of one level. A path that matches nothing is an error with the nearest.
void apply_setting(Node& root, const std::string& setting, Presets& presets,
                   Diagnostics& diagnostics);

}  // namespace linerate::experiments
