// Building a Network from an experiment: nodes, wires, routes and the flows of the tests.
#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/definition/media.hpp"
#include "experiments/definition/shared_medium.hpp"
#include "models/network/network.hpp"

namespace linerate::models {

namespace {

using experiments::Experiment;
using experiments::NodeKind;
using experiments::Test;
using experiments::TestType;

// Longer than any run, and still far from the end of Time.
constexpr Time kForever = Time::seconds(1'000'000);

// What tells two flows apart, or two pairs of hosts, as the values by which links are chosen.
experiments::FlowKey flow_key(std::uint64_t seed, std::uint64_t test, std::uint64_t ordinal,
                              const Test::Pair& pair) {
  const auto hosts =
      static_cast<std::uint64_t>(pair.from_host) << 32 | static_cast<std::uint64_t>(pair.to_host);
  return {
      .flow =
          sim::RandomStream({.seed = seed, .entity = test << 32 | ordinal, .name = "path"}).bits(),
      .hosts = sim::RandomStream({.seed = seed, .entity = hosts, .name = "hosts"}).bits()};
}

DatagramSource::Pace pace_of(const Test& test, std::uint32_t payload, std::uint32_t wire_bytes,
                             BitRate line) {
  constexpr std::int64_t kSecond = 1'000'000'000'000;
  if (test.frame_rate)
    return {.numerator = static_cast<std::int64_t>(std::llround(1e12 / *test.frame_rate * 1024)),
            .divisor = 1024};
  if (test.rate && test.type == TestType::udp_stream)
    return {.numerator = std::int64_t{payload} * 8 * kSecond,
            .divisor = test.rate->bits_per_second()};
  const BitRate rate = test.rate.value_or(line);
  return {.numerator = std::int64_t{wire_bytes} * 8 * kSecond, .divisor = rate.bits_per_second()};
}

// What is in front of one end's transmitter, if its queue decides. An emulated path has its own.
const std::optional<experiments::EgressSpec>& egress_of(const Experiment& experiment,
                                                        const experiments::Link& link,
                                                        int from_end) {
  const experiments::PortRef& from = link.ends[from_end];
  if (link.egress || link.queue || from.kind == NodeKind::hub) return link.egress;
  return from.kind == NodeKind::switch_ ? experiment.switches[from.node].egress
                                        : experiment.hosts[from.node].nics[from.port].egress;
}

// How long a source of that pace sends until `volume` is spent: its last frame is due just before.
Time time_of_volume(DatagramSource::Pace pace, Bytes volume, Bytes size) {
  __extension__ using Wide = __int128;
  const std::int64_t frames =
      std::max<std::int64_t>(1, (volume.count() + size.count() - 1) / size.count());
  const Wide last = static_cast<Wide>(pace.numerator) * (frames - 1) / pace.divisor;
  return Time::picoseconds(static_cast<std::int64_t>(std::min<Wide>(last, kForever.picoseconds())) +
                           1);
}

// One clock interrupt drives the delayed-ACK grid and the clock that programs read.
LocalClock clock_of(const tcp::EndpointConfig& config) {
  return {config.stack.clock_tick, config.grid_phase};
}

}  // namespace

void Network::build_switches() {
  for (const experiments::Switch& s : experiment_.switches) {
    SwitchState state;
    state.latency = s.latency;
    state.cut_through = s.forwarding == experiments::SwitchForwarding::cut_through;
    state.fabric_rate = s.fabric_rate;
    if (s.fabric_frame_rate) state.fabric_per_frame = Time::from_seconds(1 / *s.fabric_frame_rate);
    if (s.buffer.total > Bytes(0)) {
      if (s.buffer.policy == experiments::BufferPolicy::shared)
        state.buffer =
            std::make_unique<SharedBuffer>(s.buffer.total, s.buffer.alpha, s.port_rates.size());
      else
        state.port_memory = s.buffer.total.count();
    }
    switches_.push_back(std::move(state));
  }
}

// Whether what one end of a link sends cannot be known when a frame is queued.
bool Network::decides_late(const experiments::Link& link, int from_end) const {
  if (link.ends[from_end].kind == NodeKind::hub) return false;  // its frames are the medium's
  if (experiments::is_shared(link) || egress_of(experiment_, link, from_end)) return true;
  const auto index = static_cast<int>(&link - experiment_.links.data());
  for (const experiments::LinkEvent& event : experiment_.events)
    if (event.link == index) return true;
  const experiments::PortRef& from = link.ends[from_end];
  if (from.kind == NodeKind::host && receive_dma_[nic_index(from.node, from.port)]) return true;
  return from.kind == NodeKind::switch_ ? experiment_.switches[from.node].pause.has_value()
                                        : experiment_.hosts[from.node].nics[from.port].pause;
}

// The port in front of wire `source`, if it decides late. What limits a queue on a plain wire
// limits it here as well.
void Network::build_port(const experiments::Link& link, int from_end, std::uint64_t source) {
  ports_.emplace_back();
  if (!decides_late(link, from_end)) return;
  const experiments::PortRef& from = link.ends[from_end];
  const sim::RandomStream random({.seed = config_.seed, .entity = source, .name = "queue"});
  experiments::EgressSpec spec =
      egress_of(experiment_, link, from_end).value_or(experiments::EgressSpec{});
  if (from.kind == NodeKind::host && spec == experiments::EgressSpec{} && !link.queue) {
    const experiments::Nic& nic = experiment_.hosts[from.node].nics[from.port];
    if (!nic.ideal) spec.queue.limit_frames = nic.transmit_queue + nic.transmit_ring;
  }
  auto port = std::make_unique<EgressPort>(static_cast<std::uint32_t>(source),
                                           EgressQueue(spec, link.rate, random));
  random_ = random_ || port->queue.random();
  if (from.kind == NodeKind::host && !experiments::is_shared(link)) add_dma(*port, from);
  port->plain = port->dma && !link.queue && !egress_of(experiment_, link, from_end);
  if (port->plain)
    port->queue.observe(Time::never(), Time::never());  // no queue anybody asked for
  else
    observe(port->queue);
  if (link.queue) {
    port->memory = link.queue->count();
  } else if (link.egress) {
    // The path holds what its discipline allows.
  } else if (from.kind == NodeKind::switch_) {
    SwitchState& s = switches_[from.node];
    port->buffer = s.buffer.get();
    port->buffer_port = static_cast<std::size_t>(from.port);
    port->memory = s.port_memory;
    port->heeds_pause = experiment_.switches[from.node].pause.has_value();
  } else {
    port->heeds_pause = experiment_.hosts[from.node].nics[from.port].pause;
  }
  ports_.back() = std::move(port);
}

// Waits are recorded while timed tests count what they read.
void Network::observe(EgressQueue& queue) const {
  Time from = Time::never(), to{};
  for (const Test* test : config_.tests) {
    if (test->background) continue;
    if (test->bytes || test->transactions || !test->writes.empty()) return;
    from = std::min(from, test->start + test->omit);
    to = std::max(to, test->start + test->duration);
  }
  if (from < to) queue.observe(from, to);
}

WireConfig Network::wire_config(const experiments::Link& link, int from_end) {
  WireConfig config;
  config.rate = link.rate;
  config.latency = link.propagation + link.delay;
  const experiments::PortRef& from = link.ends[from_end];
  const experiments::PortRef& to = link.ends[1 - from_end];
  // The socket's memory is the peer's as soon as a packet is handed over (Linux skb_orphan()).
  config.emulated = link.medium == experiments::kVirtualPair;
  if (decides_late(link, from_end)) {
    config.port = true;
    config.emulated = config.emulated || link.queue || link.egress;
  } else if (link.queue) {
    config.path_queue = link.queue->count();
  } else if (from.kind == NodeKind::hub) {
    // A hub has no queue.
  } else if (from.kind == NodeKind::switch_) {
    SwitchState& s = switches_[from.node];
    if (s.buffer) {
      config.buffer = s.buffer.get();
      config.buffer_port = from.port;
    } else {
      config.memory = s.port_memory;
    }
  } else {
    const experiments::Nic& nic = experiment_.hosts[from.node].nics[from.port];
    if (!nic.ideal) config.frame_limit = nic.transmit_queue + nic.transmit_ring;
  }
  config.announce_head = to.kind == NodeKind::switch_ && switches_[to.node].cut_through;
  return config;
}

Network::Junction Network::junction_at(const experiments::PortRef& port) const {
  Junction junction;
  junction.node = static_cast<std::uint32_t>(port.node);
  if (port.kind == NodeKind::switch_) {
    const SwitchState& s = switches_[port.node];
    const bool plain = !s.cut_through && !s.fabric_rate && s.fabric_per_frame == Time{} &&
                       experiment_.switches[port.node].vlans.empty();
    junction.kind = plain ? Junction::Kind::plain_switch : Junction::Kind::other_switch;
    junction.latency = s.latency;
  } else if (port.kind == NodeKind::hub) {
    junction.kind = Junction::Kind::hub;
  } else {
    junction.nic = nic_index(port.node, port.port);
    using Landing = Junction::Landing;
    const bool bus = receive_dma_[junction.nic] != nullptr;
    junction.landing =
        bus ? Landing::bus
        : nics_[junction.nic].moderated() || costly_[static_cast<std::size_t>(port.node)]
            ? Landing::gather
            : Landing::hand_up;
    junction.detour = bus || !routers_[port.node].cores.empty();
  }
  return junction;
}

void Network::build_wires() {
  wires_.reserve(experiment_.links.size() * 2);
  for (std::size_t i = 0; i < experiment_.links.size(); ++i) {
    const experiments::Link& link = experiment_.links[i];
    for (int end = 0; end < 2; ++end) {
      const auto source = static_cast<std::uint64_t>(wires_.size());
      wires_.emplace_back(
          wire_config(link, end),
          Impairment(
              link, end,
              sim::RandomStream({.seed = config_.seed, .entity = source, .name = "impairment"})));
      random_ = random_ || wires_.back().random();
      build_port(link, end, source);
      control_hops_.push_back(static_cast<std::uint32_t>(hops_.size()));
      hops_.insert(hops_.end(), {static_cast<std::uint32_t>(source), kArrived});
      junctions_.push_back(junction_at(link.ends[1 - end]));
    }
  }
  pause_frames_.resize(wires_.size());
  for (const experiments::Switch& s : experiment_.switches)
    if (s.pause) ingress_.resize(wires_.size());
  for (const experiments::LinkEvent& event : experiment_.events)
    random_ = random_ || (event.action == experiments::LinkAction::loss && event.loss > 0);
}

std::uint32_t Network::add_route(const Leg& leg) {
  const auto route = find_route(*config_.topology, leg);
  LINERATE_CHECK(route.has_value(), "the parser refused tests between unreachable hosts");
  legs_.push_back(leg);
  return *route;
}

// Lays a route through `topology`; none if there is no way.
std::optional<std::uint32_t> Network::find_route(const experiments::Topology& topology,
                                                 const Leg& leg) {
  const auto& [pair, ip, key] = leg;
  Test::Pair ends = pair;
  // A flow keeps to one NIC of a bond, by the policy of the bond's host; the switch in front of it
  // is taken to have the same.
  ends.from_nic = topology.bonded_nic(ends.from_host, ends.from_nic, key);
  ends.to_nic = topology.bonded_nic(ends.to_host, ends.to_nic, key);
  Route route;
  route.from_host = static_cast<std::uint32_t>(ends.from_host);
  route.to_host = static_cast<std::uint32_t>(ends.to_host);
  route.first_hop = static_cast<std::uint32_t>(hops_.size());
  const std::vector<experiments::Hop> path =
      topology.path(ends.from_host, ends.from_nic, ends.to_host, ends.to_nic, key);
  for (const experiments::Hop& hop : path)
    route.wires.push_back(static_cast<std::uint32_t>(hop.link * 2 + hop.from_end));
  if (config_.capture != nullptr)
    for (const experiments::Hop& hop : path) route.tags.push_back(hop.tag);
  if (path.empty()) return std::nullopt;
  hops_.insert(hops_.end(), route.wires.begin(), route.wires.end());
  hops_.push_back(kArrived);
  LINERATE_CHECK(junctions_[route.wires.back()].nic == nic_index(ends.to_host, ends.to_nic),
                 "a route ends at the NIC it was asked for");
  follow_encapsulation(route, path, ip);
  routes_.push_back(std::move(route));
  return static_cast<std::uint32_t>(routes_.size() - 1);
}

void Network::set_route(TcpEnd& end, std::uint32_t route) const {
  end.route = route;
  end.first_hop = routes_[route].first_hop;
  end.host = routes_[route].from_host;
}

// Whether packets are handed over within one machine.
bool Network::is_virtual_pair(const Route& route) const {
  return route.wires.size() == 1 &&
         experiment_.links[route.wires.front() / 2].medium == experiments::kVirtualPair;
}

// Whether its host hands frames over to it within the call that sends them: nothing of a sender's
// is ever below its socket, not even between the pieces of one write.
bool Network::takes_at_once(const Route& route) const {
  return wires_[route.wires.front()].emulated_path() || is_virtual_pair(route);
}

// Whether only switches and hubs lie on the way: no host routes.
bool Network::stays_local(const Route& route) const {
  return std::all_of(route.wires.begin(), route.wires.end() - 1, [&](std::uint32_t wire) {
    return junctions_[wire].kind != Junction::Kind::host;
  });
}

// The largest packet a host sends over `route`, as far as it knows of links that carry less.
Bytes Network::known_mtu(const experiments::Stack& stack, const Route& route) const {
  constexpr Bytes kBeyondRouters{576};  // RFC 1122 3.3.3
  using experiments::PathMtuDiscovery;
  switch (stack.path_mtu_discovery) {
    case PathMtuDiscovery::on:
      return std::min(route.mtu, route.narrowest);
    case PathMtuDiscovery::off:
      return stays_local(route) ? route.mtu : std::min(route.mtu, kBeyondRouters);
    case PathMtuDiscovery::blackhole:
      break;
  }
  return route.mtu;
}

// The largest packet with part of a datagram. Without discovery routers make the fragments, which
// comes to the same.
Bytes Network::datagram_mtu(int host, const Route& route) const {
  const bool unaware =
      experiment_.hosts[host].stack.path_mtu_discovery == experiments::PathMtuDiscovery::blackhole;
  return unaware ? route.mtu : std::min(route.mtu, route.narrowest);
}

tcp::EndpointConfig Network::endpoint_config(const Test& test, int host) const {
  const experiments::Host& h = experiment_.hosts[host];
  tcp::EndpointConfig config;
  config.stack = h.stack;
  config.ip = test.ip;
  config.send_buffer = test.send_buffer;
  config.receive_buffer = test.receive_buffer;
  config.max_segment = test.max_segment;
  config.no_delay = test.no_delay;
  config.pacing = test.pacing;
  config.congestion = test.congestion;
  // The grid all of a host's connections share runs since its boot: its phase is chance.
  sim::RandomStream phase(
      {.seed = config_.seed, .entity = static_cast<std::uint64_t>(host), .name = "grid"});
  config.grid_phase = h.stack.delayed_ack_grid.scaled(phase.uniform01());
  return config;
}

void Network::build_tcp(std::uint32_t test_index, const FlowPlan& plan) {
  const Test& test = *config_.tests[test_index];
  const Test::Pair& pair = plan.pair;
  const auto client = static_cast<std::uint32_t>(ends_.size());
  const experiments::FlowKey key = flow_key(experiment_.seed, test_index, plan.ordinal, pair);
  const Test::Pair turned{pair.to_host, pair.to_nic, pair.from_host, pair.from_nic};
  const std::uint32_t out = add_route({pair, test.ip, key});
  const std::uint32_t back = add_route({turned, test.ip, key});
  tcp::EndpointConfig client_config = endpoint_config(test, pair.from_host);
  tcp::EndpointConfig server_config = endpoint_config(test, pair.to_host);
  client_config.local = server_config.local = stays_local(routes_[out]);
  client_config.same_memory = server_config.same_memory = is_virtual_pair(routes_[out]);
  client_config.mtu = server_config.mtu = std::min(routes_[out].mtu, routes_[back].mtu);
  client_config.path_mtu = known_mtu(client_config.stack, routes_[out]);
  server_config.path_mtu = known_mtu(server_config.stack, routes_[back]);
  if (takes_at_once(routes_[out])) client_config.stack.small_queue_limit = Bytes(0);
  if (takes_at_once(routes_[back])) server_config.stack.small_queue_limit = Bytes(0);
  for (tcp::EndpointConfig* config : {&client_config, &server_config}) {
    const bool first = config == &client_config;
    sim::RandomStream chance(
        {.seed = config_.seed, .entity = client + (first ? 0u : 1u), .name = "congestion"});
    config->seed = chance.bits();
    // BBR flows begin their cycles anywhere.
    random_ = random_ || test.congestion.value_or(config->stack.congestion) == "bbr";
  }
  ends_.emplace_back(client_config, tcp_framing(routes_[out].carriage),
                     application_of(test_index, plan, true, clock_of(client_config)));
  set_route(ends_.back(), out);
  ends_.emplace_back(server_config, tcp_framing(routes_[back].carriage),
                     application_of(test_index, plan, false, clock_of(server_config)));
  set_route(ends_.back(), back);
  ends_.back().endpoint.listen();
  for (const std::uint32_t end : {client, client + 1})
    ends_[end].priority = static_cast<std::uint8_t>(test.priority);

  for (const int host : {pair.from_host, pair.to_host}) {
    const experiments::Stack& stack = experiment_.hosts[host].stack;
    random_ = random_ || stack.clock_tick > Time{} ||
              stack.delayed_ack_clock == experiments::DelayedAckClock::shared_grid;
  }
  tcp_flows_.push_back({.test = test_index,
                        .client = client,
                        .server = client + 1,
                        .data_from_client = !plan.reverse,
                        .start = plan.start,
                        .finished = false});
  if (!test.background) ++unfinished_;
}

void Network::build_datagrams(std::uint32_t test_index, const FlowPlan& plan) {
  const Test& test = *config_.tests[test_index];
  const Test::Pair& pair = plan.pair;
  const experiments::FlowKey key = flow_key(experiment_.seed, test_index, plan.ordinal, pair);
  const std::uint32_t route = add_route({pair, test.ip, key});
  const bool raw = test.type == TestType::raw_frames;
  const Bytes size = !raw                       ? test.datagram
                     : test.frame_sizes.empty() ? Bytes(64)  // drawn anew for every frame
                                                : test.frame_sizes.front();
  const Framing framing = raw ? raw_framing() : packet_framing(routes_[route].carriage);
  experiments::Fragments packets{.full = size, .last = size, .header = Bytes(0)};
  const Bytes mtu = datagram_mtu(pair.from_host, routes_[route]);
  if (!raw) packets = experiments::fragments(test.ip, size + udp_layer().overhead(), mtu);
  const auto wire_size = [&](Bytes packet) {
    return static_cast<std::uint32_t>(framing.wire_size(packet).count());
  };
  const auto payload = static_cast<std::uint32_t>(size.count());
  const auto wire_bytes = static_cast<std::uint32_t>(wire_size(packets.full) * (packets.count - 1) +
                                                     wire_size(packets.last));
  const BitRate line = wires_[routes_[route].wires.front()].rate();
  const DatagramSource::Pace pace = pace_of(test, payload, wire_bytes, line);
  const Time length = test.bytes ? time_of_volume(pace, *test.bytes, size) : test.duration;
  DatagramFlow flow(
      DatagramSource(pace, length),
      DatagramSink(test.omit, test.bytes ? kForever : test.duration, latencies_[test_index]));
  flow.test = test_index;
  flow.route = route;
  flow.first_hop = routes_[route].first_hop;
  flow.from_host = routes_[route].from_host;
  flow.to_host = routes_[route].to_host;
  flow.payload = payload;
  flow.wire_bytes = wire_bytes;
  // A raw frame comes with its Ethernet header and FCS.
  const Bytes outside = framing.outside_mtu() + (raw ? ethernet_layer().overhead() : Bytes(0));
  flow.outside_mtu = static_cast<std::uint8_t>(outside.count());
  flow.mtu = mtu;
  flow.fragments = packets;
  flow.full_wire_bytes = wire_size(packets.full);
  flow.last_wire_bytes = wire_size(packets.last);
  flow.start = plan.start;
  flow.pattern = pattern_of(test_index, plan, line,
                            raw ? raw_framing() : udp_framing(routes_[route].carriage));
  // Sizes that are drawn fit a packet each.
  if (flow.pattern && !raw) flow.fragments = experiments::fragments(test.ip, Bytes(0), mtu);
  flow.priority = static_cast<std::uint8_t>(test.priority);
  flow.raw = raw;
  flow.kind = raw                        ? PacketKind::raw
              : flow.fragments.count > 1 ? PacketKind::fragment
                                         : PacketKind::datagram;
  datagram_flows_.push_back(std::move(flow));
  if (!test.background) ++unfinished_;
}

void Network::build_tests() {
  latencies_.resize(config_.tests.size());
  barriers_.resize(config_.tests.size());
  for (std::uint32_t index = 0; index < config_.tests.size(); ++index) {
    const Test& test = *config_.tests[index];
    FlowRange range;
    range.first_tcp = static_cast<std::uint32_t>(tcp_flows_.size());
    range.first_datagram = static_cast<std::uint32_t>(datagram_flows_.size());
    build_flows(index);
    range.end_tcp = static_cast<std::uint32_t>(tcp_flows_.size());
    range.end_datagram = static_cast<std::uint32_t>(datagram_flows_.size());
    flows_of_test_.push_back(range);
    first_reader_.push_back(Time::never());
    // About a hundred samples of a timed test, one a tenth of a second of one by volume; ten times
    // as many where the time of recovery is read from them.
    const std::int64_t finer = experiment_.events.empty() ? 1 : 10;
    constexpr std::int64_t kSamples = 100;
    sample_period_.push_back(
        test.bytes && !test.arrivals
            ? Time::milliseconds(100) / finer
            : std::max(test.duration / (kSamples * finer), Time::microseconds(10)));
  }
  samples_.resize(config_.tests.size());
}

Network::Network(const NetworkConfig& config) : config_(config), experiment_(*config.experiment) {
  build_switches();
  for (const experiments::Host& host : experiment_.hosts) {
    stations_.emplace_back();
    first_nic_.push_back(static_cast<std::uint32_t>(nics_.size()));
    for (const experiments::Nic& nic : host.nics) nics_.emplace_back(nic);
  }
  find_costly_hosts();
  build_hosts();
  spread_receive_queues();
  build_wires();
  build_media();
  build_tests();
  plan_reroutes();
  build_cores();
  end_base_ = static_cast<std::uint32_t>(wires_.size());
  datagram_base_ = end_base_ + static_cast<std::uint32_t>(ends_.size());
  nic_base_ = datagram_base_ + static_cast<std::uint32_t>(datagram_flows_.size());
  host_core_base_ = nic_base_ + static_cast<std::uint32_t>(nics_.size());
  test_base_ = host_core_base_ + static_cast<std::uint32_t>(cores_.size());
  core_base_ = test_base_ + static_cast<std::uint32_t>(config.tests.size());
  engine_.emplace(core_base_ + static_cast<std::uint32_t>(core_hosts_.size()));
  if (config.capture != nullptr) {
    capture_ =
        std::make_unique<Capture>(*config.capture, experiment_, config.tests, config.job, *this);
    for (const std::uint32_t wire : capture_->wires()) wires_[wire].set_tap(capture_.get(), wire);
  }
}

Network::~Network() = default;

}  // namespace linerate::models
