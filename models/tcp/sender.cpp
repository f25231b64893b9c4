#include "models/tcp/sender.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace linerate::models::tcp {

using experiments::BufferAccounting;
using experiments::Nagle;

namespace {

constexpr Time kMillisecond = Time::milliseconds(1);

// More segments than any window holds (RFC 7323: 1 GiB): the congestion window does not bind.
constexpr std::int64_t kOpenWindow = std::int64_t{1} << 30;

RttRules rtt_rules(const experiments::Stack& stack) {
  return {stack.rto_min, stack.rto_initial, stack.rto_max, stack.timer_tick, stack.slow_timer};
}

CongestionRules congestion_rules(const EndpointConfig& config) {
  const experiments::Stack& stack = config.stack;
  const Time tick = stack.timer_tick > Time{} ? stack.timer_tick : kMillisecond;
  const bool open = config.local && !stack.local_slow_start;
  return {congestion_algorithm(config.congestion.value_or(stack.congestion)), stack.hystart,
          open ? kOpenWindow : stack.initial_window, tick};
}

TimerGrid timer_grid(const EndpointConfig& config) {
  const experiments::Stack& stack = config.stack;
  if (stack.slow_timer > Time{}) return {stack.slow_timer, config.grid_phase, TimerWheel::counted};
  return {stack.timer_tick, Time{}, stack.coarse_timers ? TimerWheel::levels : TimerWheel::flat};
}

}  // namespace

Sender::Sender(const EndpointConfig& config, Receiver& receiver, std::vector<Segment>& out)
    : stack_(config.stack),
      nagle_(config.no_delay ? Nagle::off : config.stack.nagle),
      offload_(config.stack.tso_autosize),
      stream_(config.stack.buffer_accounting == BufferAccounting::payload),
      rack_(config.stack.recovery == experiments::Recovery::rack && config.stack.sack),
      adaptive_pacing_(config.stack.pacing),
      receiver_(receiver),
      out_(out),
      random_seed_(config.seed),
      packet_headers_(config.ip == 6 ? 60 : 40),
      buffer_(config.stack, config.send_buffer),
      rtt_(rtt_rules(config.stack)),
      window_(congestion_rules(config)),
      threshold_segments_(config.stack.duplicate_ack_threshold),
      grid_(timer_grid(config)) {
  if (config.pacing) pacing_limit_ = static_cast<double>(config.pacing->bits_per_second()) / 8.0;
}

void Sender::start(Time now, const SenderStart& start) {
  LINERATE_CHECK(start.segment_size.count() > 0, "a full segment carries data");
  started_ = true;
  sack_ = start.sack;
  timestamps_ = start.timestamps;
  ecn_ = start.ecn;
  // RFC 8257 3.4: all packets of DCTCP may be marked; of others only new data (RFC 3168 6.1).
  if (ecn_ && window_.judges_marks()) control_ecn_ = Ecn::ect0;
  segment_size_ = start.segment_size.count();
  max_segment_ = start.max_segment.count();
  option_bytes_ = static_cast<std::uint8_t>(start.option_bytes.count());
  wnd_ = max_wnd_ = start.window.count();
  rack_ = rack_ && sack_;
  if (start.rtt) {
    rtt_.sample(*start.rtt, {una_, nxt_});
    rtt_.sample_minimum(now, *start.rtt);
    window_.on_sample(now, {*start.rtt, una_, nxt_, pacing_active(), pacing_rate_});
  }
  start_model(now, start.rtt);
  window_used_at_ = last_sent_ = now;
  if (stack_.round_buffers_to_segment) buffer_.round_to_segment(max_segment_);
  if (buffer_.autotuned()) buffer_.autotune(sized_window(), max_segment_);
  update_pacing_rate();
}

std::int64_t Sender::sized_window() const {
  const std::int64_t window =
      std::max({std::int64_t{stack_.initial_window}, window_.size(), threshold_segments_ + 1});
  return bbr_ ? window * 3 / 2 : window;  // Linux: room for three windows instead of two
}

// Writes.

