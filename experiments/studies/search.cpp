#include "experiments/studies/search.hpp"

#include <algorithm>
#include <cmath>

namespace linerate::experiments {

SearchResult find_throughput(Tester& tester, Bytes frame_size, const SearchGoal& goal) {
  SearchResult result;
  auto attempt = [&](double load) {
    ++result.trials;
    const TrialOutcome outcome = tester.run({.frame_size = frame_size,
                                             .load = load,
                                             .duration = tester.trial_duration(),
                                             .frames_least = goal.frames_least()});
    if (goal.met_by(outcome)) {
      result.load = load;
      if (outcome.generator_limited)  // what was offered, not what was asked for
        result.load = std::min(load, static_cast<double>(outcome.sent) / outcome.seconds /
                                         tester.line_rate(frame_size));
      result.generator_limited = outcome.generator_limited;
      result.best = outcome;
    } else {
      result.failed = load;
      result.failure = outcome;
    }
  };
  attempt(1);
  // Below one frame a trial there is nothing to find.
  const double least = 1 / (tester.line_rate(frame_size) * tester.trial_duration().seconds());
  while (result.failure && result.failed - result.load > goal.resolution * result.failed &&
         result.failed > least)
    attempt((result.load + result.failed) / 2);
  return result;
}

std::vector<LossPoint> loss_curve(Tester& tester, Bytes frame_size) {
  std::vector<LossPoint> points;
  constexpr int kSteps = 10;
  int clean = 0;
  for (int step = kSteps; step > 0 && clean < 2; --step) {
    const double load = static_cast<double>(step) / kSteps;
    const TrialOutcome outcome = tester.run({.frame_size = frame_size,
                                             .load = load,
                                             .duration = tester.trial_duration(),
                                             .frames_least = SearchGoal{}.frames_least()});
    clean = outcome.lost() == 0 ? clean + 1 : 0;
    points.push_back({load, outcome});
  }
  return points;
}

BurstResult find_burst(Tester& tester, Bytes frame_size, double resolution) {
  BurstResult result;
  auto clean = [&](std::int64_t frames) {
    ++result.trials;
    const TrialOutcome outcome = tester.run(
        {.frame_size = frame_size, .duration = tester.trial_duration(), .burst = frames});
    return outcome.sent > 0 && outcome.lost() == 0;
  };
  const auto longest = std::max<std::int64_t>(
      1, std::llround(tester.port_rate(frame_size) * tester.trial_duration().seconds()));
  if (clean(longest)) {
    result.frames = longest;
    result.unbounded = true;
    return result;
  }
  std::int64_t failed = longest;
  auto fine = [&] {
    const double width = resolution * static_cast<double>(failed);
    return static_cast<double>(failed - result.frames) <= std::max(1.0, width);
  };
  while (!fine()) {
    const std::int64_t middle = result.frames + (failed - result.frames) / 2;
    (clean(middle) ? result.frames : failed) = middle;
  }
  return result;
}

}  // namespace linerate::experiments
