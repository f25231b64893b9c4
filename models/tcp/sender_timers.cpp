// Sender: one timer, which is the retransmission timeout, the loss probe, the reordering timer or
// the persist timer.
#include <algorithm>

#include "models/tcp/sender.hpp"

namespace linerate::models::tcp {

namespace {
constexpr int kLargestBackOff = 15;
}

// An acknowledgment arms the timer up to three times, so its expiry is computed when it is asked
// for.
inline void Sender::arm(TimerKind kind, Time now, Time delay) {
  timer_ = kind;
  timer_armed_ = now;
  timer_delay_ = delay;
  timer_settled_ = false;
}

void Sender::settle_timer() {
  timer_settled_ = true;
  timer_at_ = grid_.expiry(timer_armed_, timer_delay_);
}

void Sender::disarm() {
  timer_ = TimerKind::none;
  timer_at_ = Time::never();
  timer_settled_ = true;
}

// What is left of the timeout, counted from the oldest segment's latest transmission.
Time Sender::time_to_timeout(Time now) const {
  return scoreboard_.front().sent + rtt_.timeout() - now;
}

// RFC 6298 5.2 and 5.3: off when all is acknowledged, else a full RTO from now; a probe or
// reordering timer only postponed it, so then what is left of it.
void Sender::restart_retransmit(Time now) {
  if (scoreboard_.empty()) {
    disarm();
    return;
  }
  Time delay = rtt_.timeout();
  if (timer_ == TimerKind::loss_probe || timer_ == TimerKind::reorder)
    delay = std::max(time_to_timeout(now), Time::microseconds(1));
  arm(TimerKind::retransmit, now, delay);
}

// RFC 8985 7.2: PTO = 2 srtt, with room for a delayed ACK when one segment is out, never later
// than the RTO. `advancing`: an ACK has just restarted that.
bool Sender::arm_loss_probe(Time now, bool advancing) {
  if (!rack_ || scoreboard_.empty() || (state_ != LossState::open && state_ != LossState::reduced))
    return false;
  Time delay = stack_.rto_initial;
  if (rtt_.measured()) {
    const Time margin = stack_.timer_tick > Time{} ? stack_.timer_tick * 2 : Time::milliseconds(2);
    delay = rtt_.smoothed() * 2 + (scoreboard_.size() == 1 ? stack_.rto_min : margin);
  }
  const Time timeout = advancing ? rtt_.timeout() : time_to_timeout(now);
  if (timeout > Time{}) delay = std::min(delay, timeout);
  if (pacing_active() && pacing_next_ > now) delay += pacing_next_ - now;
  arm(TimerKind::loss_probe, now, delay);
  return true;
}

Time Sender::persist_delay() const {
  return std::clamp(rtt_.timeout() * (std::int64_t{1} << persist_back_offs_), stack_.persist_min,
                    stack_.persist_max);
}

// An acknowledgment came while nothing was in flight: if it opens the window, probing ends (what
// is sent arms its own timer), else it goes on.
void Sender::resume_persist(Time now) {
  if (buffer_.all_sent()) return;
  if (buffer_.front().end <= window_edge()) {
    persist_back_offs_ = 0;
    disarm();
  } else {
    arm(TimerKind::persist, now, persist_delay());
  }
}

void Sender::on_timer(Time now) {
  if (pacing_at_ <= now) {
    pacing_at_ = Time::never();
    resend_lost(now);
    transmit(now, Push::nagle);
  }
  if (timer_at() > now) return;
  const TimerKind kind = timer_;
  disarm();
  switch (kind) {
    case TimerKind::none:
      break;
    case TimerKind::retransmit:
      on_retransmit_timeout(now);
      break;
    case TimerKind::loss_probe:
      on_loss_probe(now);
      break;
    case TimerKind::reorder:
      on_reorder_timeout(now);
      break;
    case TimerKind::persist:
      on_persist(now);
      break;
  }
}

void Sender::on_retransmit_timeout(Time now) {
  if (scoreboard_.empty()) return;
  if (timeouts_in_row_ == 0) stuck_since_ = now;
  if (stack_.mtu_probing) suspect_black_hole(now);
  enter_loss(now);
  resend(now, scoreboard_.first(), true);
  ++timeouts_in_row_;
  ++counts_.timeouts;
  rtt_.back_off();
  arm(TimerKind::retransmit, now, rtt_.timeout());
}

// RFC 4821 7.7: when timeouts repeat, the path may have stopped taking full segments without saying
// so. Linux (tcp_mtu_probing = 1) thinks so after three doublings of its least RTO, goes down to
// 1024 B and then halves at every further timeout. It later looks upwards again; that is left out.
void Sender::suspect_black_hole(Time now) {
  constexpr std::int64_t kDoublings = 15;  // 1 + 2 + 4 + 8
  constexpr std::int64_t kBaseSegment = 1024, kLeastSegment = 48;
  if (timeouts_in_row_ == 0 || now - stuck_since_ < stack_.rto_min * kDoublings) return;
  const std::int64_t size = segments_shrunk_ ? segment_size_ / 2 : kBaseSegment;
  segments_shrunk_ = true;
  if (size < segment_size_ && size >= kLeastSegment) shrink_segments(size);
}

void Sender::shrink_segments(std::int64_t bytes) {
  segment_size_ = bytes;
  scoreboard_.recut(static_cast<std::uint32_t>(bytes));
  if (bbr_) {
    bbr_->set_segment_bytes(bytes);
    bbr_->rate().renumber(scoreboard_.size());
  }
  resend_from_ = scoreboard_.first();
  update_pacing_rate();
}

// RFC 8985 7.3: new data if there is any and it fits the window, else the last segment again.
void Sender::on_loss_probe(Time now) {
  if (scoreboard_.empty()) return;
  bool sent = false;
  if (probe_end_ == 0) {
    probe_resent_ = false;
    const std::int64_t before = scoreboard_.size();
    const Sequence fits = std::min(nxt_ + static_cast<Sequence>(segment_size_), buffer_.end());
    if (!buffer_.all_sent() && fits <= window_edge()) {
      transmit(now, Push::probe);
      sent = scoreboard_.size() > before;
    } else {
      resend(now, scoreboard_.end() - 1, false);
      sent = probe_resent_ = true;
    }
    if (sent) {
      probe_end_ = nxt_;
      ++counts_.tail_probes;
    }
  }
  if (sent) {
    arm(TimerKind::retransmit, now, rtt_.timeout());
  } else {
    timer_ = TimerKind::loss_probe;  // what is left of the timeout, not a new one
    restart_retransmit(now);
  }
}

// RFC 8985 6.3: what was out of order for too long is lost now.
void Sender::on_reorder_timeout(Time now) {
  AckFacts facts;
  const std::int64_t before = flight();
  rack_detect(now, facts);
  if (flight() != before) {
    if (state_ != LossState::recovery) {
      enter_recovery(now);
      facts.delivered = 1;
      if (!bbr_) reduce(facts);
    }
    resend_lost(now);
  }
  if (timer_ != TimerKind::retransmit) {
    timer_ = TimerKind::reorder;
    restart_retransmit(now);
  }
}

// RFC 1122 4.2.2.17: a window that stays closed is probed. What fits a small window goes out as it
// is (the receiver's silly window was not avoided), else an old sequence number draws an ACK.
void Sender::on_persist(Time now) {
  const bool waits = !buffer_.all_sent() || (fin_queued_ && !fin_sent_);
  if (!scoreboard_.empty() || !waits) {
    persist_back_offs_ = 0;
    return;
  }
  ++counts_.persist_probes;
  if (!buffer_.all_sent() && nxt_ < window_edge()) {
    const std::int64_t bytes =
        std::min({static_cast<std::int64_t>(window_edge() - nxt_), segment_size_now(),
                  static_cast<std::int64_t>(buffer_.front().end - nxt_)});
    send_new(now, bytes, true);
    persist_back_offs_ = 0;
    return;
  }
  emit(now, una_ - 1, 0, kAck);
  persist_back_offs_ = std::min(persist_back_offs_ + 1, kLargestBackOff);
  arm(TimerKind::persist, now, persist_delay());
}

}  // namespace linerate::models::tcp