Bytes Sender::write(Time now, Bytes size, bool more) {
  if (!started_ || fin_queued_) {
    writer_waits_ = !fin_queued_;
    return Bytes(0);
  }
  if (bbr_) note_starvation();
  restart_after_idle(now);
  std::int64_t left = size.count();
  bool refused = false;
  while (left > 0 && !refused)
    refused = stream_ ? !write_stream_piece(now, left) : !write_piece(now, left);
  writer_waits_ = refused;
  writer_left_ = left;
  const bool took = left < size.count();
  if (!stream_ && took && (refused || !more)) {
    if (!buffer_.all_sent()) mark_push();
    if (!corked()) transmit(now, refused ? Push::all : Push::nagle);
  } else if (refused && blocked_ == Blocked::no) {
    set_blocked(now, Blocked::send_buffer);
  }
  return size - Bytes(left);
}

// How many bytes one send buffer takes: with offload up to half the largest window seen, since a
// larger one could never leave at once; without, one segment.
std::int64_t Sender::buffer_capacity() const {
  const std::int64_t size = segment_size_now();
  if (!offload_) return size;
  const std::int64_t half = max_wnd_ > 536 ? max_wnd_ / 2 : max_wnd_;
  return std::max(std::min(kLargestSendBuffer, half) / size, std::int64_t{1}) * size;
}

// Linux: fill the unsent tail, else start a new buffer. A buffer that fills up leaves at once, so
// that the first segments of a long write overtake the copying of the rest.
bool Sender::write_piece(Time now, std::int64_t& left) {
  const std::int64_t capacity = buffer_capacity();
  std::int64_t room = buffer_.tail_room(nxt_, capacity);
  const bool fresh = room == 0;
  if (fresh) {
    if (!buffer_.has_space()) return false;
    room = capacity;
  }
  const std::int64_t bytes = std::min(room, left);
  buffer_.append(bytes, fresh);
  left -= bytes;
  if (left == 0 || bytes < room) return true;
  if (buffer_.end() > pushed_ + static_cast<Sequence>(max_wnd_ / 2)) {
    mark_push();
    transmit(now, Push::all);
  } else if (buffer_.single()) {
    transmit(now, Push::one_buffer);
  }
  return true;
}

// BSD's sosend(): a writer proceeds when the rest of its message or sb_lowat bytes fit. It then
// fills all the space there is, and hands each cluster to the protocol by itself. (4.4BSD cuts what
// fills no cluster into mbufs of 100 B; one piece stands for them here.)
bool Sender::write_stream_piece(Time now, std::int64_t& left) {
  if (!stream_accepts(left)) return false;
  std::int64_t space = std::min(left, buffer_.payload_space());
  const std::int64_t most = stack_.send_chunk.count() > 0 ? stack_.send_chunk.count() : space;
  while (space > 0) {
    const std::int64_t bytes = std::min(space, most);
    buffer_.append(bytes, buffer_.all_sent());
    left -= bytes;
    space -= bytes;
    transmit(now, Push::nagle);
  }
  return true;
}

bool Sender::stream_accepts(std::int64_t left) const {
  const std::int64_t space = buffer_.payload_space();
  return space > 0 && (space >= left || buffer_.wakes_writer());
}

void Sender::mark_push() {
  buffer_.mark_push();
  pushed_ = buffer_.end();
}

// Linux autocorking: while the device still holds packets of ours, a short tail waits for its
// completion and may grow meanwhile.
bool Sender::corked() {
  if (!offload_ || stack_.small_queue_limit.count() == 0 || below_ == 0 || scoreboard_.empty() ||
      buffer_.all_sent() || buffer_.tail_room(nxt_, buffer_capacity()) == 0)
    return false;
  throttled_ = true;
  return true;
}

void Sender::shutdown(Time now) {
  if (fin_queued_) return;
  fin_queued_ = true;
  if (started_) transmit(now, Push::all);
}

// Slow start after idle (RFC 5681 4.1): half the window is forgotten for every RTO of silence.
void Sender::restart_after_idle(Time now) {
  if (!scoreboard_.empty() || bbr_) return;
  Time idle = now - last_sent_;
  if (idle <= rtt_.timeout()) return;
  window_.set_threshold(threshold_now());
  const std::int64_t floor = std::min<std::int64_t>(stack_.initial_window, window_.size());
  std::int64_t size = window_.size();
  for (idle -= rtt_.timeout(); idle > Time{} && size > floor; idle -= rtt_.timeout()) size /= 2;
  window_.set_size(std::max(size, floor));
  window_used_at_ = now;
  used_when_starved_ = 0;
}

