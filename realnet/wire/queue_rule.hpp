// What a queue in front of a line does beyond keeping frames in order: it drops or marks them
// early, when they arrive (a marking threshold, RED) or when their turn comes (CoDel).
#pragma once

#include <cstdint>

#include "experiments/definition/queue.hpp"
#include "sim/random.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// What waits, without the frame in question and the one on the line.
struct QueueLength {
  std::int64_t bytes = 0;  ///< on the wire
  std::int64_t frames = 0;
};

class QueueRule {
 public:
  /// `spec` with all its defaults, one that can_follow() approves.
  QueueRule(const experiments::QueueSpec& spec, BitRate line, sim::RandomStream random);

  /// Whether a wire has the discipline: a fifo with or without a threshold, RED that does not
  /// adapt, CoDel.
  static bool can_follow(const experiments::QueueSpec& spec);

  enum class Verdict : std::uint8_t { keep, mark, drop };
  /// Whether a frame of `wire` bytes has room.
  bool has_room(const QueueLength& queue, Bytes wire) const;
  /// Of a frame that arrives. `capable`: its sender reacts to marks (ECT, RFC 3168 5); `idle`:
  /// since when nothing has waited nor been sent, if that is so.
  Verdict arrives(Time now, const QueueLength& queue, bool capable, Time idle);
  /// Of a frame that has waited `waited` when its turn comes at `now`.
  Verdict leaves(Time now, Time waited, const QueueLength& queue, bool capable);

 private:
  Verdict early(bool capable) const { return spec_.ecn && capable ? Verdict::mark : Verdict::drop; }
  Verdict red(Time now, const QueueLength& queue, bool capable, Time idle);
  double red_probability() const;
  Verdict codel(Time now, bool above, bool capable);
  bool stays_above(Time now, Time waited, const QueueLength& queue);
  Time spaced(Time from) const;

  experiments::QueueSpec spec_;
  BitRate line_;
  sim::RandomStream random_;
  // RED: the mean length, and frames since the last that was dropped or marked.
  double mean_ = 0;
  std::int64_t since_ = -1;
  // CoDel, by the names of RFC 8289 5.
  Time first_above_ = Time::never(), drop_next_;
  std::int64_t count_ = 0, last_count_ = 0;
  bool dropping_ = false;
  bool entered_ = false;  ///< dropped one to begin with: the next one is not looked at
  bool dropped_ = false;  ///< dropped one while dropping: the next one decides how it goes on
};

}  // namespace linerate::realnet
