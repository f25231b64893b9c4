// What limits a test: links by how busy they were, and the causes that kept senders waiting.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/definition/bus_capacity.hpp"
#include "experiments/definition/shared_medium.hpp"
#include "experiments/results/quantity.hpp"
#include "models/report/report.hpp"

namespace linerate::models {

namespace {

using experiments::format_quantity;
using experiments::Limit;
using experiments::Test;
using experiments::TestType;

// A line is full when less than this share of its time is idle: what slow start and the last
// round trip of a test leave unused.
constexpr double kFull = 0.97;

std::string origin_of(const Subject& s, const std::string& path) {
  // The nearest enclosing path that somebody set: a default has the origin of its block.
  for (std::string at = path;; at.erase(at.rfind('.'))) {
    const auto found = s.experiment.origins.find(at);
    if (found != s.experiment.origins.end())
      return found->second.line > 0 ? fmt::format("{}:{}", found->second.source, found->second.line)
                                    : found->second.source;
    if (at.rfind('.') == std::string::npos) return "";
  }
}

Limit make_limit(const Subject& s, std::string resource, double utilisation, std::string formula,
                 std::string parameter) {
  Limit limit;
  limit.resource = std::move(resource);
  limit.utilisation = std::min(utilisation, 1.0);
  limit.formula = std::move(formula);
  limit.origin = origin_of(s, parameter);
  limit.parameter = std::move(parameter);
  return limit;
}

// A wire that the test's data crosses, and the share of the data that does.
struct Crossing {
  std::uint32_t wire;
  double share;  // 0..1, of the wire bytes that left the test's senders
};

std::vector<Crossing> crossings_of(const Subject& s) {
  std::vector<Crossing> crossings;
  double total = 0;
  auto add = [&](const Network::Passage& passage) {
    const auto bytes = static_cast<double>(passage.wire_bytes);
    total += bytes;
    for (const std::uint32_t wire : s.network.route(passage.route).wires) {
      const auto known = std::find_if(crossings.begin(), crossings.end(),
                                      [&](const Crossing& c) { return c.wire == wire; });
      if (known == crossings.end()) {
        crossings.push_back({wire, bytes});
      } else {
        known->share += bytes;
      }
    }
  };
  for (const TcpFlow& flow : s.network.tcp_flows()) {
    if (flow.test != s.index) continue;
    const TcpEnd& sender = s.network.end(flow.data_from_client ? flow.client : flow.server);
    for (const Network::Passage& passage : s.network.passages(sender)) add(passage);
  }
  for (const DatagramFlow& flow : s.network.datagram_flows())
    if (flow.test == s.index)
      for (const Network::Passage& passage : s.network.passages(flow)) add(passage);
  for (Crossing& crossing : crossings) crossing.share = total > 0 ? crossing.share / total : 0;
  return crossings;
}

void add_links(const Subject& s, double goodput, std::vector<Limit>& limits) {
  const double span = active_span(s).span().seconds();
  if (span <= 0) return;
  for (const auto& [index, share] : crossings_of(s)) {
    const Wire& wire = s.network.wires()[index];
    const experiments::Link& link = s.experiment.links[index / 2];
    if (experiments::is_shared(link)) continue;  // add_media() has them
    const double busy = wire.busy().seconds() / span;
    const auto rate = static_cast<double>(wire.rate().bits_per_second());
    // Busy is meant over the whole test, goodput over what the test's clock counts: of a short
    // transfer the goodput can be the greater of the two.
    const double payload = goodput * share;
    const char* of_it = payload <= busy * rate ? "of it is this test's payload"
                                               : "is this test's payload while its clock runs";
    limits.push_back(make_limit(
        s, "link " + link.name, busy,
        fmt::format("{} of {} on the wire; {} {}", format_quantity(busy * rate, "bit/s"),
                    format_quantity(rate, "bit/s"), format_quantity(payload, "bit/s"), of_it),
        fmt::format("links.{}.{}", link.name, link.medium.empty() ? "rate" : "medium")));
    if (share > 0) limits.back().capacity = rate / share;
  }
}

// A shared medium is used while one of its stations has a frame to send: gaps, collisions and
// back-off are part of what it costs to share it.
void add_media(const Subject& s, double goodput, std::vector<Limit>& limits) {
  const double span = active_span(s).span().seconds();
  if (span <= 0 || s.network.media() == 0) return;
  const std::vector<std::uint32_t> wires = data_wires(s);
  const auto shared = experiments::shared_media(s.experiment);
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const bool crossed = std::any_of(wires.begin(), wires.end(), [&](std::uint32_t wire) {
      const std::vector<int>& links = shared[i].links;
      return std::find(links.begin(), links.end(), static_cast<int>(wire / 2)) != links.end();
    });
    if (!crossed) continue;
    const CollisionDomain& domain = s.network.medium(i);
    const double carrying = domain.carrying(s.network.now()).seconds() / span;
    std::int64_t collisions = 0;
    for (std::uint32_t station = 0; station < domain.stations(); ++station)
      collisions += domain.counters(station).collisions;
    limits.push_back(make_limit(
        s, "medium " + shared[i].path.substr(shared[i].path.find('.') + 1),
        domain.wanted(s.network.now()).seconds() / span,
        fmt::format("{} stations share {}: {:.1f} % of the time somebody sends, {} attempts "
                    "collided; {} of it is this test's payload",
                    domain.stations(),
                    format_quantity(static_cast<double>(shared[i].rate.bits_per_second()), "bit/s"),
                    100 * std::min(carrying, 1.0), collisions, format_quantity(goodput, "bit/s")),
        shared[i].path + (shared[i].hubs.empty() ? ".duplex" : ".rate")));
  }
}

void add_fabrics(const Subject& s, std::vector<Limit>& limits) {
  const double span = active_span(s).span().seconds();
  std::vector<bool> seen(s.experiment.switches.size());
  for (const std::uint32_t wire : data_wires(s)) {
    if (!s.network.leads_to_switch(wire) || span <= 0) continue;
    const std::uint32_t index = s.network.far_node(wire);
    const experiments::Switch& node = s.experiment.switches[index];
    if (seen[index] || !(node.fabric_rate || node.fabric_frame_rate)) continue;
    seen[index] = true;
    limits.push_back(make_limit(
        s, "switch " + node.name + " fabric", s.network.fabric_busy(index).seconds() / span,
        "share of the time in which the fabric passes frames on",
        fmt::format("switches.{}.{}", node.name,
                    node.fabric_rate ? "fabric_rate" : "fabric_frame_rate")));
  }
}

// A direction of a host's bus, with what crosses it for tests beside this one.
void add_bus(const Subject& s, std::uint32_t index, double span, std::vector<Limit>& limits) {
  const HostBus* bus = s.network.bus(index);
  if (bus == nullptr) return;
  const experiments::Host& host = s.experiment.hosts[index];
  const std::string parameter =
      fmt::format("hosts.{}.bus.{}", host.name,
                  host.bus.type == experiments::BusType::pcie  ? "lanes"
                  : host.bus.type == experiments::BusType::usb ? "generation"
                                                               : "clock");
  const std::string name = experiments::bus_name(host.bus);
  const auto add = [&](const char* direction, const char* what, Time busy) {
    limits.push_back(make_limit(
        s, fmt::format("bus {}{}", host.name, direction), busy.seconds() / span,
        fmt::format("{}: share of the time in which it moves {}, their descriptors and doorbells",
                    name, what),
        parameter));
  };
  if (bus->half_duplex()) {
    add("", "frames either way", bus->busy_up());
  } else {
    add(" to memory", "received frames", bus->busy_up());
    add(" from memory", "frames to send", bus->busy_down());
  }
  const Time lines = later(bus->memory_writes(), bus->memory_reads());
  if (lines == Time{}) return;
  limits.push_back(
      make_limit(s, fmt::format("bus {} memory", host.name), lines.seconds() / span,
                 fmt::format("share of the time in which memory takes or gives lines of {} B",
                             host.bus.lines.size.count()),
                 fmt::format("hosts.{}.bus.lines", host.name)));
}

// The NIC's own pace, where it has one: of the NIC at `end`, which transmits on `wire`.
void add_nic(const Subject& s, const experiments::PortRef& end, std::uint32_t wire, double span,
             std::vector<Limit>& limits) {
  const experiments::Host& host = s.experiment.hosts[end.node];
  const std::string nic = host.name + ":" + host.nics[end.port].name;
  const auto add = [&](const char* direction, Time busy) {
    if (busy == Time{}) return;
    limits.push_back(make_limit(
        s, fmt::format("nic {} {}", nic, direction), busy.seconds() / span,
        "share of the time its DMA engine needs for itself: frames, reads under way, credits",
        fmt::format("hosts.{}.nics.{}.dma", host.name, host.nics[end.port].name)));
  };
  const ReceiveDma* in = s.network.receive_dma(s.network.nic_index(end.node, end.port));
  if (in != nullptr) add("receiving", in->busy());
  const EgressPort* out = s.network.port(wire);
  if (out != nullptr && out->dma) add("transmitting", out->dma->busy());
}

void add_forwarding(const Subject& s, std::uint32_t index, double span,
                    std::vector<Limit>& limits) {
  const std::vector<ForwardingCore>& cores = s.network.forwarding_cores(index);
  const experiments::Host& host = s.experiment.hosts[index];
  for (std::size_t core = 0; core < cores.size(); ++core)
    limits.push_back(make_limit(
        s, fmt::format("cpu {} core {} forwarding", host.name, core),
        cores[core].busy().seconds() / span,
        fmt::format("{} frames forwarded; {:.1f} % of the time goes to interrupts",
                    cores[core].forwarded(), 100 * cores[core].interrupted().seconds() / span),
        fmt::format("hosts.{}.forward_costs.frame", host.name)));
}

// The hosts at the ends of what the test's data crosses.
void add_hosts(const Subject& s, std::vector<Limit>& limits) {
  const double span = active_span(s).span().seconds();
  if (span <= 0) return;
  std::vector<bool> seen(s.experiment.hosts.size()), seen_nic(s.network.wires().size());
  for (const std::uint32_t wire : data_wires(s))
    for (const std::uint32_t end : {0u, 1u}) {
      const experiments::PortRef& at = s.experiment.links[wire / 2].ends[end];
      if (at.kind != experiments::NodeKind::host) continue;
      const std::uint32_t out = wire / 2 * 2 + end;
      if (!seen_nic[out]) add_nic(s, at, out, span, limits);
      seen_nic[out] = true;
      const auto host = static_cast<std::uint32_t>(at.node);
      if (seen[host]) continue;
      seen[host] = true;
      add_bus(s, host, span, limits);
      add_forwarding(s, host, span, limits);
    }
}

// Every core of the hosts at the test's ends that did anything.
void add_cores_of_host(const Subject& s, std::uint32_t host, double span,
                       std::vector<Limit>& limits) {
  std::size_t number = 0;
  for (const CoreWork& core : s.network.cores(host)) {
    const std::string name = fmt::format("{} core {}", s.experiment.hosts[host].name, number++);
    if (core.core.busy() == Time{}) continue;
    const auto share = [&](Time busy) { return 100 * busy.seconds() / span; };
    limits.push_back(
        make_limit(s, "cpu " + name, core.core.busy().seconds() / span,
                   fmt::format("{:.1f} % interrupts, {:.1f} % softirq, {:.1f} % programs",
                               share(core.core.interrupt_busy()), share(core.core.softirq_busy()),
                               share(core.core.process_busy())),
                   fmt::format("hosts.{}.cpu.costs", s.experiment.hosts[host].name)));
  }
}

void add_cores_of_ends(const Subject& s, std::vector<Limit>& limits) {
  const double span = active_span(s).span().seconds();
  if (span <= 0) return;
  std::vector<bool> seen(s.experiment.hosts.size());
  const auto add = [&](std::uint32_t host) {
    if (!seen[host]) add_cores_of_host(s, host, span, limits);
    seen[host] = true;
  };
  for (const TcpFlow& flow : s.network.tcp_flows())
    if (flow.test == s.index)
      for (const std::uint32_t index : {flow.client, flow.server}) add(s.network.end(index).host);
  for (const DatagramFlow& flow : s.network.datagram_flows())
    if (flow.test == s.index)
      for (const std::uint32_t host : {flow.from_host, flow.to_host}) add(host);
}

struct Sender {
  const TcpEnd& end;
  const TcpEnd& peer;
};

std::vector<Sender> senders(const Subject& s) {
  std::vector<Sender> list;
  for (const TcpFlow& flow : s.network.tcp_flows()) {
    if (flow.test != s.index) continue;
    const std::uint32_t from = flow.data_from_client ? flow.client : flow.server;
    list.push_back({s.network.end(from), s.network.end(from ^ 1u)});
  }
  return list;
}

// The most likely cause of a small congestion window: losses, wherever they happen.
std::string congestion_parameter(const Subject& s) {
  for (const std::uint32_t index : data_wires(s)) {
    const Wire& wire = s.network.wires()[index];
    const std::string link = "links." + s.experiment.links[index / 2].name;
    if (wire.drops(Drop::loss) > 0) return link + ".loss";
    if (wire.drops(Drop::bit_error) > 0) return link + ".bit_error_rate";
    if (wire.drops(Drop::late_collision) + wire.drops(Drop::excessive_collisions) +
            wire.drops(Drop::collision) >
        0)
      return link + ".duplex";
    if (wire.drops(Drop::queue) > 0) {
      const experiments::PortRef& from = s.experiment.links[index / 2].ends[index % 2];
      if (from.kind == experiments::NodeKind::switch_)
        return "switches." + s.experiment.switches[from.node].name + ".buffer";
      return link + ".queue";
    }
  }
  return "tests." + s.test.name + ".congestion";
}

void add_waits(const Subject& s, std::vector<Limit>& limits) {
  const std::vector<Sender> all = senders(s);
  const double span = active_span(s).span().seconds();
  if (all.empty() || span <= 0) return;
  tcp::BlockedTimes sum;
  double window = 0, flight = 0, srtt = 0, timeouts = 0, retransmits = 0;
  for (const Sender& sender : all) {
    const tcp::Info info = sender.end.endpoint.info();
    sum.receive_window += info.blocked.receive_window;
    sum.congestion_window += info.blocked.congestion_window;
    sum.nagle += info.blocked.nagle;
    sum.pacing += info.blocked.pacing;
    sum.device += info.blocked.device;
    sum.send_buffer += info.blocked.send_buffer;
    window += static_cast<double>(info.send_window);
    flight += static_cast<double>(info.cwnd * info.segment_size);
    srtt += info.srtt.seconds();
    timeouts += static_cast<double>(info.timeouts);
    retransmits += static_cast<double>(info.retransmits);
  }
  const auto flows = static_cast<double>(all.size());
  const double rtt = srtt / flows;
  auto share = [&](Time blocked) { return blocked.seconds() / (span * flows); };
  // A stack that counts round trips in ticks of half a second cannot say how long a short one was.
  const experiments::Host& host =
      s.experiment.hosts[s.network.route(all.front().end.route).from_host];
  const Time slow = host.stack.slow_timer;
  const auto per_round_trip = [&](double bytes) {
    const std::string window_size = fmt::format("{:.0f} B per round trip", bytes / flows);
    if (slow > Time{} || rtt <= 0) return window_size + " a flow";
    return fmt::format("{} of {} = {} a flow", window_size, format_quantity(rtt, "s"),
                       format_quantity(bytes * 8 / flows / rtt, "bit/s"));
  };
  const std::string test = "tests." + s.test.name;
  limits.push_back(make_limit(s, "receive window", share(sum.receive_window),
                              per_round_trip(window), test + ".socket_buffer.receive"));
  limits.push_back(make_limit(s, "congestion window", share(sum.congestion_window),
                              fmt::format("{}; {:.0f} retransmissions, {:.0f} timeouts",
                                          per_round_trip(flight), retransmits, timeouts),
                              congestion_parameter(s)));
  limits.push_back(make_limit(s, "send buffer", share(sum.send_buffer),
                              "nothing unsent while the writer waits for buffer space",
                              test + ".socket_buffer.send"));
  limits.push_back(make_limit(s, "nagle", share(sum.nagle),
                              "a short segment waits for an acknowledgment", test + ".no_delay"));
  limits.push_back(make_limit(s, "pacing", share(sum.pacing), "the next segment is not due yet",
                              test + ".pacing"));
  limits.push_back(make_limit(s, "device queue", share(sum.device),
                              "the stack waits for the device to let go of earlier frames",
                              "links"));
}

bool is_line(const Limit& limit) {
  return limit.resource.rfind("link ", 0) == 0 || limit.resource.rfind("switch ", 0) == 0 ||
         limit.resource.rfind("medium ", 0) == 0 || limit.resource.rfind("bus ", 0) == 0 ||
         limit.resource.rfind("nic ", 0) == 0 || limit.resource.rfind("cpu ", 0) == 0;
}

bool sends_regardless(const experiments::Test& test) {
  return test.type == TestType::raw_frames || test.type == TestType::udp_stream;
}

void add_application(const Subject& s, std::vector<Limit>& limits) {
  // What is left when no resource and no wait explains the time is the application's own pace.
  double explained = 0;
  for (const Limit& limit : limits)
    if (!is_line(limit)) explained += limit.utilisation;
  const bool paced_by_application = !s.test.writes.empty() || s.test.rate || s.test.frame_rate ||
                                    s.test.arrivals || s.test.type == TestType::request_response;
  if (!paced_by_application) return;
  const std::string key = !s.test.writes.empty()                      ? "writes"
                          : s.test.arrivals                           ? "arrivals"
                          : s.test.type == TestType::request_response ? "request"
                          : s.test.frame_rate                         ? "frame_rate"
                                                                      : "rate";
  limits.push_back(make_limit(s, "application", std::max(0.0, 1 - explained),
                              "the application has nothing to send",
                              "tests." + s.test.name + "." + key));
}

}  // namespace

