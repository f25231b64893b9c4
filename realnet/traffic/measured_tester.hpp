// Real frames as a tester of RFC 2544: a trial is a run of raw frames between the test's
// interfaces.
#pragma once

#include <atomic>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/studies/trial.hpp"
#include "realnet/lab.hpp"
#include "realnet/session.hpp"

namespace linerate::realnet {

/// Trials of `test`, which must outlive it as the others must. What a device's queue still holds at
/// the end of a trial in excess of its beginning counts as lost: by how much the least delay has
/// grown is how long the queue has become.
class MeasuredTester : public experiments::Tester {
 public:
  MeasuredTester(const experiments::Experiment& experiment, const Lab& lab,
                 const experiments::Test& test, const std::atomic<bool>* stop);

  double line_rate(Bytes frame_size) const override;
  double port_rate(Bytes frame_size) const override;
  Time trial_duration() const override { return test_.trial.measured; }
  bool random() const override { return true; }
  /// Throws Interrupted when `stop` is set, std::runtime_error when an end fails.
  experiments::TrialOutcome run(const experiments::TrialRequest& request) override;

  /// What carried the frames of the last trial: "AF_XDP to RX_RING".
  const std::string& method() const { return method_; }
  /// Trials run again because frames were lost after the generator had been late.
  int repeated() const { return repeated_; }

 private:
  /// One direction between two NICs, and how many flows share its sending port.
  struct Stream {
    experiments::Test::Pair ends;
    BitRate line;
    int sharing = 1;
  };

  std::vector<experiments::Test> traffic(const experiments::TrialRequest& request) const;
  experiments::TrialOutcome run_once(const experiments::TrialRequest& request, bool& disturbed);
  static bool late(const RunOutcome& run);
  experiments::TrialOutcome outcome_of(const experiments::TrialRequest& request,
                                       const RunOutcome& run);

  const experiments::Experiment& experiment_;
  const Lab& lab_;
  const experiments::Test& test_;
  const std::atomic<bool>* stop_;
  std::vector<Stream> streams_;
  int trials_ = 0, repeated_ = 0;
  std::string method_;
};

}  // namespace linerate::realnet
