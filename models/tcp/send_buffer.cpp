#include "models/tcp/send_buffer.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "sim/check.hpp"

namespace linerate::models::tcp {

using experiments::BufferAccounting;
using experiments::WriterWake;

namespace {
constexpr std::int64_t kSmallestLimit = 4608;  // Linux SOCK_MIN_SNDBUF
}

SendBuffer::SendBuffer(const experiments::Stack& stack, std::optional<Bytes> requested)
    : limit_(stack.send_buffer.count()),
      limit_max_(stack.send_buffer_max.count()),
      overhead_(stack.buffer_accounting == BufferAccounting::truesize ? stack.send_overhead.count()
                                                                      : 0),
      low_water_(stack.send_low_water.count()),
      wake_(stack.writer_wake),
      autotune_(stack.autotune_send && !requested) {
  if (!requested) return;
  limit_ = std::min(*requested, stack.socket_buffer_limit).count() * stack.buffer_factor;
  if (overhead_ > 0) limit_ = std::max(limit_, kSmallestLimit);
}

std::int64_t SendBuffer::tail_room(Sequence next, std::int64_t capacity) const {
  if (all_sent()) return 0;
  const Sequence begin = single() ? next : unsent_.at(unsent_.end() - 2).end;
  return std::max<std::int64_t>(capacity - static_cast<std::int64_t>(end_ - begin), 0);
}

void SendBuffer::append(std::int64_t bytes, bool new_buffer) {
  end_ += static_cast<std::uint64_t>(bytes);
  used_ += bytes;
  if (new_buffer) {
    used_ += overhead_;
    unsent_.push(UnsentBuffer{end_, false});
  } else {
    unsent_.at(unsent_.end() - 1).end = end_;
  }
}

void SendBuffer::top_up_front(std::int64_t bytes) {
  UnsentBuffer& first = unsent_.at(unsent_.first());
  UnsentBuffer& second = unsent_.at(unsent_.first() + 1);
  if (first.end + static_cast<Sequence>(bytes) < second.end) {
    first.end += static_cast<Sequence>(bytes);
    return;
  }
  second.push |= first.push;
  unsent_.pop();
  used_ -= overhead_;
}

void SendBuffer::sent_up_to(Sequence to) {
  LINERATE_CHECK(!all_sent() && to <= front().end,
                 "what is sent is the front buffer or part of it");
  if (to == front().end) {
    unsent_.pop();
  } else {
    used_ += overhead_;
  }
}

void SendBuffer::release(std::int64_t bytes, std::int64_t buffers) {
  used_ -= bytes + buffers * overhead_;
  LINERATE_CHECK(used_ >= 0, "no more is freed than was queued");
}

void SendBuffer::grow_limit(std::int64_t window, std::int64_t segment_size) {
  tuned_window_ = window;
  tuned_segment_ = segment_size;
  // The worst case: every segment alone in a power-of-two data area with 320 B of header room,
  // beside a 256 B descriptor (Linux 6: 2304 B for 1448, 16640 B for 8948). Twice the window keeps
  // the pipe full during a recovery.
  const auto area =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(segment_size + 320)));
  limit_ = std::max(limit_, std::min(2 * window * (area + 256), limit_max_));
}

void SendBuffer::round_to_segment(std::int64_t segment_size) {
  limit_ = (limit_ + segment_size - 1) / segment_size * segment_size;
}

bool SendBuffer::wakes_writer() const {
  switch (wake_) {
    case WriterWake::any_space:
      return used_ < limit_;
    case WriterWake::third_free:
      return limit_ - used_ >= used_ / 2;
    case WriterWake::low_water:
      return limit_ - used_ >= std::min(low_water_, limit_);
  }
  return false;
}

}  // namespace linerate::models::tcp
