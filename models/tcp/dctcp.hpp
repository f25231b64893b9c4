// DCTCP's estimate of how much of the traffic is marked (RFC 8257 3.3), and the window it asks for.
// Knows counts of segments; does not know when a reduction begins or ends.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/tcp/segment.hpp"

namespace linerate::models::tcp {

/// The fraction alpha of marked segments, smoothed over windows of data. In 1/1024, as Linux keeps
/// it; that shows when few segments are marked: alpha cannot decay below 1/1024 by its shift.
class MarkedFraction {
 public:
  /// An ACK up to `unacknowledged` newly reported `delivered` segments; `marked`: with ECE set.
  /// `next` is SND.NXT: the observation window ends when all sent at its start is acknowledged.
  void on_ack(Sequence unacknowledged, Sequence next, std::int64_t delivered, bool marked) {
    delivered_ += delivered;
    if (marked) marked_ += delivered;
    if (unacknowledged < window_end_) return;
    alpha_ -= std::max<std::int64_t>(alpha_ >> kGainShift, alpha_ > 0 ? 1 : 0);
    if (marked_ > 0)
      alpha_ += (marked_ << (kScaleShift - kGainShift)) / std::max<std::int64_t>(delivered_, 1);
    alpha_ = std::min(alpha_, kOne);
    window_end_ = next;
    delivered_ = marked_ = 0;
  }
  /// RFC 8257 3.3: cwnd x (1 - alpha / 2), at least two segments.
  std::int64_t reduced(std::int64_t window) const {
    return std::max<std::int64_t>(window - window * alpha_ / (2 * kOne), 2);
  }
  double fraction() const { return static_cast<double>(alpha_) / static_cast<double>(kOne); }

 private:
  static constexpr int kScaleShift = 10, kGainShift = 4;  // g = 1/16, RFC 8257 4.2
  static constexpr std::int64_t kOne = std::int64_t{1} << kScaleShift;
  std::int64_t alpha_ = kOne;  ///< RFC 8257 3.3: start as if all were marked
  std::int64_t delivered_ = 0, marked_ = 0;
  Sequence window_end_ = 0;
};

}  // namespace linerate::models::tcp
