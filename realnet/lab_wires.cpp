#include "realnet/lab_wires.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "realnet/lab_plan.hpp"
#include "realnet/lab_vlans.hpp"

namespace linerate::realnet {
namespace {

using experiments::Experiment;
using experiments::Link;
using experiments::NodeKind;
using experiments::PortRef;

/// The queue in front of what `end` sends, if it decides.
const std::optional<experiments::EgressSpec>& egress_of(const Experiment& experiment,
                                                        const Link& link, int end) {
  const PortRef& port = link.ends[end];
  if (link.egress || port.kind == NodeKind::hub) return link.egress;
  return port.kind == NodeKind::switch_ ? experiment.switches[port.node].egress
                                        : experiment.hosts[port.node].nics[port.port].egress;
}

/// What happens to a link, as the states that one of its directions takes in turn from `line` on.
std::vector<std::pair<Time, LineState>> changes_of(const Experiment& experiment, int link,
                                                   const LineConfig& line) {
  struct Edge {
    Time at;
    const experiments::LinkEvent* event;
    bool ends;
  };
  std::vector<Edge> edges;
  for (const auto& event : experiment.events) {
    if (event.link != link) continue;
    edges.push_back({event.at, &event, false});
    if (event.lasts) edges.push_back({event.at + *event.lasts, &event, true});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::vector<std::pair<Time, LineState>> changes;
  LineState state = line;
  for (const auto& [at, event, ends] : edges) {
    switch (event->action) {
      case experiments::LinkAction::down:
        state.down = !ends;
        break;
      case experiments::LinkAction::up:
        state.down = false;
        break;
      case experiments::LinkAction::loss:
        state.loss = ends ? line.loss : event->loss;
        break;
      case experiments::LinkAction::rate:
        state.rate = ends ? line.rate : event->rate;
        break;
      case experiments::LinkAction::delay:
        state.latency = ends ? line.latency : experiment.links[link].propagation + event->delay;
        break;
    }
    changes.emplace_back(at, state);
  }
  return changes;
}

bool has_events(const Experiment& experiment, const Link& link) {
  const auto index = &link - experiment.links.data();
  return std::any_of(experiment.events.begin(), experiment.events.end(),
                     [&](const auto& event) { return event.link == index; });
}

}  // namespace

std::optional<experiments::QueueSpec> discipline_of(const Experiment& experiment, const Link& link,
                                                    int end) {
  const auto& egress = egress_of(experiment, link, end);
  if (!egress || egress->scheduler != experiments::Scheduler::none || !egress->classes.empty() ||
      !QueueRule::can_follow(egress->queue))
    return std::nullopt;
  return egress->queue;
}

bool can_follow_script(const Experiment& experiment, const Link& link) {
  return !has_events(experiment, link) && !discipline_of(experiment, link, 0) &&
         !discipline_of(experiment, link, 1);
}

bool needs_wire(const Experiment& experiment, const Link& link) {
  return has_events(experiment, link) || discipline_of(experiment, link, 0) ||
         discipline_of(experiment, link, 1) || link.queue || link.delay > Time{} ||
         link.jitter > Time{} || link.loss[0] > 0 || link.loss[1] > 0 || link.bit_error_rate > 0 ||
         link.mtu || !link.blackholes.empty() || link.scripted() || link.propagation > kNoticeable;
}

WirePlan wire_for(const Experiment& experiment, int index, Bytes largest_mtu) {
  const Link& link = experiment.links[index];
  WirePlan plan;
  plan.largest = largest_mtu + kEthernetHeader;
  for (int end = 0; end < 2; ++end) {
    LineConfig& line = plan.lines[end];
    line.rate = link.rate;
    line.latency = link.propagation + link.delay;
    line.jitter = link.jitter;
    line.loss = link.loss[end];
    line.bit_error_rate = link.bit_error_rate;
    line.queue = link.queue;
    line.discipline = discipline_of(experiment, link, end);
    line.path = link.queue || link.egress;
    line.largest = link.mtu;
    line.tag = tag_of(experiment, link);
    line.blackholes = link.blackholes;
    if (can_follow_script(experiment, link)) line.script = link.script[end];
    line.changes = changes_of(experiment, index, line);
    line.seed = experiment.seed;
    line.entity = static_cast<std::uint64_t>(2 * index + end);
  }
  return plan;
}

}  // namespace linerate::realnet
