// What a user-space wire is to be, as a value.
#pragma once

#include <array>

#include "realnet/wire/line.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// Both directions of a link: lines[i] carries what device i receives to the other one.
struct WirePlan {
  std::array<LineConfig, 2> lines;
  Bytes largest;  ///< frame of either side, without FCS
  bool operator==(const WirePlan&) const = default;
};

}  // namespace linerate::realnet
