// The keys of hosts, NICs, stacks, queues, switches, hubs and links (see fields.hpp).
#pragma once

#include "experiments/definition/field_words.hpp"

namespace linerate::experiments {

template <class V>
void describe(V& v, Stack& s) {
  v("preset", s.preset, "catalog entry the parameters start from");
  Stack::describe(v, s);
}

template <class V>
void describe(V& v, CpuCosts& s) {
  v("call", s.call, "a write or read call, without its copy");
  v("segment_sent", s.segment_sent, "a data segment sent, or a buffer for segmentation offload");
  v("segment_received", s.segment_received, "a data segment received, or several merged (GRO)");
  v("ack_sent", s.ack_sent, "a segment without data sent");
  v("ack_received", s.ack_received, "a segment without data received");
  v("write_copy", s.write_copy, "rate of the copy from program to socket; none: free", kAtLeastOne);
  v("read_copy", s.read_copy, "rate of the copy from socket to program; none: free", kAtLeastOne);
  v("checksum", s.checksum, "rate of checksums where the NIC makes none; none: free", kAtLeastOne);
  v("frame", s.frame, "the driver, for each frame received, or sent that it cut itself (GSO)");
  v("interrupt", s.interrupt, "an interrupt that tells of received frames");
  v("completion", s.completion, "an interrupt that tells of transmitted frames");
  v("poll", s.poll, "a poll of the receive ring");
  v("block", s.block, "a program goes to sleep in a call");
  v("wake", s.wake, "a sleeping program is made to run again");
  v("turn", s.turn, "a core turns from one program to another (context switch)");
  v("connection", s.connection, "a connection is set up, at each end");
  v("file_copy", s.file_copy, "rate of the copy to or from the page cache; none: free",
    kAtLeastOne);
}

template <class V>
void describe(V& v, IdleState& s) {
  v("exit", s.exit, "until the core runs again", kRequired);
  v("residency", s.residency, "idle time from which the core falls so deep", kRequired);
}

template <class V>
void describe(V& v, Ciphers& s) {
  v("aes_gcm", s.aes_gcm, "rate of AES-GCM on a core; none: free", kAtLeastOne);
  v("aes_cbc", s.aes_cbc, "rate of AES-CBC with an HMAC on a core; none: free", kAtLeastOne);
  v("chacha20", s.chacha20, "rate of ChaCha20-Poly1305 on a core; none: free", kAtLeastOne);
  v("packet", s.packet, "of each packet in a tunnel, in turn, beside its bytes");
  v("cores", s.cores, "that share the bytes of WireGuard; IPsec has one",
    FieldRule{.low = 1, .high = 4096});
}

template <class V>
void describe(V& v, Cpu& s) {
  constexpr FieldRule kCore{.high = 4095};
  constexpr FieldRule kClock{.low = 1e6, .high = 1e11, .kind = Kind::hertz};
  v("cores", s.cores, "processor cores", FieldRule{.low = 1, .high = 4096});
  v("clock", s.clock, "that they run at; costs follow it from costs_clock", kClock);
  v("costs_clock", s.costs_clock, "at which costs and forward_costs were taken", kClock);
  v("costs", s.costs, "what a core spends on networking; none: it costs nothing");
  v("ciphers", s.ciphers, "how fast a core encrypts: tunnels of its NICs, `cipher` of tests");
  v("idle_states", s.idle_states, "of a core with nothing to do, the shallowest first (C-states)");
  v("interrupts", s.interrupts, "one for every frame, or one and then polls (NAPI)");
  v("poll_budget", s.poll_budget, "frames of one NIC before another's turn", kAtLeastOne);
  v("backlog", s.backlog, "per-frame interrupts: frames that wait for the softirq", kAtLeastOne);
  v.group("placement", "which core does what", [&](auto& inner) {
    inner("application", s.application_core,
          "of all programs; else each connection takes the next core", kCore);
    inner("interrupts", s.interrupt_core, "of all NICs; else each NIC takes the next core", kCore);
  });
  v("accounting", s.accounting, "how CPU time is measured: exactly, or by sampling at clock ticks");
  v("slice", s.slice, "a program keeps a core so long while others wait; 0: for one call");
}

template <class V>
void describe(V& v, LineTimes& s) {
  v("frame", s.frame, "of each frame");
  v("line", s.line, "of each line that a frame touches");
  v("size", s.size, "of a line", FieldRule{.low = 16, .high = 4096});
}

template <class V>
void describe(V& v, Bus& s) {
  constexpr FieldRule kClocks{.high = 1000};
  v("type", s.type, "bus between memory and NICs");
  v("generation", s.generation, "of PCIe (1 to 7) or USB (1 to 3)", FieldRule{.low = 1, .high = 7});
  v("lanes", s.lanes, "PCIe lanes", FieldRule{.low = 1, .high = 32});
  v("max_payload", s.max_payload, "PCIe maximum payload size", FieldRule{.low = 128, .high = 4096});
  v("max_read_request", s.max_read_request, "PCIe maximum read request size",
    FieldRule{.low = 128, .high = 4096});
  v("completion", s.completion, "PCIe largest completion of a read; 0: max_payload",
    FieldRule{.high = 4096});
  v("outstanding_reads", s.outstanding_reads, "PCIe read requests of a NIC under way at once",
    FieldRule{.low = 1, .high = 16'384});
  v("read_latency", s.read_latency, "PCIe, from a read request to its data");
  v("posted_credits", s.posted_credits, "PCIe writes under way before credits return; 0: any");
  v("credit_return", s.credit_return, "PCIe, until the credits of a write are back");
  v("clock", s.clock, "conventional PCI clock",
    FieldRule{.low = 1e6, .high = 1e9, .kind = Kind::hertz});
  v("width", s.width, "conventional PCI width in bits", FieldRule{.low = 32, .high = 64});
  v("burst", s.burst, "conventional PCI data of one transaction",
    FieldRule{.low = 4, .high = 4096});
  v("arbitration", s.arbitration, "conventional PCI clocks until the bus is granted", kClocks);
  v("write_wait", s.write_wait, "conventional PCI clocks until a target takes data", kClocks);
  v("read_wait", s.read_wait, "conventional PCI clocks until a target has data", kClocks);
  v("latency_timer", s.latency_timer,
    "conventional PCI clocks of data in a transaction, on a bus of several NICs",
    FieldRule{.low = 1, .high = 255});
  v("packets", s.packets, "USB bulk packets in a frame or microframe, of at most 19, 13 or 58",
    FieldRule{.low = 1, .high = 58});
  v("lines", s.lines, "memory that takes frames line by line");
}

template <class V>
void describe(V& v, Fifo& s) {
  constexpr FieldRule kMemory{.low = 1536, .high = 1e9};
  v("transmit", s.transmit, "for frames on their way from memory", kMemory);
  v("receive", s.receive, "for frames on their way to memory", kMemory);
  v("threshold", s.threshold, "of a frame that is sent before all of it is here; 0: all of it",
    FieldRule{.high = 65'557});
}

template <class V>
void describe(V& v, Dma& s) {
  v("descriptor", s.descriptor, "size of a descriptor", FieldRule{.high = 256});
  v("batch", s.batch, "descriptors read or written at once, and frames a doorbell",
    FieldRule{.low = 1, .high = 1024});
  v("fcs", s.fcs, "received frames keep their checksum in memory");
  v("header", s.header, "USB: before each frame", FieldRule{.high = 256});
  v("aggregate", s.aggregate, "USB: several frames in a transfer, none padded");
  v("receive_frame", s.receive_frame, "the device's own time for a received frame");
  v("transmit_frame", s.transmit_frame, "the device's own time for a sent frame");
}

template <class V>
void describe(V& v, ForwardCosts& s) {
  v("frame", s.frame, "of each frame, on one core");
  v("poll_mode_frame", s.poll_mode_frame,
    "of each frame with forwarding: poll-mode, if it differs");
  v("line", s.line, "of each 64 bytes that a frame begins");
  v("interrupt", s.interrupt, "of an interrupt (kernel)");
  v("interrupts", s.interrupts, "polling: while there is work, none; or one for each frame");
  v("backlog", s.backlog, "frames between interrupt and forwarding, with one for each frame",
    FieldRule{.low = 1, .high = 1'000'000});
  v("cores", s.cores, "that forward; 0: all", FieldRule{.high = 4096});
}

template <class V>
void describe(V& v, Disk& s) {
  v("read", s.read, "sequential rate of reading; none: files lie in memory", kAtLeastOne);
  v("write", s.write, "sequential rate of writing; none: files stay in memory", kAtLeastOne);
  v("read_ahead", s.read_ahead, "read before a program asks for it");
  v("dirty_limit", s.dirty_limit, "written and not yet on the disk before writers must wait",
    kAtLeastOne);
}

template <class V>
void describe(V& v, Coalescing& s) {
  v("delay", s.delay, "longest wait after the first frame");
  v("frames", s.frames, "frames that end the wait; 0: no such limit", FieldRule{.high = 1'000'000});
  v("gap", s.gap, "least time between two interrupts (interrupt throttling)");
}

template <class V>
void describe(V& v, Offloads& s) {
  v("checksum", s.checksum, "checksums in hardware");
  v("tso", s.tso, "TCP segmentation offload");
  v("gro", s.gro, "merges received segments (GRO)");
}

inline constexpr FieldRule kVlanId{.low = 1, .high = 4094};
inline constexpr FieldRule kNetworkId{.low = 0, .high = 16'777'215};  // 24 bits
inline constexpr FieldRule kIpVersion{.low = 4, .high = 6};
inline constexpr const char* kOuterIp = "version of the outer IP header";

template <class V>
void describe(V& v, InnerVlan& s) {
  v("id", s.id, "VLAN", kVlanId);
}

template <class V>
void describe(V& v, QinQ& s) {
  v("outer", s.outer, "service VLAN", kVlanId);
  v("inner", s.inner, "customer VLAN", kVlanId);
}

template <class V>
void describe(V&, Pppoe&) {}

template <class V>
void describe(V& v, Mpls& s) {
  v("labels", s.labels, "labels in the stack", FieldRule{.low = 1, .high = 16});
}

template <class V>
void describe(V& v, MacSec& s) {
  v("sci", s.sci, "the secure channel identifier stands in the tag");
}

template <class V>
void describe(V& v, IpInIp& s) {
  v("ip", s.ip, kOuterIp, kIpVersion);
}

template <class V>
void describe(V& v, Gre& s) {
  v("key", s.key, "with a key");
  v("checksum", s.checksum, "with a checksum");
  v("sequence", s.sequence, "with a sequence number");
  v("ip", s.ip, kOuterIp, kIpVersion);
}

template <class V>
void describe(V& v, Vxlan& s) {
  v("vni", s.vni, "network identifier", kNetworkId);
  v("ip", s.ip, kOuterIp, kIpVersion);
}

template <class V>
void describe(V& v, Geneve& s) {
  v("options", s.options, "size of its options", FieldRule{.high = 252});
  v("vni", s.vni, "network identifier", kNetworkId);
  v("ip", s.ip, kOuterIp, kIpVersion);
}

template <class V>
void describe(V& v, WireGuard& s) {
  v("mtu", s.mtu, "largest packet inside; 80 below the outside unless given",
    FieldRule{.low = 68, .high = 65'535});
  v("ip", s.ip, kOuterIp, kIpVersion);
}

template <class V>
void describe(V& v, Esp& s) {
  v("cipher", s.cipher, "AES-GCM, or AES-CBC with an HMAC");
  v("mode", s.mode, "tunnel adds an IP header, transport does not");
  v("nat_traversal", s.nat_traversal, "inside UDP (RFC 3948)");
  v("ip", s.ip, kOuterIp, kIpVersion);
}

template <class V>
void describe(V& v, QueueSpec& s) {
  constexpr FieldRule kShare{.high = 1, .kind = Kind::fraction};
  v("discipline", s.discipline, "which frames are dropped or marked, and which leaves next");
  v("limit", s.limit, "wire bytes it holds", kAtLeastOne);
  v("limit_frames", s.limit_frames, "frames it holds", kAtLeastOne);
  v("ecn", s.ecn, "frames that can be are marked instead of dropped (not by fifo)");
  v("ecn_threshold", s.ecn_threshold, "fifo: marks what finds more wire bytes queued");
  v("ecn_threshold_frames", s.ecn_threshold_frames, "fifo: marks what finds more frames queued");
  v("min", s.min, "red: mean wire bytes from which it drops", kAtLeastOne);
  v("max", s.max, "red: mean wire bytes at which it drops with max_probability", kAtLeastOne);
  v("min_frames", s.min_frames, "red: min in frames, instead", kAtLeastOne);
  v("max_frames", s.max_frames, "red: max in frames, instead", kAtLeastOne);
  v("max_probability", s.max_probability, "red: of a drop when the mean is at max", kShare);
  v("weight", s.weight, "red: of the newest length in the mean",
    FieldRule{.low = 1e-9, .high = 1, .kind = Kind::number});
  v("mean_frame", s.mean_frame, "red: frame by which idle time is counted", kAtLeastOne);
  v("gentle", s.gentle, "red: from max to twice max the probability rises to 1, not at once");
  v("adaptive", s.adaptive, "red: moves max_probability so that the mean stays in the middle");
  v("target", s.target, "codel, fq-codel, pie, adaptive red: delay it aims at", kAtLeastOne);
  v("interval", s.interval, "codel, fq-codel: above target for so long; pie: between updates",
    kAtLeastOne);
  v("flows", s.flows, "fq-codel: queues to which flows are hashed",
    FieldRule{.low = 1, .high = 65'536});
  v("quantum", s.quantum, "fq-codel: wire bytes a flow may send in a round",
    FieldRule{.low = 84, .high = 1e9});
  v("alpha", s.alpha, "pie: probability for each second of delay above target",
    FieldRule{.high = 1e3, .kind = Kind::number});
  v("beta", s.beta, "pie: probability for each second of change",
    FieldRule{.high = 1e3, .kind = Kind::number});
  v("burst", s.burst, "pie: so long a burst loses nothing");
  v("mark_below", s.mark_below, "pie: drops all the same above this probability", kShare);
  v("delay_estimator", s.delay_estimator, "pie: how it learns its delay");
  v("derandomised", s.derandomised, "pie: drops neither close together nor far apart");
}

template <class V>
void describe(V& v, TrafficClass& s) {
  v("name", s.name, "of the class", kRequiredName);
  v("priorities", s.priorities, "802.1Q priorities in it; none: those no other class has",
    FieldRule{.high = kPriorities - 1});
  v("weight", s.weight, "drr: share of the line", FieldRule{.low = 1, .high = 1000});
  v("queue", s.queue, "its queue: a limit in wire bytes, or a discipline");
}

template <class V>
void describe(V& v, Nic& s) {
  // An IPv4 host must take 68 bytes (RFC 791) and the length field ends at 65535.
  constexpr FieldRule kRing{.low = 1, .high = 1'048'576};
  v("profile", s.profile, "catalog entry, or a file of ./profiles");
  v("rates", s.rates, "what the port can do; empty: anything", kAtLeastOne);
  v("mtu", s.mtu, "largest IP packet", kMtu);
  v("transmit_ring", s.transmit_ring, "transmit descriptors", kRing);
  v("receive_ring", s.receive_ring, "receive descriptors", kRing);
  v("transmit_queue", s.transmit_queue, "frames queued above the ring (txqueuelen)", kRing);
  v.group("coalesce", "interrupt moderation", [&](auto& inner) {
    inner("rx", s.receive_coalescing, "of received frames");
    inner("tx", s.transmit_coalescing, "of sent frames");
  });
  v("offloads", s.offloads, "work the NIC takes over");
  v("fifo", s.fifo, "its memory between bus and wire");
  v("dma", s.dma, "how it moves frames over the bus");
  v("queues", s.queues, "receive queues over which flows are spread, each with a core (RSS)",
    FieldRule{.low = 1, .high = 1024});
  v("vlan", s.vlan, "802.1Q tag on everything it sends", kVlanId);
  v("encapsulation", s.encapsulation,
    "around the IP packets it sends, from the packet outwards: [vxlan, {esp: {cipher: gcm}}]");
  v("ideal", s.ideal, "costs and holds nothing (a tester)");
  v("on_bus", s.on_bus, "behind the host's bus; off: a port of the chip itself");
  v("pause", s.pause, "heeds PAUSE frames, of all priorities or of one");
  v("queue", s.egress, "the host's queue above the ring, instead of transmit_queue frames");
}

template <class V>
void describe(V& v, Bond& s) {
  v("nics", s.nic_names, "those that act as one", kRequired);
}

template <class V>
void describe(V& v, Host& s) {
  v("profile", s.profile, "catalog entry, or a file of ./profiles");
  v("machine", s.machine, "hosts of one machine (namespaces, containers) share its cores",
    FieldRule{.kind = Kind::text});
  v("stack", s.stack, "TCP/IP stack: a preset's name, or a preset and what differs from it");
  v("cpu", s.cpu, "processor");
  v("bus", s.bus, "bus between memory and NICs");
  v("disk", s.disk, "where the files of transfers lie");
  v("nics", s.nics, "network interfaces by name");
  v("bonds", s.bonds, "NICs that act as one (LACP), by name");
  v("forwarding", s.forwarding, "makes the host a router");
  v("forward_costs", s.forward_costs, "what forwarding a frame costs");
  v("hash", s.hash, "by what it spreads flows over bonds and equal paths");
  v("cost", s.cost_eur, "price of one", kMoney);
}

template <class V>
void describe(V& v, Buffer& s) {
  v("total", s.total, "frame memory, of each port or of all, by policy; 0: unlimited");
  v("policy", s.policy, "whose the memory is");
  v("alpha", s.alpha,
    "dynamic threshold of a shared buffer: a queue grows while below alpha x free",
    FieldRule{.low = 1e-6, .high = 1e6, .kind = Kind::number});
}

template <class V>
void describe(V& v, Pause& s) {
  v("xoff", s.xoff, "held from one ingress port (and priority) when its sender is told to stop",
    FieldRule{.low = 1, .required = true});
  v("xon", s.xon, "so much is left when it may go on", kRequired);
  v("priorities", s.priorities, "those paused, each for itself (802.1Qbb); none: all at once",
    FieldRule{.high = 7});
}

template <class V>
void describe(V& v, VlanSpec& s) {
  v("untagged", s.untagged, "ports whose frames without a tag belong to it: \"1-2\"");
  v("tagged", s.tagged, "ports whose frames belong to it by their tag");
}

template <class V>
void describe(V& v, SwitchSpec& s) {
  v("profile", s.value.profile, "catalog entry, or a file of ./profiles");
  v("ports", s.ports, "number of ports, or the rate of each range of ports");
  v("rate", s.rate, "highest rate of every port, with a number of ports", kAtLeastOne);
  v("forwarding", s.value.forwarding, "when a frame may leave");
  v("latency", s.value.latency, "from a frame's arrival to its output queue");
  v("buffer", s.value.buffer, "frame memory");
  v("fabric_rate", s.value.fabric_rate, "sum over all ports, if that limits", kAtLeastOne);
  v("fabric_frame_rate", s.value.fabric_frame_rate,
    "frames a second over all ports, if that limits",
    FieldRule{.low = 1, .kind = Kind::per_second});
  v("cost", s.value.cost_eur, "price of one", kMoney);
  v("pause", s.value.pause, "flow control: PAUSE frames to senders");
  v("vlans", s.vlans, "VLANs by number; ports named in none are in VLAN 1, untagged");
  v("hash", s.value.hash, "by what it spreads flows over parallel links (LACP) and equal paths");
  v("queue", s.queue, "of every port: a limit in wire bytes, or a discipline");
  v("scheduler", s.scheduler, "in which order the traffic classes of a port are served");
  v("classes", s.classes, "traffic classes of every port, each with its queue");
}

template <class V>
void describe(V& v, HubSpec& s) {
  v("ports", s.value.ports, "ports, or taps of a coaxial segment",
    FieldRule{.low = 2, .high = 1024, .required = true});
  v("rate", s.rate, "of every port: 10Mbit/s, 100Mbit/s or 1Gbit/s", kAtLeastOne);
  v("class", s.value.repeater_class, "of a 100 Mbit/s repeater");
  v("latency", s.latency, "of a repeater: from a bit's arrival to its departure");
  v("medium", s.medium, "makes it a coaxial segment: 10BASE5 or 10BASE2");
  v("length", s.value.length_m, "of the coaxial segment, over which the taps are spread",
    FieldRule{.high = 1e6, .kind = Kind::length});
  v("slot", s.value.slot, "slot time of its stations, instead of 512 bit times (4096 at 1 Gbit/s)",
    kAtLeastOne);
  v("cost", s.value.cost_eur, "price of one", kMoney);
}

template <class V>
void describe(V& v, Blackhole& s) {
  v("from", s.from, "first moment at which frames are lost", kRequired);
  v("to", s.to, "first moment at which they pass again", kRequired);
}

template <class V>
void describe(V& v, Drops::Burst& s) {
  v("every", s.every, "payload that passes between two bursts",
    FieldRule{.low = 1, .required = true});
  v("frames", s.frames, "data segments lost in a row", FieldRule{.low = 1, .required = true});
}

template <class V>
void describe(V& v, Drops& s) {
  v("from", s.from, "the node that sends them", kRequired);
  v("data_segments", s.data_segments, "ordinals of the data segments, from 1", FieldRule{.low = 1});
  v("burst", s.burst, "data segments lost in a row, again and again");
}

template <class V>
void describe(V& v, Loss::Direction& s) {
  v("from", s.from, "the node whose frames are lost", kRequired);
  v("probability", s.probability, "of losing a frame",
    FieldRule{.high = 1, .required = true, .kind = Kind::fraction});
}

template <class V>
void describe(V& v, Reordering& s) {
  v("from", s.from, "the node that sends it", kRequired);
  v("segment", s.segment, "ordinal of the data segment, from 1",
    FieldRule{.low = 1, .required = true});
  v("positions", s.positions, "later data segments delivered before it",
    FieldRule{.low = 1, .high = 1'000'000, .required = true});
}

template <class V>
void describe(V& v, LabInterface& s) {
  v("device", s.device, "network interface there", FieldRule{.required = true, .kind = Kind::text});
  v("address", s.address, "its IPv4 address with prefix length: 192.0.2.1/24",
    FieldRule{.kind = Kind::text});
  v("address6", s.address6, "its IPv6 address with prefix length", FieldRule{.kind = Kind::text});
}

template <class V>
void describe(V& v, LabHost& s) {
  v("ssh", s.ssh, "user@host, for your own ssh", FieldRule{.kind = Kind::text});
  v("command", s.command, "instead of ssh: a command that runs the one put behind it there");
  v("interfaces", s.interfaces, "its NICs there, by their name in the experiment");
}

template <class V>
void describe(V& v, LinkSpec& s) {
  v("name", s.name, "\"a-s1\" by its ends unless given", FieldRule{.kind = Kind::text});
  v("endpoints", s.endpoints, "the two ends, host:nic or switch:port", kRequired);
  v("medium", s.medium,
    "Ethernet medium, which decides the rate: 1000BASE-T; veth: virtual, between hosts of one "
    "machine");
  v("rate", s.rate, "rate, instead of a medium", kAtLeastOne);
  v("duplex", s.duplex, "full or half, of both ends or [one, other]; half at a hub");
  v("autonegotiation", s.autonegotiation,
    "on or off, of both ends or [one, other]; not given: each end runs as `duplex` says");
  v("length", s.length_m, "of the cable", FieldRule{.high = 1e9, .kind = Kind::length});
  v("delay", s.delay, "added one way");
  v("jitter", s.jitter, "added, uniform in [0, jitter], order kept");
  v("jitter_reorders", s.jitter_reorders, "frames overtake each other where their jitter says so");
  v("loss", s.loss, "probability of losing a frame", kProbability);
  v("mtu", s.mtu, "largest IP packet that passes; larger ones vanish", kMtu);
  v("bit_error_rate", s.bit_error_rate, "probability of a wrong bit",
    FieldRule{.high = 1, .kind = Kind::number});
  v("queue", s.queue,
    "makes the link an emulated path with this queue: a limit in wire bytes, or a discipline");
  v("blackholes", s.blackholes, "times in which every frame is lost");
  v("drops", s.drops, "data segments lost at their first transmission");
  v("reorder", s.reorder, "a data segment delivered late");
  v("cost", s.cost_eur, "price of one", kMoney);
}

}  // namespace linerate::experiments
