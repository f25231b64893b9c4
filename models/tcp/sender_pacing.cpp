// Sender: what holds it back besides the peer: pacing, the device below, and a congestion window
// that was not used. Also the account of why it was not sending.
#include <algorithm>

#include "models/tcp/sender.hpp"

namespace linerate::models::tcp {

namespace {
// Linux starts to pace after the initial window (data_segs_out >= 10).
constexpr std::int64_t kUnpacedSegments = 10;
}  // namespace

bool Sender::pacing_holds(Time now) {
  const bool holds = pacing_active() && pacing_next_ > now;
  pacing_at_ = holds ? pacing_next_ : Time::never();
  return holds;
}

// The next buffer may leave when this one has passed at the pacing rate; a late one has earned up
// to half of its time.
void Sender::charge_pacing(Time now, std::int64_t bytes) {
  const Time due = pacing_next_;
  pacing_next_ = std::max(pacing_next_, now);
  if (!pacing_active() || pacing_rate_ <= 0 || counts_.data_segments_out < kUnpacedSegments) return;
  const Time span = Time::from_seconds(static_cast<double>(bytes) / pacing_rate_);
  pacing_next_ += span - std::min(span / 2, pacing_next_ - due);
}

// Pacing rate: 200 % of cwnd per RTT in slow start, 120 % after, as Linux does; even unpaced it
// sizes the send buffers so that they leave about every millisecond (and larger on short paths).
void Sender::update_pacing_rate() {
  if (!offload_ && !pacing_active()) return;
  double rate = 0;
  if (bbr_) {
    rate = bbr_->pacing_rate();
  } else if (rtt_.measured()) {
    const double factor = window_.size() < window_.threshold() / 2 ? 2.0 : 1.2;
    const auto window = static_cast<double>(std::max(window_.size(), scoreboard_.size()));
    rate = factor * window * static_cast<double>(segment_size_) * 8e6 /
           static_cast<double>(rtt_.smoothed_eighths());
  }
  if (pacing_limit_) rate = rate > 0 ? std::min(rate, *pacing_limit_) : *pacing_limit_;
  pacing_rate_ = rate;
  std::int64_t burst = rate > 0 ? static_cast<std::int64_t>(rate / 1024.0) : kLargestSendBuffer;
  if (rtt_.measured()) {
    const std::int64_t steps = rtt_.minimum().whole_microseconds() >> 9;  // tcp_tso_rtt_log
    if (steps < 32) burst += kLargestSendBuffer >> steps;
  }
  burst_segments_ = std::max(std::min(burst, kLargestSendBuffer) / segment_size_,
                             bbr_ ? bbr_->least_burst() : std::int64_t{2});
}

// TCP small queues: about a millisecond of our own packets below the socket, at least two buffers.
bool Sender::device_full() const {
  const std::int64_t cap = stack_.small_queue_limit.count();
  if (cap == 0) return false;
  std::int64_t limit = cap;
  if (offload_) {
    const auto rate = static_cast<std::int64_t>(pacing_rate_ / 1024.0);
    limit = std::min(cap, std::max(2 * burst_segments_ * segment_size_, rate));
  }
  return below_ > limit && scoreboard_.size() > burst_segments_;
}

void Sender::on_transmitted(Time now, Bytes packet) {
  below_ = std::max<std::int64_t>(below_ - packet.count(), 0);
  if (!throttled_ || device_full()) return;
  throttled_ = false;
  resend_lost(now);
  transmit(now, Push::nagle);
}

// Use of the window (RFC 7661's concern): it grows only while it is the limit.

void Sender::validate_window(Time now, bool window_limited) {
  const std::int64_t out = scoreboard_.size();
  if (una_ >= usage_until_ || window_limited || (!window_limited_ && out > most_out_)) {
    window_limited_ = window_limited;
    most_out_ = out;
    usage_until_ = nxt_;
  }
  if (window_was_used()) {
    used_when_starved_ = 0;
    window_used_at_ = now;
    return;
  }
  used_when_starved_ = std::max(used_when_starved_, out);
  if (now - window_used_at_ < rtt_.timeout()) return;
  // Unused for an RTO: move half way to what was used (RFC 2861).
  if (state_ == LossState::open && !writer_waits_ && !bbr_) {
    const std::int64_t used = std::max<std::int64_t>(used_when_starved_, stack_.initial_window);
    if (used < window_.size()) {
      window_.set_threshold(threshold_now());
      window_.set_size((window_.size() + used) / 2);
    }
    used_when_starved_ = 0;
  }
  window_used_at_ = now;
}

bool Sender::window_was_used() const {
  if (!stack_.window_validation || window_limited_) return true;
  // In slow start the window may become twice what was in flight.
  return window_.in_slow_start() && window_.size() < 2 * most_out_;
}

void Sender::set_blocked(Time now, Blocked why) {
  if (why == blocked_) return;
  blocked_times_ = blocked(now);
  blocked_ = why;
  blocked_since_ = now;
}

BlockedTimes Sender::blocked(Time now) const {
  BlockedTimes times = blocked_times_;
  const Time span = now - blocked_since_;
  switch (blocked_) {
    case Blocked::no:
      break;
    case Blocked::receive_window:
      times.receive_window += span;
      break;
    case Blocked::congestion_window:
      times.congestion_window += span;
      break;
    case Blocked::nagle:
      times.nagle += span;
      break;
    case Blocked::pacing:
      times.pacing += span;
      break;
    case Blocked::device:
      times.device += span;
      break;
    case Blocked::send_buffer:
      times.send_buffer += span;
      break;
  }
  return times;
}

bool Sender::take_writable() {
  const bool result = writable_;
  writable_ = false;
  return result;
}

}  // namespace linerate::models::tcp
