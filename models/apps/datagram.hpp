// Sources and sinks without a connection: UDP streams and raw frames at a rate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/apps/latency.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// Sends frame after frame at a fixed interval, by absolute deadlines so that no rounding adds up.
class DatagramSource {
 public:
  /// `interval_ps_numerator / interval_divisor` is the interval in picoseconds: kept as a fraction
  /// so that a rate which is not a whole number of picoseconds a frame is met exactly.
  struct Pace {
    std::int64_t numerator = 0;
    std::int64_t divisor = 1;
  };

  DatagramSource(Pace pace, Time duration)
      : divisor_(pace.divisor),
        whole_(Time::picoseconds(pace.numerator / pace.divisor)),
        rest_(pace.numerator % pace.divisor),
        duration_(duration) {}

  void start(Time now, Time first) {
    started_ = now;
    due_ = first;
    end_ = now + duration_;
  }
  /// When the next frame is due; Time::never() after the last.
  Time due() const { return due_ < end_ ? due_ : Time::never(); }
  /// How many frames are due before `offset` from the start.
  std::int64_t due_before(Time offset) const {
    // Frame n, from 0, is due at floor(n x interval): n x numerator < offset x divisor.
    __extension__ using Wide = __int128;
    const Wide numerator = static_cast<Wide>(whole_.picoseconds()) * divisor_ + rest_;
    const Wide until = static_cast<Wide>(std::min(offset, duration_).picoseconds()) * divisor_;
    return static_cast<std::int64_t>((until + numerator - 1) / numerator);
  }
  /// Ordinal of the frame now sent, from 1.
  std::int64_t next() {
    // Frame n is due at floor(n x interval): carrying the fraction along saves a wide division.
    due_ += whole_;
    fraction_ += rest_;
    if (fraction_ >= divisor_) {
      fraction_ -= divisor_;
      due_ += Time::picoseconds(1);
    }
    return ++sent_;
  }
  /// The same where the next one is due at a moment of its own.
  std::int64_t next(Time due) {
    due_ = due;
    return ++sent_;
  }
  /// No frame is due any more.
  void stop() { due_ = end_; }
  Time end() const { return end_; }
  std::int64_t sent() const { return sent_; }
  Time started() const { return started_; }

 private:
  std::int64_t divisor_;
  Time whole_;         // of the interval, and
  std::int64_t rest_;  // the fraction that is left of it, over the divisor
  Time due_ = Time::never();
  std::int64_t fraction_ = 0;  // of a picosecond that due_ leaves out, over the divisor
  Time end_{};
  std::int64_t sent_ = 0;
  Time duration_;
  Time started_ = Time::never();
};

/// Counts what arrives, how late and in which order.
class DatagramSink {
 public:
  /// One-way delays from `omit` on go to `latencies`.
  DatagramSink(Time omit, Time duration, LatencyRecorder& latencies)
      : omit_(omit), duration_(duration), latencies_(&latencies) {}

  struct Arrival {
    Time sent;
    std::int64_t ordinal;        ///< in the order of sending, from 1
    std::int64_t payload, wire;  ///< bytes
  };

  void start(Time now) {
    opens_ = now + omit_;
    closes_ = now + duration_;
  }
  void receive(Time now, const Arrival& arrival) {
    bytes_ += arrival.payload;
    const Time transit = now - arrival.sent;
    if (now >= opens_) {
      latencies_->record(transit);
      if (now <= closes_) {
        ++window_frames_;
        window_bytes_ += arrival.payload;
        window_wire_bytes_ += arrival.wire;
      }
    }
    // Less than the next one expected: reordered (RFC 4737 section 3.3).
    if (arrival.ordinal < highest_) ++reordered_;
    highest_ = std::max(highest_, arrival.ordinal);
    // RFC 3550 appendix A.8, in sixteenths so that rounding does not eat small changes.
    if (received_++ > 0)
      jitter_ += later(transit, transit_) - earlier(transit, transit_) - jitter();
    transit_ = transit;
    last_ = now;
  }

  std::int64_t received() const { return received_; }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t window_frames() const { return window_frames_; }
  std::int64_t window_bytes() const { return window_bytes_; }
  std::int64_t window_wire_bytes() const { return window_wire_bytes_; }
  std::int64_t reordered() const { return reordered_; }
  /// Smoothed difference of the delays of successive arrivals.
  Time jitter() const { return Time::picoseconds((jitter_.picoseconds() + 8) >> 4); }
  Time last() const { return last_; }

 private:
  Time omit_, duration_;
  LatencyRecorder* latencies_;
  Time opens_ = Time::never(), closes_{};
  std::int64_t received_ = 0, bytes_ = 0, window_frames_ = 0, window_bytes_ = 0;
  std::int64_t window_wire_bytes_ = 0, reordered_ = 0, highest_ = 0;
  Time transit_{}, jitter_{}, last_{};
};

}  // namespace linerate::models
