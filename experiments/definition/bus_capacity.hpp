// What a frame costs on a host's bus, and what the bus can carry at most. Both the simulator and
// `check` ask here, so a warning and a prediction rest on the same arithmetic.
#pragma once

#include <string>

#include "experiments/definition/experiment.hpp"

namespace linerate::experiments {

/// A received frame is written to memory, one to be sent is read from it.
enum class DmaDirection { to_memory, to_nic };

/// What moving one frame between memory and a NIC takes, with its share of descriptors, doorbells
/// and interrupts. A half-duplex bus is busy for `up` and `down` together, the two directions of
/// another side by side.
struct DmaTime {
  Time up{};       ///< towards memory
  Time down{};     ///< towards the NIC
  Time memory{};   ///< of a memory that takes frames line by line, each direction for itself
  Time engine{};   ///< at least so long until the NIC moves its next frame in this direction
  Time latency{};  ///< until the last byte has come to the other end
  bool operator==(const DmaTime&) const = default;
};

/// `frame` counts from the destination address; `with_others`: more than one NIC wants the bus.
/// All zero without a bus.
DmaTime dma_time(const Bus& bus, const Nic& nic, DmaDirection direction, Bytes frame,
                 bool with_others = false);

/// Whether both directions share the bus: conventional PCI, and USB before generation 3.
constexpr bool half_duplex(const Bus& bus) {
  return bus.type == BusType::pci || (bus.type == BusType::usb && bus.generation < 3);
}

/// "PCIe 3.0 x4", "32-bit 33 MHz PCI", "USB 2.0". The bus must have a type.
std::string bus_name(const Bus& bus);

struct BusCapacity {
  std::string name;                   ///< as bus_name()
  BitRate raw;                        ///< after the line code, before any protocol
  BitRate usable;                     ///< frame bytes; half duplex: both directions together
  std::string reason;                 ///< how usable follows from raw
  bool shared_by_directions = false;  ///< half duplex
};

/// What `bus` moves while frames of `frame` bytes (header, no FCS) are sent and received at the
/// same rate. The bus must have a type.
BusCapacity bus_capacity(const Bus& bus, Bytes frame, const Nic& nic = {});

}  // namespace linerate::experiments
