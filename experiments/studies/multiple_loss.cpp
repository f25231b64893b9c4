#include "experiments/studies/multiple_loss.hpp"

#include <algorithm>
#include <optional>

namespace linerate::experiments {
namespace {

struct Attempt {
  double load = 0;
  int phase = 0;
  TrialOutcome outcome;
};

// The trials next to where a goal turns from met to missed.
struct Bounds {
  const Attempt* met = nullptr;
  const Attempt* missed = nullptr;
};

class LossSearcher {
 public:
  LossSearcher(Tester& tester, Bytes size, const LossGoals& goals)
      : tester_(tester),
        size_(size),
        goals_(goals),
        least_(1 / (tester.line_rate(size) * tester.trial_duration().seconds())) {
    attempts_.reserve(64);
  }

  LossSearch run() {
    for (phase_ = 0; phase_ < goals_.phases; ++phase_)
      for (const double allowed : goals_.allowed) narrow(allowed);
    LossSearch found;
    for (const double allowed : goals_.allowed) found.goals.push_back(result(allowed));
    found.trials = static_cast<int>(attempts_.size());
    found.counted = counted_;
    return found;
  }

 private:
  // What an earlier phase may leave open.
  double width() const { return goals_.resolution * (1 << (goals_.phases - 1 - phase_)); }
  Time duration() const {
    Time time = tester_.trial_duration();
    for (int left = goals_.phases - 1 - phase_; left > 0; --left) time = time / 4;
    return time;
  }

  // By trials of phase `least` and later.
  Bounds bounds(double allowed, int least) const {
    const SearchGoal goal{.allowed_loss = allowed};
    Bounds found;
    for (const Attempt& trial : attempts_)
      if (trial.phase >= least && !goal.met_by(trial.outcome) &&
          (!found.missed || trial.load < found.missed->load))
        found.missed = &trial;
    for (const Attempt& trial : attempts_)
      if (trial.phase >= least && goal.met_by(trial.outcome) &&
          (!found.missed || trial.load < found.missed->load) &&
          (!found.met || trial.load > found.met->load))
        found.met = &trial;
    return found;
  }

  void narrow(double allowed) {
    double step = width();  // of a search without a bound on the other side; grows
    while (const std::optional<double> load = next_load(allowed, step)) attempt(*load);
  }

  // The load to try next, if the bounds are not close enough.
  std::optional<double> next_load(double allowed, double& step) const {
    const Bounds now = bounds(allowed, phase_), hint = bounds(allowed, phase_ - 1);
    if (now.met && now.missed) {
      const double open = now.missed->load - now.met->load;
      if (open <= width() * now.missed->load) return std::nullopt;
      return (now.met->load + now.missed->load) / 2;
    }
    if (now.met) {
      if (now.met->load >= 1) return std::nullopt;
      if (hint.missed && hint.missed->load > now.met->load) return hint.missed->load;
      step *= 2;
      return std::min(1.0, now.met->load * (1 + step));
    }
    if (!now.missed) return hint.met ? hint.met->load : hint.missed ? hint.missed->load : 1.0;
    if (now.missed->load <= least_) return std::nullopt;  // nothing gets through
    if (hint.met && hint.met->load < now.missed->load) return hint.met->load;
    return std::max(least_, below(*now.missed, allowed, step));
  }

  // The first guess is what the device forwarded of too much (the draft's forwarding rate); if that
  // was too much as well, ever larger steps go down.
  double below(const Attempt& missed, double allowed, double& step) const {
    const double forwarded = missed.load * (1 - missed.outcome.loss()) / (1 - allowed);
    const double down = missed.load * std::max(0.5, 1 - step);
    step *= 2;
    return std::min(forwarded, down);
  }

  void attempt(double load) {
    const TrialOutcome outcome =
        tester_.run({.frame_size = size_,
                     .load = load,
                     .duration = duration(),
                     .frames_least = SearchGoal{.resolution = width()}.frames_least()});
    counted_ += Time::from_seconds(outcome.seconds);
    attempts_.push_back({load, phase_, outcome});
  }

  SearchResult result(double allowed) const {
    const Bounds last = bounds(allowed, goals_.phases - 1);
    SearchResult found;
    found.trials = static_cast<int>(attempts_.size());
    if (last.met) {
      found.load = last.met->load;
      found.best = last.met->outcome;
      found.generator_limited = last.met->outcome.generator_limited;
    }
    if (last.missed) {
      found.failed = last.missed->load;
      found.failure = last.missed->outcome;
    }
    return found;
  }

  Tester& tester_;
  Bytes size_;
  const LossGoals& goals_;
  double least_;  // one frame a trial: below it there is nothing to find
  int phase_ = 0;
  std::vector<Attempt> attempts_;
  Time counted_{};
};

}  // namespace

LossSearch find_loads(Tester& tester, Bytes frame_size, const LossGoals& goals) {
  return LossSearcher(tester, frame_size, goals).run();
}

}  // namespace linerate::experiments
