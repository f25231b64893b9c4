// The simulator as a tester of RFC 2544: a trial is a small network run of raw frames.
#pragma once

#include <vector>

#include "experiments/studies/trial.hpp"
#include "models/network/network.hpp"
#include "models/simulate.hpp"

namespace linerate::models {

class SimulatedTester : public experiments::Tester {
 public:
  /// Trials of `test`, which must outlive it as the others must. `repeat` seeds what is random.
  SimulatedTester(const experiments::Experiment& experiment, const experiments::Topology& topology,
                  const experiments::Test& test, const SimulationOptions& options);

  double line_rate(Bytes frame_size) const override;
  double port_rate(Bytes frame_size) const override;
  Time trial_duration() const override { return test_.trial.simulated; }
  bool random() const override { return random_; }
  experiments::TrialOutcome run(const experiments::TrialRequest& request) override;

 private:
  /// One direction between two NICs, and how many flows share its sending port.
  struct Stream {
    experiments::Test::Pair ends;
    BitRate line;
    int sharing = 1;
    Time unloaded{};  ///< latencies of the way, without serialization
  };

  std::vector<experiments::Test> traffic(const experiments::TrialRequest& request, Time warm_up,
                                         Time duration) const;

  const experiments::Experiment& experiment_;
  const experiments::Topology& topology_;
  const experiments::Test& test_;
  const SimulationOptions& options_;
  std::vector<Stream> streams_;
  bool random_ = false;
  std::uint64_t trials_ = 0;
};

}  // namespace linerate::models
