// BBR version 1 (Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: congestion-based congestion
// control", ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00): a model of the
// path, bottleneck bandwidth times shortest round trip, that sets the pacing rate and the window.
// With the constants and the later additions of Linux, so that its traces can be compared. Knows
// samples and states; does not know segments or timers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "models/tcp/delivery_rate.hpp"
#include "models/tcp/loss_state.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

/// What does not change, and where the phases begin.
struct BbrSetup {
  std::int64_t initial_window = 10;   ///< segments
  std::int64_t segment_bytes = 1448;  ///< payload of a full segment
  Time tick = Time::milliseconds(4);  ///< step of the clock for the 10 s and 200 ms below
  std::uint64_t seed = 1;             ///< of the phase in which probing begins
  std::optional<double> rate_limit;   ///< bytes a second (SO_MAX_PACING_RATE)
};

class Bbr {
 public:
  /// What one acknowledgment told, in segments.
  struct Ack {
    Time now{};
    std::int64_t arrived = 0, lost = 0;               ///< newly
    std::int64_t in_flight = 0, prior_in_flight = 0;  ///< after and before it
    std::optional<Time> rtt;                          ///< of the latest sent segment that arrived
    bool maybe_delayed = false;                       ///< the receiver may have held it back
    Time minimum_rtt = Time::never();                 ///< of the connection
    Time smoothed_rtt{};                              ///< 0: none yet
    Time pacing_next{};                               ///< when pacing lets the next segment go
    LossState state = LossState::open;
  };
  enum class Mode : std::uint8_t { startup, drain, probe_bandwidth, probe_rtt };

  explicit Bbr(const BbrSetup& setup) : setup_(setup), random_(setup.seed) {}

  /// The connection is established; `rtt` is the handshake's.
  void start(Time now, std::optional<Time> rtt);
  /// Returns the window; `window` is the present one.
  std::int64_t on_ack(std::int64_t window, const Ack& ack);
  /// Sending resumes with nothing in flight; returns the window.
  std::int64_t on_transmit_start(Time now, std::int64_t window);
  /// A recovery or timeout is about to begin: its window is what will be restored.
  void on_reduction(std::int64_t window);
  void on_timeout();
  /// The losses were none: the path may be faster than thought.
  void on_undo() { forget_plateau(); }
  void set_segment_bytes(std::int64_t bytes) { setup_.segment_bytes = bytes; }

  DeliveryRate& rate() { return rate_; }
  double pacing_rate() const { return pacing_rate_; }  ///< bytes a second
  double bandwidth() const { return bandwidth_; }      ///< segments a second
  Time minimum_rtt() const { return minimum_rtt_; }    ///< of the last ten seconds
  Mode mode() const { return mode_; }
  /// Fewest segments of a burst.
  std::int64_t least_burst() const;
  /// inflight(1.0) as of when startup ended: where draining was to end.
  std::int64_t drained_window() const { return drained_window_; }

 private:
  static constexpr int kRounds = 11;  ///< the bandwidth of this round and of ten before

  void update_bandwidth(const RateSample& sample);
  void record(double rate);
  void update_aggregation(const RateSample& sample, const Ack& ack);
  void update_cycle(const Ack& ack);
  void check_full_pipe(const RateSample& sample);
  void check_drained(const Ack& ack);
  void update_minimum_rtt(const RateSample& sample, const Ack& ack);
  void in_probe_rtt(const Ack& ack);
  void leave_probe_rtt(Time now);
  void enter_probe_bandwidth();
  void set_gains();
  void set_pacing_rate(double bandwidth, double gain);
  void set_window(const Ack& ack);
  bool keep_or_restore_window(const Ack& ack, std::int64_t arrived);
  void save_window();
  void forget_plateau();
  std::int64_t path_window(double bandwidth, double gain) const;
  std::int64_t with_bursts(std::int64_t window) const;
  std::int64_t window_for(double bandwidth, double gain) const {
    return with_bursts(path_window(bandwidth, gain));
  }
  std::int64_t burst_segments() const;
  std::int64_t aggregation_allowance() const;
  std::int64_t in_flight_when_sent(const Ack& ack, std::int64_t in_flight) const;
  Time tick_of(Time now) const { return now - now % setup_.tick; }

  BbrSetup setup_;
  DeliveryRate rate_;
  std::uint64_t random_;
  Mode mode_ = Mode::startup;
  double pacing_gain_ = 1, window_gain_ = 1;
  double pacing_rate_ = 0;
  bool rtt_seen_ = false;
  std::int64_t window_ = 0;

  // Bottleneck bandwidth: the largest of each recent round, and of all of them.
  std::array<double, kRounds> round_bandwidth_{};
  double bandwidth_ = 0;
  std::int64_t round_ = 0, recorded_round_ = 0;
  bool round_start_ = false;
  std::int64_t round_end_ = 0;  ///< delivered at which this round ends

  // Shortest round trip of the last ten seconds.
  Time minimum_rtt_ = Time::never(), minimum_rtt_at_{};
  Time probe_rtt_until_{};  ///< 0: the flight has not shrunk yet
  bool probe_rtt_round_ = false;

  // The plateau that ends startup.
  double full_bandwidth_ = 0;
  int full_count_ = 0;
  std::int64_t drained_window_ = 0;
  bool full_ = false;

  std::size_t cycle_ = 0;
  Time cycle_at_{};

  // Losses.
  LossState previous_state_ = LossState::open;
  bool conserve_ = false;
  std::int64_t saved_window_ = 0;
  bool idle_restart_ = false;

  // ACK aggregation: the most that arrived beyond the estimate, in this and the last five rounds.
  std::array<std::int64_t, 2> extra_{};
  std::size_t extra_slot_ = 0;
  int extra_rounds_ = 0;
  Time epoch_{};
  std::int64_t epoch_arrived_ = 0;
};

}  // namespace linerate::models::tcp
