// How many bytes a flow had read at given instants.
#pragma once

#include <vector>

#include "sim/units.hpp"

namespace linerate::realnet {

/// The instants at which a transfer is counted.
struct Window {
  Time start;               ///< first write
  Time from;                ///< end of `omit`
  Time to = Time::never();  ///< never: until the stream ends
  Time step;                ///< of the intervals
};

/// Counts one flow's reads. Reads end when the scheduler lets them, so the count at an instant is
/// interpolated between the reads around it: a wake-up 5 ms late would otherwise be an error of
/// 0.5 % in a window of one second.
class ReadClock {
 public:
  explicit ReadClock(const Window& window);

  /// A read of `size` bytes that returned at `now`.
  void on_read(Time now, Bytes size);
  /// The stream ended, or the window did without another read.
  void finish(Time now);

  Bytes total() const { return total_; }
  Time first_read() const { return first_read_; }
  Time last_read() const { return last_read_; }
  /// Bytes read in [from, to].
  double window_bytes() const { return at_to_ - at_from_; }
  /// Bytes read by the end of each whole interval.
  const std::vector<double>& by_interval() const { return by_interval_; }

 private:
  double at(Time instant, Time now, Bytes size) const;
  void pass(Time now, Bytes size);

  Window window_;
  Time next_edge_;  ///< earliest instant not yet passed
  Time last_read_;
  Time first_read_ = Time::never();
  Bytes total_;
  double at_from_ = 0, at_to_ = 0;
  bool passed_from_ = false, passed_to_ = false;
  std::vector<double> by_interval_;
};

}  // namespace linerate::realnet
