// On which cores programs run that nobody has pinned.
#pragma once

#include <algorithm>
#include <vector>

namespace linerate::models {

/// Programs begin one after the other on the cores that no NIC interrupts, as a scheduler keeps
/// them off busy cores; on any core where every one is interrupted.
class ProgramCores {
 public:
  /// `interrupted`: of each core, whether a NIC interrupts it.
  explicit ProgramCores(const std::vector<bool>& interrupted) {
    const auto cores = static_cast<int>(interrupted.size());
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
