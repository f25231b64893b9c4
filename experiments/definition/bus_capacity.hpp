// What a host bus can move: width, clock and lanes turned into frames.
#pragma once

#include <string>

#include "experiments/definition/experiment.hpp"

namespace linerate::experiments {

struct BusCapacity {
  std::string name;                   ///< "PCIe 3.0 x4", "32-bit 33 MHz PCI"
  BitRate raw;                        ///< after the line code, before any protocol
  BitRate usable;                     ///< frame bytes; PCIe: each direction, PCI: both together
  std::string reason;                 ///< how usable follows from raw
  bool shared_by_directions = false;  ///< conventional PCI is half duplex
};

/// What `bus` moves when every transfer is a frame of `frame` bytes (header, no FCS). An upper
/// bound: descriptors, doorbells and read latency come on top. The bus must have a type.
BusCapacity bus_capacity(const Bus& bus, Bytes frame);

}  // namespace linerate::experiments
