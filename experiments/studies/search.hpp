// The searches of RFC 2544 26 over a trial function: throughput, frame loss, back-to-back frames.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/studies/trial.hpp"

namespace linerate::experiments {

/// What a search looks for: the highest load at which at most `allowed_loss` of the frames are
/// lost, to `resolution` of that load (both fractions).
struct SearchGoal {
  double allowed_loss = 0;
  double resolution = 0.001;

  /// Trials need so many frames that a load too high by the resolution loses more than the two
  /// frames by which counting windows are uncertain.
  std::int64_t frames_least() const { return static_cast<std::int64_t>(4 / resolution); }
  bool met_by(const TrialOutcome& outcome) const {
    return outcome.sent > 0 && outcome.loss() <= allowed_loss;
  }
};

/// The highest load that met a goal and the lowest that did not.
struct SearchResult {
  double load = 0;                      ///< fraction of the line rate; 0: none met the goal
  double failed = 1;                    ///< lowest load that failed, if any did
  std::optional<TrialOutcome> best;     ///< of the trial at `load`
  std::optional<TrialOutcome> failure;  ///< of the trial at `failed`
  int trials = 0;
  bool generator_limited = false;  ///< the tester was at its limit, not the device
};

/// RFC 2544 26.1, by bisection. Line rate is tried first, so a device without a limit costs one
/// trial and gives exactly the line rate; else after n more trials the load is known to 2^-n of the
/// line rate, so they are at most ceil(log2(1 / (resolution x load))) + 1.
SearchResult find_throughput(Tester& tester, Bytes frame_size, const SearchGoal& goal);

struct LossPoint {
  double load = 1;
  TrialOutcome outcome;
};

/// RFC 2544 26.3: loss at 100 %, 90 %, … of the line rate, until two loads in a row lose nothing.
std::vector<LossPoint> loss_curve(Tester& tester, Bytes frame_size);

struct BurstResult {
  std::int64_t frames = 0;  ///< longest burst of which nothing was lost, frames of each port
  bool unbounded = false;   ///< the longest burst tried, a full trial at line rate, lost nothing
  int trials = 0;
};

/// RFC 2544 26.4, RFC 9004: the longest burst at line rate without loss, to one frame or to
/// `resolution` of it. At most 1 + log2(longest) trials.
BurstResult find_burst(Tester& tester, Bytes frame_size, double resolution);

}  // namespace linerate::experiments
