// The bytes a connection has accepted from its writer: unsent data in buffers as the writer's
// calls shaped them, the memory all of it takes, and when a refused writer is woken.
#pragma once

#include <cstdint>
#include <optional>

#include "experiments/definition/stack.hpp"
#include "models/tcp/ring.hpp"
#include "models/tcp/segment.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

/// A run of unsent bytes that a stack handles as one (Linux: an skb). Boundaries decide where PSH
/// stands and, without segmentation offload, where segments end.
struct UnsentBuffer {
  Sequence end = 0;
  bool push = false;  ///< the writer's call ended in it
};

class SendBuffer {
 public:
  /// `requested`: setsockopt's argument, which also ends autotuning.
  SendBuffer(const experiments::Stack& stack, std::optional<Bytes> requested);

  Sequence end() const { return end_; }  ///< one past the last byte written
  bool all_sent() const { return unsent_.empty(); }
  bool single() const { return unsent_.size() == 1; }
  const UnsentBuffer& front() const { return unsent_.at(unsent_.first()); }
  /// The writer's call ended in the last buffer.
  void mark_push() { unsent_.at(unsent_.end() - 1).push = true; }

  /// Room that a new write may fill in the tail buffer, if buffers hold `capacity` bytes;
  /// `next` is SND.NXT.
  std::int64_t tail_room(Sequence next, std::int64_t capacity) const;
  /// Whether a new buffer may be started (payload accounting: how many bytes fit).
  bool has_space() const { return used_ < limit_; }
  std::int64_t payload_space() const { return limit_ - used_; }
  void append(std::int64_t bytes, bool new_buffer);
  /// Moves up to `bytes` from the second buffer to the front one.
  void top_up_front(std::int64_t bytes);
  /// Everything below `to` has left: the front buffer, or a new one cut from it.
  void sent_up_to(Sequence to);
  /// Acknowledged payload and `buffers` whole buffers are freed.
  void release(std::int64_t bytes, std::int64_t buffers);

  /// Grows the limit to hold twice the window (Linux: tcp_sndbuf_expand's rule).
  void autotune(std::int64_t window, std::int64_t segment_size) {
    if (window != tuned_window_ || segment_size != tuned_segment_) grow_limit(window, segment_size);
  }
  bool autotuned() const { return autotune_; }
  /// BSD rounds the limit up to whole segments when the MSS becomes known.
  void round_to_segment(std::int64_t segment_size);
  bool wakes_writer() const;
  std::int64_t limit() const { return limit_; }
  std::int64_t used() const { return used_; }

 private:
  void grow_limit(std::int64_t window, std::int64_t segment_size);

  Ring<UnsentBuffer> unsent_;
  Sequence end_ = 1;
  std::int64_t used_ = 0;  ///< memory or payload, as the stack counts
  std::int64_t limit_;
  std::int64_t limit_max_;
  std::int64_t overhead_;  ///< per buffer; 0 when payload is counted
  std::int64_t low_water_;
  experiments::WriterWake wake_;
  bool autotune_;
  std::int64_t tuned_window_ = 0, tuned_segment_ = 0;  ///< that the limit was last grown for
};

}  // namespace linerate::models::tcp
