// An experiment file as written: fields read and in range, but names not yet looked up and nothing
// checked against anything else. The build (build.hpp) turns it into an Experiment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/definition/yaml_tree.hpp"

namespace linerate::experiments {

/// `ports: 8`, or `ports: {"1-48": 25Gbit/s, "49-56": 100Gbit/s}`.
struct Ports {
  struct Range {
    int first = 1, last = 1;
    BitRate rate;
    bool operator==(const Range&) const = default;
  };
  int count = 0;
  std::vector<Range> ranges;
  bool operator==(const Ports&) const = default;
};

/// `vlans: {10: {untagged: ["1-2"], tagged: ["8"]}}`.
struct VlanSpec {
  std::string name;  ///< the number
  std::vector<std::string> untagged, tagged;
  bool operator==(const VlanSpec&) const = default;
};

struct SwitchSpec {
  Switch value;
  std::vector<VlanSpec> vlans;
  Ports ports;
  std::optional<BitRate> rate;
  std::optional<QueueSpec> queue;  ///< these three become the value's `egress`
  std::optional<Scheduler> scheduler;
  std::vector<TrafficClass> classes;
};

struct HubSpec {
  Hub value;
  std::optional<BitRate> rate;
  std::optional<Time> latency;
  std::optional<std::string> medium;
};

/// One value for both ends of a link, or one for each: `half`, `[full, half]`.
template <class T>
struct Ends {
  std::vector<T> values;  ///< none: not given
  bool given() const { return !values.empty(); }
  T at(int end) const { return values[values.size() == 2 ? static_cast<std::size_t>(end) : 0]; }
  bool operator==(const Ends&) const = default;
};

enum class Autonegotiation { off, on };

// What concerns one direction of a link is a list of records, each `from` the node that sends (or
// "a:eth1", should a node be linked to itself): `drops: [{from: a, data_segments: [40]}]`.
struct Drops {
  /// Frames lost in a row, each time so much payload has passed.
  struct Burst {
    Bytes every;
    std::int64_t frames = 0;
  };
  std::string from;
  std::vector<std::int64_t> data_segments;
  std::optional<Burst> burst;
};

struct Reordering {
  std::string from;
  std::int64_t segment = 0;
  int positions = 0;
};

/// `loss: 1%` for both directions, or `loss: [{from: a, probability: 1%}]`.
struct Loss {
  struct Direction {
    std::string from;
    double probability = 0;
  };
  double both = 0;
  std::vector<Direction> directions;
};

struct Blackhole {
  Time from, to;
};

struct LinkSpec {
  std::string name;
  std::vector<std::string> endpoints;
  std::optional<std::string> medium;
  std::optional<BitRate> rate;
  Ends<Duplex> duplex;
  Ends<Autonegotiation> autonegotiation;
  double length_m = 0;
  Time delay, jitter;
  bool jitter_reorders = false;
  Loss loss;
  double bit_error_rate = 0;
  std::optional<Bytes> mtu;
  std::optional<QueueSpec> queue;  ///< becomes the link's `queue` or `egress`
  std::vector<Blackhole> blackholes;
  std::vector<Drops> drops;
  std::vector<Reordering> reorder;
  std::optional<double> cost_eur;
};

/// `socket_buffer: 64KiB`, or `{send: 64KiB, receive: 32KiB}`.
struct SocketBuffer {
  std::optional<Bytes> send, receive;
  bool operator==(const SocketBuffer&) const = default;
};

/// `frame_size: 64B`, or `frame_size: imix`.
struct FrameSize {
  Bytes size{0};
  bool imix = false;
};

struct TestSpec {
  Test value;  ///< all but its pairs and buffers
  std::string from, to;
  SocketBuffer socket_buffer;
  std::optional<FrameSize> frame_size;
};

/// `{at: 3s, link: a-s1, action: down, for: 500ms}`.
struct LinkEventSpec {
  Time at;
  std::string link;
  LinkAction action = LinkAction::down;
  std::optional<Time> lasts;
  std::optional<double> loss;
  std::optional<BitRate> rate;
  std::optional<Time> delay;
  std::optional<Time> reroute;
};

enum class TopologyType { star, dumbbell, leaf_spine, fat_tree };

/// An entry that generated hosts, switches or links are copies of, read when they stand there.
struct Template {
  Node node;
};

/// `topology: {type: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 16, …}` (generate.hpp).
struct TopologySpec {
  TopologyType type = TopologyType::star;
  int hosts = 0;            ///< star
  int left = 0, right = 0;  ///< dumbbell
  int leaves = 0, spines = 0, hosts_per_leaf = 0;
  int k = 0;  ///< fat-tree: ports of every switch
  Template host, switch_, upper_switch, link, uplink, bottleneck;
};

struct ExperimentSpec {
  int schema_version = 0;
  std::string name;
  std::optional<std::string> description;
  std::int64_t seed = 1;
  std::vector<Host> hosts;
  std::vector<SwitchSpec> switches;
  std::vector<HubSpec> hubs;
  std::vector<LinkSpec> links;
  std::vector<TestSpec> tests;
  std::vector<LinkEventSpec> events;
  std::optional<TopologySpec> topology;  ///< gone once generated
  std::vector<std::string> assertions;
  std::vector<Tolerance> tolerances;
  LabType lab = LabType::netns;
  bool lab_in_turn = false;
  std::vector<LabHost> lab_hosts;
  std::vector<LabSwitch> lab_switches;
  std::optional<LabConfigure> lab_configure;
};

}  // namespace linerate::experiments
