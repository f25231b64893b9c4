#include "models/queue/codel.hpp"

#include <cmath>

namespace linerate::models {

CodelControl::Taken CodelControl::take(const CodelRule& rule, Time now, std::uint8_t paused,
                                       FrameRow& row, QueuedFrame& frame) {
  if (row.empty()) {
    above_until_ = Time::never();
    return {};
  }
  if (row.next_bytes(paused) == 0) return {};
  frame = row.take();
  if (now - frame.queued < rule.target || row.bytes() <= rule.largest) {
    above_until_ = Time::never();
    return {.any = true, .above = false};
  }
  if (above_until_ == Time::never()) {
    above_until_ = now + rule.interval;
    return {.any = true, .above = false};
  }
  return {.any = true, .above = now >= above_until_};
}

// A rate of drops that grows with their square root makes TCP's throughput fall linearly (5.3).
Time CodelControl::next_after(const CodelRule& rule, Time last) const {
  return last + rule.interval.scaled(1 / std::sqrt(static_cast<double>(count_)));
}

// If dropping ended a short while ago, it goes on with about the rate that had sufficed (5.4).
void CodelControl::start_dropping(const CodelRule& rule, Time now) {
  dropping_ = true;
  const std::int64_t needed = count_ - last_count_;
  const bool recently = now - next_drop_ < rule.interval * 16;
  count_ = needed > 1 && recently ? needed : 1;
  next_drop_ = next_after(rule, now);
  last_count_ = count_;
}

bool CodelControl::dequeue(const CodelRule& rule, Time now, std::uint8_t paused, FrameRow& row,
                           QueuedFrame& frame, std::vector<QueuedFrame>& dropped,
                           QueueCounters& counters) {
  Taken taken = take(rule, now, paused, row, frame);
  // Marks the frame in hand, or drops it and takes the next one.
  const auto punish = [&] {
    if (rule.ecn && frame.capable()) {
      counters.mark(frame);
      return false;
    }
    ++counters.early_drops;
    dropped.push_back(frame);
    dropped.back().cause = Drop::early;
    taken = take(rule, now, paused, row, frame);
    return true;
  };
  if (!dropping_) {
    if (!taken.above) return taken.any;
    punish();
    start_dropping(rule, now);
    return taken.any;
  }
  dropping_ = taken.above;
  while (dropping_ && now >= next_drop_) {
    ++count_;
    const bool gone = punish();
    dropping_ = taken.above;
    if (dropping_) next_drop_ = next_after(rule, next_drop_);
    if (!gone) break;
  }
  return taken.any;
}

}  // namespace linerate::models
