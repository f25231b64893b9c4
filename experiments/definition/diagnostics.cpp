#include "experiments/definition/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace linerate::experiments {

namespace {

constexpr std::size_t kKept = 10'000;
constexpr std::size_t kShown = 100;

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += format(diagnostic);
  }
  return text;
}

}  // namespace

std::string format(const Diagnostic& diagnostic) {
  const Origin& origin = diagnostic.origin;
  std::string text = origin.source;
  if (origin.line > 0) text += fmt::format(":{}:{}", origin.line, origin.column);
  if (!text.empty()) text += ": ";
  if (!diagnostic.path.empty()) text += diagnostic.path + ": ";
  text += diagnostic.message;
  if (!diagnostic.remedy.empty()) text += "; " + diagnostic.remedy;
  return text;
}

DefinitionError::DefinitionError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}

int Diagnostics::add_source(std::string name) {
  sources_.push_back(std::move(name));
  return static_cast<int>(sources_.size()) - 1;
}

Origin Diagnostics::origin(Place place) const {
  return {sources_[static_cast<std::size_t>(place.source)], place.line, place.column};
}

void Diagnostics::error(Place place, std::string path, std::string message, std::string remedy) {
  ++count_;
  if (entries_.size() >= kKept) return;
  paths_.insert(path);
  entries_.push_back(
      {place, {origin(place), std::move(path), std::move(message), std::move(remedy)}});
}

bool Diagnostics::touched(const std::string& path) const {
  const auto begins = [&](const std::string& prefix) {
    const auto found = paths_.lower_bound(prefix);
    return found != paths_.end() && found->starts_with(prefix);
  };
  return paths_.contains(path) || begins(path + ".") || begins(path + "[");
}

void Diagnostics::throw_if_any() const {
  if (empty()) return;
  std::vector<Entry> sorted = entries_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.place.source, a.place.line, a.place.column) <
           std::tie(b.place.source, b.place.line, b.place.column);
  });
  std::vector<Diagnostic> shown;
  for (Entry& entry : sorted) {
    if (shown.size() == kShown) break;
    // The same mistake reached twice (a NIC used by several tests) is one mistake.
    if (!shown.empty() && shown.back() == entry.diagnostic) continue;
    shown.push_back(std::move(entry.diagnostic));
  }
  if (count_ > kShown && shown.size() == kShown) {
    shown.push_back({{}, "", fmt::format("and {} more errors", count_ - kShown), ""});
  }
  throw DefinitionError(std::move(shown));
}

}  // namespace linerate::experiments
