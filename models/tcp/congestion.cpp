#include "models/tcp/congestion.hpp"

#include <algorithm>
#include <cmath>

namespace linerate::models::tcp {

using experiments::HyStart;

namespace {

// RFC 9438: C = 0.4 and beta = 0.7, as the binary fractions Linux uses; they show in the third
// digit of a long run.
constexpr std::int64_t kBeta1024 = 717;
constexpr std::int64_t kC1024 = 410;
// Segments acknowledged per +1 of the Reno estimate, as eighths of the window: the RFC's
// alpha = 3 (1 - beta) / (1 + beta) = 0.53, truncated to 15/8.
constexpr std::int64_t kRenoEighths = 15;

// HyStart: below this window there are too few ACKs in a round to judge it.
constexpr std::int64_t kHystartWindow = 16;
constexpr int kHystartSamples = 8;
constexpr Time kTrainGap = Time::milliseconds(2);
constexpr double kLargestBurst = 65536;

}  // namespace

CongestionAlgorithm congestion_algorithm(std::string_view name) {
  for (std::size_t i = 0; i < experiments::kCongestionControls.size(); ++i)
    if (name == experiments::kCongestionControls[i]) return static_cast<CongestionAlgorithm>(i);
  LINERATE_CHECK(false, "the parser knows the congestion controls");
}

CongestionWindow::CongestionWindow(const CongestionRules& rules)
    : rules_(rules), size_(rules.initial_window) {
  if (rules_.algorithm >= CongestionAlgorithm::vegas) rules_.hystart = HyStart::off;
}

void CongestionWindow::grow(Time now, std::int64_t acked) {
  if (rules_.algorithm == CongestionAlgorithm::vegas) return grow_vegas(acked);
  if (in_slow_start()) {
    acked = slow_start(acked);
    if (acked == 0) return;
  }
  avoid_congestion(now, acked);
}

// Returns what is left of `acked` when the threshold is reached.
inline std::int64_t CongestionWindow::slow_start(std::int64_t acked) {
  if (rules_.hystart == HyStart::plus_plus && !exit_found_) acked = gentle_.growth(acked, paced_);
  const std::int64_t grown = std::min(size_ + acked, threshold_);
  acked -= grown - size_;
  size_ = grown;
  return acked;
}

inline void CongestionWindow::avoid_congestion(Time now, std::int64_t acked) {
  if (rules_.algorithm == CongestionAlgorithm::cubic) {
    update_cubic(now, acked);
    additive_increase(per_step_, acked);
  } else {
    additive_increase(size_, acked);
  }
}

void CongestionWindow::grow_vegas(std::int64_t acked) {
  using Step = VegasEstimator::Step;
  switch (vegas_.step(size_, in_slow_start())) {
    case Step::reno:
      if (in_slow_start()) acked = slow_start(acked);
      if (acked > 0) additive_increase(size_, acked);
      break;
    case Step::slow_start:
      slow_start(acked);
      break;
    case Step::hold:
      break;
    case Step::up:
      ++size_;
      break;
    case Step::down:
      size_ = std::max<std::int64_t>(size_ - 1, 2);
      threshold_ = std::min(threshold_, size_ - 1);
      break;
    case Step::leave_slow_start:
      size_ = std::max<std::int64_t>(std::min(size_, vegas_.target(size_) + 1), 2);
      threshold_ = std::min(threshold_, size_ - 1);
      break;
  }
}

void CongestionWindow::additive_increase(std::int64_t segments_per_step, std::int64_t acked) {
  // Credit saved while a step was dearer buys one segment, not a burst of them.
  if (credit_ >= segments_per_step) {
    credit_ = 0;
    ++size_;
  }
  credit_ += acked;
  if (credit_ >= segments_per_step) {
    const std::int64_t steps = credit_ / segments_per_step;
    credit_ -= steps * segments_per_step;
    size_ += steps;
  }
}

void CongestionWindow::start_epoch(Time tick_now, std::int64_t acked) {
  in_epoch_ = true;
  epoch_ = tick_now;
  epoch_acked_ = acked;
  reno_estimate_ = size_;
  if (last_maximum_ <= size_) {
    plateau_time_ = 0;
    origin_ = size_;
  } else {
    // K = cbrt((W_max - cwnd) / C), RFC 9438 4.2 (figure 2).
    const double distance = static_cast<double>(last_maximum_ - size_);
    plateau_time_ = static_cast<std::int64_t>(
        std::cbrt(distance * 1024.0 / static_cast<double>(kC1024)) * 1024.0);
    origin_ = last_maximum_;
  }
}

std::int64_t CongestionWindow::cubic_target(Time now) {
  const std::int64_t ticks =
      (now - epoch_) / rules_.tick +
      (delay_minimum_.picoseconds() + rules_.tick.picoseconds() - 1) / rules_.tick.picoseconds();
  const std::int64_t t = (rules_.tick * ticks * 1024) / Time::seconds(1);
  const std::int64_t distance = t < plateau_time_ ? plateau_time_ - t : t - plateau_time_;
  // 2^40: 10 bits of C and three times 10 bits of time.
  __extension__ using Wide = __int128;
  const auto delta =
      static_cast<std::int64_t>((static_cast<Wide>(kC1024) * distance * distance * distance) >> 40);
  return t < plateau_time_ ? origin_ - delta : origin_ + delta;
}

void CongestionWindow::update_cubic(Time now, std::int64_t acked) {
  epoch_acked_ += acked;
  const Time tick_now = rules_.tick * (now / rules_.tick);
  // An unchanged window is looked at again after 1/32 s only.
  const std::int64_t quiet_ticks = (Time::seconds(1) / 32) / rules_.tick;
  if (last_size_ == size_ && (tick_now - last_update_) / rules_.tick <= quiet_ticks) return;
  if (!in_epoch_ || tick_now != last_update_) {
    last_size_ = size_;
    last_update_ = tick_now;
    if (!in_epoch_) start_epoch(tick_now, acked);
    const std::int64_t target = cubic_target(tick_now);
    per_step_ = target > size_ ? size_ / (target - size_) : 100 * size_;
    // Before the first loss W_max is unknown; 5 % per round trip keeps the search moving.
    if (last_maximum_ == 0) per_step_ = std::min<std::int64_t>(per_step_, 20);
  }
  // Reno-friendly region, RFC 9438 4.3.
  const std::int64_t per_segment = (size_ * kRenoEighths) >> 3;
  while (epoch_acked_ > per_segment) {
    epoch_acked_ -= per_segment;
    ++reno_estimate_;
  }
  if (reno_estimate_ > size_) per_step_ = std::min(per_step_, size_ / (reno_estimate_ - size_));
  // At most one for two acknowledged: 1.5 windows per round trip (RFC 9438 4.4, target <= 1.5
  // cwnd).
  per_step_ = std::max<std::int64_t>(per_step_, 2);
}

std::int64_t CongestionWindow::threshold_after_loss(std::int64_t window) {
  exit_found_ = exit_found_ || rules_.hystart == HyStart::plus_plus;  // RFC 9406 4.2: once
  switch (rules_.algorithm) {
    case CongestionAlgorithm::bbr:
      return threshold_;  // keeps its own account of losses
    case CongestionAlgorithm::vegas:
      vegas_.pause();
      [[fallthrough]];
    case CongestionAlgorithm::reno:
    case CongestionAlgorithm::dctcp:  // RFC 8257 3.5: as any TCP
      return std::max<std::int64_t>(window / 2, 2);
    case CongestionAlgorithm::cubic:
      break;
  }
  in_epoch_ = false;
  // Fast convergence (RFC 9438 4.7): a flow that did not regain its maximum makes room.
  last_maximum_ = window < last_maximum_ ? window * (1024 + kBeta1024) / 2048 : window;
  return std::max<std::int64_t>(window * kBeta1024 / 1024, 2);
}

void CongestionWindow::on_timeout(Time now, Sequence next) {
  if (rules_.algorithm != CongestionAlgorithm::cubic) return;
  last_maximum_ = origin_ = plateau_time_ = per_step_ = last_size_ = 0;
  epoch_acked_ = reno_estimate_ = 0;
  in_epoch_ = false;
  exit_found_ = rules_.hystart == HyStart::plus_plus;
  delay_minimum_ = last_update_ = Time{};
  start_round(now, next);
}

void CongestionWindow::on_transmit_start(Time now, Time last_sent) {
  if (!in_epoch_ || now <= last_sent) return;
  epoch_ = std::min(epoch_ + rules_.tick * ((now - last_sent) / rules_.tick),
                    rules_.tick * (now / rules_.tick));
}

void CongestionWindow::on_sample(Time now, const AckTrain& train) {
  if (rules_.algorithm == CongestionAlgorithm::cubic) {
    sample_cubic(now, train);
  } else if (rules_.algorithm == CongestionAlgorithm::vegas) {
    vegas_.on_sample(train.rtt, train.unacknowledged, train.next);
  }
  if (rules_.hystart != HyStart::plus_plus || exit_found_ || !in_slow_start()) return;
  paced_ = train.paced;
  exit_found_ = gentle_.on_sample(train.rtt, train.unacknowledged, train.next);
  if (exit_found_) threshold_ = size_;
}

inline void CongestionWindow::sample_cubic(Time now, const AckTrain& train) {
  // Right after a reduction the queue it left behind is no evidence.
  if (in_epoch_ && now - epoch_ < Time::seconds(1)) return;
  if (delay_minimum_ == Time{} || train.rtt < delay_minimum_) delay_minimum_ = train.rtt;
  if (!exit_found_ && rules_.hystart == HyStart::on && in_slow_start()) detect_exit(now, train);
}

void CongestionWindow::start_round(Time now, Sequence next) {
  round_start_ = last_ack_ = now;
  round_end_ = next;
  round_rtt_ = Time::never();
  samples_ = 0;
}

void CongestionWindow::detect_exit(Time now, const AckTrain& train) {
  if (train.unacknowledged > round_end_) start_round(now, train.next);
  if (size_ < kHystartWindow) return;
  // ACK train: closely spaced ACKs that last longer than the one-way delay fill the path.
  if (now - last_ack_ <= kTrainGap) {
    last_ack_ = now;
    // Large bursts stretch the train; allow what four of them take at the pacing rate, 1 ms at
    // most.
    const double burst = train.pacing_rate > 0 ? 4 * kLargestBurst / train.pacing_rate : 0;
    Time limit = delay_minimum_ + Time::from_seconds(std::min(burst, 1e-3));
    if (!train.paced) limit = limit / 2;
    if (now - round_start_ > limit) exit_found_ = true;
  }
  // Delay increase: the smallest of a round's first samples against the smallest ever.
  round_rtt_ = std::min(round_rtt_, train.rtt);
  if (samples_ < kHystartSamples) {
    ++samples_;
  } else {
    const Time margin =
        std::clamp(delay_minimum_ / 8, Time::milliseconds(4), Time::milliseconds(16));
    if (round_rtt_ > delay_minimum_ + margin) exit_found_ = true;
  }
  if (exit_found_) threshold_ = size_;
}

}  // namespace linerate::models::tcp
