#include "experiments/definition/bus_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace linerate::experiments {
namespace {

double count(Bytes size) { return static_cast<double>(size.count()); }

double parts(double size, double part) { return std::ceil(size / part); }

// ---- PCI Express ----

// One lane one way, after 8b/10b (generations 1 and 2), 128b/130b (3 to 5) or the 242 of 256 bytes
// of a flit that carry TLPs (6 and 7). PCI Express Base Specification, chapter 4.
double pcie_lane_rate(int generation) {
  constexpr double kTransfers[] = {2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9, 128e9};
  LINERATE_CHECK(generation >= 1 && generation <= 7, "a PCIe generation is 1 to 7");
  const double code = generation <= 2 ? 8.0 / 10 : generation <= 5 ? 128.0 / 130 : 242.0 / 256;
  return kTransfers[generation - 1] * code;
}

// A packet of the transaction layer: 8 B of framing, sequence number and LCRC, and a header of 16 B
// with a 64-bit address or of 12 B in a completion (Base Specification, chapters 2 and 3; as in
// Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM 2018).
constexpr double kRequest = 24;
constexpr double kCompletion = 20;
constexpr double kRegister = 4;  // a doorbell's or an interrupt message's data

// Of every 370 blocks one lets clocks catch up, or 4 symbols of some 1360 (chapter 4, SKP).
constexpr double kSkip = 1.003;

// A receiver acknowledges, and returns credits, at the latest after so many full packets: the
// AckFactor of the Base Specification 2.0, table 3-5, which depends on width and payload.
double packets_acknowledged(int lanes, Bytes payload) {
  const bool large = payload > Bytes(256);
  if (lanes <= 4) return large ? 1.0 : 1.4;
  if (lanes <= 8) return large ? 1.0 : 2.5;
  return large ? 2.0 : 3.0;
}

// Bytes of both directions. What is sent in one is acknowledged in the other: an Ack and an
// UpdateFC of 8 B each.
struct Traffic {
  double up = 0, down = 0;
};

Traffic acknowledged(const Bus& bus, Traffic packets) {
  constexpr double kPair = 16;
  const double every =
      packets_acknowledged(bus.lanes, bus.max_payload) * (count(bus.max_payload) + kRequest);
  return {packets.up + packets.down / every * kPair, packets.down + packets.up / every * kPair};
}

DmaTime pcie_time(const Bus& bus, const Nic& nic, DmaDirection direction, double size) {
  const double payload = count(bus.max_payload);
  const double answer =
      bus.completion > Bytes(0) ? std::min(count(bus.completion), payload) : payload;
  const double batch = nic.dma.batch;
  const double descriptor = count(nic.dma.descriptor);

  // 1. The driver rings a doorbell. 2. The NIC reads descriptors. 3. It reads or writes the frame.
  // 4. It writes descriptors back. 5. It interrupts. All but 3 serve a batch of frames.
  Traffic packets;
  packets.down += (kRequest + kRegister) / batch;
  packets.up += kRequest / batch;
  packets.down += kCompletion / batch + descriptor;
  const double requests = direction == DmaDirection::to_nic
                              ? parts(size, count(bus.max_read_request))
                              : parts(size, payload);
  packets.up += requests * kRequest;
  if (direction == DmaDirection::to_nic)
    packets.down += parts(size, answer) * kCompletion + size;
  else
    packets.up += size;
  packets.up += kRequest / batch + descriptor;
  packets.up += (kRequest + kRegister) / batch;

  const Traffic traffic = acknowledged(bus, packets);
  const double rate = pcie_lane_rate(bus.generation) * bus.lanes / 8 / kSkip;
  DmaTime time;
  time.up = Time::from_seconds(traffic.up / rate);
  time.down = Time::from_seconds(traffic.down / rate);
  if (direction == DmaDirection::to_nic) {
    // Little's law: so many requests are under way for the time one takes.
    const double reads = requests + 1 / batch;
    time.engine = bus.read_latency.scaled(reads / bus.outstanding_reads);
    time.latency = bus.read_latency;
  } else {
    // Nobody waits for a posted write, whose data is there after half the time of a read; but the
    // credits it took must come back.
    if (bus.posted_credits > Bytes(0))
      time.engine = bus.credit_return.scaled(size / count(bus.posted_credits));
    time.latency = bus.read_latency / 2;
  }
  return time;
}

// ---- conventional PCI ----

// Clocks of a transfer of `size` bytes: arbitration, one of address, the wait for the target, data
// and one of turn-around, again for each burst. PCI Local Bus Specification 2.2, chapter 3.
double pci_clocks(const Bus& bus, double size, double burst, int wait) {
  const double overhead = bus.arbitration + 1 + wait + 1;
  const double whole = std::floor(size / burst);
  const double rest = size - whole * burst;
  return whole * (overhead + parts(burst, bus.width / 8)) +
         (rest > 0 ? overhead + parts(rest, bus.width / 8) : 0);
}

DmaTime pci_time(const Bus& bus, const Nic& nic, DmaDirection direction, double size,
                 bool with_others) {
  double burst = count(bus.burst);
  if (with_others) burst = std::min(burst, static_cast<double>(bus.latency_timer) * bus.width / 8);
  const double batch = nic.dma.batch;
  const double list = count(nic.dma.descriptor) * batch;
  const bool reads = direction == DmaDirection::to_nic;
  // As with PCI Express; that there is work is read from a register, which costs a whole read.
  double clocks = pci_clocks(bus, size, burst, reads ? bus.read_wait : bus.write_wait);
  clocks += pci_clocks(bus, kRegister, burst, bus.write_wait) / batch;
  clocks += pci_clocks(bus, list, burst, bus.read_wait) / batch;
  clocks += pci_clocks(bus, list, burst, bus.write_wait) / batch;
  clocks += pci_clocks(bus, kRegister, burst, bus.read_wait) / batch;
  const Time taken = Time::from_seconds(clocks / static_cast<double>(bus.clock));
  DmaTime time;
  (reads ? time.down : time.up) = taken;
  return time;
}

// ---- USB ----

struct UsbBulk {
  int packet;     // bytes
  int packets;    // the most in an interval …
  Time interval;  // … of so long
};

// Bulk packets that fit a frame of 1 ms (USB 1.1, table 5-10: 19) or a microframe of 125 us (USB
// 2.0, table 5-10: 13). SuperSpeed carries 500 MB/s after 8b/10b (USB 3.0); 48 packets of 1024 B
// are the 400 MB/s that are left of it behind its headers and link commands.
UsbBulk usb_bulk(int generation) {
  if (generation == 1) return {64, 19, Time::milliseconds(1)};
  if (generation == 2) return {512, 13, Time::microseconds(125)};
  return {1024, 48, Time::microseconds(125)};
}

double usb_rate(const Bus& bus) {
  const UsbBulk bulk = usb_bulk(bus.generation);
  return static_cast<double>(bulk.packet) * bus.packets.value_or(bulk.packets) /
         bulk.interval.seconds();
}

// Up to USB 2.0 transfers begin with the (micro)frame after the one in which they were asked for.
// A SuperSpeed controller acts on a doorbell at once, after three reads of its own across PCIe
// (context, transfer request, data), and tells of what it has received every 40 us at most (Linux
// xhci-hcd, imod_interval).
Time usb_latency(const Bus& bus, DmaDirection direction, const UsbBulk& bulk) {
  if (bus.generation < 3) return bulk.interval;
  return Time::microseconds(direction == DmaDirection::to_nic ? 3 : 40);
}

DmaTime usb_time(const Bus& bus, const Nic& nic, DmaDirection direction, double size) {
  const UsbBulk bulk = usb_bulk(bus.generation);
  double bytes = size + count(nic.dma.header);
  // A transfer ends with a short packet, which can be an empty one.
  if (!nic.dma.aggregate) bytes = (std::floor(bytes / bulk.packet) + 1) * bulk.packet;
  DmaTime time;
  (direction == DmaDirection::to_nic ? time.down : time.up) =
      Time::from_seconds(bytes / usb_rate(bus));
  time.latency = usb_latency(bus, direction, bulk);
  return time;
}

// ---- memory ----

Time line_time(const LineTimes& lines, Bytes size) {
  const std::int64_t touched = (size.count() + lines.size.count() - 1) / lines.size.count();
  return lines.frame + lines.line * touched;
}

}  // namespace