// Transmission.

void Sender::transmit(Time now, Push push) {
  std::int64_t sent = 0;
  bool window_limited = false;
  Blocked why = Blocked::no;
  idle_ = scoreboard_.empty();
  while (!buffer_.all_sent()) {
    std::int64_t quota = window_.size() - flight();
    if (quota <= 0 && push == Push::probe) quota = 1;
    Chunk chunk;
    if (pacing_holds(now)) {
      chunk.blocked = Blocked::pacing;
    } else if (quota <= 0) {
      chunk.blocked = Blocked::congestion_window;
    } else {
      chunk = next_chunk(now, push, quota);
    }
    window_limited |= chunk.window_limited;
    if (chunk.bytes > 0 && device_full()) {
      throttled_ = true;
      chunk = {0, false, Blocked::device, false};
    }
    if (chunk.bytes == 0) {
      why = chunk.blocked;
      break;
    }
    if (flight() == 0) {
      window_.on_transmit_start(now, last_sent_);
      if (bbr_) window_.set_size(bbr_->on_transmit_start(now, window_.size()));
    }
    sent += send_new(now, chunk.bytes, chunk.push);
    if (push == Push::one_buffer || push == Push::probe) break;
  }
  if (buffer_.all_sent() && fin_queued_ && !fin_sent_) [[unlikely]] {
    if (flight() < window_.size() && nxt_ < window_edge()) {
      send_fin(now);
      ++sent;
    } else {
      why = flight() < window_.size() ? Blocked::receive_window : Blocked::congestion_window;
    }
  }
  after_transmit(now, push, sent, window_limited || flight() >= window_.size());
  if (why == Blocked::no && writer_waits_ && buffer_.all_sent()) why = Blocked::send_buffer;
  set_blocked(now, why);
}

inline void Sender::after_transmit(Time now, Push push, std::int64_t sent, bool window_limited) {
  if (sent > 0 || window_limited) validate_window(now, window_limited);
  if (sent > 0) {
    if (reducing()) reduction_out_ += sent;
    if (push != Push::probe) arm_loss_probe(now, false);
  } else if (scoreboard_.empty() && timer_ == TimerKind::none &&
             (!buffer_.all_sent() || (fin_queued_ && !fin_sent_))) {
    // What pacing holds back is not a closed window: Linux adds the pacing delay to its timers.
    const Time held = pacing_at_ == Time::never() ? Time{} : pacing_at_ - now;
    arm(TimerKind::persist, now, persist_delay() + held);
  }
}

inline Sender::Chunk Sender::next_chunk(Time now, Push push, std::int64_t quota) {
  if (offload_) return offload_chunk(now, push, quota);
  return stream_ ? stream_chunk() : buffer_chunk(push);
}

// Linux with segmentation offload: as many segments as the window, the pacing rate and the data
// allow leave as one buffer.
inline Sender::Chunk Sender::offload_chunk(Time now, Push push, std::int64_t quota) {
  const std::int64_t size = segment_size_now();
  const std::int64_t most = std::min(quota, burst_segments_) * size;
  auto length = static_cast<std::int64_t>(buffer_.front().end - nxt_);
  if (!buffer_.single() && length < most) {  // a short buffer is topped up from the next one
    buffer_.top_up_front(most - length);
    length = static_cast<std::int64_t>(buffer_.front().end - nxt_);
  }
  const bool last = buffer_.single();
  Chunk chunk;
  chunk.push = buffer_.front().push;
  const auto room = static_cast<std::int64_t>(window_edge() - nxt_);
  if (nxt_ > window_edge() || std::min(length, size) > room) {
    chunk.blocked = Blocked::receive_window;
    return chunk;
  }
  if (length <= size) {
    if (nagle_holds(length, last ? push : Push::all)) {
      chunk.blocked = Blocked::nagle;
    } else {
      chunk.bytes = length;
    }
    return chunk;
  }
  if ((push == Push::nagle || push == Push::all) && offload_waits(now, length, last, chunk))
    return chunk;
  std::int64_t limit = most;
  if (last || most > room) {
    limit = std::min({length, room, most});
    const std::int64_t rest = limit % size;
    if (limit < most && rest != 0 && nagle_holds(rest, push)) limit -= rest;
  }
  chunk.bytes = std::min(limit, length);
  // Linux ends every buffer of several segments with PSH, for the receiver's GRO.
  chunk.push = chunk.bytes > size || (chunk.push && chunk.bytes == length);
  return chunk;
}

