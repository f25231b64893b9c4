// Hubs: repeaters and coaxial segments, and what must hold of a shared medium as a whole.
#include <fmt/format.h>

#include <numeric>

#include "experiments/definition/build.hpp"
#include "experiments/definition/media.hpp"
#include "experiments/definition/shared_medium.hpp"

namespace linerate::experiments {

namespace {

// IEEE 802.3 13.3: in one collision domain.
constexpr std::size_t kMostStations = 1024;
constexpr BitRate kFastestRepeater = BitRate::bits_per_second(1'000'000'000);
constexpr BitRate kRateWithClasses = BitRate::bits_per_second(100'000'000);

class HubBuilder {
 public:
  HubBuilder(BuildContext& context, HubSpec& spec)
      : context_(context), spec_(spec), path_("hubs." + spec.value.name) {}

  Hub build() {
    Hub hub = spec_.value;
    if (context_.read.diagnostics.touched(path_)) return hub;
    if (context_.hosts.contains(hub.name) || context_.switches.contains(hub.name))
      context_.error(path_, "a host or switch has this name too", "rename one of them");
    spec_.medium ? coaxial(hub) : repeater(hub);
    return hub;
  }

 private:
  void error(const char* key, std::string message, std::string remedy) {
    context_.error(path_ + "." + key, std::move(message), std::move(remedy));
  }

  void coaxial(Hub& hub) {
    const Medium* medium = find_medium(*spec_.medium);
    if (!medium || medium->full_duplex || medium->name.ends_with("T4"))
      return error("medium", fmt::format("`{}` is no coaxial segment", *spec_.medium),
                   "write 10BASE5 or 10BASE2");
    if (spec_.rate && *spec_.rate != medium->rate)
      error("rate",
            fmt::format("{} carries {}", medium->name,
                        format_value({.kind = Kind::rate}, to_value(medium->rate))),
            "remove `rate`");
    if (spec_.latency)
      error("latency", "a coaxial segment has a length instead", "write `length: 185m`");
    hub.medium = medium->name;
    hub.rate = medium->rate;
    spec_.rate = medium->rate;
    if (hub.repeater_class != RepeaterClass::none) wrong_class();
  }

  void repeater(Hub& hub) {
    if (!spec_.rate)
      return error("rate", "ports of unknown rate", "add `rate: 10Mbit/s`, or a coaxial `medium`");
    hub.rate = *spec_.rate;
    if (hub.rate > kFastestRepeater)
      error("rate", "no medium is shared above 1 Gbit/s (IEEE 802.3 clause 41)", "use a switch");
    if (hub.length_m > 0)
      error("length", "a repeater has no length", "give the links theirs, or write `medium`");
    if (hub.repeater_class != RepeaterClass::none && hub.rate != kRateWithClasses) wrong_class();
    hub.latency = spec_.latency.value_or(repeater_latency(hub.rate, hub.repeater_class));
    spec_.latency = hub.latency;
  }

  void wrong_class() {
    error("class", "only repeaters of 100 Mbit/s have classes (IEEE 802.3 clause 27)", "remove it");
  }

  BuildContext& context_;
  HubSpec& spec_;
  std::string path_;
};

// Which hubs are linked to each other, directly or over others.
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int root(int i) const {
    while (parent_[static_cast<std::size_t>(i)] != i) i = parent_[static_cast<std::size_t>(i)];
    return i;
  }
  bool join(int a, int b) {
    const int root_a = root(a), root_b = root(b);
    parent_[static_cast<std::size_t>(root_a)] = root_b;
    return root_a != root_b;
  }

 private:
  std::vector<int> parent_;
};

}  // namespace

void build_hubs(BuildContext& context) {
  for (HubSpec& spec : context.spec.hubs) {
    Hub hub = HubBuilder(context, spec).build();
    context.hubs.emplace(hub.name, static_cast<int>(context.hubs.size()));
    context.experiment.hubs.push_back(std::move(hub));
  }
}

void check_shared_media(BuildContext& context) {
  const Experiment& experiment = context.experiment;
  Groups groups(experiment.hubs.size());
  for (const Link& link : experiment.links) {
    if (link.ends[0].kind != NodeKind::hub || link.ends[1].kind != NodeKind::hub) continue;
    if (groups.join(link.ends[0].node, link.ends[1].node)) continue;
    context.error("links." + link.name,
                  "closes a loop of hubs: every frame would meet itself and collide",
                  "remove a link between hubs, or put a switch in place of a hub");
  }
  std::vector<std::size_t> stations(experiment.hubs.size());
  for (const Link& link : experiment.links)
    for (int end = 0; end < 2; ++end)
      if (link.ends[end].kind == NodeKind::hub && link.ends[1 - end].kind != NodeKind::hub)
        ++stations[static_cast<std::size_t>(groups.root(link.ends[end].node))];
  for (std::size_t i = 0; i < stations.size(); ++i)
    if (stations[i] > kMostStations)
      context.error("hubs." + experiment.hubs[i].name,
                    fmt::format("{} stations share a medium", stations[i]),
                    "at most 1024 (IEEE 802.3 13.3): put a switch between hubs");
}

}  // namespace linerate::experiments
