// Barrier-synchronised requests: a client asks all of its servers at the same moment and asks again
// when the last has answered. Many answers then meet in one switch port, the pattern in which
// incast collapse was found (Phanishayee et al., FAST 2008).
#pragma once

#include <cstdint>

#include "experiments/definition/experiment.hpp"
#include "models/apps/latency.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// The rounds of one test. Its members are the connections; each reports when it is connected and
/// whenever it has its whole answer.
class Barrier {
 public:
  Barrier(const experiments::Test& test, std::int64_t members, LatencyRecorder& rounds)
      : limit_(test.transactions.value_or(0)),
        omit_(test.omit),
        duration_(test.duration),
        members_(members),
        recorder_(&rounds) {}

  /// A member waits for the next round. Returns whether it was the last one: open() is due.
  bool arrive() { return ++waiting_ == members_; }

  /// Ends the round in which all were and begins the next, unless that was the last.
  void open(Time now) {
    if (round_ == 0) {
      began_ = now;
    } else {
      last_ = now;
      if (now >= began_ + omit_) recorder_->record(now - opened_);
    }
    over_ = limit_ > 0 ? round_ >= limit_ : now >= began_ + duration_;
    if (over_) return;
    ++round_;
    opened_ = now;
    waiting_ = 0;
  }

  /// Ordinal of the round under way, from 1; 0 before the first.
  std::int64_t round() const { return round_; }
  bool over() const { return over_; }
  /// Rounds that have ended, from began() to last().
  std::int64_t completed() const { return over_ ? round_ : std::max<std::int64_t>(0, round_ - 1); }
  Time began() const { return began_; }
  Time last() const { return last_; }

 private:
  std::int64_t limit_;  // rounds; 0: by time
  Time omit_, duration_;
  std::int64_t members_, waiting_ = 0, round_ = 0;
  Time began_{}, opened_{}, last_{};
  LatencyRecorder* recorder_;
  bool over_ = false;
};

}  // namespace linerate::models
