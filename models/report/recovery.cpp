// How soon traffic is back after something happened to a link.
#include <algorithm>
#include <optional>

#include "models/report/report.hpp"

namespace linerate::models {

namespace {

using experiments::LinkAction;
using experiments::LinkEvent;

// Back to this share of what it was before counts as recovered.
constexpr double kRecovered = 0.9;

struct Disturbance {
  Time from{}, to{};
};

// What has a beginning and an end: events that last, and links that go down and up again.
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
      if (up != Time::never()) list.push_back({event.at, up});
    }
  }
  return list;
}

double mean_rate(const std::vector<Sample>& samples, Time until) {
  const Sample* last = nullptr;
  for (const Sample& sample : samples)
    if (sample.to <= until) last = &sample;
  if (last == nullptr || last->to <= samples.front().from) return 0;
  return static_cast<double>(last->bytes) / (last->to - samples.front().from).seconds();
}

// End of the first interval after `since` in which payload came as fast as `rate`.
std::optional<Time> first_as_fast(const std::vector<Sample>& samples, Time since, double rate) {
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    if (sample.from < since) continue;
    const auto bytes = static_cast<double>(sample.bytes - samples[i - 1].bytes);
    if (bytes >= rate * (sample.to - sample.from).seconds()) return sample.to;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> recovery_of(const Subject& s) {
  const std::vector<Sample>& samples = s.network.samples(s.index);
  std::optional<double> worst;
  for (const Disturbance& d : disturbances(s.experiment.events)) {
    const double before = samples.empty() ? 0 : mean_rate(samples, d.from);
    if (before <= 0 || d.to >= s.network.now()) continue;
    const std::optional<Time> back = first_as_fast(samples, d.to, kRecovered * before);
    if (!back) return std::nullopt;
    worst = std::max(worst.value_or(0), (*back - d.to).seconds());
  }
  return worst;
}

}  // namespace linerate::models