DmaTime dma_time(const Bus& bus, const Nic& nic, DmaDirection direction, Bytes frame,
                 bool with_others) {
  DmaTime time;
  const double size = count(frame);
  switch (bus.type) {
    case BusType::none:
      return time;
    case BusType::pcie:
      time = pcie_time(bus, nic, direction, size);
      break;
    case BusType::pci:
      time = pci_time(bus, nic, direction, size, with_others);
      break;
    case BusType::usb:
      time = usb_time(bus, nic, direction, size);
      break;
  }
  const bool reads = direction == DmaDirection::to_nic;
  time.memory = line_time(bus.lines, frame);
  time.engine = later(time.engine, reads ? nic.dma.transmit_frame : nic.dma.receive_frame);
  return time;
}

std::string bus_name(const Bus& bus) {
  LINERATE_CHECK(bus.type != BusType::none, "only a real bus has a name");
  if (bus.type == BusType::pcie) return fmt::format("PCIe {}.0 x{}", bus.generation, bus.lanes);
  if (bus.type == BusType::usb)
    return fmt::format("USB {}", bus.generation == 1 ? "1.1" : bus.generation == 2 ? "2.0" : "3.0");
  return fmt::format("{}-bit {:.0f} MHz PCI", bus.width, static_cast<double>(bus.clock) / 1e6);
}

BusCapacity bus_capacity(const Bus& bus, Bytes frame, const Nic& nic) {
  LINERATE_CHECK(bus.type != BusType::none, "a capacity is asked of a real bus");
  const auto rounded = [](double rate) { return BitRate::bits_per_second(std::llround(rate)); };
  const DmaTime in = dma_time(bus, nic, DmaDirection::to_memory, frame);
  const DmaTime out = dma_time(bus, nic, DmaDirection::to_nic, frame);
  const Time up = in.up + out.up, down = in.down + out.down;
  const bool half = half_duplex(bus);
  const auto bits = static_cast<double>(frame.bits());
  const double raw = bus.type == BusType::pcie  ? pcie_lane_rate(bus.generation) * bus.lanes
                     : bus.type == BusType::usb ? usb_rate(bus) * 8
                                                : static_cast<double>(bus.clock) * bus.width;
  const double link = half ? 2 * bits / (up + down).seconds() : bits / later(up, down).seconds();
  const Time lines = later(in.memory, out.memory);
  const bool memory = lines > Time{} && bits / lines.seconds() < link;
  const double usable = memory ? bits / lines.seconds() : link;
  const char* what = memory                      ? "waits for lines of memory"
                     : bus.type == BusType::pcie ? "packet headers, descriptors and link layer"
                     : bus.type == BusType::usb  ? "headers and padding"
                                                 : "address, waits, descriptors and registers";
  return {bus_name(bus), rounded(raw), rounded(usable),
          fmt::format("{:.4g} Gbit/s raw, {:.0f} % of it frames of {} B, the rest {}", raw / 1e9,
                      100 * usable / raw, frame.count(), what),
          half};
}

}  // namespace linerate::experiments
