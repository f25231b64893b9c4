// The receive buffer of a connection and the window it offers: how memory is counted, how free
// space becomes a window under each stack's rule, and how the buffer grows with the data rate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/definition/stack.hpp"
#include "models/tcp/segment.hpp"
#include "sim/check.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

/// How the window starts; sizes in bytes.
struct WindowSetup {
  experiments::Stack stack;
  std::optional<Bytes> requested;  ///< setsockopt's argument
  Bytes max_segment;               ///< our MSS option
  Bytes frame_headers;             ///< Ethernet, IP and fixed TCP header of a received frame
  bool same_memory = false;        ///< what comes lies in the buffers in which the peer queued it
};

/// A data segment against the estimate of the peer's segment size.
enum class SegmentClass {
  full,      ///< as long as the estimate, or longer
  shorter,   ///< a small segment
  estimate,  ///< small, but now taken for the size the peer sends
};

/// First-in first-out list of what the socket's queue holds: where each piece of payload ends and
/// the memory it occupies. Grows to the most that was ever queued, then allocates no more.
class QueuedMemory {
 public:
  QueuedMemory() : slots_(64) {}
  bool empty() const { return head_ == tail_; }
  void push(Sequence end, Bytes memory) {
    if (tail_ - head_ > mask_) [[unlikely]]
      grow();
    slots_[tail_++ & mask_] = {end, memory};
  }
  Sequence front_end() const { return slots_[head_ & mask_].end; }
  Bytes pop() { return slots_[head_++ & mask_].memory; }
  /// Packs small pieces of the queue, whose payload begins at `start`, into shared pages. Returns
  /// the memory this frees.
  Bytes compact(Sequence start);

 private:
  struct Slot {
    Sequence end;
    Bytes memory;
  };
  void grow();

  std::vector<Slot> slots_;  ///< a ring; its size is a power of two, one above the mask
  std::uint64_t mask_ = 63;
  std::uint64_t head_ = 0, tail_ = 0;
};

class ReceiveWindow {
 public:
  explicit ReceiveWindow(const WindowSetup& setup);

  // Handshake.
  std::uint8_t scale() const { return scale_; }  ///< shift offered in our SYN
  /// Window shown in our SYN or SYN-ACK: unscaled, at most 65535.
  std::uint32_t syn_window() const;
  /// The options are settled: `segment` is the payload of a full segment (MSS less options),
  /// `peer_max_segment` the MSS option the peer sent. A passive side chooses its window now.
  struct Agreement {
    bool passive = false;
    bool scaling = false;
    Bytes segment;
    Bytes peer_max_segment;
  };
  void agree(const Agreement& agreement);
  void establish(Time now, Sequence next);

  // Arrivals.
  /// Memory that the frames of a received segment occupy.
  Bytes memory_of(const Segment& segment) const {
    const std::int64_t unit = stack_.packet_data_unit.count();
    if (segment.frames == 1 && !same_memory_ &&
        std::int64_t{segment.length} + segment.option_bytes + frame_headers_.count() <= unit)
        [[likely]]
      return stack_.packet_overhead + stack_.packet_data_unit;
    return memory_of_several(segment);
  }
  /// Whether one more segment may be stored; may grow an unlocked buffer or pack what it holds.
  bool admit() {
    if (used_ <= buffer_ || stack_.buffer_accounting == experiments::BufferAccounting::payload)
        [[likely]]
      return true;
    return make_room();
  }
  /// Memory of out-of-order data, counted but in no order yet.
  void hold(Bytes memory);
  /// `held` bytes of such memory have become part of the stream up to `end`.
  void join(Sequence end, Bytes held);
  /// In-order payload up to `end` enters the queue.
  void queue(Sequence end, Bytes memory) {
    used_ += memory;
    queue_.push(end, memory);
    queued_end_ = end;
  }
  /// Updates the estimates of the peer's segment size and of payload per memory (Linux).
  SegmentClass observe(const Segment& segment, Bytes memory) {
    if (segment.frames != 1 || Bytes(segment.length) != segment_size_) [[unlikely]]
      return observe_change(segment, memory);
    last_short_size_ = {};
    if (segment_size_ > segment_) segment_size_ = segment_;
    return SegmentClass::full;
  }
  /// Opens the window after payload of that memory; true if it grew.
  bool grow(const Segment& segment, Bytes memory) {
    if (!linux_growth()) return false;
    const Bytes free = free_space();
    const Bytes room = Bytes(free < clamp_ ? free.count() : clamp_.count()) - limit_;
    return room > Bytes{} && grow_into(room, segment, memory);
  }
  /// RTT samples for autotuning: by echoed timestamps before a segment is queued, by windows after.
  void sample_rtt(const Segment& segment, Time echo_age, bool queue_empty) {
    if (wants_echo_age(segment)) [[unlikely]]
      take_echo_age(segment, echo_age, queue_empty);
  }
  bool wants_echo_age(const Segment& segment) const {
    return stack_.autotune_receive && segment.timestamp_echo != last_echo_;
  }
  void measure_window_time(Time now, Sequence next) {
    last_arrival_ = now;
    if (stack_.autotune_receive && (!timing_window_ || next >= window_end_))
      take_window_time(now, next);
  }
  /// Out-of-order data means that the rate is already higher: the buffer may follow.
  void on_out_of_order(Sequence next, Sequence highest);

