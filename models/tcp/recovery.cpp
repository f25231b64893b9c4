// Sender: loss states. When they begin and end, how the window is reduced (at once, or by PRR),
// what is sent again, and how a reduction that turns out to be needless is undone (RFC 3522,
// RFC 3708, RFC 5682).
#include <algorithm>

#include "models/tcp/sender.hpp"
#include "sim/check.hpp"

namespace linerate::models::tcp {

using experiments::Recovery;

// The state machine.

Sender::Resend Sender::process_losses(Time now, AckFacts& facts) {
  if (state_ == LossState::open) {
    first_resend_stamp_.reset();
  } else if (leave_finished_state(now, facts)) {
    return Resend::nothing;
  }
  switch (state_) {
    case LossState::recovery:
      return process_recovery(now, facts);
    case LossState::loss: {
      Resend what = Resend::lost;
      const bool settled = process_timeout_state(now, facts, what);
      identify_losses(now, facts);
      if (!settled && !facts.retransmission_lost) return what;
      if (state_ == LossState::loss && !facts.retransmission_lost) return what;
      return process_open(now, facts);
    }
    default:
      return process_open(now, facts);
  }
}

// A state ends when everything sent before it began is acknowledged. True: nothing else to do.
bool Sender::leave_finished_state(Time now, const AckFacts& facts) {
  const bool finished = una_ >= recovery_point_;
  if (state_ == LossState::reduced && finished && una_ != recovery_point_) {
    end_reduction(now);
    state_ = LossState::open;
  } else if (state_ == LossState::recovery) {
    // Classic Reno leaves at the first new acknowledgment (RFC 2581 3.2).
    const bool first_new = stack_.recovery == Recovery::reno && facts.advanced;
    if (!finished && !first_new) return false;
    if (!sack_) {
      duplicates_ = 0;
      scoreboard_.set_assumed_arrived(0);
      if (!finished) scoreboard_.forget_losses();
    }
    return finish_recovery(now, facts);
  }
  return false;
}

bool Sender::finish_recovery(Time now, const AckFacts& facts) {
  bool undone = false;
  if (undo_proven(facts)) {
    undo_reduction(now, false);
    undone = true;
  } else if (rack_persist_ > 0) {
    --rack_persist_;
  }
  // RFC 6582 3.2: without SACK, duplicates of the last window must not start another recovery, so
  // the state is held until something above is acknowledged.
  if (una_ == recovery_point_ && !sack_ && !scoreboard_.empty()) {
    if (!undone) window_.set_size(window_.threshold());
    return true;
  }
  if (!undone) end_reduction(now);
  state_ = LossState::open;
  return false;
}

Sender::Resend Sender::process_recovery(Time now, AckFacts& facts) {
  if (!facts.advanced) {
    if (!sack_) count_duplicate(facts);
  } else if (!sack_) {
    // RFC 6582 3.2 step 3: a partial ACK shows the next hole, and that much has left the network.
    duplicates_ = std::max<std::int64_t>(duplicates_ - (facts.acked - 1), 0);
    scoreboard_.set_assumed_arrived(0);
    lose(scoreboard_.first(), facts);
    scoreboard_.set_assumed_arrived(std::min(duplicates_, scoreboard_.size() - scoreboard_.lost()));
    resend_first_lost(now);
  } else if (rack_ && try_undo_partial(now, facts)) {
    return Resend::nothing;
  }
  if (try_undo_by_duplicates(now) && state_ != LossState::reduced) keep_open();
  identify_losses(now, facts);
  if (state_ != LossState::recovery) {
    if (scoreboard_.lost() == 0) return Resend::nothing;
    enter_recovery(now);
  }
  return Resend::lost;
}

// After a timeout; F-RTO as RFC 5682 3.1 describes it for SACK. True when the timeout turned out
// spurious or is over.
bool Sender::process_timeout_state(Time now, const AckFacts& facts, Resend& what) {
  const bool recovered = una_ >= recovery_point_;
  if (facts.advanced && try_undo_loss(now, facts, false)) return true;
  if (frto_) {
    // Step 3b: data never sent again has arrived, so not everything was lost.
    if (facts.original_arrived && try_undo_loss(now, facts, true)) return true;
    if (nxt_ > recovery_point_) {
      if (facts.sacked_new || facts.duplicate_ack) {  // step 3a: the loss was real
        frto_ = false;
        // Without SACK: the new data has arrived, which makes room for repairs.
        if (!sack_) count_duplicate(facts);
      }
    } else if (facts.advanced && !recovered) {
      recovery_point_ = nxt_;
      // Step 2b: probe with new data instead of resending, if there is any.
      if (!buffer_.all_sent() && window_edge() > nxt_) {
        what = Resend::new_data;
        return false;
      }
      frto_ = false;
    }
  }
  if (recovered) {
    if (!sack_) {
      duplicates_ = 0;
      scoreboard_.set_assumed_arrived(0);
    }
    if (undo_proven(facts)) {
      undo_reduction(now, false);
    } else if (rack_persist_ > 0) {
      --rack_persist_;
    }
    state_ = LossState::open;
    what = Resend::nothing;
    return true;
  }
  if (!sack_ && facts.advanced) {
    duplicates_ = 0;
    scoreboard_.set_assumed_arrived(0);
  }
  return false;
}

Sender::Resend Sender::process_open(Time now, AckFacts& facts) {
  if (!sack_) {
    if (facts.advanced) {
      duplicates_ = 0;
      scoreboard_.set_assumed_arrived(0);
    }
    count_duplicate(facts);
  }
  if (state_ <= LossState::disorder) try_undo_by_duplicates(now);
  identify_losses(now, facts);
  if (scoreboard_.lost() == 0) {
    if (facts.congestion_echo && state_ <= LossState::disorder) reduce_for_marks(now);
    if (state_ != LossState::reduced) keep_open();
    return Resend::nothing;
  }
  enter_recovery(now);
  return Resend::lost;
}

// Reducing the window.

void Sender::enter_recovery(Time now) {
  undo_threshold_ = 0;
  remember_for_undo();
  if (!reducing()) {
    undo_threshold_ = threshold_now();
    begin_reduction(false);
  }
  state_ = LossState::recovery;
  ++counts_.recoveries;
  if (rack_) return;
  window_.set_size(window_.threshold());
  window_used_at_ = now;
  // The first loss is repaired at once, whatever is still in flight (RFC 5681 3.2, RFC 6675 5).
  resend_first_lost(now);
}

// The threshold after a loss. Stacks before PRR take the smaller of the windows for what is in
// flight (RFC 5681 equation 4).
std::int64_t Sender::threshold_after_loss() {
  std::int64_t window = window_.size();
  if (!rack_) window = std::min(window, wnd_ / segment_size_);
  return window_.threshold_after_loss(window);
}

void Sender::begin_reduction(bool marks) {
  recovery_point_ = nxt_;
  probe_end_ = 0;
  window_.clear_credit();
  window_before_ = window_.size();
  if (bbr_) bbr_->on_reduction(window_.size());
  reduction_delivered_ = reduction_out_ = 0;
  window_.set_threshold(marks ? window_.threshold_after_marks() : threshold_after_loss());
  confirm_reduction_ = ecn_;
}

// RFC 3168 6.1.2: an echo of marks is answered as a loss would be, once per window of data.
void Sender::reduce_for_marks(Time now) {
  undo_threshold_ = 0;
  undo_from_.reset();
  begin_reduction(true);
  state_ = LossState::reduced;
  ++counts_.mark_reductions;
  if (!rack_) end_reduction(now);
}

// Proportional rate reduction, RFC 6937 3, with its slow-start bound.
void Sender::reduce(const AckFacts& facts) {
  if (facts.delivered <= 0) return;
  reduction_delivered_ += facts.delivered;
  const std::int64_t room = window_.threshold() - flight();
  std::int64_t send = 0;
  if (room < 0) {
    send = (window_.threshold() * reduction_delivered_ + window_before_ - 1) / window_before_ -
           reduction_out_;
  } else {
    send = std::max(reduction_delivered_ - reduction_out_, facts.delivered);
    if (facts.advanced && facts.newly_lost == 0) ++send;
    send = std::min(send, room);
  }
  // The first retransmission always goes out.
  send = std::max<std::int64_t>(send, reduction_out_ > 0 ? 0 : 1);
  window_.set_size(flight() + send);
}

void Sender::end_reduction(Time now) {
  if (bbr_) return;
  window_.set_size(window_.threshold());
  window_used_at_ = now;
}

void Sender::enter_loss(Time now) {
  const bool fresh = state_ < LossState::recovery;
  AckFacts facts;
  if (!sack_) {
    duplicates_ = 0;
    scoreboard_.set_assumed_arrived(0);
  }
  for (Index i = scoreboard_.first(); i != scoreboard_.end(); ++i) {
    const SentSegment& segment = scoreboard_.at(i);
    if (segment.has(SentSegment::kSacked)) continue;
    // What was sent less than a round trip ago may still be acknowledged.
    if (i != scoreboard_.first() && rack_ && segment.sent + rack_rtt_ > now) continue;
    lose(i, facts);
  }
  // One reduction for one window of data (RFC 5681 3.1), however often the timer expires.
  if (state_ <= LossState::disorder || una_ >= recovery_point_ ||
      (state_ == LossState::loss && timeouts_in_row_ == 0)) {
    undo_threshold_ = threshold_now();
    window_before_ = window_.size();
    if (bbr_) bbr_->on_reduction(window_.size());
    window_.set_threshold(threshold_after_loss());
    remember_for_undo();
  }
  window_.on_timeout(now, nxt_);
  if (bbr_) bbr_->on_timeout();
  window_.set_size(flight() + 1);
  window_.clear_credit();
  window_used_at_ = now;
  frto_ = stack_.frto && (fresh || timeouts_in_row_ > 0);
  state_ = LossState::loss;
  recovery_point_ = nxt_;
  probe_end_ = 0;
  confirm_reduction_ = ecn_;
}

std::int64_t Sender::threshold_now() const {
  if (reducing()) return window_.threshold();
  return std::max(window_.threshold(), window_.size() / 2 + window_.size() / 4);
}

// Undoing it.

void Sender::remember_for_undo() {
  if (!rack_) return;
  undo_from_ = una_;
  undo_open_ = scoreboard_.in_flight_again() + (probe_end_ != 0 && probe_resent_ ? 1 : 0);
  if (undo_open_ == 0) undo_open_ = -1;  // nothing sent again yet that could be a duplicate
}

bool Sender::undo_proven(const AckFacts& facts) const {
  return undo_from_ && (undo_open_ == 0 || delayed_not_lost(facts));
}

// Eifel (RFC 3522): the ACK echoes a time before the first retransmission, so it answers an
// original.
bool Sender::delayed_not_lost(const AckFacts& facts) const {
  return timestamps_ && facts.echo != 0 && first_resend_stamp_ &&
         static_cast<std::int32_t>(facts.echo - *first_resend_stamp_) < 0;
}

void Sender::undo_reduction(Time now, bool forget_losses) {
  if (forget_losses) {
    scoreboard_.forget_losses();
    original_from_ = scoreboard_.first();
  }
  if (undo_threshold_ > 0) {
    if (bbr_) {
      bbr_->on_undo();
    } else {
      window_.set_size(std::max(window_.size(), window_before_));
    }
    if (undo_threshold_ > window_.threshold()) window_.set_threshold(undo_threshold_);
  }
  window_used_at_ = now;
  undo_from_.reset();
  rack_advanced_ = true;  // judge again: real losses may remain
  ++counts_.undos;
}

// A hole was filled by a late original. True: retransmissions are still out, so send nothing more.
bool Sender::try_undo_partial(Time now, AckFacts& facts) {
  if (!undo_from_ || !delayed_not_lost(facts)) return false;
  note_reordering(facts.previous_una);
  reordering_seen_ = true;
  if (scoreboard_.in_flight_again() > 0) return true;
  if (!any_resent()) first_resend_stamp_.reset();
  undo_reduction(now, true);
  keep_open();
  return false;
}

bool Sender::try_undo_loss(Time now, const AckFacts& facts, bool proven) {
  if (!proven && !undo_proven(facts)) return false;
  undo_reduction(now, true);
  timeouts_in_row_ = 0;
  frto_ = false;
  state_ = LossState::open;
  return true;
}

// Every retransmission was reported as a duplicate (RFC 3708).
bool Sender::try_undo_by_duplicates(Time now) {
  if (!undo_from_ || undo_open_ != 0) return false;
  rack_persist_ = std::min(rack_persist_ + 1, 16);
  undo_reduction(now, false);
  return true;
}

bool Sender::any_resent() const {
  return scoreboard_.in_flight_again() > 0 ||
         (!scoreboard_.empty() && scoreboard_.front().has(SentSegment::kEverRetransmitted));
}

void Sender::keep_open() {
  const LossState state = scoreboard_.sacked() + scoreboard_.lost() > 0 || any_resent()
                              ? LossState::disorder
                              : LossState::open;
  if (state == state_) return;
  state_ = state;
  recovery_point_ = nxt_;
}

// Sending again.

void Sender::resend(Time now, Index index, bool counts_as_repair) {
  const SentSegment segment = scoreboard_.at(index);
  const bool end = segment.has(SentSegment::kEndOfStream);
  charge_pacing(now, segment.length);
  Segment& out =
      emit(now, segment.begin, segment.length, static_cast<std::uint8_t>(kAck | (end ? kFin : 0)));
  out.retransmission = true;
  last_sent_ = now;
  ++counts_.retransmits;
  if (segment.length > 0) ++counts_.data_segments_out;
  scoreboard_.mark_sent_again(index, now, counts_as_repair);
  if (bbr_) bbr_->rate().on_sent_again(index);
  if (rack_) resent_.push({index, now});
  if (!counts_as_repair) return;
  if (!first_resend_stamp_) first_resend_stamp_ = timestamp(now);
  undo_open_ = std::max<std::int64_t>(undo_open_, 0) + 1;
}

void Sender::resend_first_lost(Time now) {
  Index i = std::max(resend_from_, scoreboard_.first());
  while (i != scoreboard_.end() && (!scoreboard_.at(i).has(SentSegment::kLost) ||
                                    scoreboard_.at(i).has(SentSegment::kInFlightAgain)))
    ++i;
  if (i == scoreboard_.end()) return;
  resend(now, i, true);
  if (i == scoreboard_.first()) arm(TimerKind::retransmit, now, rtt_.timeout());
}

void Sender::resend_lost(Time now) {
  Index i = std::max(resend_from_, scoreboard_.first());
  bool restart = false;
  while (i != scoreboard_.end()) {
    if (scoreboard_.in_flight_again() >= scoreboard_.lost()) break;
    if (flight() >= window_.size() || pacing_holds(now)) break;
    const SentSegment& segment = scoreboard_.at(i);
    if (segment.has(SentSegment::kLost) && !segment.has(SentSegment::kInFlightAgain)) {
      if (device_full()) {
        throttled_ = true;
        break;
      }
      resend(now, i, true);
      if (reducing()) ++reduction_out_;
      restart |= i == scoreboard_.first() && timer_ != TimerKind::reorder;
    }
    i = scoreboard_.next_unsacked(i + 1);
  }
  resend_from_ = i;
  if (restart) arm(TimerKind::retransmit, now, rtt_.timeout());
}

void Sender::continue_recovery(Time now, Resend what) {
  if (what == Resend::nothing) return;
  if (what == Resend::new_data) {
    transmit(now, Push::all);
    if (nxt_ > recovery_point_) return;
    frto_ = false;
  }
  resend_lost(now);
}

}  // namespace linerate::models::tcp
