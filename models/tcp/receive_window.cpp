#include "models/tcp/receive_window.hpp"

#include <algorithm>
#include <bit>

#include "sim/check.hpp"

namespace linerate::models::tcp {
namespace {

using experiments::BufferAccounting;
using experiments::WindowRule;

constexpr Bytes kLargestUnscaled{65535};
constexpr int kLargestShift = 14;       // RFC 7323 section 2.3
constexpr Bytes kSmallestBuffer{2304};  // Linux SOCK_MIN_RCVBUF: one minimal packet
// Linux moves a queue that wastes memory into pages: 4096 B less the trailer hold the payload, and
// a descriptor of 256 B is counted beside each.
constexpr std::int64_t kPagePayload = 3776;
constexpr Bytes kPageMemory{4352};
constexpr Bytes kPage{4096}, kHead{576};  // of a frame that lies in pages; x86_64

Bytes round_down(Bytes size, Bytes unit) { return unit * (size / unit); }
Bytes round_up(Bytes size, Bytes unit) { return round_down(size + unit - Bytes(1), unit); }

}  // namespace

void QueuedMemory::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  for (std::uint64_t i = head_; i != tail_; ++i) larger[i - head_] = slots_[i & mask_];
  tail_ -= head_;
  head_ = 0;
  slots_ = std::move(larger);
  mask_ = slots_.size() - 1;
}

Bytes QueuedMemory::compact(Sequence start) {
  if (empty()) return {};
  Bytes freed{};
  std::uint64_t out = head_;
  Slot piece{start, Bytes{}};
  Sequence piece_start = start;
  for (std::uint64_t i = head_; i != tail_; ++i) {
    const Slot slot = slots_[i & mask_];
    const bool fits = slot.end - piece_start <= kPagePayload;
    if (piece.memory.count() > 0 && !fits) {
      slots_[out++ & mask_] = piece;
      piece_start = piece.end;
      piece.memory = {};
    }
    const Bytes together = piece.memory + slot.memory;
    // A piece takes a page, or less where what it replaces took less.
    const Bytes packed =
        slot.end - piece_start <= kPagePayload ? std::min(together, kPageMemory) : together;
    freed += together - packed;
    piece = {slot.end, packed};
  }
  slots_[out++ & mask_] = piece;
  tail_ = out;
  return freed;
}

ReceiveWindow::ReceiveWindow(const WindowSetup& setup)
    : stack_(setup.stack),
      linux_growth_(stack_.window_rule == WindowRule::adv_win_scale ||
                    stack_.window_rule == WindowRule::scaling_ratio),
      max_segment_(setup.max_segment),
      frame_headers_(setup.frame_headers),
      same_memory_(setup.same_memory),
      buffer_(setup.stack.receive_buffer),
      segment_(setup.max_segment),
      threshold_segment_(setup.max_segment) {
  if (setup.requested) {
    locked_ = true;
    buffer_ = std::min(*setup.requested, stack_.socket_buffer_limit) * stack_.buffer_factor;
    if (stack_.buffer_accounting == BufferAccounting::truesize)
      buffer_ = std::max(buffer_, kSmallestBuffer);
  }
  resize(buffer_);
  choose_initial(max_segment_);
}

void ReceiveWindow::resize(Bytes buffer) {
  buffer_ = buffer;
  full_space_ = window_of(buffer);
}

// The scale must suit the largest buffer the connection may get, since it cannot change later.
void ReceiveWindow::choose_initial(Bytes segment) {
  const Bytes largest = kLargestUnscaled * (std::int64_t{1} << kLargestShift);
  clamp_ = locked_ && linux_growth() ? full_space_ : largest;
  Bytes space = std::min(full_space_, clamp_);
  if (stack_.window_rule != WindowRule::bsd_space && space > segment)
    space = round_down(space, segment);
  window_ = space;
  scale_ = 0;
  if (stack_.window_scaling) {
    if (stack_.autotune_receive)
      space = std::min(std::max({space, stack_.receive_buffer_max, stack_.socket_buffer_limit}),
                       clamp_);
    while (scale_ < kLargestShift && kLargestUnscaled * (std::int64_t{1} << scale_) < space)
      ++scale_;
  }
  if (stack_.initial_offer > 0) window_ = std::min(window_, segment * stack_.initial_offer);
  // Linux 2.2 offers no more than a signed 16-bit field holds before scaling is agreed.
  if (stack_.window_rule == WindowRule::half_space && scale_ == 0)
    window_ = std::min(window_, Bytes(32767));
  clamp_ = std::min(clamp_, kLargestUnscaled * (std::int64_t{1} << scale_));
  limit_ = window_;
}

