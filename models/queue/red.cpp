#include "models/queue/red.hpp"

#include <algorithm>
#include <cmath>

namespace linerate::models {

namespace {

// Adaptive RED, figure 1: every half second max_p goes up by at most 0.01 or down to 0.9 of itself,
// within [0.01, 0.5].
constexpr Time kAdaptInterval = Time::milliseconds(500);
constexpr double kDecrease = 0.9, kLargestIncrease = 0.01;
constexpr double kLowest = 0.01, kHighest = 0.5;

}  // namespace

Red::Red(const experiments::QueueSpec& spec, BitRate line, sim::RandomStream random)
    : limit_(limit_of(spec)),
      min_(spec.min ? static_cast<double>(spec.min->count())
                    : static_cast<double>(spec.min_frames.value_or(0))),
      max_(spec.max ? static_cast<double>(spec.max->count())
                    : static_cast<double>(spec.max_frames.value_or(0))),
      weight_(*spec.weight),
      max_probability_(*spec.max_probability),
      in_bytes_(spec.min.has_value()),
      gentle_(*spec.gentle),
      adaptive_(*spec.adaptive),
      ecn_(spec.ecn),
      line_(line),
      mean_frame_time_(serialization_time(*spec.mean_frame, line)),
      random_(random),
      adapt_at_(kAdaptInterval) {
  LINERATE_CHECK(spec.min.has_value() == spec.max.has_value() && min_ < max_,
                 "both thresholds of RED are in one unit and in order");
}

// Every arrival is a sample of the length it finds. While the line is idle nothing arrives, so the
// mean falls as if small frames had come and found nothing, one after the other.
void Red::update_mean(Time now) {
  const auto length = static_cast<double>(in_bytes_ ? row_.bytes() : row_.frames());
  if (row_.empty() && now > idle_since_) {
    const double missed = (now - idle_since_).seconds() / mean_frame_time_.seconds();
    mean_ *= std::pow(1 - weight_, missed);
  } else {
    mean_ += weight_ * (length - mean_);
  }
}

void Red::adapt(Time now) {
  if (now < adapt_at_) return;
  adapt_at_ = now + kAdaptInterval;
  // The target is the middle fifth between the thresholds.
  const double part = 0.4 * (max_ - min_);
  if (mean_ > max_ - part && max_probability_ <= kHighest)
    max_probability_ += std::min(kLargestIncrease, max_probability_ / 4);
  else if (mean_ < min_ + part && max_probability_ >= kLowest)
    max_probability_ *= kDecrease;
}

double Red::probability() const {
  if (mean_ < min_) return 0;
  if (mean_ < max_) return max_probability_ * (mean_ - min_) / (max_ - min_);
  if (!gentle_ || mean_ >= 2 * max_) return 1;
  return max_probability_ + (1 - max_probability_) * (mean_ - max_) / max_;
}

// Divided by 1 - count x p, the gap between two drops is uniform in 1 … 1/p instead of geometric:
// neither clusters nor long pauses (1993, section 7: the n-th frame since is dropped with
// probability p / (1 - (n-1) p)).
bool Red::chosen() {
  const double p = probability();
  if (p <= 0) {
    since_ = 0;
    return false;
  }
  const double left = 1 - static_cast<double>(since_) * p;
  if (p < left && random_.uniform01() >= p / left) {
    ++since_;
    return false;
  }
  since_ = 0;
  return true;
}

Drop Red::enqueue(Time now, QueuedFrame frame) {
  update_mean(now);
  if (adaptive_) adapt(now);
  if (chosen()) {
    // Beyond what it may mark the queue is out of control: it drops (RFC 3168 7).
    if (!ecn_ || !frame.capable() || probability() >= 1) {
      ++counters_.early_drops;
      return Drop::early;
    }
    counters_.mark(frame);
  }
  if (!limit_.holds(row_.bytes(), row_.frames(), frame.bytes)) {
    ++counters_.full_drops;
    since_ = 0;
    return Drop::queue;
  }
  row_.push(frame);
  return Drop::none;
}

bool Red::dequeue(Time now, std::uint8_t paused, QueuedFrame& frame, std::vector<QueuedFrame>&) {
  if (row_.next_bytes(paused) == 0) return false;
  frame = row_.take();
  // The line still has this frame to send before it is idle.
  if (row_.empty()) idle_since_ = now + serialization_time(Bytes(frame.bytes), line_);
  return true;
}

}  // namespace linerate::models
