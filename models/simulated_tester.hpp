// The simulator as a tester of RFC 2544: a trial is a small network run of raw frames.
#pragma once

#include <optional>
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
  /// What lies around the device under test if it has a link to either tester.
  struct Surroundings {
    BitRate in, out;
    Time cables{};
    bool cuts_through = false;
    bool operator==(const Surroundings&) const = default;

    /// The share of a frame's latency that is not the device's.
    Time latency(Bytes frame_size) const;
  };

  std::optional<Surroundings> surroundings_of(const std::vector<experiments::Hop>& way) const;
  std::optional<experiments::Latencies> latencies_of(const Network& network,
                                                     Bytes frame_size) const;
  std::vector<experiments::Test> traffic(const experiments::TrialRequest& request, Time warm_up,
                                         Time duration) const;

  const experiments::Experiment& experiment_;
  const experiments::Topology& topology_;
  const experiments::Test& test_;
  const SimulationOptions& options_;
  std::vector<Stream> streams_;
  std::optional<Surroundings> surroundings_;  // where all streams have the same
  bool random_ = false;
  std::uint64_t trials_ = 0;
};

}  // namespace linerate::models