std::uint32_t ReceiveWindow::syn_window() const {
  return static_cast<std::uint32_t>(std::min(window_, kLargestUnscaled).count());
}

void ReceiveWindow::agree(const Agreement& agreement) {
  segment_ = agreement.segment;
  const Bytes whole = std::min(max_segment_, agreement.peer_max_segment);
  threshold_segment_ = stack_.ack_threshold_without_options ? whole : std::min(whole, segment_);
  if (agreement.passive) choose_initial(agreement.segment);
  // 4.4BSD tcp_mss(): a buffer above one segment becomes a whole number of them. The scale was
  // chosen for the size before.
  if (stack_.round_buffers_to_segment && buffer_ > whole) {
    resize(round_up(buffer_, whole));
    if (agreement.passive) window_ = full_space_;
  }
  if (!agreement.scaling) {
    scale_ = 0;
    clamp_ = std::min(clamp_, kLargestUnscaled);
  }
  // Linux guesses the peer's segment size low until data shows it (RFC 1122's 536).
  const bool estimates = stack_.window_rule != WindowRule::bsd_space;
  segment_size_ = estimates ? std::min({segment_, whole, Bytes(536)}) : segment_;
  window_ = std::min(window_, kLargestUnscaled);  // what the unscaled field of a SYN showed
  advertised_at_ = 1;
}

void ReceiveWindow::establish(Time now, Sequence next) {
  copy_start_ = last_arrival_ = now;
  copy_from_ = read_ = queued_end_ = next;
  if (!linux_growth()) return;
  const Bytes full = full_space_;
  clamp_ = std::min(clamp_, full);
  // One segment of the space stays in reserve.
  if (clamp_ > segment_ * 2 && clamp_ + segment_ > full)
    clamp_ = std::max(segment_ * 2, full - segment_);
  limit_ = std::min(limit_, clamp_);
  copied_per_rtt_ = std::min({limit_, window_, segment_ * 10});
}

Bytes ReceiveWindow::memory_of_several(const Segment& segment) const {
  // Within a machine the receiver queues what its peer has sent, payload in pages and all.
  if (same_memory_) return stack_.send_overhead + Bytes(segment.length);
  const std::int64_t frames = segment.frames;
  const std::int64_t payload =
      frames == 1 ? segment.length : (segment.length + frames - 1) / frames;
  const std::int64_t frame = payload + frame_headers_.count() + segment.option_bytes;
  const Bytes unit = stack_.packet_data_unit;
  Bytes memory = stack_.packet_overhead + unit;
  if (frame > unit.count()) {
    // A jumbo frame takes several clusters (BSD), or a small head and whole pages (Linux).
    memory = stack_.buffer_accounting == BufferAccounting::payload
                 ? memory * ((frame - 1) / unit.count() + 1)
                 : stack_.packet_overhead + kHead + kPage * ((frame - 1) / kPage.count() + 1);
  }
  return memory * frames;
}

bool ReceiveWindow::make_room() {
  if (stack_.autotune_receive && !locked_)
    resize(std::max(buffer_, std::min(used_, stack_.receive_buffer_max)));
  if (used_ <= buffer_) return true;
  limit_ = std::min(clamp_, segment_ * 2);
  used_ -= queue_.compact(read_);
  return used_ <= buffer_;
}

void ReceiveWindow::hold(Bytes memory) {
  // BSD queues segments above a gap outside the socket buffer.
  if (stack_.buffer_accounting == BufferAccounting::truesize) used_ += memory;
}

void ReceiveWindow::join(Sequence end, Bytes held) {
  if (stack_.buffer_accounting == BufferAccounting::payload) used_ += held;
  queue_.push(end, held);
  queued_end_ = end;
}

SegmentClass ReceiveWindow::observe_change(const Segment& segment, Bytes memory) {
  if (stack_.window_rule == WindowRule::bsd_space) return SegmentClass::full;
  const Bytes length((segment.length + segment.frames - 1) / segment.frames);
  const Bytes last = last_short_size_;
  last_short_size_ = {};
  if (length >= segment_size_) {
    if (length != segment_size_ && stack_.window_rule == WindowRule::scaling_ratio) {
      const std::int64_t ratio =
          std::max<std::int64_t>((std::int64_t{segment.length} << kRatioShift) / memory.count(), 1);
      if (ratio != ratio_) {
        ratio_ = ratio;
        resize(buffer_);
        set_clamp(full_space_);
        copied_per_rtt_ = std::min(copied_per_rtt_, clamp_);
      }
    }
    segment_size_ = std::min(length, segment_);
    return SegmentClass::full;
  }
  // Shorter segments become the estimate when two of one size follow each other. Options of
  // varying length (SACK) must not look like another size: count them as payload.
  const Bytes fixed = segment_ < max_segment_ ? max_segment_ - segment_ : Bytes{};
  const Bytes size = length + Bytes(segment.option_bytes) - fixed;
  const bool unpushed = !segment.has(kPush) && !segment.has(kFin);
  if (size + fixed >= Bytes(536) || (size + fixed >= Bytes(88) && unpushed)) {
    last_short_size_ = size;
    if (size == last) {
      segment_size_ = size;
      return SegmentClass::estimate;
    }
  }
  return SegmentClass::shorter;
}

