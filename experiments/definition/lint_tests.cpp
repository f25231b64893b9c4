// Rules about tests and the paths they take: each is a small function that states one thing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/definition/encapsulated_path.hpp"
#include "experiments/definition/fields.hpp"
#include "experiments/definition/fragments.hpp"
#include "experiments/definition/lint_rules.hpp"

namespace linerate::experiments {
namespace {

std::string test_path(const Test& test, const char* key) {
  return "tests." + test.name + "." + key;
}

double bits_per_second(BitRate rate) { return static_cast<double>(rate.bits_per_second()); }
double count_of(Bytes size) { return static_cast<double>(size.count()); }

// IP and transport headers (RFC 791, 8200, 9293, 768).
Bytes ip_header(const Test& test) { return Bytes(test.ip == 6 ? 40 : 20); }
constexpr Bytes kTcpHeader{20};
constexpr Bytes kUdpHeader{8};

// A pair with sender and receiver in the order data flows, and what lies between.
struct DataPath {
  Test::Pair ends;
  std::vector<Hop> hops;
  const Link* slowest = nullptr;
  Bytes mtu{0};                 // smallest on the way, inside what encapsulates
  std::vector<Layer> around{};  // encapsulations on the slowest link
  Time rtt{};                   // unloaded: a full frame there, a minimum frame back
  double loss = 0;              // probability per full frame
};

Test::Pair reversed(const Test::Pair& pair) {
  return {pair.to_host, pair.to_nic, pair.from_host, pair.from_nic};
}

// The NICs between which frames travel unrouted, in the order of the path: sender and receiver, and
// two of every router on the way.
std::vector<PortRef> nics_along(const Lint& lint, const std::vector<Hop>& hops) {
  std::vector<PortRef> nics;
  for (const Hop& hop : hops)
    for (const int end : {hop.from_end, 1 - hop.from_end})
      if (lint.link(hop).ends[end].kind == NodeKind::host) nics.push_back(lint.link(hop).ends[end]);
  return nics;
}

DataPath data_path(const Lint& lint, const Test::Pair& ends, int ip) {
  DataPath path{.ends = ends, .hops = lint.path(ends)};
  if (path.hops.empty()) return path;
  const EncapsulatedPath encapsulated = encapsulated_path(lint.experiment(), path.hops, ip);
  path.mtu = encapsulated.mtu;
  if (lint.host(ends.from_host).stack.path_mtu_discovery == PathMtuDiscovery::on)
    path.mtu = std::min(path.mtu, encapsulated.narrowest);
  double passes = 1, seconds = 0;
  for (std::size_t i = 0; i < path.hops.size(); ++i) {
    const Hop& hop = path.hops[i];
    const Link& link = lint.link(hop);
    const Bytes frame = frame_of_packet(expand(encapsulated.hops[i].layers, path.mtu));
    if (path.slowest == nullptr || link.rate < path.slowest->rate) {
      path.slowest = &link;
      path.around = encapsulated.hops[i].layers;
    }
    seconds += 2 * (link.propagation.seconds() + link.delay.seconds());
    seconds += link.jitter.seconds();  // its mean, there and back
    seconds += serialization_time(wire_size(frame), link.rate).seconds();
    seconds += serialization_time(wire_size(Bytes(64)), link.rate).seconds();
    const PortRef& reaches = link.ends[1 - hop.from_end];
    if (reaches.kind == NodeKind::switch_)
      seconds += 2 * lint.switch_(reaches.node).latency.seconds();
    passes *= (1 - link.loss[hop.from_end]) *
              std::pow(1 - link.bit_error_rate, static_cast<double>(frame.bits()));
  }
  path.rtt = Time::from_seconds(std::min(seconds, 1e6));  // inside the range of Time
  path.loss = 1 - passes;
  return path;
}

std::vector<DataPath> data_paths(const Lint& lint, const Test& test) {
  std::vector<DataPath> paths;
  for (const Test::Pair& pair : test.pairs) {
    if (test.direction != Direction::reverse) paths.push_back(data_path(lint, pair, test.ip));
    if (test.direction != Direction::forward)
      paths.push_back(data_path(lint, reversed(pair), test.ip));
  }
  std::erase_if(paths, [](const DataPath& path) { return path.hops.empty(); });
  return paths;
}

std::string ends_text(const Lint& lint, const DataPath& path) {
  return lint.host(path.ends.from_host).name + " to " + lint.host(path.ends.to_host).name;
}

// --- MTU -------------------------------------------------------------------------------------

// Within one subnet nobody reports a frame that is too long: it is lost at the NIC that will not
// take it (RFC 2923 2.1 on black holes). TCP is saved by the MSS option only if an end is the short
// one.
void mtu_mismatch(Lint& lint, const DataPath& path) {
  const std::vector<PortRef> nics = nics_along(lint, path.hops);
  for (std::size_t i = 0; i + 1 < nics.size(); i += 2) {
    const Nic& one = lint.nic(nics[i].node, nics[i].port);
    const Nic& other = lint.nic(nics[i + 1].node, nics[i + 1].port);
    if (one.mtu == other.mtu) continue;
    const bool first_is_small = one.mtu < other.mtu;
    const PortRef& small = first_is_small ? nics[i] : nics[i + 1];
    const PortRef& large = first_is_small ? nics[i + 1] : nics[i];
    const Nic& small_nic = lint.nic(small.node, small.port);
    const Nic& large_nic = lint.nic(large.node, large.port);
    const std::string small_name = lint.host(small.node).name;
    lint.warn(
        "hosts." + small_name + ".nics." + small_nic.name + ".mtu",
        fmt::format("{}:{} takes {} B, its neighbour {}:{} sends up to {} B: larger packets "
                    "are lost without a word, TCP falls back to segments for {} B",
                    small_name, small_nic.name, small_nic.mtu.count(), lint.host(large.node).name,
                    large_nic.name, large_nic.mtu.count(), small_nic.mtu.count()),
        "give every NIC of one subnet the same mtu");
  }
}

// RFC 2923 2.1: full segments vanish, and the connection hangs as soon as one is sent.
void black_hole(Lint& lint, const Test& test, const DataPath& path) {
  const Stack& stack = lint.host(path.ends.from_host).stack;
  for (const Hop& hop : path.hops) {
    const Link& link = lint.link(hop);
    if (!link.mtu || *link.mtu >= path.mtu) continue;
    lint.warn(test_path(test, "from"),
              fmt::format("{}: link {} takes packets of {} B, segments fill {} B, and nobody tells "
                          "the sender: {}",
                          ends_text(lint, path), link.name, link.mtu->count(), path.mtu.count(),
                          stack.mtu_probing ? "it stands still until repeated timeouts make it try "
                                              "smaller ones"
                                            : "they are lost for ever"),
              "let the answers pass (path_mtu_discovery: on), or lower the mtu of the NIC");
  }
}

void datagram_fragments(Lint& lint, const Test& test, const DataPath& path) {
  if (test.type != TestType::udp_stream) return;
  const Bytes room = path.mtu - ip_header(test) - kUdpHeader;
  if (test.datagram <= room) return;
  lint.warn(test_path(test, "datagram"),
            fmt::format("a datagram of {} B does not fit an MTU of {} B: it travels in fragments "
                        "and is lost whole if one of them is",
                        test.datagram.count(), path.mtu.count()),
            fmt::format("at most {} B", room.count()));
}

// --- rates -----------------------------------------------------------------------------------

// What a packet occupies on the slowest link.
Bytes wire_of_packet(const DataPath& path, Bytes packet) {
  return wire_size(frame_of_packet(expand(path.around, packet)));
}

// Bits on the wire per second that open arrivals bring: the mean payload of one in full frames.
double arriving_wire_rate(const Test& test, const DataPath& path) {
  const double arrivals = test.arrivals->rate() * 8;
  double payload = test.sizes ? mean_size(*test.sizes) : 0;
  if (test.type == TestType::raw_frames)
    return arrivals * (test.sizes ? payload + 20 : count_of(wire_size(test.frame_sizes.front())));
  const Bytes header = test.type == TestType::udp_stream ? kUdpHeader : kTcpHeader;
  if (!test.sizes && test.type == TestType::udp_stream) payload = count_of(test.datagram);
  if (!test.sizes && test.type == TestType::tcp_stream) payload = count_of(*test.bytes);
  if (test.type == TestType::request_response)
    payload = std::max(test.sizes ? payload : count_of(test.response), count_of(test.request));
  const double room = count_of(path.mtu - ip_header(test) - header);
  const double around = count_of(wire_of_packet(path, path.mtu)) - room;
  return arrivals * (payload + std::max(1.0, payload / room) * around);
}

// Bits on the wire per second that one flow of a test asks for; 0 if it asks for no rate.
double asked_wire_rate(const Test& test, const DataPath& path) {
  if (test.arrivals) return arriving_wire_rate(test, path);
  if (test.type == TestType::udp_stream && test.rate) {
    const Fragments packets = fragments(test.ip, test.datagram + kUdpHeader, path.mtu);
    const Bytes wire = wire_of_packet(path, packets.full) * (packets.count - 1) +
                       wire_of_packet(path, packets.last);
    return bits_per_second(*test.rate) * count_of(wire) / std::max(1.0, count_of(test.datagram));
  }
  if (test.type != TestType::raw_frames) return 0;
  if (test.rate) return bits_per_second(*test.rate);
  if (!test.frame_rate || test.frame_sizes.empty()) return 0;
  const Bytes largest = *std::max_element(test.frame_sizes.begin(), test.frame_sizes.end());
  return *test.frame_rate * static_cast<double>(wire_size(largest).bits());
}

void rate_above_line(Lint& lint, const Test& test, const std::vector<DataPath>& paths) {
  std::map<std::pair<int, int>, std::int64_t> flows_by_nic;
  for (const DataPath& path : paths)
    flows_by_nic[{path.ends.from_host, path.ends.from_nic}] += test.flows;
  for (const DataPath& path : paths) {
    const std::int64_t flows = flows_by_nic[{path.ends.from_host, path.ends.from_nic}];
    const double asked = asked_wire_rate(test, path) * static_cast<double>(flows);
    if (asked <= bits_per_second(path.slowest->rate)) continue;
    lint.warn(test_path(test, test.arrivals     ? "arrivals"
                              : test.frame_rate ? "frame_rate"
                                                : "rate"),
              fmt::format("{} asks for {} on the wire in {} flow{}, {} carries {}",
                          ends_text(lint, path), rate_text(asked), flows, flows == 1 ? "" : "s",
                          path.slowest->name, rate_text(path.slowest->rate)),
              test.arrivals
                  ? "what comes piles up without end; a lower rate, or smaller sizes"
                  : "the excess is dropped or never sent; ask for less to see a loss-free rate");
  }
}

// --- TCP windows -----------------------------------------------------------------------------

// Payload of a full segment, and with its headers the packet it travels in.
struct Segment {
  Bytes payload{0}, packet{0};
};

Segment full_segment(const Lint& lint, const Test& test, const DataPath& path) {
  const Bytes headers = ip_header(test) + kTcpHeader;
  const bool timestamps = lint.host(path.ends.from_host).stack.timestamps &&
                          lint.host(path.ends.to_host).stack.timestamps;
  Bytes segment = path.mtu - headers;
  if (test.max_segment) segment = std::min(segment, *test.max_segment);
  // RFC 7323 appendix A: 10 bytes and two NOPs, taken from the segment (RFC 6691).
  return {segment - Bytes(timestamps ? 12 : 0), segment + headers};
}

// Payload per second the slowest link of the path has room for.
double payload_ceiling(const DataPath& path, const Segment& segment) {
  return bits_per_second(path.slowest->rate) * count_of(segment.payload) /
         count_of(wire_of_packet(path, segment.packet));
}

// One socket buffer: how much payload it lets be in flight, and which parameter says so.
struct BufferWindow {
  const char* side;
  double window = 0;         // bytes
  double share = 1;          // of the stored size that becomes window
  bool asked = false;        // by setsockopt
  bool scaling_off = false;  // the 16-bit window field is what limits (RFC 9293)
  const Host* host = nullptr;
};

double window_share(const Stack& stack, Bytes segment) {
  switch (stack.window_rule) {
    case WindowRule::bsd_space:
      return 1;
    case WindowRule::half_space:
      return 0.5;
    case WindowRule::adv_win_scale:
      return stack.adv_win_scale > 0 ? 1 - std::exp2(-stack.adv_win_scale)
                                     : std::exp2(stack.adv_win_scale);
    case WindowRule::scaling_ratio:
      return std::min(1.0,
                      count_of(segment) / count_of(stack.packet_data_unit + stack.packet_overhead));
  }
  return 1;
}

double stored(const Stack& stack, const std::optional<Bytes>& argument, bool autotune, Bytes size,
              Bytes largest) {
  if (!argument) return count_of(autotune ? largest : size);
  return count_of(std::min(*argument, stack.socket_buffer_limit)) * stack.buffer_factor;
}

BufferWindow receive_window(const Lint& lint, const Test& test, const DataPath& path,
                            Bytes segment) {
  const Host& host = lint.host(path.ends.to_host);
  const Stack& stack = host.stack;
  BufferWindow buffer{.side = "receive", .host = &host};
  buffer.asked = test.receive_buffer.has_value();
  buffer.share = window_share(stack, segment);
  buffer.window = buffer.share * stored(stack, test.receive_buffer, stack.autotune_receive,
                                        stack.receive_buffer, stack.receive_buffer_max);
  const bool scaling = stack.window_scaling && lint.host(path.ends.from_host).stack.window_scaling;
  if (!scaling && buffer.window > 65535) {
    buffer.window = 65535;
    buffer.scaling_off = true;
  }
  return buffer;
}

// An upper bound: a stack that counts packet memory fits less payload.
BufferWindow send_window(const Lint& lint, const Test& test, const DataPath& path) {
  const Host& host = lint.host(path.ends.from_host);
  const Stack& stack = host.stack;
  BufferWindow buffer{.side = "send", .host = &host};
  buffer.asked = test.send_buffer.has_value();
  buffer.window = stored(stack, test.send_buffer, stack.autotune_send, stack.send_buffer,
                         stack.send_buffer_max);
  return buffer;
}

std::string buffer_path(const Test& test, const BufferWindow& buffer) {
  const bool receive = std::string_view(buffer.side) == "receive";
  if (buffer.asked) return test_path(test, "socket_buffer.") + buffer.side;
  const Stack& stack = buffer.host->stack;
  const bool autotune = receive ? stack.autotune_receive : stack.autotune_send;
  return "hosts." + buffer.host->name + ".stack." +
         (buffer.scaling_off ? "window_scaling"
                             : std::string(buffer.side) + (autotune ? "_buffer_max" : "_buffer"));
}

std::string larger_buffer(const BufferWindow& buffer, double needed) {
  const Stack& stack = buffer.host->stack;
  if (buffer.scaling_off) return "turn window_scaling on at both ends (RFC 7323)";
  const double size = needed / buffer.share;
  if (!buffer.asked) return fmt::format("at least {}", size_text(size));
  const double argument = size / stack.buffer_factor;
  if (argument <= count_of(stack.socket_buffer_limit))
    return fmt::format("socket_buffer: {{{}: {:.0f}B}} or more", buffer.side, argument);
  return fmt::format("{} or more, and a socket_buffer_limit of {} that allows it",
                     size_text(argument), buffer.host->name);
}

// Linux asks whether there is room only when it starts a send buffer of up to 64 KiB. Below 64 KiB
// a millisecond its bursts are smaller than that, so the last one always has room again: the writer
// tops it up, and only the congestion window holds what is in flight (tcp_sendmsg(),
// tcp_tso_autosize(); 16 KiB stored carry 70 of 100 Mbit/s over 10 ms).
bool tops_up(const BufferWindow& buffer, double rate) {
  constexpr double kWholeBursts = 65536.0 * 8 * 1000;  // bit/s
  const bool sends = std::string_view(buffer.side) == "send";
  return sends && buffer.host->stack.tso_autosize && rate < kWholeBursts;
}

// A sender has at most a window outstanding per round trip (RFC 7323 1.1).
void window_below_path(Lint& lint, const Test& test, const DataPath& path,
                       const BufferWindow& buffer, double ceiling) {
  if (tops_up(buffer, ceiling / test.flows)) return;
  const double reached = test.flows * buffer.window * 8 / path.rtt.seconds();
  const bool fits_at_once = test.bytes && count_of(*test.bytes) <= buffer.window;
  if (reached >= ceiling * 0.99 || fits_at_once) return;
  const double needed = ceiling * path.rtt.seconds() / 8 / test.flows;
  lint.warn(buffer_path(test, buffer),
            fmt::format("{}: the {} buffer lets {} be in flight; over a round trip of {} that is "
                        "at most {}, and {} has room for {} (bandwidth x delay {})",
                        ends_text(lint, path), buffer.side, size_text(buffer.window),
                        time_text(path.rtt), rate_text(reached), path.slowest->name,
                        rate_text(ceiling), size_text(needed * test.flows)),
            larger_buffer(buffer, needed));
}

// A receiver acknowledges every second full segment at once (RFC 1122 4.2.3.2); one segment alone
// waits for its timer.
void window_below_two_segments(Lint& lint, const Test& test, const BufferWindow& buffer,
                               Bytes segment, const Stack& receiver) {
  if (buffer.window >= 2 * count_of(segment)) return;
  lint.warn(
      buffer_path(test, buffer),
      fmt::format("the {} buffer lets {:.0f} B be in flight, less than two segments of {} "
                  "B: the sender waits for delayed ACKs of {} and more",
                  buffer.side, buffer.window, segment.count(), time_text(receiver.delayed_ack_min)),
      larger_buffer(buffer, 2 * count_of(segment)));
}

// Random loss alone holds a window down: Mathis et al. 1997 for Reno, RFC 9438 5.1 for CUBIC, whose
// window is the larger of the two.
void loss_below_path(Lint& lint, const Test& test, const DataPath& path, Bytes segment,
                     double ceiling) {
  if (path.loss <= 0 || path.loss >= 1) return;
  const std::string congestion =
      test.congestion.value_or(lint.host(path.ends.from_host).stack.congestion);
  if (congestion == "bbr") return;  // takes losses of some per cent for no sign of anything
  const double rtt = path.rtt.seconds();
  double window = std::sqrt(1.5 / path.loss);
  if (congestion == "cubic")
    window = std::max(window, 1.054 * std::pow(rtt, 0.75) / std::pow(path.loss, 0.75));
  const double reached = test.flows * window * static_cast<double>(segment.bits()) / rtt;
  if (reached >= ceiling * 0.9) return;
  lint.warn(
      test_path(test, "congestion"),
      fmt::format("{}: a loss of {:.3g} % keeps the window of {} near {:.3g} segments; over "
                  "a round trip of {} that is about {}, and {} has room for {}",
                  ends_text(lint, path), path.loss * 100, congestion, window, time_text(path.rtt),
                  rate_text(reached), path.slowest->name, rate_text(ceiling)),
      "expect loss, not bandwidth, to set the rate; more flows share the burden");
}

void tcp_stream_rules(Lint& lint, const Test& test, const DataPath& path) {
  const Segment full = full_segment(lint, test, path);
  const Bytes segment = full.payload;
  const bool scheduled = !test.writes.empty();  // the application sets the rate
  if (segment.count() <= 0 || scheduled) return;
  double ceiling = payload_ceiling(path, full);
  if (test.pacing) ceiling = std::min(ceiling, test.flows * bits_per_second(*test.pacing));
  const Stack& receiver = lint.host(path.ends.to_host).stack;
  for (const BufferWindow& buffer :
       {receive_window(lint, test, path, segment), send_window(lint, test, path)}) {
    window_below_path(lint, test, path, buffer, ceiling);
    window_below_two_segments(lint, test, buffer, segment, receiver);
  }
  loss_below_path(lint, test, path, segment, ceiling);
  black_hole(lint, test, path);
}

// --- writes and times ------------------------------------------------------------------------

void tiny_writes(Lint& lint, const Test& test) {
  if (test.type != TestType::tcp_stream || !test.writes.empty() || test.write >= Bytes(64)) return;
  const Bytes wire = wire_size(frame_of_packet(test.write + ip_header(test) + kTcpHeader));
  lint.warn(test_path(test, "write"),
            fmt::format("every {} B cost a system call{}", test.write.count(),
                        test.no_delay ? fmt::format(" and, with no_delay, up to {} B on the wire",
                                                    wire.count())
                                      : std::string(": this measures the host, not the network")),
            "larger writes, unless small ones are the question");
}

void short_after_omit(Lint& lint, const Test& test) {
  const Time judged = test.duration - test.omit;
  if (!timed(test) || test.omit == Time{} || judged >= Time::seconds(1)) return;
  lint.warn(test_path(test, "omit"),
            fmt::format("of {} only {} are left after omitting {}: too short for a steady figure",
                        time_text(test.duration), time_text(judged), time_text(test.omit)),
            "a longer duration, at least 1 s more than omit");
}

}  // namespace

void lint_tests(Lint& lint) {
  for (const Test& test : lint.experiment().tests) {
    const std::vector<DataPath> paths = data_paths(lint, test);
    for (const DataPath& path : paths) {
      mtu_mismatch(lint, path);
      datagram_fragments(lint, test, path);
      if (test.type == TestType::tcp_stream) tcp_stream_rules(lint, test, path);
    }
    rate_above_line(lint, test, paths);
    tiny_writes(lint, test);
    short_after_omit(lint, test);
  }
}

}  // namespace linerate::experiments
