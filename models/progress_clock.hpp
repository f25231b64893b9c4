// Tells the user how far a run has come, at the pace of the user's clock.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "models/simulate.hpp"

namespace linerate::models {

/// Calls the user back a few times a second, whatever the speed of the simulation.
class ProgressClock {
 public:
  ProgressClock(const SimulationOptions& options, std::string test, Time total)
      : options_(options), test_(std::move(test)), total_(total) {}

  void operator()(Time now, std::uint64_t events) {
    using Steady = std::chrono::steady_clock;
    constexpr auto kPeriod = std::chrono::milliseconds(200);
    if (!options_.progress || Steady::now() - last_ < kPeriod) return;
    last_ = Steady::now();
    options_.progress({.test = test_, .simulated = now, .total = total_, .events = events});
  }

 private:
  const SimulationOptions& options_;
  std::string test_;
  Time total_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace linerate::models