std::vector<std::uint32_t> data_wires(const Subject& s) {
  std::vector<std::uint32_t> wires;
  auto add = [&](const auto& flow) {
    for (const Network::Passage& passage : s.network.passages(flow))
      for (const std::uint32_t wire : s.network.route(passage.route).wires)
        if (std::find(wires.begin(), wires.end(), wire) == wires.end()) wires.push_back(wire);
  };
  for (const TcpFlow& flow : s.network.tcp_flows())
    if (flow.test == s.index) add(s.network.end(flow.data_from_client ? flow.client : flow.server));
  for (const DatagramFlow& flow : s.network.datagram_flows())
    if (flow.test == s.index) add(flow);
  return wires;
}

std::vector<Limit> limits_of(const Subject& s, double goodput) {
  std::vector<Limit> limits;
  add_links(s, goodput, limits);
  add_media(s, goodput, limits);
  add_fabrics(s, limits);
  add_hosts(s, limits);
  add_cores_of_ends(s, limits);
  const std::size_t links = limits.size();
  add_waits(s, limits);
  add_application(s, limits);
  if (limits.empty()) return limits;

  // A full line binds whatever the sender happened to wait for meanwhile: windows fill because the
  // line is full. Only where no line is full does the longest wait bind.
  auto busier = [](const Limit& a, const Limit& b) { return a.utilisation < b.utilisation; };
  const auto lines_end = limits.begin() + static_cast<long>(links);
  // Frames that are sent whatever becomes of them may fill a link and be lost behind it. Otherwise
  // a core beside a full line or bus is busy because it can be: less to do means more interrupts.
  const std::string elastic = sends_regardless(s.test) ? "link " : "cpu ";
  const auto rigid = std::stable_partition(limits.begin(), lines_end, [&](const Limit& limit) {
    return limit.resource.rfind(elastic, 0) != 0;
  });
  auto line = std::max_element(limits.begin(), rigid, busier);
  if (line == rigid || line->utilisation < kFull)
    line = std::max_element(limits.begin(), lines_end, busier);
  const auto wait = std::max_element(lines_end, limits.end(), busier);
  const bool full = line != lines_end && line->utilisation >= kFull;
  (full || wait == limits.end() ? line : wait)->binds = true;
  std::stable_sort(limits.begin(), limits.end(), [](const Limit& a, const Limit& b) {
    if (a.binds != b.binds) return a.binds;
    return a.utilisation > b.utilisation;
  });
  return limits;
}

