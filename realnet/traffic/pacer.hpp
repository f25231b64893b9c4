// Waiting for absolute deadlines, so that no lateness adds up.
#pragma once

#include "sim/units.hpp"

namespace linerate::realnet {

class Pacer {
 public:
  /// `may_spin`: there is a processor to spare, so the last stretch of a wait may be spent looking
  /// at the clock; a sleep alone ends some 40 us late on a virtual machine.
  explicit Pacer(bool may_spin) : may_spin_(may_spin) {}
  void wait_until(Time deadline) const;

 private:
  bool may_spin_;
};

}  // namespace linerate::realnet