  // The application.
  /// Payload up to `read` has been copied out. `highest`: end of out-of-order data, 0 if none.
  void release(Sequence read, Sequence next, Sequence highest) {
    while (!queue_.empty() && queue_.front_end() <= read) {
      read_ = queue_.front_end();
      used_ -= queue_.pop();
      if (rtt_eighths_ != Time{} && last_arrival_ - copy_start_ >= rtt_eighths_ / 8)
        autotune(next, highest);
    }
    read_ = read;
    LINERATE_CHECK(used_ >= Bytes{}, "memory is freed once");
  }

  // The window.
  /// The window a segment sent now would offer, before the rule that its edge never shrinks.
  Bytes select(Sequence next) const {
    return linux_growth_ ? select_limited() : select_by_rule(next);
  }
  /// The same without silly-window avoidance: free space that the window field can express.
  Bytes select_raw() const;
  /// Settles the window of a departing segment: bytes, a multiple of the scale.
  std::uint32_t advertise(Sequence next);
  /// What the peer may still send of the last advertised window.
  Bytes offered(Sequence next) const {
    const Sequence edge = advertised_at_ + static_cast<Sequence>(window_.count());
    return Bytes(edge > next ? static_cast<std::int64_t>(edge - next) : 0);
  }
  Sequence advertised_at() const { return advertised_at_; }
  Bytes last_advertised() const { return window_; }  ///< Linux's rcv_wnd
  Bytes clamp() const { return clamp_; }
  Bytes buffer() const { return buffer_; }
  Bytes memory_used() const { return used_; }
  Bytes segment_size() const { return segment_size_; }  ///< estimate of the peer's segments
  /// Segment size in the ACK and window-update thresholds (RFC 2525's trap if so configured).
  Bytes threshold_segment() const { return threshold_segment_; }
  Time rtt() const { return Time::picoseconds(rtt_eighths_.picoseconds() / 8); }
  /// Free space below half of the buffer: Linux then ends quick acknowledgment.
  bool tight() const { return linux_growth() && free_space() < std::min(clamp_, full_space_) / 2; }
  /// Payload was refused for lack of memory: the next advertised window is zero.
  void out_of_memory() { refuse_ = true; }

 private:
  using Stack = experiments::Stack;
  static constexpr int kRatioShift = 8;
  bool linux_growth() const { return linux_growth_; }
  bool make_room();
  Bytes memory_of_several(const Segment& segment) const;
  SegmentClass observe_change(const Segment& segment, Bytes memory);
  bool grow_into(Bytes room, const Segment& segment, Bytes memory);
  void take_echo_age(const Segment& segment, Time echo_age, bool queue_empty);
  void take_window_time(Time now, Sequence next);
  /// Payload share of buffer space. Linux keeps payload / memory in 256ths.
  Bytes window_of(Bytes space) const {
    if (stack_.window_rule == experiments::WindowRule::scaling_ratio) [[likely]]
      return Bytes((space.count() * ratio_) >> kRatioShift);
    return window_by_rule(space);
  }
  Bytes window_by_rule(Bytes space) const;
  Bytes space_for(Bytes window) const;  ///< its inverse
  void resize(Bytes buffer);
  Bytes free_space() const { return window_of(buffer_ - used_); }
  void choose_initial(Bytes segment);
  void set_clamp(Bytes clamp);
  Bytes slow_growth(Bytes length, Bytes memory) const;
  void grow_buffer(Bytes copied, Sequence next, Sequence highest);
  void autotune(Sequence next, Sequence highest);
  Bytes space() const;  ///< free payload space, never negative
  Bytes select_by_rule(Sequence next) const;
  Bytes select_limited() const;
  Bytes select_half() const;
  Bytes select_bsd(Sequence next) const;
  Bytes whole_segments(Bytes free, Bytes segment) const;

  Stack stack_;
  bool linux_growth_;  ///< the window opens as data proves to fit
  Bytes max_segment_;
  Bytes frame_headers_;
  bool same_memory_;
  Bytes buffer_;
  Bytes full_space_{};   ///< window_of(buffer_): what an empty buffer would offer
  bool locked_ = false;  ///< the application set the size: no autotuning
  std::uint8_t scale_ = 0;
  Bytes used_{};       ///< memory in the queue and, Linux, out of order
  Sequence read_ = 1;  ///< payload below is copied out
  Sequence queued_end_ = 1;
  QueuedMemory queue_;
  Bytes window_{};  ///< as last advertised at advertised_at_
  Sequence advertised_at_ = 0;
  Bytes clamp_{};             ///< largest window ever offered
  Bytes limit_{};             ///< current limit, opened as data proves to fit (Linux)
  std::int64_t ratio_ = 128;  ///< payload / memory in 256ths
  Bytes segment_;             ///< payload of our own full segment: MSS less options
  Bytes segment_size_{536};
  Bytes last_short_size_{};  ///< candidate for a smaller segment size
  Bytes threshold_segment_{536};
  bool refuse_ = false;

  // Autotuning.
  Time rtt_eighths_{};  ///< 8 x estimated RTT; 0: unknown
  std::uint32_t last_echo_ = 0;
  Sequence window_end_ = 0;  ///< end of the window being timed
  Time window_start_{};
  bool timing_window_ = false;
  Time copy_start_{};
  Sequence copy_from_ = 1;
  Bytes copied_per_rtt_{};  ///< most copied to the application in one RTT
  Time last_arrival_{};
};

}  // namespace linerate::models::tcp
