// HyStart++ (RFC 9406): slow start that slows down when the round trip grows, and ends if that
// lasts. Knows RTT samples and rounds; does not know the window.
#pragma once

#include <cstdint>

#include "models/tcp/segment.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

class HystartPlusPlus {
 public:
  /// Takes an RTT sample during slow start, with SND.UNA and SND.NXT after the ACK; true when slow
  /// start is over.
  bool on_sample(Time rtt, Sequence unacknowledged, Sequence next);
  /// By how much `acked` segments may raise the window now; `paced`: no limit of bursts (4.2).
  std::int64_t growth(std::int64_t acked, bool paced);

 private:
  void start_round(Sequence next);

  // RFC 9406 4.3.
  static constexpr Time kLeastThreshold = Time::milliseconds(4);
  static constexpr Time kMostThreshold = Time::milliseconds(16);
  static constexpr int kDivisor = 8, kSamples = 8, kRounds = 5;
  static constexpr std::int64_t kGrowthDivisor = 4, kBurst = 8;

  bool conservative_ = false;  ///< in Conservative Slow Start
  int rounds_ = 0;             ///< of it, begun
  int samples_ = 0;
  std::int64_t credit_ = 0;  ///< acknowledged segments not yet turned into growth there
  Time last_round_ = Time::never(), round_ = Time::never(), baseline_ = Time::never();
  Sequence round_end_ = 0;
};

}  // namespace linerate::models::tcp
