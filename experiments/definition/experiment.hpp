// The experiment as a value: what both back ends read and nothing else. Only the parser makes one
// (parse.hpp), so everything here is resolved, merged, expanded and checked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/definition/ciphers.hpp"
#include "experiments/definition/host.hpp"
#include "experiments/definition/queue.hpp"
#include "sim/units.hpp"

namespace linerate::experiments {

/// Where a parameter came from: a file with line and column (from 1), or the catalog entry or
/// built-in default that supplied it.
struct Origin {
  std::string source;
  int line = 0;
  int column = 0;
  bool operator==(const Origin&) const = default;
};

enum class SwitchForwarding { store_and_forward, cut_through };
enum class BufferPolicy { per_port, shared };

struct Buffer {
  Bytes total{0};                 ///< per port or for all ports, by policy; 0: unlimited
  BufferPolicy policy = BufferPolicy::per_port;
  double alpha = 1.0;             ///< dynamic threshold: a queue may grow while q < alpha x free
  bool operator==(const Buffer&) const = default;
};

/// A switch stops senders before their frames would be lost: PAUSE frames (IEEE 802.3 annex 31B), or
/// priority-based ones (IEEE 802.1Qbb) where `priorities` says for which.
struct Pause {
  Bytes xoff{0};                  ///< held from one ingress port (and priority): stop the sender …
  Bytes xon{0};                   ///< … until so much is left
  std::vector<int> priorities;    ///< empty: all at once
  bool by_priority() const { return !priorities.empty(); }
  /// Bit mask of the priorities it keeps from being lost.
  unsigned mask() const {
    unsigned bits = priorities.empty() ? 0xffu : 0u;
    for (const int priority : priorities) bits |= 1u << priority;
    return bits;
  }
  bool operator==(const Pause&) const = default;
};

/// A VLAN of a switch (IEEE 802.1Q): ports from 0.
struct VlanPorts {
  int id = 1;
  std::vector<int> untagged, tagged;
  bool operator==(const VlanPorts&) const = default;
};

struct Switch {
  std::string name;
  std::string profile;
  std::vector<BitRate> port_rates;  ///< highest rate of port 1, 2, …
  SwitchForwarding forwarding = SwitchForwarding::store_and_forward;
  Time latency{};                 ///< from the frame's arrival (or header) to the output queue
  Buffer buffer;
  std::optional<BitRate> fabric_rate;         ///< sum over all ports, if it limits
  std::optional<double> fabric_frame_rate;    ///< frames/s over all ports, if it limits
  std::optional<EgressSpec> egress;           ///< of every port, if queues decide
  std::optional<Pause> pause;
  std::vector<VlanPorts> vlans;   ///< empty: the switch knows none and leaves tags alone
  FlowHash hash = FlowHash::flow;
  std::optional<double> cost_eur;
  bool operator==(const Switch&) const = default;
};

/// Of a 100 Mbit/s repeater (IEEE 802.3 clause 27): I may join different line codes, II may not and
/// is faster.
enum class RepeaterClass { none, one, two };

/// A medium that its ports share: a repeater, or a coaxial segment with its taps. It has no queue;
/// what one port receives all others send.
struct Hub {
  std::string name;
  int ports = 0;
  BitRate rate;                   ///< of all ports
  RepeaterClass repeater_class = RepeaterClass::none;
  Time latency{};                 ///< of a repeater: from a bit's arrival to its departure
  std::string medium;             ///< coaxial segment: "10BASE5"; empty: a repeater
  double length_m = 0;            ///< of the coaxial segment; its taps are spread evenly
  std::optional<Time> slot;       ///< instead of 512 bit times (4096 at 1 Gbit/s)
  std::optional<double> cost_eur;

