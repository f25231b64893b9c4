#include "experiments/definition/bus_capacity.hpp"

#include <fmt/format.h>

#include <cmath>

namespace linerate::experiments {
namespace {

BitRate rounded(double bits_per_second) {
  return BitRate::bits_per_second(std::llround(bits_per_second));
}

// One lane one way, after 8b/10b (generations 1 and 2), 128b/130b (3 to 5) or the 242 of 256 bytes
// of a flit that carry TLPs (6 and 7). PCI Express Base Specification, chapter 4.
double pcie_lane_rate(int generation) {
  constexpr double kTransfers[] = {2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9, 128e9};
  LINERATE_CHECK(generation >= 1 && generation <= 7, "a PCIe generation is 1 to 7");
  const double code = generation <= 2 ? 8.0 / 10 : generation <= 5 ? 128.0 / 130 : 242.0 / 256;
  return kTransfers[generation - 1] * code;
}

BusCapacity pcie_capacity(const Bus& bus, Bytes frame) {
  // Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM 2018: a
  // write of s bytes takes ceil(s / max_payload) headers of 24 B (framing, sequence number and LCRC
  // 8, TLP header 16), and ACK, flow-control and SKIP symbols leave about 91 % to TLPs.
  constexpr double kHeader = 24;
  constexpr double kLinkLayer = 0.91;
  const double raw = pcie_lane_rate(bus.generation) * bus.lanes;
  const auto size = static_cast<double>(frame.count());
  const double packets = std::ceil(size / static_cast<double>(bus.max_payload.count()));
  const double payload_share = size / (size + packets * kHeader);
  return {fmt::format("PCIe {}.0 x{}", bus.generation, bus.lanes), rounded(raw),
          rounded(raw * kLinkLayer * payload_share),
          fmt::format("{:.4g} Gbit/s raw, {:.0f} TLP headers of 24 B per {} B, 9 % for the link "
                      "layer",
                      raw / 1e9, packets, frame.count()),
          false};
}

BusCapacity pci_capacity(const Bus& bus) {
  // PCI Local Bus Specification 2.2: address, arbitration, target latency and turn-around cost some
  // 16 clocks on top of the 64 data clocks of a 256-byte read burst, about the best a NIC gets.
  constexpr double kBurst = 64.0 / 80;
  const double raw = static_cast<double>(bus.clock) * bus.width;
  return {fmt::format("{}-bit {:.0f} MHz PCI", bus.width, static_cast<double>(bus.clock) / 1e6),
          rounded(raw), rounded(raw * kBurst),
          fmt::format("{:.4g} Gbit/s peak, 80 % in bursts of 256 B", raw / 1e9), true};
}

}  // namespace

BusCapacity bus_capacity(const Bus& bus, Bytes frame) {
  LINERATE_CHECK(bus.type != BusType::none, "a capacity is asked of a real bus");
  return bus.type == BusType::pci ? pci_capacity(bus) : pcie_capacity(bus, frame);
}

}  // namespace linerate::experiments
