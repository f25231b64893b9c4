// `topology:` writes the hosts, switches and links of a common network.
#pragma once

#include "experiments/definition/merge.hpp"
#include "experiments/definition/presets.hpp"

namespace linerate::experiments {

/// Replaces `topology:` by patterns in `hosts`, `switches` and `links`, in front of what stands
/// there; expand_patterns() then makes the entries. Names: star h1.. and switch; dumbbell l1.., r1..
/// and left, right; leaf-spine h1.., leaf1.., spine1..; fat-tree h1.., edge1.., agg1.., core1.. .
/// An entry of the file that takes one of these names is an error.
void generate_topology(Node& root, Presets& presets, Diagnostics& diagnostics);

}  // namespace linerate::experiments
