// When a received segment is acknowledged: at once, with outgoing data, or by a timer.
#pragma once

#include <algorithm>
#include <cstdint>

#include "experiments/definition/stack.hpp"
#include "models/tcp/receive_window.hpp"
#include "models/tcp/segment.hpp"
#include "models/tcp/timer_grid.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

/// What the sending half knows and the receiving half's rules use.
struct PathView {
  Time smoothed_rtt{};              ///< 0: no sample yet
  Time timeout = Time::seconds(1);  ///< the current RTO
  Time echo_age{};                  ///< age of the timestamp that the arriving segment echoes, in
                                    ///< whole timestamp ticks; 0: none or below one tick
};

/// Decides about ACKs by the stack's AckRule and DelayedAckClock.
class AckPolicy {
 public:
  /// `grid_phase`: where the host's shared delayed-ACK grid stands, modulo its period.
  AckPolicy(const experiments::Stack& stack, Time grid_phase);
  void on_sack_agreed(bool agreed) { sack_ = agreed; }

  // What arrived.
  /// In-order payload, which `size` compares with the peer's usual segments.
  void on_data(Time now, const Segment& segment, const ReceiveWindow& window, SegmentClass size,
               const PathView& path) {
    scheduled_ = true;
    segments_ += segment.frames;
    if (!linux_rules_) return;
    if (size == SegmentClass::shorter) {
      pushed_again_ = pushed_again_ || pushed_;
      pushed_ = true;
    } else if (size == SegmentClass::full && segment.has(kPush)) {
      pushed_ = true;
    }
    // Within one tick of the last arrival a timeout at the minimum stays there.
    if (interval_ == stack_.delayed_ack_min && now - last_data_ < stack_.timer_tick) return;
    estimate_interval(now, window, path);
  }
  /// Payload above a gap: the peer needs to see it.
  void on_out_of_order();
  void on_gap_closed() { scheduled_ = immediate_ = true; }  ///< RFC 5681 section 4.2
  /// Duplicate or out-of-window payload: the peer is in trouble and gets ACKs without delay.
  void on_trouble(const ReceiveWindow& window);
  /// The first mark of congestion: the peer should hear of what follows without delay.
  void on_congestion(const ReceiveWindow& window);
  void on_window_growth();  ///< the offer grew: show it
  void on_end_of_stream();
  void require_now() { scheduled_ = immediate_ = true; }

  // Decisions.
  bool owed() const { return scheduled_; }
  /// Whether an ACK must leave now; arms the timer when one is owed later. `gap`: out-of-order data
  /// is held.
  bool due(Time now, Sequence next, const ReceiveWindow& window, bool gap, const PathView& path) {
    return scheduled_ && due_when_owed(now, next, window, gap, path);
  }
  struct AfterRead {
    bool drained = false;  ///< no received data is left in memory
    bool open = true;      ///< more data may come, so the window matters
  };
  /// Whether an ACK or window update is due after a read that took something.
  bool due_after_read(Sequence next, const ReceiveWindow& window, AfterRead after) {
    if (scheduled_ && owed_after_read(next, window, after)) return true;
    if (!after.open) return false;
    // Linux does not ask further while more than half of the largest window is open.
    if (linux_rules_ && window.offered(next) * 2 > window.clamp()) return false;
    return update_owed(next, window);
  }
  /// Linux gives up quick acknowledgment when space becomes scarce.
  void check_space(const ReceiveWindow& window) {
    if (window.tight()) quick_ = 0;
  }
  /// Whether an empty segment outside the window may be answered now.
  bool may_answer(Time now);

  // Timers.
  Time deadline() const { return earlier(delayed_, compressed_until_); }
  /// True when an ACK must leave now.
  bool on_timer(Time now, const PathView& path);

  // What left.
  void on_ack_sent() {
    if (quick_ > 0 && scheduled_) {
      --quick_;
      if (quick_ == 0) interval_ = stack_.delayed_ack_min;
    }
    scheduled_ = immediate_ = pushed_ = pushed_again_ = false;
    segments_ = 0;
    compressed_ = 0;
    delayed_ = compressed_until_ = Time::never();
  }
  void on_data_sent(Time now);

 private:
  bool due_when_owed(Time now, Sequence next, const ReceiveWindow& window, bool gap,
                     const PathView& path);
  [[gnu::always_inline]] bool owed_now(Sequence next, const ReceiveWindow& window, bool gap);
  bool owed_by_receive_rule(Sequence next, const ReceiveWindow& window);
  bool owed_after_read(Sequence next, const ReceiveWindow& window, AfterRead after) const {
    if (stack_.ack_rule != experiments::AckRule::linux_receive) return false;
    const Bytes unacknowledged(static_cast<std::int64_t>(next - window.advertised_at()));
    if (unacknowledged > window.segment_size()) return true;
    // The end of a write has been read and nothing follows: the peer may be waiting.
    return after.drained && (pushed_again_ || (pushed_ && !interactive_));
  }
  bool update_owed(Sequence next, const ReceiveWindow& window);
  bool compress(Time now, Sequence next, const ReceiveWindow& window, const PathView& path);
  [[gnu::always_inline]] bool arm(Time now, const PathView& path);
  Time delay(const PathView& path) const;
  void estimate_interval(Time now, const ReceiveWindow& window, const PathView& path);
  void raise_quick(const ReceiveWindow& window, int limit);
  Time tick_of(Time now) const;  ///< start of the timer tick `now` lies in
  bool quick() const { return quick_ > 0 && !interactive_; }

  experiments::Stack stack_;
  bool linux_rules_;
  RememberingGrid grid_;
  Time phase_;
  bool sack_ = false;
  bool scheduled_ = false;                      ///< an ACK is owed
  bool immediate_ = false;                      ///< and must not wait
  bool pushed_ = false, pushed_again_ = false;  ///< pushed segments since the last ACK
  bool interactive_ = false;  ///< replies follow requests, so data will carry the ACK
  int quick_ = 0;             ///< segments still acknowledged at once
  int segments_ = 0;          ///< data segments since the last ACK
  Time interval_{};           ///< delayed-ACK timeout (ato); 0 before any data
  Time last_data_{};          ///< tick of the last arrival of data
  Time delayed_ = Time::never();
  Time compressed_until_ = Time::never();
  int compressed_ = 0;  ///< ACKs withheld since compression began
  int gap_acks_ = 0;    ///< ACKs sent for the gap at gap_at_
  Sequence gap_at_ = 0;
  Time next_answer_{};
};

}  // namespace linerate::models::tcp