  bool coaxial() const { return !medium.empty(); }
  bool operator==(const Hub&) const = default;
};

enum class NodeKind { host, switch_, hub };

/// One end of a link: the NIC `port` of host `node`, or port `port` (from 0) of a switch or hub.
struct PortRef {
  NodeKind kind = NodeKind::host;
  int node = 0;
  int port = 0;
  bool operator==(const PortRef&) const = default;
};

enum class Duplex { full, half };

/// Scripted impairments of one direction of a link, for replaying captured paths.
struct Script {
  std::vector<std::int64_t> drop_data_segments;  ///< ordinals of first transmissions, from 1
  std::optional<std::int64_t> reorder_segment;   ///< this data segment is delivered …
  int reorder_positions = 0;                     ///< … after so many later data segments
  /// Each time so many payload bytes have passed, so many data segments in a row are lost; only
  /// first transmissions count and are lost. 0: never.
  Bytes burst_every{0};
  std::int64_t burst_frames = 0;
  bool operator==(const Script&) const = default;
};

struct Link {
  std::string name;               ///< "a-s1" unless given
  PortRef ends[2];
  std::string medium;             ///< "1000BASE-T", kVirtualPair; empty when only `rate` is given
  BitRate rate;                   ///< of the medium, or as given
  Duplex duplex[2] = {Duplex::full, Duplex::full};  ///< as the ends have come to run
  double length_m = 0;
  Time propagation{};             ///< length over the medium's velocity
  Time delay{};                   ///< added one way
  Time jitter{};                  ///< uniform in [0, jitter], order kept unless …
  bool jitter_reorders = false;   ///< … frames overtake each other, as in tc-netem(8) without rate
  double loss[2] = {0, 0};        ///< probability per frame, by transmitting end
  double bit_error_rate = 0;
  std::optional<Bytes> mtu;       ///< largest IP packet that passes
  std::optional<Bytes> queue;     ///< makes the link an emulated path with its own drop-tail queue
                                  ///< of so many wire bytes; hosts hand frames over at once
  std::optional<EgressSpec> egress;  ///< the same with a queue that decides, instead of `queue`
  std::vector<std::pair<Time, Time>> blackholes;  ///< [from, to): every frame is lost
  Script script[2];               ///< by transmitting end
  bool scripted() const { return script[0] != Script{} || script[1] != Script{}; }
  std::optional<double> cost_eur;
  bool operator==(const Link&) const = default;
};

/// When a writer that has written everything closes its half of the connection.
enum class Closing { at_once, drained };

/// The frames of the simple Internet mix, with FCS, and how many of each go round: 28, 16 and 4 of
/// 48 (RFC 6985 says how such mixes are named).
inline constexpr Bytes kImixSizes[] = {Bytes(64), Bytes(570), Bytes(1518)};
inline constexpr int kImixCounts[] = {7, 4, 1};

enum class TestType {
  tcp_stream,
  udp_stream,
  raw_frames,
  request_response,
  file_transfer,
  rfc2544_throughput,
  rfc2544_latency,
  rfc2544_frame_loss,
  rfc2544_back_to_back
};
/// "tcp-stream", as the file spells it.
const char* name_of(TestType type);
/// Whether a test is a search made of many trials (studies/).
constexpr bool is_search(TestType type) {
  return type == TestType::rfc2544_throughput || type == TestType::rfc2544_latency ||
         type == TestType::rfc2544_frame_loss || type == TestType::rfc2544_back_to_back;
}
enum class Direction { forward, reverse, both };
/// Whose way of timing a transfer (see docs/ARCHITECTURE.md).
enum class Clock { standard, netperf, nttcp, lftp };

/// Writes on a schedule: `count` writes of `size`, one per `interval`, the first `after` the
/// previous group (or the start).
struct TimedWrites {
  Bytes size{0};
  std::int64_t count = 0;
  Time interval{};
  Time after{};
  bool operator==(const TimedWrites&) const = default;
};

/// A receiving application that does not always wait in read().
struct Reader {
  std::optional<Time> pause_at;   ///< stops reading so long after the start …
  Time pause_for{};               ///< … for so long
  Time interval{};                ///< sleeps so long between reads; 0: reads as data comes
  bool operator==(const Reader&) const = default;
};

/// When an open source sends: so many a second whether earlier ones have been served or not, evenly
/// spaced or as a Poisson process. One of the two.
struct Arrivals {
  std::optional<double> poisson, periodic;  ///< mean a second
  double rate() const { return poisson ? *poisson : periodic.value_or(0); }
  bool operator==(const Arrivals&) const = default;
};

/// A point of a cumulative distribution: `share` of all are at most `size`.
struct SizePoint {
  Bytes size{0};
  double share = 0;
  bool operator==(const SizePoint&) const = default;
};

/// Sizes drawn at random: linear between the points of `distribution`, with what the first point's
/// share says exactly at its size; two points of one share make a step. Or exponential.
struct Sizes {
  std::string preset;                     ///< catalog entry the points come from
  std::vector<SizePoint> distribution;
  std::optional<Bytes> exponential;       ///< mean
  bool operator==(const Sizes&) const = default;
};

/// Mean of a size in bytes, before rounding to whole ones.
double mean_size(const Sizes& sizes);

/// What a program of a file transfer does in user space between its calls, beyond its copies.
struct Program {
  Time call{};                    ///< of each turn of its loop: one call on the socket
  std::optional<BitRate> rate;    ///< at which it passes over the data; none: it does not
  bool operator==(const Program&) const = default;
};

/// How long one trial of a search lasts (RFC 2544 23, 24).
struct Trial {
  Time simulated = Time::milliseconds(50);  ///< frames are counted so long in a simulation …
  Time measured = Time::seconds(60);        ///< … and so long on a real device
  Time settle = Time::seconds(2);           ///< wait for residual frames before counters are read
  bool operator==(const Trial&) const = default;
};

struct Test {
  std::string name;
  TestType type = TestType::tcp_stream;
  /// Sender and receiver NICs, one pair a flow pattern: host index and NIC index.
  struct Pair {
    int from_host = 0, from_nic = 0, to_host = 0, to_nic = 0;
    bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> pairs;
  int flows = 1;                  ///< per pair
  Direction direction = Direction::forward;
  std::optional<Bytes> bytes;     ///< per flow; else `duration`
  Time duration = Time::seconds(10);
  Time omit{};
  Bytes write{131072};
  Bytes read{131072};
  std::optional<Bytes> send_buffer, receive_buffer;  ///< setsockopt arguments
  std::optional<Bytes> max_segment;
  bool no_delay = false;
  std::optional<BitRate> pacing;
  std::optional<std::string> congestion;
  std::optional<BitRate> rate;            ///< udp-stream: payload; raw-frames: on the wire
  std::optional<double> frame_rate;       ///< raw-frames, frames/s
  std::vector<Bytes> frame_sizes;         ///< with FCS
  bool imix = false;                      ///< frames of 64, 570 and 1518 B in turn, 7:4:1
  Bytes datagram{1472};                   ///< udp-stream payload
  std::vector<TimedWrites> writes;        ///< instead of back-to-back writes
  Reader reader;
  Closing close = Closing::at_once;       ///< drained: when every byte is acknowledged
  Bytes request{1}, response{1};
  std::optional<std::int64_t> transactions;
  std::optional<std::int64_t> outstanding;  ///< requests at once on a connection; none given: 1 in
                                            ///< a closed loop, any number with `arrivals`
  bool barrier = false;           ///< asks all servers at once and waits for all
  std::optional<Arrivals> arrivals;         ///< of flows (TCP), requests, datagrams or frames
  std::optional<Sizes> sizes;     ///< of flows (TCP), responses, datagrams or frames
  std::string group;              ///< tests of one group run together; empty: alone
  Time start{};
  Time start_spread{};            ///< each flow begins so much later at most, uniformly
  bool background = false;
  int repeats = 7;
  int ip = 4;
  int priority = 0;               ///< class of service of what both ends send, 0 to 7
  bool zero_copy = false;
  bool truncate = false;
  bool verify = false;            ///< every byte is checked at the receiver (measure)
  std::optional<int> core;        ///< both ends are pinned to this core
  std::optional<double> cpu_quota;  ///< share of a core each program may use in every 100 ms
  Clock clock = Clock::standard;
  Cipher cipher = Cipher::none;   ///< tcp-stream, file-transfer: both programs use it on all data
  Program client, server;         ///< file-transfer: of the end that connects, and of the other
  std::string device;             ///< rfc2544: node under test; empty: the whole path
  double allowed_loss = 0;        ///< rfc2544: fraction of the frames a trial may lose
  std::optional<double> partial_loss;     ///< rfc2544: a second, larger loss to search for (PDR)
  double resolution = 0.001;      ///< rfc2544: of the rate found, relative
  Trial trial;
  bool operator==(const Test&) const = default;
};

/// Whether goodput is all payload from the first write to the last read, not what was read within a
/// window of the duration: tests by volume, by schedule, and those that wait until all is delivered.
inline bool counts_everything(const Test& test) {
  return test.bytes || test.sizes || !test.writes.empty() || test.close == Closing::drained;
}

enum class LinkAction { down, up, loss, rate, delay };

/// Something that happens to a link, both directions, while a group of tests runs.
struct LinkEvent {
  Time at{};                      ///< since the start of the group
  int link = 0;
  LinkAction action = LinkAction::down;
  std::optional<Time> lasts;      ///< after so long the link is as before; else for good
  double loss = 0;                ///< action `loss`: probability per frame
  BitRate rate;                   ///< action `rate`
  Time delay{};                   ///< action `delay`: in place of the link's own
  /// Actions `down`, `up`: how long until whoever chooses a flow's way knows of it. By default what
  /// Linux' bonding driver takes at most (miimon, 100 ms).
  Time reroute = Time::milliseconds(100);
  bool operator==(const LinkEvent&) const = default;
};

enum class Relation { less, less_equal, greater, greater_equal, equal };

/// "bulk.goodput >= 930Mbit/s": a figure path, a relation, a value in the figure's base unit.
struct Assertion {
  std::string text, test, figure;
  Relation relation = Relation::greater_equal;
  double value = 0;
  bool operator==(const Assertion&) const = default;
};

/// `pattern` matches "test.figure" with `*` for any one level; `relative` is a fraction.
struct Tolerance {
  std::string pattern;
  double relative = 0;
  bool operator==(const Tolerance&) const = default;
};

/// The largest frame (raw frames, with FCS) or datagram that the NICs of a test's ends take.
Bytes room_of(const Test& test, const struct Experiment& experiment);

enum class LabType { netns, loopback, hosts };

/// A NIC of the experiment on a real host.
struct LabInterface {
  std::string name;      ///< of the NIC in the experiment
  std::string device;    ///< of the interface there: "enp1s0"
  std::string address;   ///< with prefix length, "192.0.2.1/24"; empty: no IPv4
  std::string address6;  ///< "2001:db8::1/64"; empty: no IPv6
  bool operator==(const LabInterface&) const = default;
};

/// How a host of the experiment is reached: one of the two.
struct LabHost {
  std::string name;                  ///< in the experiment
  std::string ssh;                   ///< "user@host"
  std::vector<std::string> command;  ///< what runs a command there, put in front of it
  std::vector<LabInterface> interfaces;
  bool operator==(const LabHost&) const = default;
};

/// A switch that somebody else has built.
enum class LabSwitchKind { external };
struct LabSwitch {
  std::string name;
  LabSwitchKind kind = LabSwitchKind::external;
  bool operator==(const LabSwitch&) const = default;
};

/// Whether real hosts are configured for the tests, and afterwards as they were.
enum class LabConfigure { check, apply_and_restore };

struct Experiment {
  std::string name;
  std::uint64_t seed = 1;
  std::vector<Host> hosts;
  std::vector<Switch> switches;
  std::vector<Hub> hubs;
  std::vector<Link> links;
  std::vector<Test> tests;
  std::vector<LinkEvent> events;
  std::vector<Assertion> assertions;
  std::vector<Tolerance> tolerances;
  LabType lab = LabType::netns;
  bool lab_in_turn = false;                 ///< repeats go round the tests
  std::vector<LabHost> lab_hosts;           ///< lab `hosts`
  LabConfigure lab_configure = LabConfigure::check;

  std::vector<std::string> set;             ///< `--set` as given
  std::string resolved;                     ///< the resolved file as canonical JSON
  std::map<std::string, Origin> origins;    ///< by path, "hosts.a.nics.eth0.mtu"

  bool operator==(const Experiment&) const = default;
};

/// How users name a port: "a:eth0" of a host, "s1:1" of a switch or hub.
std::string port_name(const Experiment& experiment, const PortRef& port);

}  // namespace linerate::experiments