// Waiting a moment for the next ACK makes a fuller buffer. Only while ACKs come in quick
// succession: after recent sending, with less than a third of the window open, and when the ACK of
// the oldest segment is due within a millisecond.
inline bool Sender::offload_waits(Time now, std::int64_t length, bool last, Chunk& chunk) const {
  if (state_ >= LossState::recovery || now - pacing_next_ > kMillisecond) return false;
  const auto send_room = static_cast<std::int64_t>(window_edge() - nxt_);
  const std::int64_t size = segment_size_now();
  const std::int64_t window_room = (window_.size() - flight()) * size;
  const std::int64_t limit = std::min(send_room, window_room);
  if (limit >= burst_segments_ * size || (!last && limit >= length)) return false;
  if (limit >= std::min(wnd_, window_.size() * size) / 3) return false;
  if (scoreboard_.empty()) return false;
  const Time until_ack = scoreboard_.front().sent + rtt_.smoothed() - now;
  if (until_ack > std::min(rtt_.smoothed() / 2, kMillisecond)) return false;
  if (window_room < send_room && window_room <= length) {
    chunk.window_limited = true;
    chunk.blocked = Blocked::congestion_window;
  } else if (window_room >= send_room && send_room <= length) {
    chunk.blocked = Blocked::receive_window;
  } else {
    if (fin_queued_ && last) return false;
    chunk.blocked = Blocked::nagle;
  }
  return true;
}

// Linux 2.2 and 2.4: a buffer is a segment, cut when it was written.
Sender::Chunk Sender::buffer_chunk(Push push) const {
  Chunk chunk;
  std::int64_t length = static_cast<std::int64_t>(buffer_.front().end - nxt_);
  const std::int64_t room =
      window_edge() > nxt_ ? static_cast<std::int64_t>(window_edge() - nxt_) : 0;
  chunk.push = buffer_.front().push;
  if (length > room) {
    if (stack_.whole_segment_window || room == 0 || room < max_wnd_ / 2) {
      chunk.blocked = Blocked::receive_window;
      return chunk;
    }
    length = room;
    chunk.push = false;
  }
  if (nagle_holds(length, buffer_.single() ? push : Push::all)) {
    chunk.blocked = Blocked::nagle;
  } else {
    chunk.bytes = length;
  }
  return chunk;
}

// BSD's tcp_output: a full segment, or everything there is when Nagle allows, or at least half of
// the largest window the peer ever offered (RFC 1122 4.2.3.4). Whether the connection is idle is
// asked once, so a short tail follows the full segments of the same call.
Sender::Chunk Sender::stream_chunk() const {
  Chunk chunk;
  const auto available = static_cast<std::int64_t>(buffer_.end() - nxt_);
  const std::int64_t room =
      window_edge() > nxt_ ? static_cast<std::int64_t>(window_edge() - nxt_) : 0;
  const std::int64_t size = segment_size_now();
  const std::int64_t length = std::min({available, size, room});
  const bool everything = length == available;
  if (length > 0 && (length == size || length >= max_wnd_ / 2 ||
                     (everything && (idle_ || !nagle_holds(length, Push::nagle))))) {
    chunk.bytes = length;
    chunk.push = everything;
  } else {
    chunk.blocked = everything ? Blocked::nagle : Blocked::receive_window;
  }
  return chunk;
}

