// Every key of the experiment file, one table per struct. The reader, the resolved output and the
// JSON Schema all walk these tables, so a new key is one line here.
//
// A visitor is called with (key, field, words, rule); `group(key, words, inner)` opens a nested
// mapping that is no struct of its own; `later({…})` names keys of coming versions, which are
// refused as such instead of as typing errors.
#pragma once

#include <optional>

#include "experiments/definition/quantity.hpp"
#include "experiments/definition/spec.hpp"

namespace linerate::experiments {

/// What a table says about a field beyond its type. Limits are in the unit of the kind.
struct FieldRule {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool required = false;
  std::optional<Kind> kind{};  ///< where the C++ type does not tell (double, string)
};

constexpr FieldRule kRequired{.required = true};
constexpr FieldRule kRequiredName{.required = true, .kind = Kind::name};
constexpr FieldRule kAtLeastOne{.low = 1};
constexpr FieldRule kProbability{.high = 1, .kind = Kind::fraction};
constexpr FieldRule kMtu{.low = 68, .high = 65535};  // RFC 791: every link carries 68 B
constexpr FieldRule kMoney{.kind = Kind::money};
constexpr FieldRule kPerSecond{.kind = Kind::per_second};

inline constexpr Word kNagleWords[] = {{"off", int(Nagle::off)},
                                       {"rfc896", int(Nagle::rfc896)},
                                       {"half-segment", int(Nagle::half_segment)},
                                       {"minshall", int(Nagle::minshall)}};
inline constexpr Word kWriterWakeWords[] = {{"any-space", int(WriterWake::any_space)},
                                            {"third-free", int(WriterWake::third_free)},
                                            {"low-water", int(WriterWake::low_water)}};
inline constexpr Word kAccountingWords[] = {{"truesize", int(BufferAccounting::truesize)},
                                            {"payload", int(BufferAccounting::payload)}};
inline constexpr Word kWindowRuleWords[] = {{"bsd-space", int(WindowRule::bsd_space)},
                                            {"half-space", int(WindowRule::half_space)},
                                            {"adv-win-scale", int(WindowRule::adv_win_scale)},
                                            {"scaling-ratio", int(WindowRule::scaling_ratio)}};
inline constexpr Word kAckRuleWords[] = {{"linux-receive", int(AckRule::linux_receive)},
                                         {"linux-2-2", int(AckRule::linux_2_2)},
                                         {"every-second", int(AckRule::every_second)},
                                         {"window-update", int(AckRule::window_update)}};
inline constexpr Word kAckClockWords[] = {{"per-connection", int(DelayedAckClock::per_connection)},
                                          {"shared-grid", int(DelayedAckClock::shared_grid)}};
inline constexpr Word kRecoveryWords[] = {{"reno", int(Recovery::reno)},
                                          {"newreno", int(Recovery::newreno)},
                                          {"sack", int(Recovery::sack)},
                                          {"rack", int(Recovery::rack)}};
inline constexpr Word kEcnWords[] = {
    {"off", int(EcnUse::off)}, {"accept", int(EcnUse::accept)}, {"on", int(EcnUse::on)}};
inline constexpr Word kHyStartWords[] = {
    {"off", int(HyStart::off)}, {"on", int(HyStart::on)}, {"plus-plus", int(HyStart::plus_plus)}};
inline constexpr Word kPathMtuWords[] = {{"on", int(PathMtuDiscovery::on)},
                                         {"off", int(PathMtuDiscovery::off)},
                                         {"blackhole", int(PathMtuDiscovery::blackhole)}};
inline constexpr Word kBusWords[] = {
    {"none", int(BusType::none)}, {"pci", int(BusType::pci)}, {"pcie", int(BusType::pcie)}};
inline constexpr Word kForwardingWords[] = {{"none", int(Forwarding::none)},
                                            {"kernel", int(Forwarding::kernel)},
                                            {"poll-mode", int(Forwarding::poll_mode)}};
inline constexpr Word kSwitchForwardingWords[] = {
    {"store-and-forward", int(SwitchForwarding::store_and_forward)},
    {"cut-through", int(SwitchForwarding::cut_through)}};
inline constexpr Word kBufferPolicyWords[] = {{"per-port", int(BufferPolicy::per_port)},
                                              {"shared", int(BufferPolicy::shared)}};
inline constexpr Word kDuplexWords[] = {{"full", int(Duplex::full)}, {"half", int(Duplex::half)}};
inline constexpr Word kAutonegotiationWords[] = {{"off", int(Autonegotiation::off)},
                                                 {"on", int(Autonegotiation::on)}};
inline constexpr Word kRepeaterClassWords[] = {{"none", int(RepeaterClass::none)},
                                               {"I", int(RepeaterClass::one)},
                                               {"II", int(RepeaterClass::two)}};
inline constexpr Word kTestTypeWords[] = {{"tcp-stream", int(TestType::tcp_stream)},
                                          {"udp-stream", int(TestType::udp_stream)},
                                          {"raw-frames", int(TestType::raw_frames)},
                                          {"request-response", int(TestType::request_response)},
                                          {"file-transfer", -1, true},
                                          {"rfc2544-throughput", int(TestType::rfc2544_throughput)},
                                          {"rfc2544-latency", int(TestType::rfc2544_latency)},
                                          {"rfc2544-frame-loss", int(TestType::rfc2544_frame_loss)},
                                          {"rfc2544-back-to-back",
                                           int(TestType::rfc2544_back_to_back)}};
inline constexpr Word kEspCipherWords[] = {{"gcm", int(EspCipher::gcm)},
                                           {"cbc-sha1", int(EspCipher::cbc_sha1)},
                                           {"cbc-sha256", int(EspCipher::cbc_sha256)}};
inline constexpr Word kEspModeWords[] = {{"tunnel", int(EspMode::tunnel)},
                                         {"transport", int(EspMode::transport)}};
inline constexpr Word kDirectionWords[] = {{"forward", int(Direction::forward)},
                                           {"reverse", int(Direction::reverse)},
                                           {"both", int(Direction::both)}};
inline constexpr Word kClockWords[] = {{"default", int(Clock::standard)},
                                       {"netperf", int(Clock::netperf)},
                                       {"nttcp", int(Clock::nttcp)},
                                       {"lftp", -1, true}};
inline constexpr Word kClosingWords[] = {{"at-once", int(Closing::at_once)},
                                         {"drained", int(Closing::drained)}};
inline constexpr Word kFlowHashWords[] = {{"layer3+4", int(FlowHash::flow)},
                                          {"layer2+3", int(FlowHash::hosts)}};
inline constexpr Word kLinkActionWords[] = {{"down", int(LinkAction::down)},
                                            {"up", int(LinkAction::up)},
                                            {"loss", int(LinkAction::loss)},
                                            {"rate", int(LinkAction::rate)},
                                            {"delay", int(LinkAction::delay)}};
inline constexpr Word kTopologyWords[] = {{"star", int(TopologyType::star)},
                                          {"dumbbell", int(TopologyType::dumbbell)},
                                          {"leaf-spine", int(TopologyType::leaf_spine)},
                                          {"fat-tree", int(TopologyType::fat_tree)}};
inline constexpr Word kDisciplineWords[] = {{"fifo", int(Discipline::fifo)},
                                            {"red", int(Discipline::red)},
                                            {"codel", int(Discipline::codel)},
                                            {"fq-codel", int(Discipline::fq_codel)},
                                            {"pie", int(Discipline::pie)}};
inline constexpr Word kSchedulerWords[] = {{"none", int(Scheduler::none)},
                                           {"strict", int(Scheduler::strict)},
                                           {"drr", int(Scheduler::drr)}};
inline constexpr Word kDelayEstimatorWords[] = {
    {"timestamps", int(DelayEstimator::timestamps)},
    {"departure-rate", int(DelayEstimator::departure_rate)}};
inline constexpr Word kLabWords[] = {{"netns", int(LabType::netns)},
                                     {"loopback", int(LabType::loopback)},
                                     {"hosts", int(LabType::hosts), true}};

inline std::span<const Word> words_of(Nagle) { return kNagleWords; }
inline std::span<const Word> words_of(WriterWake) { return kWriterWakeWords; }
inline std::span<const Word> words_of(BufferAccounting) { return kAccountingWords; }
inline std::span<const Word> words_of(WindowRule) { return kWindowRuleWords; }
inline std::span<const Word> words_of(AckRule) { return kAckRuleWords; }
inline std::span<const Word> words_of(DelayedAckClock) { return kAckClockWords; }
inline std::span<const Word> words_of(Recovery) { return kRecoveryWords; }
inline std::span<const Word> words_of(EcnUse) { return kEcnWords; }
inline std::span<const Word> words_of(HyStart) { return kHyStartWords; }
inline std::span<const Word> words_of(PathMtuDiscovery) { return kPathMtuWords; }
inline std::span<const Word> words_of(BusType) { return kBusWords; }
inline std::span<const Word> words_of(Forwarding) { return kForwardingWords; }
inline std::span<const Word> words_of(SwitchForwarding) { return kSwitchForwardingWords; }
inline std::span<const Word> words_of(BufferPolicy) { return kBufferPolicyWords; }
inline std::span<const Word> words_of(Duplex) { return kDuplexWords; }
inline std::span<const Word> words_of(Autonegotiation) { return kAutonegotiationWords; }
inline std::span<const Word> words_of(RepeaterClass) { return kRepeaterClassWords; }
inline std::span<const Word> words_of(TestType) { return kTestTypeWords; }
inline std::span<const Word> words_of(EspCipher) { return kEspCipherWords; }
inline std::span<const Word> words_of(EspMode) { return kEspModeWords; }
inline std::span<const Word> words_of(Direction) { return kDirectionWords; }
inline std::span<const Word> words_of(Clock) { return kClockWords; }
inline std::span<const Word> words_of(Closing) { return kClosingWords; }
inline std::span<const Word> words_of(FlowHash) { return kFlowHashWords; }
inline std::span<const Word> words_of(LinkAction) { return kLinkActionWords; }
inline std::span<const Word> words_of(TopologyType) { return kTopologyWords; }
inline std::span<const Word> words_of(Discipline) { return kDisciplineWords; }
inline std::span<const Word> words_of(Scheduler) { return kSchedulerWords; }
inline std::span<const Word> words_of(DelayEstimator) { return kDelayEstimatorWords; }
inline std::span<const Word> words_of(LabType) { return kLabWords; }

template <class V>
void describe(V& v, Stack& s) {
  v("preset", s.preset, "catalog entry the parameters start from");
  Stack::describe(v, s);
}

template <class V>
void describe(V& v, Cpu& s) {
  v("cores", s.cores, "processor cores", FieldRule{.low = 1, .high = 4096});
}

template <class V>
void describe(V& v, Bus& s) {
  v("type", s.type, "bus between memory and NICs");
  v("generation", s.generation, "PCIe generation", FieldRule{.low = 1, .high = 7});
  v("lanes", s.lanes, "PCIe lanes", FieldRule{.low = 1, .high = 32});
  v("max_payload", s.max_payload, "PCIe maximum payload size", FieldRule{.low = 128, .high = 4096});
  v("max_read_request", s.max_read_request, "PCIe maximum read request size",
    FieldRule{.low = 128, .high = 4096});
  v("clock", s.clock, "conventional PCI clock",
    FieldRule{.low = 1e6, .high = 1e9, .kind = Kind::hertz});
  v("width", s.width, "conventional PCI width in bits", FieldRule{.low = 32, .high = 64});
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
  v("vlan", s.vlan, "802.1Q tag on everything it sends", kVlanId);
  v("encapsulation", s.encapsulation,
    "around the IP packets it sends, from the packet outwards: [vxlan, {esp: {cipher: gcm}}]");
  v("ideal", s.ideal, "costs and holds nothing (a tester)");
  v("pause", s.pause, "heeds PAUSE frames, of all priorities or of one");
  v("queue", s.egress, "the host's queue above the ring, instead of transmit_queue frames");
  v("queue", s.egress, "the host's queue above the ring, instead of transmit_queue frames");
}

template <class V>
void describe(V& v, Bond& s) {
  v("nics", s.nic_names, "those that act as one", kRequired);
}

template <class V>
void describe(V& v, Host& s) {
  v("profile", s.profile, "catalog entry, or a file of ./profiles");
  v("stack", s.stack, "TCP/IP stack: a preset's name, or a preset and what differs from it");
  v("cpu", s.cpu, "processor");
  v("bus", s.bus, "bus between memory and NICs");
  v("nics", s.nics, "network interfaces by name");
  v("bonds", s.bonds, "NICs that act as one (LACP), by name");
  v("forwarding", s.forwarding, "makes the host a router");
  v("hash", s.hash, "by what it spreads flows over bonds and equal paths");
  v("cost", s.cost_eur, "price of one", kMoney);
  v.later({"disk"});
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
void describe(V& v, LinkSpec& s) {
  v("name", s.name, "\"a-s1\" by its ends unless given", FieldRule{.kind = Kind::text});
  v("endpoints", s.endpoints, "the two ends, host:nic or switch:port", kRequired);
  v("medium", s.medium, "Ethernet medium, which decides the rate: 1000BASE-T");
  v("rate", s.rate, "rate, instead of a medium", kAtLeastOne);
  v("duplex", s.duplex, "full or half, of both ends or [one, other]; half at a hub");
  v("autonegotiation", s.autonegotiation,
    "on or off, of both ends or [one, other]; not given: each end runs as `duplex` says");
  v("length", s.length_m, "of the cable", FieldRule{.high = 1e9, .kind = Kind::length});
  v("delay", s.delay, "added one way");
  v("jitter", s.jitter, "added, uniform in [0, jitter], order kept");
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

template <class V>
void describe(V& v, TimedWrites& s) {
  v("size", s.size, "of one write", FieldRule{.low = 1, .required = true});
  v("count", s.count, "writes", FieldRule{.low = 1, .required = true});
  v("interval", s.interval, "from write to write");
  v("after", s.after, "from the previous writes, or the start, to the first of these");
}

template <class V>
void describe(V& v, Reader& s) {
  v("pause_at", s.pause_at, "stops reading so long after the start");
  v("pause_for", s.pause_for, "for so long");
  v("interval", s.interval, "sleeps so long between reads; 0: reads as data comes");
}

template <class V>
void describe(V& v, Arrivals& s) {
  constexpr FieldRule kRate{.low = 1e-3, .high = 1e12, .kind = Kind::per_second};
  v("poisson", s.poisson, "mean a second, at random and independent moments", kRate);
  v("periodic", s.periodic, "a second, evenly spaced", kRate);
}

template <class V>
void describe(V& v, Sizes& s) {
  v("preset", s.preset, "catalog entry or file of ./profiles the points come from");
  v("distribution", s.distribution, "[size, share of all at most so large], linear in between");
  v("exponential", s.exponential, "mean of an exponential distribution",
    FieldRule{.low = 1, .high = 1e11});
}

template <class V>
void describe(V& v, Trial& s) {
  v("simulated", s.simulated, "how long a simulated trial counts frames", kAtLeastOne);
  v("measured", s.measured, "how long a trial of a real device counts frames", kAtLeastOne);
  v("settle", s.settle, "wait for residual frames at the end of a trial");
}

template <class V>
void describe(V& v, TestSpec& spec) {
  Test& s = spec.value;
  constexpr FieldRule kFrame{.low = 64, .high = 65'557};  // limits by MTU come with the NIC
  v("name", s.name, "by which results, assertions and tolerances know it", kRequiredName);
  v("type", s.type, "what is sent", kRequired);
  v("from", spec.from, "sending host, or host:nic", kRequired);
  v("to", spec.to, "receiving host, or host:nic", kRequired);
  v("flows", s.flows, "connections of each pair", FieldRule{.low = 1, .high = 100'000});
  v("direction", s.direction, "which way data flows");
  v("bytes", s.bytes, "payload of each flow, instead of a duration", kAtLeastOne);
  v("duration", s.duration, "how long data is sent");
  v("omit", s.omit, "start of the duration that is not counted");
  v("write", s.write, "size of each write call", FieldRule{.low = 1, .high = 1 << 30});
  v("read", s.read, "size of each read call", FieldRule{.low = 1, .high = 1 << 30});
  v("socket_buffer", spec.socket_buffer, "setsockopt's argument, for both or each", kAtLeastOne);
  v("max_segment", s.max_segment, "TCP_MAXSEG", FieldRule{.low = 88, .high = 65'495});
  v("no_delay", s.no_delay, "TCP_NODELAY");
  v("pacing", s.pacing, "SO_MAX_PACING_RATE", kAtLeastOne);
  v("congestion", s.congestion, "congestion control, instead of the stack's");
  v("rate", s.rate, "udp-stream: of the payload; raw-frames: on the wire", kAtLeastOne);
  v("frame_rate", s.frame_rate, "raw-frames: frames a second",
    FieldRule{.low = 1e-3, .kind = Kind::per_second});
  v("frame_size", spec.frame_size, "frame size with FCS, or imix: 28x64, 16x570, 4x1518 B", kFrame);
  v("frame_sizes", s.frame_sizes, "frame sizes with FCS, one after the other", kFrame);
  v("datagram", s.datagram, "udp-stream: payload of a datagram",
    FieldRule{.low = 1, .high = 65'507});
  v("writes", s.writes, "writes on a schedule, instead of back to back");
  v("reader", s.reader, "a receiver that does not always wait in read()");
  v("request", s.request, "size of a request", FieldRule{.low = 1, .high = 1 << 30});
  v("response", s.response, "size of a response", FieldRule{.low = 1, .high = 1 << 30});
  v("transactions", s.transactions, "ends after so many, instead of a duration", kAtLeastOne);
  v("outstanding", s.outstanding, "requests under way at once on a connection",
    FieldRule{.low = 1, .high = 1'000'000});
  v("barrier", s.barrier, "asks all servers at once, and again when all have answered");
  v("arrivals", s.arrivals, "of flows, requests, datagrams or frames, whatever is still under way");
  v("sizes", s.sizes, "random sizes of flows, responses, datagrams or frames");
  v("group", s.group, "tests of one group run together");
  v("close", s.close, "when a sender that has written everything closes");
  v("start", s.start, "begins so long after its group");
  v("start_spread", s.start_spread, "each flow begins so much later at most, at random");
  v("background", s.background, "load for others: runs as long as they do, is not judged");
  v("repeats", s.repeats, "runs", FieldRule{.low = 1, .high = 1000});
  v("ip", s.ip, "4 or 6", FieldRule{.low = 4, .high = 6});
  v("priority", s.priority, "class of service (IEEE 802.1Q) of what both ends send",
    FieldRule{.high = 7});
  v("zero_copy", s.zero_copy, "MSG_ZEROCOPY");
  v("truncate", s.truncate, "MSG_TRUNC: the receiver does not copy");
  v.group("cpu", "where the programs run", [&](auto& inner) {
    inner("core", s.core, "both ends are pinned to this core", FieldRule{.high = 4095});
    inner.later({"quota"});
  });
  v("clock", s.clock, "whose way of timing a transfer");
  v("device", s.device, "rfc2544: the switch or host under test; without it the whole path");
  v("allowed_loss", s.allowed_loss, "rfc2544: share of the frames a trial may lose", kProbability);
  v("partial_loss", s.partial_loss, "rfc2544-throughput: also find the rate with this loss (PDR)",
    kProbability);
  v("resolution", s.resolution, "rfc2544: of the rate found",
    FieldRule{.low = 1e-5, .high = 0.5, .kind = Kind::fraction});
  v("trial", s.trial, "rfc2544: how long one trial lasts");
}

constexpr unsigned kTcp = 1u << unsigned(TestType::tcp_stream);
constexpr unsigned kUdp = 1u << unsigned(TestType::udp_stream);
constexpr unsigned kRaw = 1u << unsigned(TestType::raw_frames);
constexpr unsigned kRpc = 1u << unsigned(TestType::request_response);
constexpr unsigned kFound = 1u << unsigned(TestType::rfc2544_throughput);
constexpr unsigned kCurve = 1u << unsigned(TestType::rfc2544_frame_loss);
constexpr unsigned kSearch = kFound | kCurve | 1u << unsigned(TestType::rfc2544_latency) |
                             1u << unsigned(TestType::rfc2544_back_to_back);
constexpr unsigned kPlain = kTcp | kUdp | kRaw | kRpc;  // one run, not a search of many

/// Whether a test sends for `duration`; else a volume or a number of transactions ends it.
inline bool timed(const Test& s) {
  if (s.transactions) return false;
  const bool finite_flows = s.bytes || (s.sizes && s.type == TestType::tcp_stream);
  return !finite_flows || s.arrivals;
}

/// Keys of a test that mean something only in some types; the others are for all.
struct KeyOfTypes {
  std::string_view key;
  unsigned types;
};
inline constexpr KeyOfTypes kKeysOfTypes[] = {
    {"bytes", kTcp | kUdp},
    {"write", kTcp | kRpc},
    {"read", kTcp | kRpc},
    {"socket_buffer", kTcp | kUdp | kRpc},
    {"max_segment", kTcp | kRpc},
    {"no_delay", kTcp | kRpc},
    {"pacing", kTcp | kRpc},
    {"congestion", kTcp | kRpc},
    {"rate", kUdp | kRaw},
    {"frame_rate", kRaw},
    {"frame_size", kRaw | kUdp | kSearch},
    {"frame_sizes", kRaw | kSearch},
    {"duration", kPlain},
    {"omit", kPlain},
    {"group", kPlain},
    {"start", kPlain},
    {"background", kPlain},
    {"device", kSearch},
    {"allowed_loss", kSearch & ~kCurve},
    {"partial_loss", kFound},
    {"resolution", kSearch & ~kCurve},
    {"trial", kSearch},
    {"datagram", kUdp},
    {"writes", kTcp},
    {"reader", kTcp},
    {"request", kRpc},
    {"response", kRpc},
    {"transactions", kRpc},
    {"outstanding", kRpc},
    {"barrier", kRpc},
    {"ip", kTcp | kUdp | kRpc},
    {"zero_copy", kTcp | kUdp},
    {"truncate", kTcp | kRpc},
    {"clock", kTcp},
    {"close", kTcp},
};

/// Whether `key` means anything in this test, by its type and by the keys that take its place.
inline bool key_applies(const TestSpec& test, std::string_view key) {
  const Test& s = test.value;
  if ((key == "duration" || key == "omit") && !timed(s)) return false;
  if (key == "datagram" && (s.imix || s.sizes)) return false;
  if (key == "response" && s.sizes) return false;
  if (key == "barrier" && s.arrivals) return false;
  if (key == "outstanding" && s.barrier) return false;
  if (key == "write" && !s.writes.empty()) return false;
  for (const KeyOfTypes& entry : kKeysOfTypes) {
    if (entry.key == key) return (entry.types >> unsigned(s.type) & 1u) != 0;
  }
  return true;
}

template <class V>
void describe(V& v, LinkEventSpec& s) {
  v("at", s.at, "since the group of tests began", kRequired);
  v("link", s.link, "the link's name, both directions of it", kRequired);
  v("action", s.action, "what happens to it", kRequired);
  v("for", s.lasts, "after so long it is as before; else for good", kAtLeastOne);
  v("loss", s.loss, "of action loss: probability of losing a frame", kProbability);
  v("rate", s.rate, "of action rate", kAtLeastOne);
  v("delay", s.delay, "of action delay: one way, in place of the link's own");
}

template <class V>
void describe(V& v, TopologySpec& s) {
  constexpr FieldRule kMany{.high = 16'384};
  constexpr FieldRule kPorts{.high = 1024};
  v("type", s.type, "the network's shape", kRequired);
  v("hosts", s.hosts, "of a star", kMany);
  v("left", s.left, "hosts at the left switch of a dumbbell", kPorts);
  v("right", s.right, "hosts at its right switch", kPorts);
  v("leaves", s.leaves, "leaf switches", kPorts);
  v("spines", s.spines, "spine switches, each with a link to every leaf", kPorts);
  v("hosts_per_leaf", s.hosts_per_leaf, "hosts at each leaf", kPorts);
  v("k", s.k, "ports of every switch of a fat tree of k^3/4 hosts", FieldRule{.high = 64});
  v("host", s.host, "what every host is", kRequired);
  v("switch", s.switch_, "what every switch is, but its ports");
  v("upper_switch", s.upper_switch, "what spine, aggregation and core switches are, if other");
  v("link", s.link, "what the links to hosts are", kRequired);
  v("uplink", s.uplink, "what the links between switches are, if other");
  v("bottleneck", s.bottleneck, "what the link between the switches of a dumbbell is");
}

template <class V>
void describe(V& v, ExperimentSpec& s) {
  v("schema_version", s.schema_version, "1", FieldRule{.low = 1, .high = 1, .required = true});
  v("name", s.name, "of the experiment", kRequiredName);
  v("description", s.description, "what it is about");
  v("seed", s.seed, "of every random stream");
  v("hosts", s.hosts, "computers by name");
  v("switches", s.switches, "switches by name");
  v("hubs", s.hubs, "repeaters and coaxial segments by name");
  v("links", s.links, "cables, and paths in place of cables");
  v("tests", s.tests, "what is sent and measured", kRequired);
  v("topology", s.topology, "makes hosts, switches and links of a common network");
  v("events", s.events, "what happens to links while tests run");
  v("assert", s.assertions, "\"bulk.goodput >= 930Mbit/s\", judged by every verb");
  v("tolerance", s.tolerances, "largest relative error by \"test.figure\", * for any one level",
    FieldRule{.kind = Kind::fraction});
  v.group("lab", "how `measure` realises the experiment", [&](auto& inner) {
    inner("type", s.lab, "network namespaces or the loopback interface");
    inner.later({"hosts", "switches", "configure"});
  });
  v.later({"vary", "goal", "minimize"});
}

}  // namespace linerate::experiments
