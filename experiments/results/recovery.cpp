#include "experiments/results/recovery.hpp"

#include <algorithm>

namespace linerate::experiments {
namespace {

// Back to this share of what it was before counts as recovered.
constexpr double kRecovered = 0.9;

struct Disturbance {
  Time from{}, to{};
};

// What has a beginning and an end: events that last, and links that go down and up again. A link
// that goes down for good is over at once: what comes back then goes another way.
std::vector<Disturbance> disturbances(const std::vector<LinkEvent>& events) {
  std::vector<Disturbance> list;
  for (const LinkEvent& event : events) {
    if (event.lasts) {
      list.push_back({event.at, event.at + *event.lasts});
    } else if (event.action == LinkAction::down) {
      Time up = Time::never();
      for (const LinkEvent& other : events)
        if (other.action == LinkAction::up && other.link == event.link && other.at > event.at)
          up = std::min(up, other.at);
      list.push_back({event.at, up == Time::never() ? event.at : up});
    }
  }
  return list;
}

double mean_rate(const std::vector<Progress>& progress, Time until) {
  const Progress* last = nullptr;
  for (const Progress& interval : progress)
    if (interval.to <= until) last = &interval;
  if (last == nullptr || last->to <= progress.front().from) return 0;
  return last->bytes / (last->to - progress.front().from).seconds();
}

// End of the first interval after `since` in which payload came as fast as `rate`.
std::optional<Time> first_as_fast(const std::vector<Progress>& progress, Time since, double rate) {
  for (std::size_t i = 1; i < progress.size(); ++i) {
    const Progress& interval = progress[i];
    if (interval.from < since) continue;
    const double bytes = interval.bytes - progress[i - 1].bytes;
    if (bytes >= rate * (interval.to - interval.from).seconds()) return interval.to;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Time> recovery(const std::vector<LinkEvent>& events,
                             const std::vector<Progress>& progress, Time end) {
  std::optional<Time> worst;
  for (const Disturbance& d : disturbances(events)) {
    const double before = progress.empty() ? 0 : mean_rate(progress, d.from);
    if (before <= 0 || d.to >= end) continue;
    const std::optional<Time> back = first_as_fast(progress, d.to, kRecovered * before);
    if (!back) return std::nullopt;
    worst = std::max(worst.value_or(Time{}), *back - d.to);
  }
  return worst;
}

}  // namespace linerate::experiments
