// On which cores programs run that nobody has pinned.
#pragma once

#include <algorithm>
#include <vector>

#include "experiments/definition/experiment.hpp"

namespace linerate::models {

/// Programs begin one after the other on the cores that no NIC interrupts, as a scheduler keeps
/// them off busy cores; on any core where every one is interrupted.
class ProgramCores {
 public:
  explicit ProgramCores(const experiments::Host& host) {
    const int cores = host.cpu.cores;
    std::vector<bool> interrupted(static_cast<std::size_t>(cores));
    for (int nic = 0; nic < static_cast<int>(host.nics.size()); ++nic)
      interrupted[static_cast<std::size_t>(host.cpu.interrupt_core.value_or(nic % cores))] = true;
    const bool others = std::count(interrupted.begin(), interrupted.end(), false) > 0;
    for (int n = 1; n <= cores; ++n)
      if (!others || !interrupted[static_cast<std::size_t>(n % cores)]) cores_.push_back(n % cores);
  }

  int next() { return cores_[next_++ % cores_.size()]; }

 private:
  std::vector<int> cores_;
  std::size_t next_ = 0;
};

}  // namespace linerate::models