void ReceiveWindow::set_clamp(Bytes clamp) {
  const Bytes before = clamp_;
  clamp_ = std::min(std::max(clamp, kSmallestBuffer / 2),
                    kLargestUnscaled * (std::int64_t{1} << scale_));
  if (clamp_ < before)
    limit_ = std::min(limit_, clamp_);
  else if (clamp_ > before)
    limit_ = std::max(limit_, std::min(window_, clamp_));
}

bool ReceiveWindow::grow_into(Bytes room, const Segment& segment, Bytes memory) {
  const Bytes length(segment.length);
  Bytes increment = window_of(memory) <= length ? segment_ * 2 : slow_growth(length, memory);
  if (increment == Bytes{}) return false;
  increment = std::max(increment, length * 2);
  limit_ += std::min(room, increment);
  return true;
}

// A segment that wastes memory opens the window only while the window is small enough that a
// buffer of the largest size would still hold a windowful of such segments.
Bytes ReceiveWindow::slow_growth(Bytes length, Bytes memory) const {
  Bytes share = window_of(memory) / 2;
  Bytes window = window_of(stack_.receive_buffer_max) / 2;
  for (; limit_ <= window; share = share / 2, window = window / 2)
    if (share <= length) return segment_size_ * 2;
  return {};
}

void ReceiveWindow::take_echo_age(const Segment& segment, Time echo_age, bool queue_empty) {
  last_echo_ = segment.timestamp_echo;
  if (Bytes(segment.length) < segment_size_ || echo_age <= Time{}) return;
  if (rtt_eighths_ == Time{} || echo_age * 8 < rtt_eighths_)
    rtt_eighths_ = echo_age * 8;
  else if (queue_empty)  // a busy reader would add its own delay
    rtt_eighths_ = rtt_eighths_ - rtt_eighths_ / 8 + echo_age;
}

// Without timestamps the time to fill one window bounds the RTT from above; only smaller samples
// count.
void ReceiveWindow::take_window_time(Time now, Sequence next) {
  if (timing_window_) {
    const Time sample = std::max(now - window_start_, Time::microseconds(1)) * 8;
    if (rtt_eighths_ == Time{} || sample < rtt_eighths_) rtt_eighths_ = sample;
  }
  timing_window_ = true;
  window_start_ = now;
  window_end_ = next + static_cast<Sequence>(window_.count());
}

void ReceiveWindow::on_out_of_order(Sequence next, Sequence highest) {
  if (stack_.window_rule == WindowRule::scaling_ratio)  // Linux 6.16 on
    grow_buffer(copied_per_rtt_, next, highest);
}

// Dynamic right-sizing (Fisk and Feng 2001), as Linux does it: the space must be twice what the
// application copied in one RTT, and more while the rate still grows.
void ReceiveWindow::autotune(Sequence next, Sequence highest) {
  std::int64_t copied = static_cast<std::int64_t>(read_ - copy_from_);
  if (stack_.window_rule == WindowRule::scaling_ratio)
    copied -= static_cast<std::int64_t>(next - read_);
  if (Bytes(copied) > copied_per_rtt_) grow_buffer(Bytes(copied), next, highest);
  copy_from_ = read_;
  copy_start_ = last_arrival_;
}

void ReceiveWindow::grow_buffer(Bytes copied, Sequence next, Sequence highest) {
  const Bytes before = copied_per_rtt_;
  copied_per_rtt_ = copied;
  if (!stack_.autotune_receive || locked_ || before == Bytes{}) return;
  Bytes window = copied * 2;  // the measure is one RTT late
  if (stack_.window_rule == WindowRule::adv_win_scale) window += segment_ * 16;
  const std::int64_t growth = window.count() * (copied - before).count() / before.count();
  window += Bytes(growth * 2);
  if (stack_.window_rule == WindowRule::scaling_ratio && highest > next)
    window += Bytes(static_cast<std::int64_t>(highest - next));
  const Bytes wanted = std::min(space_for(window), stack_.receive_buffer_max);
  if (wanted <= buffer_) return;
  resize(wanted);
  clamp_ = std::min(full_space_, kLargestUnscaled * (std::int64_t{1} << scale_));
}

