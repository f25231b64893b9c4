#include "models/queue/pie.hpp"

#include <algorithm>

namespace linerate::models {

namespace {

// Two frames of full size are no queue: nothing is dropped (RFC 8033 4.1).
constexpr std::int64_t kTwoFrames = 2 * 1538;
// A departure rate is measured over so many bytes while at least as many wait (RFC 8033 5.3).
constexpr std::int64_t kMeasuredBytes = 16'384;

/// Corrections are the smaller the smaller the probability, or it would oscillate (RFC 8033 4.2).
double scale_of(double probability) {
  struct Step {
    double below, divisor;
  };
  constexpr Step kSteps[] = {{1e-6, 2048}, {1e-5, 512}, {1e-4, 128},
                             {1e-3, 32},   {1e-2, 8},   {0.1, 2}};
  for (const Step& step : kSteps)
    if (probability < step.below) return 1 / step.divisor;
  return 1;
}

}  // namespace

Pie::Pie(const experiments::QueueSpec& spec, sim::RandomStream random)
    : limit_(limit_of(spec)),
      target_(*spec.target),
      interval_(*spec.interval),
      burst_(*spec.burst),
      alpha_(*spec.alpha),
      beta_(*spec.beta),
      mark_below_(*spec.mark_below),
      ecn_(spec.ecn),
      by_rate_(*spec.delay_estimator == experiments::DelayEstimator::departure_rate),
      derandomised_(*spec.derandomised),
      random_(random),
      next_update_(*spec.interval),
      allowance_(*spec.burst) {}

Time Pie::delay() const {
  if (!by_rate_) return last_wait_;
  if (departure_rate_ <= 0) return {};
  return Time::from_seconds(static_cast<double>(row_.bytes()) / departure_rate_);
}

// The updates that a timer would have made by now: nothing they read has changed meanwhile.
void Pie::catch_up(Time now) {
  while (next_update_ <= now) {
    const bool at_rest =
        probability_ == 0 && delay() == Time{} && delay_before_ == Time{} && allowance_ == burst_;
    if (at_rest) {  // as it would stay
      next_update_ += interval_ * ((now - next_update_) / interval_ + 1);
      return;
    }
    update();
    next_update_ += interval_;
  }
}

void Pie::update() {
  const Time now_waits = delay();
  double correction =
      alpha_ * (now_waits - target_).seconds() + beta_ * (now_waits - delay_before_).seconds();
  correction *= scale_of(probability_);
  // 5.5: the controller does not jump once it drops a good deal.
  if (probability_ >= 0.1) correction = std::min(correction, 0.02);
  probability_ += correction;
  if (now_waits == Time{} && delay_before_ == Time{}) probability_ *= 0.98;
  probability_ = std::clamp(probability_, 0.0, 1.0);

  // 4.4: the allowance runs out, and is restored when congestion has gone.
  allowance_ = std::max(allowance_ - interval_, Time{});
  const Time half = target_ / 2;
  if (probability_ == 0 && now_waits < half && delay_before_ < half) allowance_ = burst_;
  delay_before_ = now_waits;
}

bool Pie::chosen() {
  if (allowance_ > Time{}) return false;
  if (delay_before_ < target_ / 2 && probability_ < 0.2) return false;
  if (row_.bytes() <= kTwoFrames) return false;
  if (derandomised_) {
    // 5.4: neither two drops close together nor a long time without one.
    if (probability_ == 0) accumulated_ = 0;
    accumulated_ += probability_;
    if (accumulated_ < 0.85) return false;
    if (accumulated_ >= 8.5) return true;
  }
  return random_.uniform01() < probability_;
}

Drop Pie::enqueue(Time now, QueuedFrame frame) {
  catch_up(now);
  if (!limit_.holds(row_.bytes(), row_.frames(), frame.bytes)) {
    ++counters_.full_drops;
    accumulated_ = 0;
    return Drop::queue;
  }
  if (chosen()) {
    accumulated_ = 0;
    // 5.1: what does not heed marks must not profit from a queue that has to drop a good deal.
    if (!ecn_ || !frame.capable() || probability_ >= mark_below_) {
      ++counters_.early_drops;
      return Drop::early;
    }
    counters_.mark(frame);
  }
  row_.push(frame);
  return Drop::none;
}

bool Pie::dequeue(Time now, std::uint8_t paused, QueuedFrame& frame, std::vector<QueuedFrame>&) {
  catch_up(now);
  if (row_.next_bytes(paused) == 0) return false;
  frame = row_.take();
  last_wait_ = row_.empty() ? Time{} : now - frame.queued;
  if (by_rate_) measure_departure(now, frame.bytes);
  return true;
}

// 5.3: the rate is the mean of the last measurement and the one before.
void Pie::measure_departure(Time now, std::uint32_t bytes) {
  if (!measuring_) {
    measuring_ = row_.bytes() + bytes >= kMeasuredBytes;
    measured_from_ = now;
    measured_bytes_ = 0;
    return;
  }
  measured_bytes_ += bytes;
  if (measured_bytes_ < kMeasuredBytes) return;
  const Time span = now - measured_from_;
  if (span > Time{}) {
    const double rate = static_cast<double>(measured_bytes_) / span.seconds();
    departure_rate_ = departure_rate_ > 0 ? (departure_rate_ + rate) / 2 : rate;
  }
  measuring_ = row_.bytes() >= kMeasuredBytes;
  measured_from_ = now;
  measured_bytes_ = 0;
}

}  // namespace linerate::models
