#include "experiments/definition/lint.hpp"

#include <fmt/format.h>

#include "experiments/definition/lint_rules.hpp"

namespace linerate::experiments {

Lint::Lint(const Experiment& experiment) : experiment_(experiment), topology_(experiment) {
  for (const Link& each : experiment.links)
    for (const PortRef& end : each.ends)
      if (end.kind == NodeKind::host) links_by_nic_.emplace(std::pair{end.node, end.port}, &each);
}

const Link* Lint::link_at(int host_index, int nic_index) const {
  const auto found = links_by_nic_.find({host_index, nic_index});
  return found == links_by_nic_.end() ? nullptr : found->second;
}

void Lint::warn(std::string path, std::string message, std::string remedy) {
  if (!reported_.insert(path + "\n" + message).second) return;
  Origin origin = origin_of(path);
  found_.push_back({std::move(origin), std::move(path), std::move(message), std::move(remedy)});
}

// A built-in default has no line of its own; the entry that could override it has.
Origin Lint::origin_of(std::string path) const {
  for (;;) {
    if (const auto found = experiment_.origins.find(path);
        found != experiment_.origins.end() && found->second.line > 0)
      return found->second;
    const auto dot = path.rfind('.');
    if (dot == std::string::npos) return {};
    path.resize(dot);
  }
}

std::string rate_text(double bits_per_second) {
  if (bits_per_second >= 999.95e6) return fmt::format("{:.4g} Gbit/s", bits_per_second / 1e9);
  if (bits_per_second >= 999.95e3) return fmt::format("{:.4g} Mbit/s", bits_per_second / 1e6);
  return fmt::format("{:.4g} kbit/s", bits_per_second / 1e3);
}

std::string rate_text(BitRate rate) {
  return rate_text(static_cast<double>(rate.bits_per_second()));
}

std::string time_text(Time time) {
  if (time >= Time::seconds(1)) return fmt::format("{:.4g} s", time.seconds());
  if (time >= Time::milliseconds(1)) return fmt::format("{:.4g} ms", time.seconds() * 1e3);
  if (time >= Time::microseconds(1)) return fmt::format("{:.4g} us", time.seconds() * 1e6);
  return fmt::format("{:.4g} ns", time.seconds() * 1e9);
}

std::string size_text(double bytes) {
  if (bytes >= 1024.0 * 1024) return fmt::format("{:.4g} MiB", bytes / (1024 * 1024));
  if (bytes >= 1024.0) return fmt::format("{:.4g} KiB", bytes / 1024);
  return fmt::format("{:.0f} B", bytes);
}

std::vector<Diagnostic> lint(const Experiment& experiment) {
  Lint context(experiment);
  lint_devices(context);
  lint_media(context);
  lint_cpu(context);
  lint_tests(context);
  return context.take();
}

}  // namespace linerate::experiments
