// Ethernet media by name: what speed a cable has, how fast light or current moves in it, how far it
// may go. A medium decides the speed of the ports at its ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/units.hpp"

namespace linerate::experiments {

/// One row of the table in media.cpp.
struct Medium {
  std::string_view name;   ///< as IEEE 802.3 spells it, "1000BASE-T"
  BitRate rate;            ///< of the MAC, not the line code
  double velocity_factor;  ///< signal speed as a fraction of the speed of light in vacuum
  double max_length_m;     ///< longest link or segment the standard provides for, m
  bool half_duplex;        ///< CSMA/CD is specified for it
  bool full_duplex;
  std::string_view clause;  ///< of IEEE 802.3, or the other document that defines it
};

/// The name of what is no Ethernet medium: a pair of virtual interfaces between hosts of one
/// machine (Linux veth(4)). Nothing is serialized: a packet is in the peer's hands when the
/// sender's call hands it over, and a buffer for segmentation offload passes whole. All it takes is
/// what the machine's cores spend.
inline constexpr std::string_view kVirtualPair = "veth";
/// A byte takes the shortest time there is, a picosecond, so that packets keep their order.
inline constexpr BitRate kVirtualPairRate = BitRate::bits_per_second(8'000'000'000'000);

/// The medium of that exact name, or nullptr. The pointer stays valid for the whole run.
const Medium* find_medium(std::string_view name);

/// Every name, slowest medium first.
std::vector<std::string> medium_names();

/// Time the signal needs for `length_m` metres, to the nearest picosecond.
Time propagation_delay(const Medium& medium, double length_m);

}  // namespace linerate::experiments
