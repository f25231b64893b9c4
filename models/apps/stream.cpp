#include "models/apps/stream.hpp"

#include <algorithm>
#include <limits>

namespace linerate::models {

StreamWriter::StreamWriter(const experiments::Test& test, LocalClock clock,
                           std::optional<Bytes> volume)
    : write_size_(test.write),
      limit_(volume ? volume->count() : test.bytes.value_or(Bytes(0)).count()),
      duration_(test.duration),
      clock_(clock),
      drains_(test.close == experiments::Closing::drained),
      schedule_(test.writes) {}

Time StreamWriter::first_due() const {
  return schedule_.empty() ? Time::never() : started_ + schedule_.front().after;
}

bool StreamWriter::begin_scheduled_write(Time now) {
  if (group_ == schedule_.size() || now < next_due_) return false;
  const experiments::TimedWrites& group = schedule_[group_];
  current_ = group.size.count();
  // The schedule is absolute: a late write does not move the ones after it.
  if (++in_group_ < group.count) {
    next_due_ += group.interval;
  } else {
    in_group_ = 0;
    ++group_;
    next_due_ = group_ < schedule_.size() ? next_due_ + schedule_[group_].after : Time::never();
  }
  return true;
}

bool StreamWriter::begin_write(Time now) {
  if (!schedule_.empty()) return begin_scheduled_write(now);
  if (limit_ > 0) {
    current_ = std::min(write_size_.count(), limit_ - written_);
    return current_ > 0;
  }
  if (now >= until_) return false;
  current_ = write_size_.count();
  return true;
}

bool StreamWriter::step(Time now, tcp::Endpoint& endpoint, Bytes piece) {
  if (shut_down_ || started_ == Time::never()) return false;
  if (current_ == 0) {
    if (!begin_write(now)) return false;
    if (calls_++ == 0) first_call_ = now;
  }
  const std::int64_t size = std::min(current_, piece.count());
  const std::int64_t taken = endpoint.write(now, Bytes(size), size < current_).count();
  current_ -= taken;
  written_ += taken;
  if (taken < size) return false;  // asleep in write()
  if (current_ == 0) last_return_ = now;
  return true;
}

void StreamWriter::close_when_done(Time now, tcp::Endpoint& endpoint) {
  if (shut_down_ || started_ == Time::never() || current_ > 0) return;
  const bool more_to_come = schedule_.empty() ? (limit_ > 0 ? written_ < limit_ : now < until_)
                                              : group_ < schedule_.size();
  if (more_to_come) return;
  if (drains_ && endpoint.info().bytes_acked < written_) return;
  endpoint.shutdown(now);
  shut_down_ = true;
}

void StreamWriter::run(Time now, tcp::Endpoint& endpoint) {
  constexpr Bytes kWhole{std::numeric_limits<std::int64_t>::max()};
  while (step(now, endpoint, kWhole)) {
  }
  close_when_done(now, endpoint);
}

Time StreamWriter::deadline() const {
  return shut_down_ || current_ > 0 ? Time::never() : next_due_;
}

StreamReader::StreamReader(const experiments::Test& test)
    : read_size_(test.read),
      habit_(test.reader),
      omit_(test.omit),
      duration_(test.duration),
      counts_window_(!test.bytes && !test.sizes) {}

void StreamReader::start(Time connected) {
  started_ = connected;
  if (habit_.pause_at) {
    pause_from_ = connected + *habit_.pause_at;
    pause_to_ = pause_from_ + habit_.pause_for;
  }
}

void StreamReader::finish(Time now, tcp::Endpoint& endpoint) {
  ++calls_;  // the read() that returns 0
  finished_ = true;
  end_of_stream_ = now;
  wake_at_ = Time::never();
  endpoint.shutdown(now);
}

void StreamReader::run(Time now, tcp::Endpoint& endpoint) {
  for (Bytes next = next_read(now, endpoint); next > Bytes(0); next = next_read(now, endpoint))
    take(now, endpoint, next);
  if (at_end(endpoint)) finish(now, endpoint);
}

}  // namespace linerate::models