namespace {

// Every level in proportion to the payload's rate.
std::vector<experiments::LayerRate> rates_of(const Ledger& ledger, double payload_rate) {
  std::vector<experiments::LayerRate> layers;
  for (const Part& level : ledger.levels)
    layers.push_back({level.name,
                      payload_rate * static_cast<double>(level.size.count()) /
                          static_cast<double>(ledger.payload.count()),
                      level.size.count()});
  return layers;
}

experiments::ByteLedger bytes_of(const Ledger& ledger, Bytes mtu) {
  experiments::ByteLedger bytes{.mtu = mtu.count(), .max_segment = {}, .parts = {}};
  bytes.parts.push_back({"payload", ledger.payload.count()});
  for (const Part& part : ledger.parts) bytes.parts.push_back({part.name, part.size.count()});
  return bytes;
}

void report_raw_frames(const Subject& s, experiments::TestResult& result) {
  const double window = window_of(s, s.test.start).seconds();
  if (window <= 0) return;
  const Ledger ledger = raw_framing().ledger(s.test.frame_sizes.front());
  double frames = 0;
  for (const DatagramFlow& flow : s.network.datagram_flows())
    if (flow.test == s.index) frames += static_cast<double>(flow.sink.window_frames()) / window;
  result.layers = rates_of(ledger, frames * 8 * static_cast<double>(ledger.payload.count()));
}

void report_datagrams(const Subject& s, double goodput, experiments::TestResult& result) {
  for (const DatagramFlow& flow : s.network.datagram_flows()) {
    if (flow.test != s.index) continue;
    const Route& route = s.network.route(flow.route);
    const Ledger ledger = datagram_ledger(route.carriage, s.test.datagram, flow.mtu);
    result.layers = rates_of(ledger, goodput);
    result.ledger = bytes_of(ledger, flow.mtu);
    return;
  }
}

void report_segments(const Subject& s, double goodput, experiments::TestResult& result) {
  const std::vector<Sender> all = senders(s);
  if (all.empty()) return;
  const TcpEnd& end = all.front().end;
  const tcp::Info info = end.endpoint.info();
  if (info.segment_size <= 0) return;
  const auto& stack = s.experiment.hosts[s.test.pairs[0].from_host].stack;
  const Bytes options = tcp_option_bytes({.timestamps = stack.timestamps,
                                          .sack_blocks = 0,
                                          .connection_count = stack.connection_count});
  const Route& route = s.network.route(end.route);
  const Ledger ledger = tcp_framing(route.carriage, options).ledger(Bytes(info.segment_size));
  result.layers = rates_of(ledger, goodput);
  result.ledger = bytes_of(ledger, route.mtu);
  const Bytes headers = ip_layer(route.carriage.ip).overhead() + tcp_layer(Bytes(0)).overhead();
  const Bytes segment = route.mtu - headers;
  result.ledger->max_segment = std::min(segment, s.test.max_segment.value_or(segment)).count();
}

}  // namespace

void report_layers(const Subject& s, double goodput, experiments::TestResult& result) {
  if (s.test.pairs.empty()) return;
  // Of several sizes no one frame tells where the bytes go.
  if (s.test.imix || s.test.sizes) return;
  switch (s.test.type) {
    case TestType::raw_frames:
      return report_raw_frames(s, result);
    case TestType::udp_stream:
      return report_datagrams(s, goodput, result);
    case TestType::tcp_stream:
    case TestType::file_transfer:
      return report_segments(s, goodput, result);
    default:
      return;
  }
}

}  // namespace linerate::models
