// Where the clients of a test with `barrier` wait for one another. It lies in memory that their
// processes share.
#pragma once

#include <atomic>
#include <cstdint>

#include "sim/units.hpp"

namespace linerate::realnet {

class RoundBarrier {
 public:
  /// Before any member arrives.
  void expect(int members) { members_ = members; }

  struct Round {
    bool last = false;  ///< this member was the one that all others waited for
    bool goes_on = false;
    Time opened;  ///< when the next round began
  };
  /// Waits until all members have arrived. `more`: another round may begin, as far as this member
  /// knows; the last one decides. Comes back early, with nothing to go on to, when `cut` is set.
  /// Throws std::system_error.
  Round arrive(bool more, const std::atomic<bool>& cut);

 private:
  std::atomic<int> members_{0}, arrived_{0};
  std::atomic<std::uint32_t> round_{0};  ///< a futex
  std::atomic<bool> over_{false};
  std::atomic<std::int64_t> opened_{0};
};

}  // namespace linerate::realnet
