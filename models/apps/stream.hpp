// The applications at the two ends of a TCP stream: a writer of blocking writes and a reader. Each
// is called when something it waits for may have happened and does all it can at that moment.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "models/tcp/endpoint.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// The clock that programs on a host read, and by which their timers fire.
struct LocalClock {
  Time tick{};   ///< 0: as fine as time itself
  Time phase{};  ///< when a tick fell, modulo the tick

  /// What a program reads at `now`: the last tick.
  Time read(Time now) const {
    return tick == Time{} ? now : now - (now - phase % tick + tick) % tick;
  }
  /// When a timer for `span`, set at `now`, fires: it counts ticks, so a begun one counts as whole.
  Time expiry(Time now, Time span) const {
    return tick == Time{} ? now + span : read(now) + tick * ((span + tick / 2) / tick);
  }
};

/// Writes back to back, or on a schedule, until its bytes or its time are spent; then shuts down
/// its half of the connection.
class StreamWriter {
 public:
  /// `volume` is what this flow has to send where flows differ.
  explicit StreamWriter(const experiments::Test& test, LocalClock clock = {},
                        std::optional<Bytes> volume = std::nullopt);

  /// `connected` is when the connection was established; the clock of the test starts there.
  void start(Time connected) {
    started_ = last_return_ = connected;
    until_ = clock_.expiry(connected, duration_);
    next_due_ = first_due();
  }
  void run(Time now, tcp::Endpoint& endpoint);
  /// One call, or at most `piece` of one: false when it can go no further for now.
  bool step(Time now, tcp::Endpoint& endpoint, Bytes piece);
  /// Shuts down if everything is written.
  void close_when_done(Time now, tcp::Endpoint& endpoint);
  /// The last step has come to its end only now.
  void note_return(Time now) {
    if (current_ == 0) last_return_ = now;
  }
  /// Whether it acts on this news.
  bool wants(const tcp::Signals& news) const {
    return news.connected || news.writable || (news.acked_all && drains_);
  }
  /// When to call again without being woken.
  Time deadline() const;

  /// What its host's clock shows between two moments.
  Time span(Time from, Time to) const { return clock_.read(to) - clock_.read(from); }
  Time started() const { return started_; }
  Time first_call() const { return first_call_; }    ///< when the first write() began
  Time last_return() const { return last_return_; }  ///< when the last write() came back
  std::int64_t calls() const { return calls_; }
  std::int64_t bytes() const { return written_; }
  bool finished() const { return shut_down_; }

 private:
  bool begin_write(Time now);
  bool begin_scheduled_write(Time now);
  Time first_due() const;

  Bytes write_size_;
  std::int64_t limit_;  // bytes; 0: by time
  Time duration_;
  LocalClock clock_;
  Time until_ = Time::never();  // no new write from here on
  bool drains_;                 // closes only when everything is acknowledged
  std::vector<experiments::TimedWrites> schedule_;
  std::size_t group_ = 0;  // of the schedule
  std::int64_t in_group_ = 0;
  Time next_due_ = Time::never();
  Time started_ = Time::never();
  Time first_call_ = Time::never(), last_return_{};
  std::int64_t current_ = 0;  // bytes left of the write in progress
  std::int64_t calls_ = 0, written_ = 0;
  bool shut_down_ = false;
};

/// Reads whatever is there, in calls of at most its read size, unless it sleeps.
class StreamReader {
 public:
  explicit StreamReader(const experiments::Test& test);

  void start(Time connected);
  void run(Time now, tcp::Endpoint& endpoint);
  /// How much the next read would take; 0: it waits.
  Bytes next_read(Time now, const tcp::Endpoint& endpoint) {
    if (finished_ || started_ == Time::never()) return Bytes(0);
    // Awake again it waits in read(), for data and no longer for the clock.
    if (wake_at_ <= now) wake_at_ = Time::never();
    const Bytes readable = endpoint.readable();
    if (readable == Bytes(0) || asleep(now)) return Bytes(0);
    return smaller(readable, read_size_);
  }
  /// One read, which has come to its end.
  void take(Time now, tcp::Endpoint& endpoint, Bytes size) {
    const std::int64_t got = endpoint.read(now, size).count();
    ++calls_;
    bytes_ += got;
    if (counts_window_ && now >= window_start_ + omit_ && now <= window_start_ + duration_)
      window_bytes_ += got;
    if (first_read_ == Time::never()) first_read_ = now;
    last_read_ = now;
    if (habit_.interval > Time{}) wake_at_ = now + habit_.interval;
  }
  /// Whether only the end of the stream is left to read …
  bool at_end(const tcp::Endpoint& endpoint) const {
    return !finished_ && started_ != Time::never() && endpoint.peer_closed();
  }
  /// … and reading it.
  void finish(Time now, tcp::Endpoint& endpoint);
  bool wants(const tcp::Signals& news) const { return news.connected || news.readable; }
  Time deadline() const { return wake_at_; }

  Time started() const { return started_; }
  Time first_read() const { return first_read_; }
  Time last_read() const { return last_read_; }
  std::int64_t calls() const { return calls_; }
  std::int64_t bytes() const { return bytes_; }
  bool finished() const { return finished_; }  ///< has read the end of the stream
  Time end_of_stream() const { return end_of_stream_; }
  /// Bytes read within [omit, duration] of the start of the test's first flow: flows that share a
  /// line are counted over one window, or their sum could exceed the line.
  std::int64_t window_bytes() const { return window_bytes_; }
  Time window_start() const { return window_start_; }
  void count_from(Time first_started) { window_start_ = first_started; }

 private:
  bool asleep(Time now) {
    if (now >= pause_from_ && now < pause_to_) {
      wake_at_ = pause_to_;
      return true;
    }
    return wake_at_ != Time::never();
  }

  Bytes read_size_;
  experiments::Reader habit_;
  Time omit_, duration_;
  bool counts_window_;
  Time started_ = Time::never(), window_start_ = Time::never();
  Time pause_from_ = Time::never(), pause_to_{};
  Time wake_at_ = Time::never();
  Time first_read_ = Time::never(), last_read_{}, end_of_stream_{};
  std::int64_t calls_ = 0, bytes_ = 0, window_bytes_ = 0;
  bool finished_ = false;
};

}  // namespace linerate::models
