#include "experiments/results/recovery.hpp"

#include <optional>

#include "models/report/report.hpp"

namespace linerate::models {

std::optional<double> recovery_of(const Subject& s) {
  std::vector<experiments::Progress> progress;
  for (const Sample& sample : s.network.samples(s.index))
    progress.push_back({sample.from, sample.to, static_cast<double>(sample.bytes)});
  const auto worst = experiments::recovery(s.experiment.events, progress, s.network.now());
  return worst ? std::optional(worst->seconds()) : std::nullopt;
}

}  // namespace linerate::models
