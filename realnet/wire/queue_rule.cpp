#include "realnet/wire/queue_rule.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace linerate::realnet {
namespace {

using experiments::Discipline;
using experiments::QueueSpec;

/// CoDel leaves a queue of one full frame alone (RFC 8289 4.4); with preamble and gap.
constexpr std::int64_t kOneFrame = 1538;

}  // namespace

QueueRule::QueueRule(const QueueSpec& spec, BitRate line, sim::RandomStream random)
    : spec_(spec), line_(line), random_(random) {}

bool QueueRule::can_follow(const QueueSpec& spec) {
  return spec.discipline == Discipline::fifo || spec.discipline == Discipline::codel ||
         (spec.discipline == Discipline::red && !spec.adaptive.value_or(false));
}

bool QueueRule::has_room(const QueueLength& queue, Bytes wire) const {
  return (!spec_.limit || queue.bytes + wire.count() <= spec_.limit->count()) &&
         (!spec_.limit_frames || queue.frames < *spec_.limit_frames);
}

QueueRule::Verdict QueueRule::arrives(Time now, const QueueLength& queue, bool capable, Time idle) {
  if (spec_.discipline == Discipline::red) return red(now, queue, capable, idle);
  // A step of marks, as DCTCP wants it (RFC 8257 3.1).
  const bool above = (spec_.ecn_threshold && queue.bytes > spec_.ecn_threshold->count()) ||
                     (spec_.ecn_threshold_frames && queue.frames > *spec_.ecn_threshold_frames);
  return above && capable ? Verdict::mark : Verdict::keep;
}

/// Floyd and Jacobson 1993, section 4, with the gentle rise of 2000 where it is asked for.
double QueueRule::red_probability() const {
  const auto value = [](const auto& bytes, const auto& frames) {
    return bytes ? static_cast<double>(bytes->count()) : static_cast<double>(frames.value_or(0));
  };
  const double low = value(spec_.min, spec_.min_frames);
  const double high = value(spec_.max, spec_.max_frames);
  const double at_high = *spec_.max_probability;
  if (mean_ < low) return 0;
  if (mean_ < high) return at_high * (mean_ - low) / (high - low);
  if (!*spec_.gentle) return 1;
  return std::min(at_high + (1 - at_high) * (mean_ - high) / high, 1.0);
}

QueueRule::Verdict QueueRule::red(Time now, const QueueLength& queue, bool capable, Time idle) {
  // While nothing was sent, small frames might have been that found the queue empty.
  if (queue.frames == 0 && idle < now) {
    const double missed =
        (now - idle).seconds() / serialization_time(*spec_.mean_frame, line_).seconds();
    mean_ *= std::pow(1 - *spec_.weight, missed);
  }
  const auto length = static_cast<double>(spec_.min ? queue.bytes : queue.frames);
  mean_ += *spec_.weight * (length - mean_);
  const double p = red_probability();
  if (p <= 0) {
    since_ = -1;
    return Verdict::keep;
  }
  ++since_;
  // p / (1 - count x p): gaps between drops are uniform, not geometric (1993, section 7).
  const double left = 1 - static_cast<double>(since_) * p;
  if (left > p && random_.uniform01() >= p / left) return Verdict::keep;
  since_ = -1;
  return p < 1 ? early(capable) : Verdict::drop;  // beyond its thresholds it drops (RFC 3168 7)
}

QueueRule::Verdict QueueRule::leaves(Time now, Time waited, const QueueLength& queue,
                                     bool capable) {
  if (spec_.discipline != Discipline::codel) return Verdict::keep;
  return codel(now, stays_above(now, waited, queue), capable);
}

/// Whether the delay has been above the target for an interval (RFC 8289 5.5, dodequeue).
bool QueueRule::stays_above(Time now, Time waited, const QueueLength& queue) {
  if (waited < *spec_.target || queue.bytes <= kOneFrame) {
    first_above_ = Time::never();
    return false;
  }
  if (first_above_ == Time::never()) {
    first_above_ = now + *spec_.interval;
    return false;
  }
  return now >= first_above_;
}

/// The control law: drops come closer by the root of their number, so that TCP's rate falls evenly
/// (RFC 8289 5.3).
Time QueueRule::spaced(Time from) const {
  return from + spec_.interval->scaled(1 / std::sqrt(static_cast<double>(count_)));
}

/// RFC 8289 5.5, deque, a frame a call: where it goes on with the next frame, the next call does.
QueueRule::Verdict QueueRule::codel(Time now, bool above, bool capable) {
  if (std::exchange(entered_, false)) return Verdict::keep;
  if (!dropping_) {
    if (!above) return Verdict::keep;
    dropping_ = true;
    const std::int64_t delta = count_ - last_count_;
    const bool lately = now - drop_next_ < *spec_.interval * 16;
    count_ = delta > 1 && lately ? delta : 1;
    drop_next_ = spaced(now);
    last_count_ = count_;
    const Verdict verdict = early(capable);
    entered_ = verdict == Verdict::drop;
    return verdict;
  }
  if (!above) {
    dropping_ = dropped_ = false;
    return Verdict::keep;
  }
  if (std::exchange(dropped_, false)) drop_next_ = spaced(drop_next_);
  if (now < drop_next_) return Verdict::keep;
  ++count_;
  const Verdict verdict = early(capable);
  if (verdict == Verdict::mark) {
    drop_next_ = spaced(drop_next_);
  } else {
    dropped_ = true;
  }
  return verdict;
}

}  // namespace linerate::realnet
