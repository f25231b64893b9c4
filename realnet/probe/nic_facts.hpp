// What the kernel says about a network device and its place on the bus.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace linerate::realnet {

/// Of one direction (ethtool -c).
struct CoalesceFacts {
  int microseconds = 0, frames = 0;
  bool adaptive = false;  ///< the driver changes the others as it sees fit
};

/// A PCI or PCIe function. Unknown is absent.
struct BusFacts {
  std::string address;                   ///< "0000:00:03.0"
  std::optional<int> generation, lanes;  ///< PCIe, as the link runs now
  std::optional<int> most_generation, most_lanes;
  std::optional<int> max_payload, max_read_request;  ///< bytes, from its configuration space
  bool operator==(const BusFacts&) const = default;
};

struct NicFacts {
  std::string device, driver, driver_version;
  std::optional<int> megabits;  ///< the speed it runs at
  int mtu = 0, transmit_queue = 0;
  std::optional<int> transmit_ring, receive_ring, most_transmit_ring, most_receive_ring;
  std::optional<int> queues;  ///< pairs of rings that share the traffic
  std::optional<CoalesceFacts> receive_coalescing, transmit_coalescing;
  std::optional<bool> checksum, tso, gso, gro, lro;
  std::optional<int> numa_node;
  std::optional<BusFacts> bus;
};

/// Devices with hardware (or a hypervisor's) behind them, by name; if there are none, all but the
/// loopback device.
std::vector<std::string> hardware_devices();

/// Asks the driver (ethtool's ioctl) and sysfs. Throws std::system_error if there is no device.
NicFacts facts_of(const std::string& device);

/// Reads a PCI configuration space (PCI Local Bus Specification 3.0, 6.7; PCI Express Base
/// Specification 3.0, 7.8): payload and read request sizes of a PCIe function. `bytes` may be cut
/// short, as it is without privileges.
BusFacts parse_configuration_space(const std::string& bytes);

}  // namespace linerate::realnet
