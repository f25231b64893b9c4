// Sender: what an acknowledgment tells. The window, SACK blocks, round-trip samples and growth.
#include <algorithm>

#include "models/tcp/sender.hpp"
#include "sim/check.hpp"

namespace linerate::models::tcp {

void Sender::take_ack(Time now, const Segment& segment) {
  const Sequence ack = segment.acknowledgment;
  AckFacts facts;
  facts.previous_una = una_;
  facts.previous_highest = highest_sacked_;
  facts.previous_flight = scoreboard_.size();
  facts.previous_delivered = delivered_;
  if (bbr_) facts.previous_in_flight = flight();
  facts.carries_data = segment.span() > 0;
  facts.advanced = ack > una_;
  facts.echo = segment.timestamp_echo;
  const bool old = ack < una_;
  if (!old) facts.window_changed = update_window(segment);
  if (facts.advanced) timeouts_in_row_ = 0;
  if (sack_ && segment.sack_count > 0) take_sack(now, segment, facts);
  if (facts.previous_flight == 0) {
    resume_persist(now);
    return;
  }
  facts.duplicate_ack = !old && !facts.advanced && !facts.carries_data && !facts.window_changed &&
                        !facts.duplicate_report;
  if (!old) remove_acked(now, ack, facts);
  delivered_ += facts.delivered;
  if (ecn_) take_echo(segment, facts);
  if (rack_) adapt_rack_window(facts);
  if (probe_end_ != 0) settle_probe(now, ack, facts);
  Resend what = Resend::nothing;
  const bool quiet = facts.carries_data || facts.window_changed || facts.advanced;
  if (state_ != LossState::open || facts.sacked_new || facts.duplicate_report ||
      facts.congestion_echo || !quiet)
    what = process_losses(now, facts);
  if (old) {
    if (bbr_) bbr_->rate().count(facts.delivered);
    continue_recovery(now, what);
    return;
  }
  if (facts.restart_timer && !arm_loss_probe(now, true)) restart_retransmit(now);
  control_window(now, facts);
  continue_recovery(now, what);
}

void Sender::push_unsent(Time now) {
  if (!started_) return;
  if (unsent()) {
    transmit(now, Push::nagle);
  } else {
    set_blocked(now, writer_waits_ ? Blocked::send_buffer : Blocked::no);
  }
  wake_writer(now);
}

inline void Sender::wake_writer(Time now) {
  if (!writer_waits_) return;
  // The buffer grows with the window, but not while the window is full: then it is not short.
  if (buffer_.autotuned() && flight() < window_.size()) {
    buffer_.autotune(sized_window(), max_segment_);
    window_used_at_ = now;
  }
  if (!buffer_.wakes_writer() && !(stream_ && stream_accepts(writer_left_))) return;
  writer_waits_ = false;
  writable_ = true;
}

void Sender::take_echo(const Segment& segment, AckFacts& facts) {
  facts.congestion_echo = segment.has(kEce);
  if (window_.judges_marks())
    window_.on_marks({{}, una_, nxt_, false, 0}, facts.delivered, facts.congestion_echo);
  // A reduction that marks asked for is never needless.
  if (facts.congestion_echo) undo_threshold_ = 0;
}

inline void Sender::note_arrival(Time now, Index index, const SentSegment& segment) {
  if (bbr_) bbr_->rate().on_arrived(index, segment.sent, segment.end());
  rack_advance(now, segment);
}

void Sender::take_sack(Time now, const Segment& segment, AckFacts& facts) {
  std::array<SackBlock, 4> blocks = segment.sack;
  std::size_t count = std::min<std::size_t>(segment.sack_count, blocks.size());
  std::size_t from = 0;
  // RFC 2883 4: the first block reports a duplicate when it lies below the acknowledgment or
  // inside the second block.
  const bool inside =
      count > 1 && blocks[0].left >= blocks[1].left && blocks[0].right <= blocks[1].right;
  if (blocks[0].left < segment.acknowledgment || inside) {
    take_duplicate_report(blocks[0], facts);
    from = 1;
  }
  // In stream order, so that a late original is told from one that follows in order.
  std::sort(blocks.begin() + from, blocks.begin() + count,
            [](const SackBlock& a, const SackBlock& b) { return a.left < b.left; });
  for (std::size_t i = from; i < count; ++i) sack_range(now, blocks[i], facts);
  note_reordering(facts.lowest_late);
}

void Sender::take_duplicate_report(const SackBlock& block, AckFacts& facts) {
  const std::int64_t segments = std::max<std::int64_t>(
      static_cast<std::int64_t>(block.right - block.left) / segment_size_, 1);
  // More duplicates than retransmissions: the network copies packets, which says nothing of ours.
  if (reported_duplicates_ + segments > counts_.retransmits) return;
  reported_duplicates_ += segments;
  if (probe_end_ != 0 && probe_end_ == block.right) {
    facts.duplicate_of_probe = true;
  } else if (reordering_seen_) {
    duplicate_seen_ = true;
  }
  facts.duplicate_report = true;
  facts.delivered += segments;
  if (undo_from_ && undo_open_ > 0 && block.right > *undo_from_)
    undo_open_ = std::max<std::int64_t>(undo_open_ - segments, 0);
}

void Sender::sack_range(Time now, const SackBlock& block, AckFacts& facts) {
  const Sequence left = std::max(block.left, una_);
  const Sequence right = std::min(block.right, nxt_);
  if (left >= right) return;
  Index i = scoreboard_.find(left);
  if (i != scoreboard_.end() && scoreboard_.at(i).begin < left) ++i;  // only whole segments count
  for (i = scoreboard_.next_unsacked(i); i != scoreboard_.end() && scoreboard_.at(i).end() <= right;
       i = scoreboard_.next_unsacked(i + 1)) {
    const SentSegment segment = scoreboard_.at(i);
    if (!segment.has(SentSegment::kEverRetransmitted)) {
      if (segment.begin < highest_sacked_)
        facts.lowest_late = std::min(facts.lowest_late, segment.begin);
      if (segment.end() <= recovery_point_) facts.original_arrived = true;
      if (facts.first_sacked == Time::never()) facts.first_sacked = segment.sent;
      facts.last_sacked = segment.sent;
    }
    note_arrival(now, i, segment);
    scoreboard_.mark_sacked(i);
    if (i < judged_to_) ++sacked_below_judged_;
    ++facts.delivered;
    facts.sacked_new = true;
  }
  highest_sacked_ = std::max(highest_sacked_, right);
}

inline void Sender::remove_acked(Time now, Sequence ack, AckFacts& facts) {
  std::int64_t bytes = 0;
  std::int64_t buffers = 0;
  SentSegment latest;
  Index latest_index = 0;
  bool in_order = false;
  // Plain ones by themselves, because they are nearly all: what is asked of each goes together.
  const Index first = scoreboard_.first();
  Index i = first;
  for (; i != scoreboard_.end(); ++i) {
    const SentSegment& segment = scoreboard_.at(i);
    if (!segment.plain() || segment.begin + segment.length > ack) break;
    buffers += segment.marks != 0 ? 1 : 0;
    bytes += segment.length;
  }
  if (i != first) {
    const SentSegment& head = scoreboard_.front();
    latest = scoreboard_.at(i - 1);
    latest_index = i - 1;
    in_order = true;
    facts.first_acked = head.sent;
    facts.last_acked = latest.sent;
    if (head.begin < facts.previous_highest)
      facts.lowest_late = std::min(facts.lowest_late, head.begin);
    if (head.end() <= recovery_point_) facts.original_arrived = true;
    facts.acked = static_cast<std::int64_t>(i - first);
    facts.delivered += facts.acked;
    scoreboard_.pop_plain(i);
  }
  while (!scoreboard_.empty() && scoreboard_.front().begin < ack) {
    const SentSegment& head = scoreboard_.front();
    if (head.end() > ack) {
      const auto part = static_cast<std::uint32_t>(ack - head.begin);
      bytes += part;
      scoreboard_.trim_front(part);
      break;
    }
    if (head.has(SentSegment::kEverRetransmitted)) {
      facts.retransmission_acked = true;
      if (!head.has(SentSegment::kSacked)) note_arrival(now, scoreboard_.first(), head);
    } else if (!head.has(SentSegment::kSacked)) {
      if (facts.acked == 0 || facts.first_acked == Time::never()) facts.first_acked = head.sent;
      facts.last_acked = head.sent;
      if (head.begin < facts.previous_highest)
        facts.lowest_late = std::min(facts.lowest_late, head.begin);
      if (head.end() <= recovery_point_) facts.original_arrived = true;
      latest = head;
      latest_index = scoreboard_.first();
      in_order = true;
    }
    if (!head.has(SentSegment::kSacked)) {
      ++facts.delivered;
    } else if (scoreboard_.first() < judged_to_) {
      --sacked_below_judged_;
    }
    buffers += head.has(SentSegment::kBufferEnd) ? 1 : 0;
    bytes += head.length;
    ++facts.acked;
    scoreboard_.pop();
  }
  // Originals leave in order, so the last one stands for all of them.
  if (in_order) note_arrival(now, latest_index, latest);
  if (bytes > 0) buffer_.release(bytes, buffers);
  if (rack_) note_reordering(facts.lowest_late);
  sample_rtt(now, facts);
  if (facts.acked > 0) facts.restart_timer = true;
}

inline void Sender::sample_rtt(Time now, AckFacts& facts) {
  std::optional<Time> rtt;     // of the earliest segment: what a timer has to wait for
  std::optional<Time> newest;  // of the latest one: what the path takes
  if (facts.first_acked != Time::never() && !facts.retransmission_acked) {
    rtt = now - facts.first_acked;
    newest = now - facts.last_acked;
    const bool short_flight =
        facts.acked == 1 && una_ - facts.previous_una < static_cast<Sequence>(segment_size_);
    facts.maybe_delayed = short_flight && facts.delivered == 1;
  }
  if (facts.first_sacked != Time::never()) {
    newest = now - facts.last_sacked;
    if (!rtt) rtt = now - facts.first_sacked;
    // Data sent before the head's latest transmission arrived: the head has had its time anew.
    if (!scoreboard_.empty() && facts.first_sacked < scoreboard_.front().sent)
      facts.restart_timer = true;
  }
  if (!rtt && timestamps_ && facts.echo != 0 && facts.acked > 0) {
    // Karn's rule leaves only the echoed clock (RFC 7323 4.1), a tick at least.
    const std::uint32_t ticks = std::max<std::uint32_t>(timestamp(now) - facts.echo, 1);
    rtt = newest = stack_.timestamp_tick * std::int64_t{ticks};
  }
  if (bbr_) facts.latest_rtt = newest;
  if (!rtt) return;
  if (!facts.maybe_delayed || *newest <= rtt_.minimum()) rtt_.sample_minimum(now, *newest);
  rtt_.sample(*rtt, {una_, nxt_});
  persist_back_offs_ = 0;
  window_.on_sample(now, {*newest, una_, nxt_, pacing_active(), pacing_rate_});
}

// An original that arrives after a higher one was reordered, not lost (RFC 4653's measure).
void Sender::note_reordering(Sequence lowest) {
  if (lowest >= highest_sacked_) return;
  constexpr std::int64_t kLargest = 300;  // Linux tcp_max_reordering
  const auto distance = static_cast<std::int64_t>(highest_sacked_ - lowest);
  const std::int64_t segments = (distance + segment_size_ - 1) / segment_size_;
  if (segments > threshold_segments_) threshold_segments_ = std::min(segments, kLargest);
  reordering_seen_ = true;
}

// RFC 8985 7.4: a loss probe that resent the tail and was needed has repaired a loss, which the
// window must pay for; a duplicate of it shows that nothing was lost.
void Sender::settle_probe(Time now, Sequence ack, const AckFacts& facts) {
  if (ack < probe_end_) return;
  if (!probe_resent_ || facts.duplicate_of_probe) {
    probe_end_ = 0;
  } else if (ack > probe_end_) {
    begin_reduction(false);
    state_ = LossState::reduced;
    end_reduction(now);
    keep_open();
  } else if (!facts.advanced && !facts.carries_data && !facts.window_changed && !facts.sacked_new) {
    probe_end_ = 0;
  }
}

inline void Sender::control_window(Time now, const AckFacts& facts) {
  if (bbr_) return control_by_model(now, facts);
  if (reducing()) {
    if (rack_) reduce(facts);
  } else if (window_was_used()) {
    const bool progress = facts.acked > 0 || (threshold_segments_ > 3 && facts.sacked_new);
    const std::int64_t credit = stack_.byte_counting ? facts.delivered : 1;
    if (progress && credit > 0) window_.grow(now, credit);
  }
  update_pacing_rate();
}

void Sender::describe(Info& info) const {
  info.cwnd = window_.size();
  info.ssthresh = window_.threshold();
  info.in_flight = scoreboard_.size();
  info.srtt = rtt_.smoothed();
  info.rttvar = rtt_.variation();
  info.rto = rtt_.timeout();
  info.min_rtt = rtt_.minimum() == Time::never() ? Time{} : rtt_.minimum();
  info.retransmits = counts_.retransmits;
  info.segments_out += counts_.segments_out;
  info.data_segments_out = counts_.data_segments_out;
  info.timeouts = counts_.timeouts;
  info.tail_probes = counts_.tail_probes;
  info.recoveries = counts_.recoveries;
  info.mark_reductions = counts_.mark_reductions;
  info.undos = counts_.undos;
  info.persist_probes = counts_.persist_probes;
  info.bytes_acked = static_cast<std::int64_t>(std::min(una_, buffer_.end())) - 1;
  info.send_window = wnd_;
  info.segment_size = segment_size_;
  info.pacing_rate = pacing_rate_;
  static constexpr const char* kNames[] = {"open", "disorder", "reduced", "recovery", "loss"};
  info.state = kNames[static_cast<int>(state_)];
}

}  // namespace linerate::models::tcp
