#include "realnet/read_clock.hpp"

#include <algorithm>

namespace linerate::realnet {

ReadClock::ReadClock(const Window& window)
    : window_(window),
      next_edge_(std::min(window.from, window.start + window.step)),
      last_read_(window.start) {}

void ReadClock::on_read(Time now, Bytes size) {
  if (first_read_ == Time::never()) first_read_ = now;
  if (now >= next_edge_) pass(now, size);
  total_ += size;
  last_read_ = now;
}

void ReadClock::finish(Time now) {
  if (now >= next_edge_) pass(now, Bytes(0));
  if (!passed_from_) at_from_ = static_cast<double>(total_.count());
  if (!passed_to_) at_to_ = static_cast<double>(total_.count());
  passed_from_ = passed_to_ = true;
}

double ReadClock::at(Time instant, Time now, Bytes size) const {
  const double since_last = (now - last_read_).seconds();
  const double share = since_last > 0 ? (instant - last_read_).seconds() / since_last : 1.0;
  return static_cast<double>(total_.count()) +
         static_cast<double>(size.count()) * std::clamp(share, 0.0, 1.0);
}

void ReadClock::pass(Time now, Bytes size) {
  if (!passed_from_ && now >= window_.from) {
    at_from_ = at(window_.from, now, size);
    passed_from_ = true;
  }
  if (!passed_to_ && now >= window_.to) {
    at_to_ = at(window_.to, now, size);
    passed_to_ = true;
  }
  const auto interval_end = [&] {
    return window_.start + window_.step * (static_cast<std::int64_t>(by_interval_.size()) + 1);
  };
  while (now >= interval_end() && interval_end() <= window_.to) {
    by_interval_.push_back(at(interval_end(), now, size));
  }
  next_edge_ = interval_end() <= window_.to ? interval_end() : Time::never();
  if (!passed_from_) next_edge_ = std::min(next_edge_, window_.from);
  if (!passed_to_) next_edge_ = std::min(next_edge_, window_.to);
}

}  // namespace linerate::realnet
