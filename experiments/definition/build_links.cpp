// Links: ends, media and rates, and the impairments of each direction.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "experiments/definition/build.hpp"
#include "experiments/definition/media.hpp"
#include "experiments/definition/nearest.hpp"
#include "experiments/definition/pattern.hpp"
#include "experiments/definition/shared_medium.hpp"

namespace linerate::experiments {

namespace {

std::string rate_text(BitRate rate) { return format_value({.kind = Kind::rate}, to_value(rate)); }

// IEEE 802.3 clause 35: CSMA/CD ends here.
constexpr BitRate kFastestShared = BitRate::bits_per_second(1'000'000'000);

class LinkBuilder {
 public:
  explicit LinkBuilder(BuildContext& context) : context_(context) {
    for (const auto& [name, index] : context.hosts) nodes_.push_back(name);
    for (const auto& [name, index] : context.switches) nodes_.push_back(name);
    for (const auto& [name, index] : context.hubs) nodes_.push_back(name);
  }

  void build(LinkSpec& spec) {
    path_ = spec.name.empty() ? fmt::format("links[{}]", context_.experiment.links.size())
                              : "links." + spec.name;
    spec_ = &spec;
    Link link;
    link.name = spec.name;
    link.length_m = spec.length_m;
    link.delay = spec.delay;
    link.jitter = spec.jitter;
    link.jitter_reorders = spec.jitter_reorders;
    if (spec.jitter_reorders && spec.jitter == Time{})
      context_.error(path_ + ".jitter_reorders", "without jitter no frame overtakes another",
                     "add `jitter: 1ms`");
    if (spec.jitter_reorders && !spec.reorder.empty())
      context_.error(path_ + ".jitter_reorders", "`reorder` says exactly which frame is late",
                     "remove one of the two");
    link.bit_error_rate = spec.bit_error_rate;
    link.mtu = spec.mtu;
    if (spec.queue && spec.queue->only_limit()) {
      link.queue = spec.queue->limit;
    } else if (spec.queue) {
      build_queue(context_, path_ + ".queue", *spec.queue);
      link.egress = EgressSpec{*spec.queue, Scheduler::none, {}};
    }
    link.cost_eur = spec.cost_eur;
    if (!spec.name.empty() && !names_.insert(spec.name).second) {
      context_.error(path_ + ".name", fmt::format("two links are called `{}`", spec.name),
                     "rename one of them");
    }
    if (!context_.read.diagnostics.touched(path_)) {
      const bool ends_known = ends(link);
      if (rate(link) && ends_known) {
        if (link.medium == kVirtualPair) check_machine(link);
        for (const PortRef& end : link.ends) check_port(end, link);
        duplex(link);
        impairments(link);
        if (is_shared(link)) check_shared(link);
      }
    }
    context_.experiment.links.push_back(std::move(link));
  }

 private:
  void error(const std::string& key, std::string message, std::string remedy = {}) {
    context_.error(path_ + "." + key, std::move(message), std::move(remedy));
  }

  bool ends(Link& link) {
    if (spec_->endpoints.size() != 2) {
      error("endpoints", fmt::format("a link has two ends, not {}", spec_->endpoints.size()),
            "write [\"a:eth0\", \"s1:1\"]");
      return false;
    }
    bool good = true;
    for (int end = 0; end < 2; ++end) good = resolve_end(link, end) && good;
    return good;
  }

  bool resolve_end(Link& link, int end) {
    const std::string key = fmt::format("endpoints[{}]", end);
    std::string& text = spec_->endpoints[static_cast<std::size_t>(end)];
    const std::size_t colon = text.find(':');
    const std::string node = text.substr(0, colon);
    const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
    PortRef& ref = link.ends[end];
    if (const auto host = context_.hosts.find(node); host != context_.hosts.end()) {
      ref = {NodeKind::host, host->second, 0};
      if (!resolve_nic(key, text, port, ref)) return false;
    } else if (const auto found = context_.switches.find(node); found != context_.switches.end()) {
      ref = {NodeKind::switch_, found->second, 0};
      const auto& ports =
          context_.experiment.switches[static_cast<std::size_t>(found->second)].port_rates;
      if (!resolve_port(key, "switch", node, port, static_cast<int>(ports.size()), ref))
        return false;
    } else if (const auto hub = context_.hubs.find(node); hub != context_.hubs.end()) {
      ref = {NodeKind::hub, hub->second, 0};
      const int ports = context_.experiment.hubs[static_cast<std::size_t>(hub->second)].ports;
      if (!resolve_port(key, "hub", node, port, ports, ref)) return false;
    } else {
      error(key, fmt::format("there is no host, switch or hub `{}`", node), suggest(node, nodes_));
      return false;
    }
    const auto [use, added] = used_.try_emplace({ref.kind, ref.node, ref.port}, spec_->name);
    if (added) return true;
    error(key, fmt::format("`{}` is used by link `{}` already", text, use->second),
          "a port has one cable: choose another");
    return false;
  }

  bool resolve_nic(const std::string& key, std::string& text, const std::string& nic,
                   PortRef& ref) {
    const Host& host = context_.experiment.hosts[static_cast<std::size_t>(ref.node)];
    if (nic.empty() && host.nics.size() == 1) {
      text = host.name + ":" + host.nics[0].name;
      return true;
    }
    ref.port = find_nic(host, nic);
    if (ref.port >= 0) return true;
    error(key,
          nic.empty() ? fmt::format("`{}` has {} NICs", host.name, host.nics.size())
                      : fmt::format("`{}` has no NIC `{}`", host.name, nic),
          fmt::format("its NICs: {}", nic_list(host)));
    return false;
  }

  bool resolve_port(const std::string& key, const char* kind, const std::string& node,
                    const std::string& port, int ports, PortRef& ref) {
    if (ports == 0) return false;  // the node is wrong already, and says so
    int number = 0;
    const auto parsed = std::from_chars(port.data(), port.data() + port.size(), number);
    const bool good = parsed.ec == std::errc{} && parsed.ptr == port.data() + port.size();
    if (!good || number < 1 || number > ports) {
      error(key,
            port.empty() ? fmt::format("the port of {} `{}` is missing", kind, node)
                         : fmt::format("{} `{}` has no port `{}`", kind, node, port),
            fmt::format("write {}:1 to {}:{}", node, node, ports));
      return false;
    }
    ref.port = number - 1;
    return true;
  }

  /// Virtual interfaces join hosts of one machine and have no line that could do anything.
  void virtual_pair(Link& link) {
    link.medium = kVirtualPair;
    link.rate = kVirtualPairRate;
    for (const auto& [key, given] :
         {std::pair{"rate", spec_->rate.has_value()}, std::pair{"delay", spec_->delay > Time{}},
          std::pair{"jitter", spec_->jitter > Time{}}, std::pair{"queue", spec_->queue.has_value()},
          std::pair{"length", spec_->length_m > 0}}) {
      if (given)
        error(key, fmt::format("{} has no line", kVirtualPair),
              "remove it, or write a rate instead of the medium");
    }
  }

  void check_machine(const Link& link) {
    const auto machine = [&](const PortRef& end) {
      return end.kind == NodeKind::host
                 ? context_.experiment.hosts[static_cast<std::size_t>(end.node)].machine
                 : std::string();
    };
    if (machine(link.ends[0]).empty() || machine(link.ends[0]) != machine(link.ends[1]))
      error("medium", fmt::format("{} joins two hosts of one machine", kVirtualPair),
            "name the same `machine` in both hosts, or write a medium with a line");
  }

  bool rate(Link& link) {
    if (spec_->medium && *spec_->medium == kVirtualPair) {
      virtual_pair(link);
    } else if (spec_->medium) {
      const Medium* medium = find_medium(*spec_->medium);
      if (!medium) {
        error("medium", fmt::format("`{}` is no Ethernet medium known here", *spec_->medium),
              suggest(*spec_->medium, medium_names()));
        return false;
      }
      if (spec_->rate && *spec_->rate != medium->rate) {
        error("rate",
              fmt::format("{} carries {}, not {}", medium->name, rate_text(medium->rate),
                          rate_text(*spec_->rate)),
              "give a medium or a rate");
        return false;
      }
      link.medium = medium->name;
      link.rate = medium->rate;
      link.propagation = propagation_delay(*medium, link.length_m);
    } else if (spec_->rate) {
      link.rate = *spec_->rate;
      if (link.length_m > 0) {
        error("length", "a length needs a medium to run through",
              "add `medium`, or write the time as `delay`");
      }
    } else {
      context_.error(path_, "neither a medium nor a rate", "add `medium: 1000BASE-T`");
      return false;
    }
    return true;
  }

  /// A medium decides the speed of its ports, so both must be able to go it.
  void check_port(const PortRef& end, const Link& link) {
    const auto node = static_cast<std::size_t>(end.node), port = static_cast<std::size_t>(end.port);
    const std::string speed =
        link.medium.empty() ? rate_text(link.rate) : link.medium + ", " + rate_text(link.rate);
    const char* key = link.medium.empty() ? "rate" : "medium";
    if (end.kind == NodeKind::hub) {
      const Hub& hub = context_.experiment.hubs[node];
      if (hub.rate == BitRate{} || hub.rate == link.rate) return;
      error(
          key,
          fmt::format("hub {} repeats at {}, the link is {}", hub.name, rate_text(hub.rate), speed),
          "a hub has one speed: choose another medium or hub");
      return;
    }
    if (end.kind == NodeKind::switch_) {
      const Switch& device = context_.experiment.switches[node];
      if (device.port_rates[port] == BitRate{} || device.port_rates[port] >= link.rate) return;
      error(key,
            fmt::format("port {}:{} goes up to {}, the link is {}", device.name, port + 1,
                        rate_text(device.port_rates[port]), speed),
            "choose a slower medium or a faster port");
      return;
    }
    const Host& host = context_.experiment.hosts[node];
    const Nic& nic = host.nics[port];
    if (nic.rates.empty() || std::count(nic.rates.begin(), nic.rates.end(), link.rate) > 0) return;
    std::string can;
    for (const BitRate rate : nic.rates) can += (can.empty() ? "" : ", ") + rate_text(rate);
    error(key, fmt::format("NIC {}:{} can do {}, the link is {}", host.name, nic.name, can, speed),
          "choose another medium or NIC");
  }

  /// How the ends come to run. Without autonegotiation each is as it says, a hub half duplex. With
  /// it at both ends they agree on what both can; with it at one, that end finds the other's speed
  /// by parallel detection, which says nothing about duplex, and takes half (IEEE 802.3 28.2.3.1).
  void duplex(Link& link) {
    const Medium* medium = find_medium(link.medium);
    bool hub[2];
    for (int end = 0; end < 2; ++end) hub[end] = link.ends[end].kind == NodeKind::hub;
    const bool half = hub[0] || hub[1] || (medium && !medium->full_duplex);
    for (int end = 0; end < 2; ++end)
      link.duplex[end] = spec_->duplex.given() ? spec_->duplex.at(end)
                         : half                ? Duplex::half
                                               : Duplex::full;
    if (spec_->autonegotiation.given()) negotiate(link, hub);
    for (int end = 0; end < 2; ++end) {
      if (hub[end] && link.duplex[end] == Duplex::full)
        return error("duplex", "a hub is half duplex", "write half, or [full, half] for the other");
      if (medium && link.duplex[end] == Duplex::half && !medium->half_duplex)
        return error("duplex", fmt::format("{} has no half duplex", medium->name), "write full");
      if (medium && link.duplex[end] == Duplex::full && !medium->full_duplex)
        return error("medium", fmt::format("{} is half duplex only", medium->name),
                     "remove `duplex`, or write half");
      if (link.duplex[end] == Duplex::half && link.rate > kFastestShared)
        return error("duplex", "no medium is half duplex above 1 Gbit/s (IEEE 802.3 clause 35)",
                     "write full");
    }
  }

  void negotiate(Link& link, const bool (&hub)[2]) {
    const Medium* medium = find_medium(link.medium);
    bool on[2];
    for (int end = 0; end < 2; ++end)
      on[end] = spec_->autonegotiation.at(end) == Autonegotiation::on && !hub[end];
    if (medium && !medium->name.ends_with("-T") && !medium->name.ends_with("-TX") &&
        !medium->name.ends_with("-T2") && !medium->name.ends_with("-T4"))
      return error("autonegotiation",
                   fmt::format("{} is outside IEEE 802.3 clause 28", medium->name), "remove it");
    // Clause 40.5.1: it also decides which end is the master of the clock.
    if (link.rate >= kFastestShared && !(on[0] && on[1]))
      return error("autonegotiation",
                   fmt::format("{} does not come up without it", rate_text(link.rate)),
                   "write on, or a slower medium");
    if (on[0] && on[1]) {
      if (link.duplex[0] != link.duplex[1]) link.duplex[0] = link.duplex[1] = Duplex::half;
    } else {
      for (int end = 0; end < 2; ++end)
        if (on[end]) link.duplex[end] = Duplex::half;
    }
  }

  /// A shared medium has stations, not a path with a queue, and both directions at once.
  void check_shared(const Link& link) {
    const char* remedy = "remove it, or write duplex: full and no hub";
    if (link.queue || link.egress) error("queue", "a shared medium is no emulated path", remedy);
    if (link.jitter > Time{}) error("jitter", "the delay of a shared medium is fixed", remedy);
    for (const Script& script : link.script)
      if (script.reorder_segment)
        error("reorder", "frames do not overtake each other on a shared medium", remedy);
    for (const PortRef& end : link.ends) {
      const auto node = static_cast<std::size_t>(end.node);
      const bool pauses =
          end.kind == NodeKind::switch_ ? context_.experiment.switches[node].pause.has_value()
          : end.kind == NodeKind::host
              ? context_.experiment.hosts[node].nics[static_cast<std::size_t>(end.port)].pause
              : false;
      if (pauses)
        error("duplex", "PAUSE frames need full duplex (IEEE 802.3 annex 31B)",
              "remove `pause`, or write duplex: full");
    }
  }

  void impairments(Link& link) {
    for (double& loss : link.loss) loss = spec_->loss.both;
    each_direction("loss", spec_->loss.directions, [&](int end, const Loss::Direction& loss) {
      link.loss[end] = loss.probability;
    });
    each_direction("drops", spec_->drops, [&](int end, const Drops& drops) {
      std::vector<std::int64_t> sorted = drops.data_segments;
      std::sort(sorted.begin(), sorted.end());
      if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        error("drops", "a segment is listed twice", "its first transmission is lost once");
      }
      link.script[end].drop_data_segments = std::move(sorted);
      if (drops.burst) {
        link.script[end].burst_every = drops.burst->every;
        link.script[end].burst_frames = drops.burst->frames;
      } else if (drops.data_segments.empty()) {
        error("drops", "a record that drops nothing", "add `data_segments` or `burst`");
      }
    });
    each_direction("reorder", spec_->reorder, [&](int end, const Reordering& reorder) {
      link.script[end].reorder_segment = reorder.segment;
      link.script[end].reorder_positions = reorder.positions;
    });
    for (std::size_t i = 0; i < spec_->blackholes.size(); ++i) {
      const Blackhole& hole = spec_->blackholes[i];
      if (hole.from >= hole.to) {
        error(fmt::format("blackholes[{}]", i), "ends before it begins", "let from be before to");
      }
      link.blackholes.emplace_back(hole.from, hole.to);
    }
  }

  template <class T, class Apply>
  void each_direction(const char* key, const std::vector<T>& records, Apply&& apply) {
    bool seen[2] = {false, false};
    for (std::size_t i = 0; i < records.size(); ++i) {
      const int end = end_called(records[i].from);
      const std::string place = fmt::format("{}[{}].from", key, i);
      if (end < 0) {
        const auto& ends = spec_->endpoints;
        error(place, fmt::format("`{}` is not one end of this link", records[i].from),
              fmt::format("write {} or {}", endpoint_node(ends[0]), endpoint_node(ends[1])));
      } else if (seen[end]) {
        error(place, fmt::format("a second record from `{}`", records[i].from),
              "one record a direction");
      } else {
        seen[end] = true;
        apply(end, records[i]);
      }
    }
  }

  /// The end that is `name`, "a" or "a:eth0"; -1 if none or both are.
  int end_called(const std::string& name) const {
    int found = -1;
    for (int end = 0; end < 2; ++end) {
      const std::string& text = spec_->endpoints[static_cast<std::size_t>(end)];
      if (text != name && endpoint_node(text) != name) continue;
      if (found >= 0) return -1;
      found = end;
    }
    return found;
  }

  BuildContext& context_;
  std::vector<std::string> nodes_;
  std::map<std::tuple<NodeKind, int, int>, std::string> used_;
  std::set<std::string> names_;
  LinkSpec* spec_ = nullptr;
  std::string path_;
};

}  // namespace

void build_links(BuildContext& context) {
  LinkBuilder builder(context);
  for (LinkSpec& spec : context.spec.links) builder.build(spec);
}

}  // namespace linerate::experiments
