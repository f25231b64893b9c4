#include "models/tcp/delivery_rate.hpp"

namespace linerate::models::tcp {

void DeliveryRate::on_arrived(Index index, Time sent, Sequence end) {
  const bool later = !latest_ || sent > latest_sent_ || (sent == latest_sent_ && end > latest_end_);
  if (!later) return;
  latest_ = stamps_.at(index);
  latest_sent_ = first_sent_ = sent;
  latest_end_ = end;
  send_interval_ = sent - latest_->first_sent;
}

RateSample DeliveryRate::sample(Time now, std::int64_t newly, Time minimum_rtt) {
  delivered_ += newly;
  if (newly > 0) delivered_at_ = now;
  if (limited_until_ != 0 && delivered_ > limited_until_) limited_until_ = 0;
  RateSample sample;
  if (!latest_) return sample;
  sample.prior_delivered = latest_->delivered;
  sample.application_limited = latest_->limited;
  // The slower of sending and acknowledging: neither bunched departures nor bunched ACKs may look
  // like a faster path.
  const Time interval = std::max(send_interval_, now - latest_->delivered_at);
  sample.delivered = delivered_ - latest_->delivered;
  if (interval >= minimum_rtt) sample.interval = interval;
  latest_.reset();
  return sample;
}

}  // namespace linerate::models::tcp
