// Sender: how losses are found. Duplicate ACKs (RFC 5681), SACK (RFC 6675), RACK (RFC 8985).
#include <algorithm>

#include "models/tcp/sender.hpp"

namespace linerate::models::tcp {

using experiments::Recovery;

// Without SACK every duplicate ACK stands for one segment that has arrived. RFC 3042's limited
// transmit follows from it; classic Reno counts them only once it recovers.
void Sender::count_duplicate(const AckFacts& facts) {
  if (!facts.duplicate_ack) return;
  ++duplicates_;
  const bool limited_transmit = stack_.recovery != Recovery::reno;
  if (limited_transmit || state_ == LossState::recovery || duplicates_ >= threshold_segments_)
    scoreboard_.set_assumed_arrived(
        std::min(duplicates_, scoreboard_.size() - std::max<std::int64_t>(scoreboard_.lost(), 1)));
}

void Sender::identify_losses(Time now, AckFacts& facts) {
  if (rack_) {
    if (!rack_advanced_) return;
    rack_advanced_ = false;
    const Time wait = rack_detect(now, facts);
    if (wait == Time{}) return;
    // Two milliseconds more, so that a timer does not beat an ACK that is under way.
    arm(TimerKind::reorder, now, std::min(wait + Time::milliseconds(2), rtt_.timeout()));
    facts.restart_timer = false;
  } else if (sack_) {
    detect_by_sack(facts);
  } else if (duplicates_ >= threshold_segments_ && state_ < LossState::recovery &&
             !scoreboard_.empty() && scoreboard_.lost() == 0) {
    lose(scoreboard_.first(), facts);
  }
}

// RFC 6675's IsLost: as many segments above are sacked as the duplicate threshold says.
void Sender::detect_by_sack(AckFacts& facts) {
  if (judged_to_ < scoreboard_.first()) {
    judged_to_ = scoreboard_.first();
    sacked_below_judged_ = 0;
  }
  while (judged_to_ != scoreboard_.end() &&
         scoreboard_.sacked() - sacked_below_judged_ >= threshold_segments_) {
    const SentSegment& segment = scoreboard_.at(judged_to_);
    if (segment.has(SentSegment::kSacked)) {
      ++sacked_below_judged_;
    } else if (!segment.has(SentSegment::kLost | SentSegment::kEverRetransmitted)) {
      lose(judged_to_, facts);
    }
    ++judged_to_;
  }
}

// RFC 8985 6.2 step 2: remember the latest sent of all segments that have arrived.
void Sender::rack_advance(Time now, const SentSegment& segment) {
  const Time rtt = now - segment.sent;
  // Sooner than any path allows: this acknowledges an earlier transmission.
  if (segment.has(SentSegment::kEverRetransmitted) && rtt < rtt_.minimum()) return;
  rack_advanced_ = true;
  rack_rtt_ = rtt;
  if (rack_later(segment.sent, segment.end())) return;
  rack_sent_ = segment.sent;
  rack_end_ = segment.end();
}

// Whether the latest arrival was sent after a segment with these values.
bool Sender::rack_later(Time sent, Sequence end) const {
  return rack_sent_ > sent || (rack_sent_ == sent && rack_end_ > end);
}

// RFC 8985 6.2 step 4: how much reordering is tolerated. None while none was seen and the loss is
// evident.
Time Sender::rack_window() const {
  if (!reordering_seen_ &&
      (state_ >= LossState::recovery || scoreboard_.sacked() >= threshold_segments_))
    return Time{};
  if (rtt_.minimum() == Time::never()) return Time{};
  return std::min(rtt_.minimum() / 4 * rack_steps_, rtt_.smoothed());
}

// Marks what RACK judges lost; returns how long until the rest of the suspects could be, 0 if
// there is none. Originals were sent in stream order and retransmissions stand in their own queue,
// so each walk stops at the first segment sent after the latest arrival.
Time Sender::rack_detect(Time now, AckFacts& facts) {
  const Time allowed = rack_rtt_ + rack_window();
  Time wait{};
  original_from_ = std::max(original_from_, scoreboard_.first());
  bool settled = true;  // everything below i is judged
  for (Index i = scoreboard_.next_unsacked(original_from_); i != scoreboard_.end();
       i = scoreboard_.next_unsacked(i + 1)) {
    const SentSegment& segment = scoreboard_.at(i);
    if (settled) original_from_ = i;
    if (segment.has(SentSegment::kEverRetransmitted | SentSegment::kLost)) continue;
    if (!rack_later(segment.sent, segment.end())) break;
    const Time remaining = segment.sent + allowed - now;
    if (remaining <= Time{}) {
      lose(i, facts);
    } else {
      wait = std::max(wait, remaining);
      settled = false;
    }
  }
  for (auto j = resent_.first(); j != resent_.end(); ++j) {
    const Resent resent = resent_.at(j);
    const bool gone = resent.index < scoreboard_.first();
    const SentSegment* segment = gone ? nullptr : &scoreboard_.at(resent.index);
    const bool stale =
        gone || segment->sent != resent.sent || segment->has(SentSegment::kSacked) ||
        (segment->has(SentSegment::kLost) && !segment->has(SentSegment::kInFlightAgain));
    if (!stale) {
      if (!rack_later(segment->sent, segment->end())) break;
      const Time remaining = segment->sent + allowed - now;
      if (remaining > Time{}) {
        wait = std::max(wait, remaining);
        continue;
      }
      lose(resent.index, facts);
    }
    if (j == resent_.first()) resent_.pop();
  }
  return wait;
}

// RFC 8985 6.2 step 4: a D-SACK widens the window by min_rtt / 4, for 16 recoveries.
void Sender::adapt_rack_window(const AckFacts& facts) {
  if (facts.previous_delivered < rack_adapted_at_) duplicate_seen_ = false;
  if (duplicate_seen_) {
    rack_steps_ = std::min(rack_steps_ + 1, 255);
    duplicate_seen_ = false;
    rack_adapted_at_ = delivered_;
    rack_persist_ = 16;
  } else if (rack_persist_ == 0) {
    rack_steps_ = 1;
  }
}

void Sender::lose(Index index, AckFacts& facts) {
  const SentSegment& segment = scoreboard_.at(index);
  if (segment.has(SentSegment::kInFlightAgain)) {
    facts.retransmission_lost = true;
  } else if (segment.has(SentSegment::kLost)) {
    return;
  }
  scoreboard_.mark_lost(index);
  resend_from_ = std::min(resend_from_, index);
  ++facts.newly_lost;
}

}  // namespace linerate::models::tcp
