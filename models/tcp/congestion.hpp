// Congestion windows: slow start, Reno (RFC 5681), CUBIC (RFC 9438), DCTCP (RFC 8257), Vegas, and
// HyStart. Knows how a window grows and shrinks; does not know segments, timers or what was lost.
// BBR only keeps its window here; what sets it is in bbr.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "experiments/definition/stack.hpp"
#include "models/tcp/dctcp.hpp"
#include "models/tcp/hystart_plus_plus.hpp"
#include "models/tcp/segment.hpp"
#include "models/tcp/vegas.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

enum class CongestionAlgorithm : std::uint8_t { reno, cubic, dctcp, vegas, bbr };

/// By its name in the experiment file; an unknown one is a bug, for the parser refuses it.
CongestionAlgorithm congestion_algorithm(std::string_view name);

struct CongestionRules {
  CongestionAlgorithm algorithm = CongestionAlgorithm::cubic;
  experiments::HyStart hystart = experiments::HyStart::on;
  std::int64_t initial_window = 10;   ///< segments
  Time tick = Time::milliseconds(4);  ///< CUBIC reads its clock in these
};

/// What HyStart looks at when an ACK brings an RTT sample.
struct AckTrain {
  Time rtt{};
  Sequence unacknowledged = 0;  ///< SND.UNA after the ACK
  Sequence next = 0;            ///< SND.NXT
  bool paced = false;           ///< the sender spaces its segments
  double pacing_rate = 0;       ///< bytes per second, 0: not known
};

/// A congestion window and its threshold, in segments.
class CongestionWindow {
 public:
  static constexpr std::int64_t kNoThreshold = std::numeric_limits<std::int32_t>::max();

  explicit CongestionWindow(const CongestionRules& rules);

  std::int64_t size() const { return size_; }
  std::int64_t threshold() const { return threshold_; }
  bool in_slow_start() const { return size_ < threshold_; }
  void set_size(std::int64_t segments) { size_ = segments; }
  void set_threshold(std::int64_t segments) { threshold_ = segments; }
  /// Whether the reaction depends on how many segments were marked (DCTCP).
  bool judges_marks() const { return rules_.algorithm == CongestionAlgorithm::dctcp; }
  CongestionAlgorithm algorithm() const { return rules_.algorithm; }
  void clear_credit() { credit_ = 0; }

  /// Grows for `acked` newly acknowledged segments; the caller has seen that the window was used.
  void grow(Time now, std::int64_t acked);
  /// Takes an RTT sample: CUBIC's minimum and HyStart, which may end slow start here.
  void on_sample(Time now, const AckTrain& train);
  /// The threshold a loss now asks for; also tells CUBIC that its epoch ends.
  std::int64_t threshold_after_loss(std::int64_t window);
  /// The threshold an echo of ECN marks asks for.
  std::int64_t threshold_after_marks() {
    return judges_marks() ? marks_.reduced(size_) : threshold_after_loss(size_);
  }
  /// How many segments an ACK reported with or without ECE; for judges_marks().
  void on_marks(const AckTrain& position, std::int64_t delivered, bool marked) {
    marks_.on_ack(position.unacknowledged, position.next, delivered, marked);
  }
  double marked_fraction() const { return marks_.fraction(); }  ///< DCTCP's alpha
  /// A retransmission timeout makes CUBIC forget (RFC 9438 4.8).
  void on_timeout(Time now, Sequence next);
  /// Sending resumes with nothing in flight: idle time does not count for CUBIC's growth.
  void on_transmit_start(Time now, Time last_sent);

 private:
  void avoid_congestion(Time now, std::int64_t acked);
  void grow_vegas(std::int64_t acked);
  std::int64_t slow_start(std::int64_t acked);
  void sample_cubic(Time now, const AckTrain& train);
  void additive_increase(std::int64_t segments_per_step, std::int64_t acked);
  void update_cubic(Time now, std::int64_t acked);
  std::int64_t cubic_target(Time now);
  void start_epoch(Time tick_now, std::int64_t acked);
  void detect_exit(Time now, const AckTrain& train);
  void start_round(Time now, Sequence next);

  CongestionRules rules_;
  std::int64_t size_;
  std::int64_t threshold_ = kNoThreshold;
  std::int64_t credit_ = 0;  ///< acknowledged segments not yet turned into growth

  MarkedFraction marks_;  ///< DCTCP
  VegasEstimator vegas_;

  // CUBIC.
  std::int64_t last_maximum_ = 0;   ///< W_max
  std::int64_t origin_ = 0;         ///< the plateau of the cubic function
  std::int64_t epoch_acked_ = 0;    ///< acknowledged towards Reno's estimate
  std::int64_t reno_estimate_ = 0;  ///< W_est of RFC 9438 4.3
  std::int64_t per_step_ = 0;       ///< segments to acknowledge for +1
  std::int64_t last_size_ = 0;
  std::int64_t plateau_time_ = 0;  ///< K, in 1/1024 s
  Time last_update_{};
  Time epoch_{};
  bool in_epoch_ = false;
  Time delay_minimum_{};

  // HyStart.
  bool exit_found_ = false;
  Time round_start_{}, last_ack_{}, round_rtt_ = Time::never();
  Sequence round_end_ = 0;
  int samples_ = 0;
  HystartPlusPlus gentle_;
  bool paced_ = false;  ///< as of the last sample
};

}  // namespace linerate::models::tcp