Bytes ReceiveWindow::window_by_rule(Bytes space) const {
  switch (stack_.window_rule) {
    case WindowRule::scaling_ratio:
      return Bytes((space.count() * ratio_) >> kRatioShift);
    case WindowRule::adv_win_scale:
      return stack_.adv_win_scale > 0 ? space - Bytes(space.count() >> stack_.adv_win_scale)
                                      : Bytes(space.count() >> -stack_.adv_win_scale);
    case WindowRule::half_space:
      return space / 2;
    case WindowRule::bsd_space:
      return space;
  }
  return space;
}

Bytes ReceiveWindow::space_for(Bytes window) const {
  if (stack_.window_rule == WindowRule::scaling_ratio)
    return Bytes((window.count() << kRatioShift) / ratio_);
  const int scale = stack_.adv_win_scale;
  if (scale <= 0) return Bytes(window.count() << -scale);
  const std::int64_t whole = std::int64_t{1} << scale;
  return Bytes((window.count() * whole + whole - 2) / (whole - 1));
}

Bytes ReceiveWindow::space() const {
  if (stack_.window_rule != WindowRule::bsd_space) return std::max(free_space(), Bytes{});
  // Payload against the size, and buffer memory against twice the size (sbspace()).
  const Bytes payload(static_cast<std::int64_t>(queued_end_ - read_));
  return std::max(std::min(buffer_ - payload, buffer_ * 2 - used_), Bytes{});
}

Bytes ReceiveWindow::select_raw() const {
  return std::min(space(), kLargestUnscaled * (std::int64_t{1} << scale_));
}

Bytes ReceiveWindow::select_by_rule(Sequence next) const {
  return stack_.window_rule == WindowRule::half_space ? select_half() : select_bsd(next);
}

// Keeps the offer while it is within one segment of the free space: whole segments otherwise
// (RFC 1122 4.2.3.3).
inline Bytes ReceiveWindow::whole_segments(Bytes free, Bytes segment) const {
  if (window_ <= free - segment || window_ > free) return round_down(free, segment);
  return window_;
}

Bytes ReceiveWindow::select_limited() const {
  const Bytes allowed = full_space_;
  const Bytes full = smaller(clamp_, allowed);
  const Bytes segment = smaller(segment_size_, full);
  if (segment <= Bytes{}) return {};
  const Bytes unit(std::int64_t{1} << scale_);
  Bytes free = free_space();
  if (free < full / 2) {
    free = free > Bytes{} ? round_down(free, unit) : Bytes{};
    // Below a sixteenth, or one segment, close the window before memory runs out.
    if (free < allowed / 16 || free < segment) return {};
  }
  free = smaller(free, limit_);
  // Scaled windows never fit segments: no rounding to those.
  if (scale_ > 0) return Bytes(((free + unit - Bytes(1)).count() >> scale_) << scale_);
  const Bytes window = whole_segments(free, segment);
  if (window == window_ && segment == full && free > window + full / 2) return free;
  return window;
}

Bytes ReceiveWindow::select_half() const {
  const Bytes segment = std::max(std::min(clamp_, segment_), Bytes(1));
  const Bytes free = std::min(clamp_, space());
  if (free < buffer_ / 4 && free < segment / 2) return {};
  return whole_segments(free, segment);
}

// 4.4BSD tcp_output(): neither a quarter of the buffer nor a segment free is no window at all.
Bytes ReceiveWindow::select_bsd(Sequence next) const {
  Bytes window = space();
  if (window < buffer_ / 4 && window < threshold_segment_) window = {};
  window = std::min(window, kLargestUnscaled * (std::int64_t{1} << scale_));
  return std::max(window, offered(next));
}

std::uint32_t ReceiveWindow::advertise(Sequence next) {
  Bytes window{};
  if (refuse_) {
    refuse_ = false;
  } else {
    const Bytes unit(std::int64_t{1} << scale_);
    const Bytes current = offered(next);
    window = select(next);
    // RFC 9293 3.8.6.2.1: the right edge does not move left. Linux rounds up lest the shift do it.
    if (window < current) window = linux_growth() ? round_up(current, unit) : current;
    window = smaller(window, kLargestUnscaled * unit.count());
  }
  window_ = window;
  advertised_at_ = next;
  return static_cast<std::uint32_t>((window.count() >> scale_) << scale_);
}

}  // namespace linerate::models::tcp
