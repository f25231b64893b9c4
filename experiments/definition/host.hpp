// What hosts are made of, as the file has it: cores, buses, NICs, disks, and what each costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/definition/ciphers.hpp"
#include "experiments/definition/encapsulation.hpp"
#include "experiments/definition/queue.hpp"
#include "experiments/definition/stack.hpp"
#include "sim/units.hpp"

namespace linerate::experiments {

/// What a core spends on networking. Zero everywhere: a host that costs nothing.
struct CpuCosts {
  Time call{};                    ///< a write() or read(), without its copy; process
  Time segment_sent{};            ///< a segment with data, or a buffer for segmentation offload; in
                                  ///< whose context it is sent
  Time segment_received{};        ///< a segment with data, or several merged (GRO); softirq
  Time ack_sent{};                ///< any other segment; in whose context it is sent
  Time ack_received{};            ///< any other segment; softirq
  std::optional<BitRate> write_copy;  ///< from the program into the socket; none: free; process
  std::optional<BitRate> read_copy;   ///< from the socket into the program; none: free; process
  std::optional<BitRate> checksum;    ///< with either copy where the NIC does none; process
  Time frame{};                   ///< the driver, for each frame received
  Time interrupt{};               ///< entering and leaving a handler of received frames
  Time completion{};              ///< an interrupt that tells of transmitted frames
  Time poll{};                    ///< a poll of the receive ring
  Time block{};                   ///< a program goes to sleep in a call
  Time wake{};                    ///< and is made to run again
  Time turn{};                    ///< a core turns from one program to another (context switch)
  Time connection{};              ///< a connection, at each end
  std::optional<BitRate> file_copy;   ///< between a program and the page cache; none: free; process
  bool operator==(const CpuCosts&) const = default;
};

/// What tells a host of received frames: an interrupt each, or one and then polls until none is left.
enum class Interrupts { polling, per_frame };

/// How a host measures the CPU time of programs: exactly, or by a clock tick that charges what has
/// been interrupted for the interrupt too.
enum class CpuAccounting { exact, tick };

/// A state in which a core saves power while it has nothing to do: entered when that lasts for
/// `residency` at least, left in `exit`.
struct IdleState {
  Time exit{};
  Time residency{};
  bool operator==(const IdleState&) const = default;
};

struct Cpu {
  int cores = 1;
  std::optional<std::int64_t> clock;        ///< Hz, that the cores run at …
  std::optional<std::int64_t> costs_clock;  ///< … and at which the file's costs were taken
  CpuCosts costs;                 ///< at `clock`
  Ciphers ciphers;                ///< at `clock`
  std::vector<IdleState> idle_states;  ///< the shallowest first
  Interrupts interrupts = Interrupts::polling;
  std::int64_t poll_budget = 64;  ///< frames of one NIC before another's turn
  std::int64_t backlog = 300;     ///< per-frame: frames between interrupt and softirq
  std::optional<int> application_core;  ///< of all programs; else one after the other by connection
  std::optional<int> interrupt_core;    ///< of all NICs; else one after the other by NIC
  CpuAccounting accounting = CpuAccounting::exact;
  Time slice{};                   ///< a program keeps a core so long while others wait; 0: one call
  bool modelled() const { return costs != CpuCosts{} || ciphers != Ciphers{}; }
  bool operator==(const Cpu&) const = default;
};

enum class BusType { none, pci, pcie, usb };

/// Memory behind a bus that takes frames line by line: `frame` for each and `line` for every line it
/// touches, in either direction. Zero: memory is no slower than the bus.
struct LineTimes {
  Time frame{};
  Time line{};
  Bytes size{64};
  bool operator==(const LineTimes&) const = default;
};

/// The bus between memory and NICs, which all of a host's NICs share. What a frame costs on it is
/// computed in bus_capacity.hpp. Without a type it costs nothing.
struct Bus {
  BusType type = BusType::none;
  int generation = 3;             ///< PCIe 1 to 7; USB 1, 2, 3
  int lanes = 8;                  ///< PCIe
  Bytes max_payload{256};         ///< PCIe
  Bytes max_read_request{512};    ///< PCIe
  Bytes completion{0};            ///< PCIe: largest read completion; 0: max_payload
  int outstanding_reads = 32;     ///< PCIe: read requests of a NIC under way at once
  Time read_latency = Time::nanoseconds(600);  ///< PCIe: from a read request to its data
  Bytes posted_credits{0};        ///< PCIe: writes under way before credits return; 0: any number
  Time credit_return = Time::nanoseconds(200);  ///< PCIe: until a write's credits are back
  std::int64_t clock = 33'333'333;  ///< conventional PCI, Hz
  int width = 32;                 ///< conventional PCI, bits
  Bytes burst{64};                ///< conventional PCI: data of one transaction
  int arbitration = 2;            ///< conventional PCI: clocks until the bus is granted
  int write_wait = 2;             ///< conventional PCI: clocks until the first word is taken
  int read_wait = 12;             ///< conventional PCI: clocks until the first word is there
  int latency_timer = 32;         ///< conventional PCI: clocks of data while another NIC may wait
  std::optional<int> packets;     ///< USB: bulk packets in a frame (1) or microframe (2, 3)
  LineTimes lines;
  bool operator==(const Bus&) const = default;
};

/// Interrupt moderation of one direction: at `delay` after the first frame or at the n-th frame, and
/// never sooner than `gap` after the last interrupt (an interrupt throttling rate).
struct Coalescing {
  Time delay{};
  int frames = 0;
  Time gap{};
  bool operator==(const Coalescing&) const = default;
};

struct Offloads {
  bool checksum = true;
  bool tso = false;
  bool gro = false;
  bool operator==(const Offloads&) const = default;
};

/// Memory of a NIC, in which frames lie between the bus and the wire.
struct Fifo {
  Bytes transmit{65536};
  Bytes receive{65536};
  /// Sends begin when so much of a frame is here; 0: when all of it is. A wire that then runs out
  /// of data has sent a broken frame, and the driver raises it (transmit underrun).
  Bytes threshold{0};
  bool operator==(const Fifo&) const = default;
};

/// How a NIC moves frames between memory and its FIFOs.
struct Dma {
  Bytes descriptor{16};
  int batch = 4;                  ///< descriptors read or written back, frames a doorbell tells of
  bool fcs = false;               ///< writes the checksum of received frames into memory too
  Bytes header{0};                ///< USB: that the device puts before a frame
  bool aggregate = false;         ///< USB: several frames in a transfer, none padded to a packet
  Time receive_frame{};           ///< the device's own time for a frame, whatever its size …
  Time transmit_frame{};
  bool operator==(const Dma&) const = default;
};

struct Nic {
  std::string name;
  std::string profile;
  std::vector<BitRate> rates;     ///< what the port can do; empty: anything
  Bytes mtu{1500};                ///< largest IP packet
  int transmit_ring = 256;        ///< descriptors
  int receive_ring = 256;         ///< descriptors
  int transmit_queue = 1000;      ///< frames the stack may queue above the ring (txqueuelen)
  Coalescing transmit_coalescing;
  Coalescing receive_coalescing;
  Offloads offloads;
  Fifo fifo;
  Dma dma;
  int queues = 1;                 ///< receive queues, each with a core (RSS)
  std::optional<int> vlan;        ///< 802.1Q tag on everything it sends
  std::vector<Encapsulation> encapsulation;  ///< around what it sends, from the packet outwards
  bool ideal = false;             ///< costs and holds nothing (a tester)
  bool on_bus = true;             ///< behind the host's bus; else a port of the chip itself
  std::optional<EgressSpec> egress;  ///< the host's queueing discipline above the ring
  bool pause = false;             ///< heeds PAUSE frames (IEEE 802.3 annex 31B, 802.1Qbb)
  bool operator==(const Nic&) const = default;
};

/// Where the files of a transfer lie. Without rates everything is in memory.
struct Disk {
  std::optional<BitRate> read, write;  ///< sequential
  Bytes read_ahead{131072};       ///< read before a program asks for it
  Bytes dirty_limit{67108864};    ///< written, and not yet on the disk, before writers must wait
  bool operator==(const Disk&) const = default;
};

enum class Forwarding { none, kernel, poll_mode };
enum class ForwardInterrupts { polling, per_frame };

/// What forwarding a frame costs one core of a router.
struct ForwardCosts {
  Time frame{};                   ///< of each
  std::optional<Time> poll_mode_frame;  ///< of each by a poll-mode program, instead of `frame`
  Time line{};                    ///< of each 64 bytes that it begins
  Time interrupt{};               ///< kernel: of an interrupt
  ForwardInterrupts interrupts = ForwardInterrupts::polling;
  int backlog = 300;              ///< kernel, per-frame: frames between interrupt and forwarding
  int cores = 0;                  ///< that forward; 0: all
  bool operator==(const ForwardCosts&) const = default;
};

/// By what a node chooses among links that lead equally far: every flow by itself (addresses and
/// ports), or all between two hosts alike (addresses).
enum class FlowHash { flow, hosts };

/// NICs of a host that act as one (IEEE 802.1AX): each flow keeps to one of them.
struct Bond {
  std::string name;
  std::vector<std::string> nic_names;
  std::vector<int> nics;
  bool operator==(const Bond&) const = default;
};

struct Host {
  std::string name;
  std::string profile;
  std::string machine;            ///< hosts of one machine (namespaces, containers) share its cores
  Stack stack;
  Cpu cpu;
  Bus bus;
  Disk disk;
  std::vector<Nic> nics;
  std::vector<Bond> bonds;
  Forwarding forwarding = Forwarding::none;
  ForwardCosts forward_costs;
  /// What a frame costs the way this host forwards.
  Time forward_frame() const {
    const bool polls = forwarding == Forwarding::poll_mode;
    return polls ? forward_costs.poll_mode_frame.value_or(forward_costs.frame)
                 : forward_costs.frame;
  }
  FlowHash hash = FlowHash::flow;
  std::optional<double> cost_eur;
  bool operator==(const Host&) const = default;
};

}  // namespace linerate::experiments
