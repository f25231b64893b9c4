// What the ports have done, by name.
#include <algorithm>
#include <numeric>

#include "models/report/report.hpp"

namespace linerate::models {

namespace {

// The wires whose ports a test lists: all of a test that ran alone; else those of the links on its
// ways, because each of a thousand tests of one group would list the same thousands of ports.
std::vector<std::uint32_t> listed_wires(const Subject& s) {
  std::vector<std::uint32_t> wires;
  if (s.network.tests() == 1) {
    wires.resize(s.experiment.links.size() * 2);
    std::iota(wires.begin(), wires.end(), 0u);
    return wires;
  }
  const auto add = [&](const auto& flow) {
    for (const Network::Passage& passage : s.network.passages(flow))
      for (const std::uint32_t wire : s.network.route(passage.route).wires)
        wires.insert(wires.end(), {wire, wire ^ 1u});
  };
  for (const TcpFlow& flow : s.network.tcp_flows()) {
    if (flow.test != s.index) continue;
    add(s.network.end(flow.client));
    add(s.network.end(flow.server));
  }
  for (const DatagramFlow& flow : s.network.datagram_flows())
    if (flow.test == s.index) add(flow);
  std::sort(wires.begin(), wires.end());
  wires.erase(std::unique(wires.begin(), wires.end()), wires.end());
  return wires;
}

experiments::PortCounters counters_of(const Subject& s, std::uint32_t index) {
  const Wire& wire = s.network.wires()[index];
  experiments::PortCounters counters;
  counters.frames_sent = wire.frames_sent();
  counters.wire_bytes_sent = wire.wire_bytes_sent();
  counters.peak_queue = wire.peak_queue();
  for (std::size_t cause = 1; cause < kDropCauses; ++cause) {
    const auto drop = static_cast<Drop>(cause);
    if (wire.drops(drop) > 0) counters.drops[name_of(drop)] = wire.drops(drop);
  }
  const EgressPort* port = s.network.port(index);
  if (port != nullptr && !port->plain) add_queue_use(port->queue, counters);
  if (port != nullptr && port->dma && port->dma->underruns() > 0)
    counters.figures["underruns"] = static_cast<double>(port->dma->underruns());
  if (const MacCounters* mac = s.network.mac(index)) {
    counters.figures["deferred"] = static_cast<double>(mac->deferred);
    counters.figures["collisions"] = static_cast<double>(mac->collisions);
    counters.figures["late_collisions"] = static_cast<double>(mac->late_collisions);
    counters.figures["excessive_collisions"] = static_cast<double>(mac->excessive_collisions);
  }
  return counters;
}

void add_receive_drops(const Network& network, std::uint32_t nic,
                       experiments::PortCounters& counters) {
  const ReceiveDma* dma = network.receive_dma(nic);
  std::int64_t unread = 0;
  for (const DatagramFlow& flow : network.datagram_flows())
    if (flow.programs.to_nic == nic) unread += flow.programs.lost;
  const std::pair<const char*, std::int64_t> losses[] = {
      {"receive-ring", network.receive_drops(nic)},
      {"receive-fifo", dma == nullptr ? 0 : dma->drops()},
      {"forwarding-backlog", network.backlog_drops(nic)},
      {"socket-buffer", unread}};
  for (const auto& [cause, lost] : losses)
    if (lost > 0) counters.drops[cause] = lost;
}

}  // namespace

std::map<std::string, experiments::PortCounters> ports_of(const Subject& s) {
  std::map<std::string, experiments::PortCounters> ports;
  for (const std::uint32_t wire : listed_wires(s)) {
    const experiments::PortRef& from = s.experiment.links[wire / 2].ends[wire % 2];
    experiments::PortCounters counters = counters_of(s, wire);
    if (from.kind == experiments::NodeKind::host)
      add_receive_drops(s.network, s.network.nic_index(from.node, from.port), counters);
    ports.emplace(experiments::port_name(s.experiment, from), std::move(counters));
  }
  return ports;
}

}  // namespace linerate::models
