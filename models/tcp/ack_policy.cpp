#include "models/tcp/ack_policy.hpp"

namespace linerate::models::tcp {
namespace {

using experiments::AckRule;
using experiments::DelayedAckClock;

// SACK compression in Linux (tcp_comp_sack_*): 5 % of the RTT up to 1 ms, then up to 0.1 ms of
// slack, which an idle processor uses up; at most 44 ACKs merged; the first three always leave, so
// that the peer's fast retransmit is not late.
constexpr Time kCompressionLimit = Time::milliseconds(1);
constexpr Time kCompressionSlack = Time::microseconds(100);
constexpr int kCompressionCount = 44;
constexpr int kUncompressedAcks = 3;

}  // namespace

AckPolicy::AckPolicy(const experiments::Stack& stack, Time grid_phase)
    : stack_(stack),
      linux_rules_(stack.ack_rule == AckRule::linux_receive ||
                   stack.ack_rule == AckRule::linux_2_2),
      grid_(
          {stack.timer_tick, Time{}, stack.coarse_timers ? TimerWheel::levels : TimerWheel::flat}),
      phase_(grid_phase) {}

inline Time AckPolicy::tick_of(Time now) const {
  return stack_.timer_tick == Time{} ? now : now - now % stack_.timer_tick;
}

// Between segments that come faster than half the minimum, the timeout decays towards it; slower
// ones raise it; a gap above the RTO means that the peer starts over.
void AckPolicy::estimate_interval(Time now, const ReceiveWindow& window, const PathView& path) {
  const Time tick = tick_of(now);
  const Time gap = tick - last_data_;
  const Time least = stack_.delayed_ack_min;
  if (interval_ == Time{}) {
    raise_quick(window, stack_.quick_acks);
    interval_ = least;
  } else if (stack_.ack_rule == AckRule::linux_2_2) {
    interval_ =
        gap > path.timeout ? path.timeout : interval_ / 2 + std::max(gap, stack_.timer_tick);
    interval_ = std::max(interval_, least);
  } else if (gap <= least / 2) {
    interval_ = interval_ / 2 + least / 2;
  } else if (gap < interval_) {
    interval_ = std::min(interval_ / 2 + gap, path.timeout);
  } else if (gap > path.timeout) {
    raise_quick(window, stack_.quick_acks);
  }
  last_data_ = tick;
}

// As many quick ACKs as half a window holds segments, at least 2.
void AckPolicy::raise_quick(const ReceiveWindow& window, int limit) {
  const auto fit = window.last_advertised() / (window.segment_size() * 2);
  const auto most = static_cast<std::int64_t>(limit);
  quick_ = std::max(quick_, static_cast<int>(std::min(std::max<std::int64_t>(fit, 2), most)));
}

void AckPolicy::on_out_of_order() {
  scheduled_ = true;
  // RFC 5681 section 4.2: at once. Linux decides in due(), where ACKs may be compressed.
  if (stack_.ack_rule != AckRule::linux_receive) immediate_ = true;
}

void AckPolicy::on_trouble(const ReceiveWindow& window) {
  scheduled_ = true;
  if (!linux_rules_) {
    immediate_ = true;
    return;
  }
  raise_quick(window, stack_.quick_acks);
  interactive_ = false;
  interval_ = stack_.delayed_ack_min;
}

void AckPolicy::on_congestion(const ReceiveWindow& window) {
  constexpr int kQuickAcks = 2;  // Linux tcp_enter_quickack_mode after a mark
  if (!linux_rules_) return;
  raise_quick(window, std::min(kQuickAcks, stack_.quick_acks));
  interactive_ = false;
  interval_ = stack_.delayed_ack_min;
}

void AckPolicy::on_window_growth() {
  if (stack_.ack_rule == AckRule::linux_receive) quick_ |= 1;
}

void AckPolicy::on_end_of_stream() {
  scheduled_ = true;
  // Linux waits a little for the application to close too; others answer a FIN at once.
  if (stack_.ack_rule == AckRule::linux_receive)
    interactive_ = true;
  else
    immediate_ = true;
}

bool AckPolicy::due_when_owed(Time now, Sequence next, const ReceiveWindow& window, bool gap,
                              const PathView& path) {
  if (owed_now(next, window, gap)) return true;
  if (gap && stack_.ack_rule == AckRule::linux_receive) return compress(now, next, window, path);
  return arm(now, path);
}

inline bool AckPolicy::owed_now(Sequence next, const ReceiveWindow& window, bool gap) {
  if (immediate_) return true;
  const Bytes unacknowledged(static_cast<std::int64_t>(next - window.advertised_at()));
  switch (stack_.ack_rule) {
    case AckRule::linux_receive:
      return owed_by_receive_rule(next, window) || quick();
    case AckRule::linux_2_2:
      return unacknowledged >= window.segment_size() * 2 || gap || quick() ||
             window.select(next) > window.offered(next) * 2;
    case AckRule::every_second:
      return segments_ >= 2;
    case AckRule::window_update:
      return false;  // tcp_input() only marks the ACK as delayed
  }
  return false;
}

// More than one segment waits and the window's edge can advance; while the reader lags, its next
// read will send the ACK.
inline bool AckPolicy::owed_by_receive_rule(Sequence next, const ReceiveWindow& window) {
  const Bytes unacknowledged(static_cast<std::int64_t>(next - window.advertised_at()));
  if (unacknowledged <= window.segment_size()) return false;
  check_space(window);
  return window.select(next) >= window.last_advertised();
}

// ACKs for a standing gap carry news only for the scoreboard, so they are merged.
bool AckPolicy::compress(Time now, Sequence next, const ReceiveWindow& window,
                         const PathView& path) {
  if (!sack_ || !stack_.sack_compression || compressed_ >= kCompressionCount) return true;
  if (gap_at_ != next) {
    gap_at_ = next;
    gap_acks_ = 0;
  }
  if (gap_acks_ < kUncompressedAcks) {
    ++gap_acks_;
    return true;
  }
  ++compressed_;
  if (compressed_until_ != Time::never()) return false;
  Time rtt = window.rtt();
  if (path.smoothed_rtt > Time{} && path.smoothed_rtt < rtt) rtt = path.smoothed_rtt;
  compressed_until_ = now + std::min(kCompressionLimit, rtt / 20) + kCompressionSlack;
  return false;
}

inline Time AckPolicy::delay(const PathView& path) const {
  const Time least = stack_.delayed_ack_min;
  Time most = stack_.delayed_ack_max;
  // An interval above the minimum is bounded by the RTT where that is known (Linux 2.4 on).
  if (stack_.ack_rule == AckRule::linux_receive && path.smoothed_rtt > Time{})
    most = earlier(most, later(path.smoothed_rtt, least));
  return earlier(later(interval_, least), most);
}

// Sets the delayed-ACK timer; true when the one already set is so near that the ACK leaves now.
inline bool AckPolicy::arm(Time now, const PathView& path) {
  if (stack_.delayed_ack_clock == DelayedAckClock::shared_grid) {
    if (delayed_ != Time::never()) return false;
    const Time period = stack_.delayed_ack_grid;
    const Time phase = phase_ % period;
    delayed_ = now + period - (now + period - phase) % period;
    return false;
  }
  const Time wait = delay(path);
  // Usual case, decided without the divisions below: a timer is set, and neither late nor near.
  if (delayed_ <= now + wait && delayed_ > now + wait / 2 + stack_.timer_tick) return false;
  if (delayed_ != Time::never() && stack_.ack_rule == AckRule::linux_receive) {
    const Time tick = stack_.timer_tick;  // Linux counts in whole ticks and rounds down here
    const Time quarter = tick == Time{} ? wait / 4 : tick * (grid_.grid().ticks(wait) / 4);
    if (delayed_ <= grid_.grid().expiry(now, quarter)) return true;
  }
  // A timer due no later than `wait` from now is not later than a new one, which is never early.
  if (delayed_ > now + wait) delayed_ = grid_.expiry(now, wait);
  return false;
}

// A window update is due when it at least doubles the offer (Linux), or opens it by two segments
// or half of the buffer (BSD tcp_output()).
bool AckPolicy::update_owed(Sequence next, const ReceiveWindow& window) {
  const Bytes offered = window.offered(next);
  if (linux_rules_) {
    check_space(window);
    const Bytes selected = window.select(next);
    return selected > Bytes{} && selected >= offered * 2;
  }
  const Bytes gain = window.select_raw() - offered;
  return gain >= window.threshold_segment() * 2 || gain * 2 >= window.buffer();
}

bool AckPolicy::may_answer(Time now) {
  if (now < next_answer_) return false;
  next_answer_ = now + stack_.answer_interval;
  return true;
}

bool AckPolicy::on_timer(Time now, const PathView& path) {
  if (compressed_until_ <= now) {
    compressed_until_ = Time::never();
    return compressed_ > 0;
  }
  if (delayed_ > now) return false;
  delayed_ = Time::never();
  if (!scheduled_) return false;
  // The guess was wrong: either more data is slower than thought, or no reply was coming.
  if (interactive_) {
    interactive_ = false;
    interval_ = stack_.delayed_ack_min;
  } else {
    interval_ = std::min(interval_ * 2, path.timeout);
  }
  return true;
}

void AckPolicy::on_data_sent(Time now) {
  if (tick_of(now) - last_data_ < interval_) interactive_ = true;
}

}  // namespace linerate::models::tcp
