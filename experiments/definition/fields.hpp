// Every key of the experiment file, one table per struct. The reader, the resolved output and the
// JSON Schema all walk these tables, so a new key is one line here or in device_fields.hpp.
//
// A visitor is called with (key, field, words, rule); `group(key, words, inner)` opens a nested
// mapping that is no struct of its own; `later({…})` names keys of coming versions, which are
// refused as such instead of as typing errors.
#pragma once

#include "experiments/definition/device_fields.hpp"

namespace linerate::experiments {

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
void describe(V& v, Program& s) {
  v("call", s.call, "user time of each turn of its loop, with one call on the socket");
  v("rate", s.rate, "at which it passes over the data in user space; none: it does not",
    kAtLeastOne);
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
  v("verify", s.verify, "measure: every byte is checked at the receiver, which costs it time");
  v.group("cpu", "where the programs run", [&](auto& inner) {
    inner("core", s.core, "both ends are pinned to this core", FieldRule{.high = 4095});
    inner("quota", s.cpu_quota, "share of a core that each program may use in every 100 ms",
          FieldRule{.low = 0.01, .high = 1, .kind = Kind::fraction});
  });
  v("clock", s.clock, "whose way of timing a transfer");
  v("cipher", s.cipher, "of all data, by both programs (ssh, TLS), as fast as their hosts do it");
  v.group("programs", "file-transfer: what they do between their calls", [&](auto& inner) {
    inner("client", s.client, "the end that connects (`from`)");
    inner("server", s.server, "the other end");
  });
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
constexpr unsigned kFile = 1u << unsigned(TestType::file_transfer);
constexpr unsigned kFound = 1u << unsigned(TestType::rfc2544_throughput);
constexpr unsigned kCurve = 1u << unsigned(TestType::rfc2544_frame_loss);
constexpr unsigned kSearch = kFound | kCurve | 1u << unsigned(TestType::rfc2544_latency) |
                             1u << unsigned(TestType::rfc2544_back_to_back);
constexpr unsigned kPlain = kTcp | kUdp | kRaw | kRpc | kFile;  // one run, not a search of many

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
    {"bytes", kTcp | kFile | kUdp},
    {"write", kTcp | kFile | kRpc},
    {"read", kTcp | kFile | kRpc},
    {"socket_buffer", kTcp | kFile | kUdp | kRpc},
    {"max_segment", kTcp | kFile | kRpc},
    {"no_delay", kTcp | kFile | kRpc},
    {"pacing", kTcp | kFile | kRpc},
    {"congestion", kTcp | kFile | kRpc},
    {"rate", kUdp | kRaw},
    {"frame_rate", kRaw},
    {"frame_size", kRaw | kUdp | kSearch},
    {"frame_sizes", kRaw | kSearch},
    {"duration", kPlain & ~kFile},
    {"omit", kPlain & ~kFile},
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
    {"ip", kTcp | kFile | kUdp | kRpc},
    {"zero_copy", kTcp | kUdp},
    {"truncate", kTcp | kRpc},
    {"verify", kTcp | kUdp | kRaw},
    {"clock", kTcp | kFile},
    {"cipher", kTcp | kFile},
    {"close", kTcp},
    {"programs", kFile},
};

/// Whether `key` means anything in this test, by its type and by the keys that take its place.
inline bool key_applies(const TestSpec& test, std::string_view key) {
  const Test& s = test.value;
  if ((key == "duration" || key == "omit") && !timed(s)) return false;
  if (key == "datagram" && (test.frame_size || s.sizes)) return false;
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
  v("reroute", s.reroute,
    "of action down or up: flows take another way (back) so long after it; default 100ms");
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
    inner("type", s.lab, "network namespaces, the loopback interface, or real hosts");
    inner("in_turn", s.lab_in_turn,
          "every test once, then again, so that what drifts falls on all alike");
    inner("hosts", s.lab_hosts, "type hosts: how each host is reached");
    inner("switches", s.lab_switches, "type hosts: `external`, built by somebody else");
    inner("configure", s.lab_configure, "type hosts: whether MTU and kernel parameters are set");
  });
  v.later({"vary", "goal", "minimize"});
}

}  // namespace linerate::experiments
