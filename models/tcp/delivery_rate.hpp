// How fast the network delivers: for every acknowledgment, how much arrived over which time
// (Cheng, Cardwell, Yeganeh and Jacobson, draft-cheng-iccrg-delivery-rate-estimation). Knows when
// segments leave and arrive; does not know what anybody concludes from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "models/tcp/ring.hpp"
#include "models/tcp/segment.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

/// What one acknowledgment tells about the rate.
struct RateSample {
  std::int64_t delivered = 0;        ///< segments over `interval`
  Time interval{};                   ///< 0: no valid sample
  std::int64_t prior_delivered = 0;  ///< delivered in all when the sampled segment left
  bool application_limited = false;  ///< the sender had run out of data
};

/// Marks every segment with the state at its departure. Segments have the scoreboard's indices.
class DeliveryRate {
 public:
  using Index = std::uint64_t;

  /// `count` segments leave; `idle`: nothing was in flight before.
  void on_sent(Time now, std::int64_t count, bool idle) {
    if (idle) first_sent_ = delivered_at_ = now;
    for (; count > 0; --count) stamps_.push(stamp());
  }
  void on_sent_again(Index index) { stamps_.at(index) = stamp(); }
  /// A segment that left at `sent` is newly known to have arrived.
  void on_arrived(Index index, Time sent, Sequence end);
  /// Indices below `first` are acknowledged.
  void release(Index first) {
    while (stamps_.first() < first) stamps_.pop();
  }
  /// The sample of an acknowledgment that reported `newly` segments, after all its on_arrived.
  /// A sample over less than `minimum_rtt` shows compressed ACKs, not the path.
  RateSample sample(Time now, std::int64_t newly, Time minimum_rtt);
  /// All segments got new indices, `count` of them.
  void renumber(std::int64_t count) {
    stamps_.clear();
    for (; count > 0; --count) stamps_.push(stamp());
  }
  /// Counts arrivals that an outdated acknowledgment reported: they give no sample.
  void count(std::int64_t newly) {
    delivered_ += newly;
    latest_.reset();
  }
  /// What is in flight now is all there was to send.
  void limited_by_application(std::int64_t in_flight) {
    limited_until_ = std::max<std::int64_t>(delivered_ + in_flight, 1);
  }

  std::int64_t delivered() const { return delivered_; }  ///< segments in all
  Time delivered_at() const { return delivered_at_; }
  bool application_limited() const { return limited_until_ != 0; }

 private:
  struct Stamp {
    std::int64_t delivered = 0;
    Time delivered_at{}, first_sent{};
    bool limited = false;
  };
  Stamp stamp() const { return {delivered_, delivered_at_, first_sent_, limited_until_ != 0}; }

  Ring<Stamp> stamps_;
  std::int64_t delivered_ = 0;
  Time delivered_at_{}, first_sent_{};
  std::int64_t limited_until_ = 0;

  // Of the acknowledgment being taken: the latest sent of the segments that arrived.
  std::optional<Stamp> latest_;
  Time latest_sent_{}, send_interval_{};
  Sequence latest_end_ = 0;
};

}  // namespace linerate::models::tcp
