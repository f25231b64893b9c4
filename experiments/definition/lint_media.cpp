// Rules about shared media: duplex, and how large a collision domain may be.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/definition/lint_rules.hpp"
#include "experiments/definition/shared_medium.hpp"

namespace linerate::experiments {
namespace {

void duplex_mismatch(Lint& lint) {
  for (const Link& link : lint.experiment().links) {
    if (link.duplex[0] == link.duplex[1]) continue;
    const int full = link.duplex[0] == Duplex::full ? 0 : 1;
    lint.warn("links." + link.name + ".duplex",
              fmt::format("duplex mismatch: {} is full duplex and heeds no carrier, {} is half and "
                          "gives up what collides late",
                          port_name(lint.experiment(), link.ends[full]),
                          port_name(lint.experiment(), link.ends[1 - full])),
              "autonegotiation on at both ends, or off and the same duplex at both");
  }
}

std::string between(const Lint& lint, const SharedMedium& medium, std::size_t from,
                    std::size_t to) {
  const auto name = [&](std::size_t station) {
    const Hop& hop = medium.stations[station];
    return port_name(lint.experiment(), lint.link(hop).ends[hop.from_end]);
  };
  return name(from) + " and " + name(to);
}

// A collision that comes back after the slot is late: its frame is not sent again.
void round_trip_beyond_slot(Lint& lint, const SharedMedium& medium) {
  const auto bit_rate = static_cast<double>(medium.rate.bits_per_second());
  // What a slot of one's own leaves for ports is not known.
  const RoundTripBudget budget = medium.slot ? RoundTripBudget{0, medium.slot->seconds() * bit_rate}
                                             : round_trip_budget(medium.rate);
  const auto longest =
      std::max_element(medium.ways.begin(), medium.ways.end(),
                       [](const SignalWay& a, const SignalWay& b) { return a.delay < b.delay; });
  if (longest == medium.ways.end()) return;
  const double ways = 2 * longest->delay.seconds() * bit_rate;
  if (ways + budget.ports <= budget.limit) return;
  const auto index = static_cast<std::size_t>(longest - medium.ways.begin());
  const std::size_t count = medium.stations.size();
  lint.warn(medium.path,
            fmt::format("the round trip between {} is {:.0f} bit times of cables and repeaters and "
                        "up to {:.0f} of ports, more than {:.0f}: late collisions are possible",
                        between(lint, medium, index / count, index % count), ways, budget.ports,
                        budget.limit),
            "shorter cables or fewer repeaters, or a switch between them");
}

// IEEE 802.3 clause 13 (five segments, four repeaters, three of the segments coaxial), clause 29
// (one repeater of class I or two of class II) and clause 42 (one).
void too_many_repeaters(Lint& lint, const SharedMedium& medium) {
  const auto& hubs = lint.experiment().hubs;
  const bool class_one = std::any_of(medium.hubs.begin(), medium.hubs.end(), [&](int hub) {
    return hubs[static_cast<std::size_t>(hub)].repeater_class == RepeaterClass::one;
  });
  const std::int64_t rate = medium.rate.bits_per_second();
  const int most = rate >= 1'000'000'000 ? 1 : rate < 100'000'000 ? 4 : class_one ? 1 : 2;
  for (std::size_t i = 0; i < medium.ways.size(); ++i) {
    const SignalWay& way = medium.ways[i];
    const std::size_t count = medium.stations.size();
    if (way.repeaters > most)
      return lint.warn(
          medium.path,
          fmt::format("{} repeaters between {}: the standard allows {} at {}", way.repeaters,
                      between(lint, medium, i / count, i % count), most, rate_text(medium.rate)),
          "a switch in place of a hub");
    if (way.segments > 3)
      return lint.warn(medium.path,
                       fmt::format("{} coaxial segments between {}: the standard allows 3",
                                   way.segments, between(lint, medium, i / count, i % count)),
                       "a switch between segments");
  }
}

}  // namespace

void lint_media(Lint& lint) {
  duplex_mismatch(lint);
  for (const SharedMedium& medium : shared_media(lint.experiment())) {
    round_trip_beyond_slot(lint, medium);
    too_many_repeaters(lint, medium);
  }
}

}  // namespace linerate::experiments
