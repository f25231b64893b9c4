// Sources and sinks without a connection: UDP streams and raw frames at a rate.
#pragma once

#include <algorithm>
#include <cstdint>

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

  void start(Time now) {
    started_ = due_ = now;
    end_ = now + duration_;
  }
  /// When the next frame is due; Time::never() after the last.
  Time due() const { return due_ < end_ ? due_ : Time::never(); }
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
  DatagramSink(Time omit, Time duration) : omit_(omit), duration_(duration) {}

  void start(Time now) { started_ = now; }
  void receive(Time now, Time sent, std::int64_t ordinal, std::int64_t payload) {
    ++received_;
    bytes_ += payload;
    if (now >= started_ + omit_ && now <= started_ + duration_) {
      ++window_frames_;
      window_bytes_ += payload;
    }
    if (ordinal < highest_) ++reordered_;
    highest_ = std::max(highest_, ordinal);
    delay_sum_ += now - sent;
    delay_max_ = later(delay_max_, now - sent);
    last_ = now;
  }

  std::int64_t received() const { return received_; }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t window_frames() const { return window_frames_; }
  std::int64_t window_bytes() const { return window_bytes_; }
  std::int64_t reordered() const { return reordered_; }
  Time mean_delay() const { return received_ > 0 ? delay_sum_ / received_ : Time{}; }
  Time max_delay() const { return delay_max_; }
  Time last() const { return last_; }

 private:
  Time omit_, duration_;
  Time started_ = Time::never();
  std::int64_t received_ = 0, bytes_ = 0, window_frames_ = 0, window_bytes_ = 0, reordered_ = 0;
  std::int64_t highest_ = 0;
  Time delay_sum_{}, delay_max_{}, last_{};
};

}  // namespace linerate::models