inline bool Sender::nagle_holds(std::int64_t length, Push push) const {
  if (push != Push::nagle || fin_queued_ || scoreboard_.empty() || length >= segment_size_now())
    return false;
  switch (nagle_) {
    case Nagle::off:
      return false;
    case Nagle::rfc896:
      return true;
    case Nagle::half_segment:
      return length < segment_size_now() / 2;
    case Nagle::minshall:
      return small_end_ > una_;
  }
  return false;
}

std::int64_t Sender::segment_size_beside_blocks() const {
  return segment_size_ - receiver_.sack_option_size(Bytes(option_bytes_)).count();
}

std::int64_t Sender::send_new(Time now, std::int64_t bytes, bool push) {
  const std::int64_t size = segment_size_now();
  const bool first_out = scoreboard_.empty();
  const bool end_here = fin_queued_ && nxt_ + static_cast<Sequence>(bytes) == buffer_.end();
  charge_pacing(now, bytes);
  std::int64_t segments = 0;
  for (std::int64_t left = bytes; left > 0; ++segments) {
    const auto length = static_cast<std::uint32_t>(std::min(left, size));
    left -= length;
    std::uint8_t flags = kAck;
    std::uint8_t marks = 0;
    if (left == 0) {
      flags |= static_cast<std::uint8_t>((push ? kPush : 0) | (end_here ? kFin : 0));
      marks = static_cast<std::uint8_t>(SentSegment::kBufferEnd |
                                        (end_here ? SentSegment::kEndOfStream : 0));
    }
    if (segments == 0) {
      Segment& first = emit(now, nxt_, length, flags);
      if (ecn_) mark_capable(first);
    } else {
      repeat(nxt_, length, flags);
    }
    scoreboard_.push({nxt_, now, length, 0, marks});
    nxt_ += length;
  }
  if (bbr_) bbr_->rate().on_sent(now, segments, first_out);
  if (bytes < segments * size) small_end_ = nxt_;
  buffer_.sent_up_to(nxt_);
  if (end_here) {
    fin_sent_ = true;
    ++nxt_;
  }
  last_sent_ = now;
  counts_.data_segments_out += segments;
  if (first_out || timer_ == TimerKind::loss_probe) restart_retransmit(now);
  return segments;
}

void Sender::send_fin(Time now) {
  const bool first_out = scoreboard_.empty();
  emit(now, nxt_, 0, kAck | kFin);
  scoreboard_.push({nxt_, now, 0, 0, SentSegment::kEndOfStream});
  if (bbr_) bbr_->rate().on_sent(now, 1, first_out);
  ++nxt_;
  fin_sent_ = true;
  last_sent_ = now;
  if (first_out || timer_ == TimerKind::loss_probe) restart_retransmit(now);
}

// New data can be marked by the network; the first of it after a reduction says so (RFC
// 3168 6.1.2).
void Sender::mark_capable(Segment& segment) {
  segment.ecn = Ecn::ect0;
  if (!confirm_reduction_) return;
  confirm_reduction_ = false;
  segment.flags |= kCwr;
}

Segment& Sender::emit(Time now, Sequence sequence, std::uint32_t length, std::uint8_t flags) {
  Segment& segment = out_.emplace_back();
  segment.sequence = sequence;
  segment.length = length;
  segment.flags = flags;
  segment.option_bytes = option_bytes_;
  segment.ecn = control_ecn_;
  if (timestamps_) segment.timestamp = timestamp(now);
  receiver_.fill(now, segment);
  if (length + segment.option_bytes > static_cast<std::uint32_t>(segment_size_ + option_bytes_)) {
    // A segment cut before SACK blocks were due is sent again without them, or it would not fit.
    segment.sack_count = 0;
    segment.option_bytes = option_bytes_;
  }
  ++counts_.segments_out;
  below_ += packet_headers_ + segment.option_bytes + length;
  return segment;
}

// The segments of one send buffer differ in nothing else from the first one.
inline void Sender::repeat(Sequence sequence, std::uint32_t length, std::uint8_t flags) {
  out_.push_back(out_.back());
  Segment& segment = out_.back();
  segment.sequence = sequence;
  segment.length = length;
  segment.flags = flags;
  ++counts_.segments_out;
  below_ += packet_headers_ + segment.option_bytes + length;
}

}  // namespace linerate::models::tcp
