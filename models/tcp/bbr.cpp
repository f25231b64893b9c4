#include "models/tcp/bbr.hpp"

#include <algorithm>
#include <cmath>

#include "sim/random.hpp"

namespace linerate::models::tcp {

namespace {

// 2 / ln 2 doubles the delivery rate each round trip; its inverse drains the queue that made
// (draft 4.3.2, 4.3.3). In 1/256, as Linux has them.
constexpr double kHighGain = 739.0 / 256, kDrainGain = 88.0 / 256;
constexpr double kWindowGain = 2;
// Draft 4.3.4: probe, drain, six round trips of cruising.
constexpr std::array<double, 8> kCycle = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
// The rate is set one per cent below the estimate, so that queues drain on average.
constexpr double kMargin = 0.99;
constexpr double kStillGrowing = 1.25;
constexpr int kFullRounds = 3;
constexpr std::int64_t kLeastWindow = 4;
constexpr Time kMinimumRttLife = Time::seconds(10), kProbeRttTime = Time::milliseconds(200);
constexpr int kAggregationRounds = 5;
constexpr double kAggregationSeconds = 0.1;
constexpr std::int64_t kEpochLimit = 0xfffff;
constexpr double kLargestOffload = 65536 - 1 - 320;  // a GSO buffer less its headers
constexpr double kSlowPath = 1.2e6 / 8;              // below it a burst is one segment

}  // namespace

void Bbr::start(Time now, std::optional<Time> rtt) {
  if (rtt) {
    minimum_rtt_ = *rtt;
    rtt_seen_ = true;
  }
  minimum_rtt_at_ = tick_of(now);
  epoch_ = now;
  window_ = setup_.initial_window;
  set_gains();
  // Until there is a sample: the initial window in a round trip, or in a millisecond.
  const double span = rtt ? rtt->seconds() : 1e-3;
  set_pacing_rate(static_cast<double>(setup_.initial_window) / span, kHighGain);
}

std::int64_t Bbr::on_ack(std::int64_t window, const Ack& ack) {
  window_ = window;
  const RateSample sample = rate_.sample(ack.now, ack.arrived, ack.minimum_rtt);
  update_bandwidth(sample);
  update_aggregation(sample, ack);
  update_cycle(ack);
  check_full_pipe(sample);
  check_drained(ack);
  update_minimum_rtt(sample, ack);
  set_gains();
  if (!rtt_seen_ && ack.smoothed_rtt > Time{}) {
    rtt_seen_ = true;
    pacing_rate_ = 0;
    set_pacing_rate(static_cast<double>(window_) / ack.smoothed_rtt.seconds(), kHighGain);
  }
  set_pacing_rate(bandwidth_, pacing_gain_);
  set_window(ack);
  return window_;
}

// The model.

// A round trip ends when a segment is acknowledged that left after it had begun.
void Bbr::update_bandwidth(const RateSample& sample) {
  round_start_ = false;
  if (sample.interval <= Time{}) return;
  if (sample.prior_delivered >= round_end_) {
    round_end_ = rate_.delivered();
    ++round_;
    round_start_ = true;
    conserve_ = false;
  }
  const double rate = static_cast<double>(sample.delivered) / sample.interval.seconds();
  // Too little data says nothing about the path, unless it shows that it is faster.
  if (!sample.application_limited || rate >= bandwidth_) record(rate);
}

void Bbr::record(double rate) {
  const auto slot = [](std::int64_t round) { return static_cast<std::size_t>(round % kRounds); };
  recorded_round_ = std::max(recorded_round_, round_ - kRounds);
  while (recorded_round_ < round_) round_bandwidth_[slot(++recorded_round_)] = 0;
  double& best = round_bandwidth_[slot(round_)];
  best = std::max(best, rate);
  bandwidth_ = *std::max_element(round_bandwidth_.begin(), round_bandwidth_.end());
}

void Bbr::update_aggregation(const RateSample& sample, const Ack& ack) {
  if (ack.arrived <= 0 || sample.interval <= Time{}) return;
  if (round_start_ && ++extra_rounds_ >= kAggregationRounds) {
    extra_rounds_ = 0;
    extra_slot_ ^= 1;
    extra_[extra_slot_] = 0;
  }
  auto expected = static_cast<std::int64_t>(bandwidth_ * (rate_.delivered_at() - epoch_).seconds());
  // The epoch ends when no more has arrived than was to be expected.
  if (epoch_arrived_ <= expected || epoch_arrived_ + ack.arrived > kEpochLimit) {
    epoch_arrived_ = expected = 0;
    epoch_ = rate_.delivered_at();
  }
  epoch_arrived_ += ack.arrived;
  const std::int64_t extra = std::min(epoch_arrived_ - expected, window_);
  extra_[extra_slot_] = std::max(extra_[extra_slot_], extra);
}

std::int64_t Bbr::aggregation_allowance() const {
  if (!full_) return 0;
  const auto most = static_cast<std::int64_t>(bandwidth_ * kAggregationSeconds);
  return std::min(std::max(extra_[0], extra_[1]), most);
}

// What will be in flight when pacing lets the next segment go.
std::int64_t Bbr::in_flight_when_sent(const Ack& ack, std::int64_t in_flight) const {
  const Time wait = std::max(ack.pacing_next - ack.now, Time{});
  const auto arriving = static_cast<std::int64_t>(bandwidth_ * wait.seconds());
  if (pacing_gain_ > 1) in_flight += burst_segments();
  return std::max<std::int64_t>(in_flight - arriving, 0);
}

void Bbr::update_cycle(const Ack& ack) {
  if (mode_ != Mode::probe_bandwidth) return;
  const bool full_length = rate_.delivered_at() - cycle_at_ > minimum_rtt_;
  bool over = full_length;
  const std::int64_t in_flight = in_flight_when_sent(ack, ack.prior_in_flight);
  if (pacing_gain_ > 1) {
    // Up until the larger flight is there, or does not fit.
    over = full_length && (ack.lost > 0 || in_flight >= window_for(bandwidth_, pacing_gain_));
  } else if (pacing_gain_ < 1) {
    over = full_length || in_flight <= window_for(bandwidth_, 1);
  }
  if (!over) return;
  cycle_ = (cycle_ + 1) % kCycle.size();
  cycle_at_ = rate_.delivered_at();
}

void Bbr::check_full_pipe(const RateSample& sample) {
  if (full_ || !round_start_ || sample.application_limited) return;
  if (bandwidth_ >= full_bandwidth_ * kStillGrowing) {
    full_bandwidth_ = bandwidth_;
    full_count_ = 0;
    return;
  }
  full_ = ++full_count_ >= kFullRounds;
}

void Bbr::check_drained(const Ack& ack) {
  if (mode_ == Mode::startup && full_) {
    mode_ = Mode::drain;
    drained_window_ = window_for(bandwidth_, 1);
  }
  if (mode_ == Mode::drain && in_flight_when_sent(ack, ack.in_flight) <= window_for(bandwidth_, 1))
    enter_probe_bandwidth();
}

// Anywhere in the cycle but in the phase that drains, so that flows do not probe together.
void Bbr::enter_probe_bandwidth() {
  mode_ = Mode::probe_bandwidth;
  cycle_ = (kCycle.size() - sim::splitmix64(random_) % (kCycle.size() - 1)) % kCycle.size();
  cycle_at_ = rate_.delivered_at();
}

void Bbr::update_minimum_rtt(const RateSample& sample, const Ack& ack) {
  const Time now = tick_of(ack.now);
  const bool expired = now > minimum_rtt_at_ + kMinimumRttLife;
  if (ack.rtt && (*ack.rtt < minimum_rtt_ || (expired && !ack.maybe_delayed))) {
    minimum_rtt_ = *ack.rtt;
    minimum_rtt_at_ = now;
  }
  if (expired && !idle_restart_ && mode_ != Mode::probe_rtt) {
    mode_ = Mode::probe_rtt;
    save_window();
    probe_rtt_until_ = Time{};
  }
  if (mode_ == Mode::probe_rtt) in_probe_rtt(ack);
  if (sample.delivered > 0) idle_restart_ = false;
}

// Draft 4.3.5: at most four segments in flight for 200 ms and a round trip.
void Bbr::in_probe_rtt(const Ack& ack) {
  rate_.limited_by_application(ack.in_flight);
  if (probe_rtt_until_ == Time{} && ack.in_flight <= kLeastWindow) {
    probe_rtt_until_ = tick_of(ack.now) + kProbeRttTime;
    probe_rtt_round_ = false;
    round_end_ = rate_.delivered();
  } else if (probe_rtt_until_ != Time{}) {
    if (round_start_) probe_rtt_round_ = true;
    if (probe_rtt_round_) leave_probe_rtt(ack.now);
  }
}

void Bbr::leave_probe_rtt(Time now) {
  if (probe_rtt_until_ == Time{} || tick_of(now) <= probe_rtt_until_) return;
  minimum_rtt_at_ = tick_of(now);
  window_ = std::max(window_, saved_window_);
  if (full_) {
    enter_probe_bandwidth();
  } else {
    mode_ = Mode::startup;
  }
}

// What follows from the model.

void Bbr::set_gains() {
  switch (mode_) {
    case Mode::startup:
      pacing_gain_ = window_gain_ = kHighGain;
      break;
    case Mode::drain:
      pacing_gain_ = kDrainGain;
      window_gain_ = kHighGain;
      break;
    case Mode::probe_bandwidth:
      pacing_gain_ = kCycle[cycle_];
      window_gain_ = kWindowGain;
      break;
    case Mode::probe_rtt:
      pacing_gain_ = window_gain_ = 1;
      break;
  }
}

// Before the pipe is full the rate never falls: a slow start of the peer must not end ours.
void Bbr::set_pacing_rate(double bandwidth, double gain) {
  double rate = bandwidth * static_cast<double>(setup_.segment_bytes) * gain * kMargin;
  if (setup_.rate_limit) rate = std::min(rate, *setup_.rate_limit);
  if (full_ || rate > pacing_rate_) pacing_rate_ = rate;
}

std::int64_t Bbr::least_burst() const { return pacing_rate_ < kSlowPath ? 1 : 2; }

std::int64_t Bbr::burst_segments() const {
  const double bytes = std::min(pacing_rate_ / 1024, kLargestOffload);
  const auto segments =
      static_cast<std::int64_t>(bytes / static_cast<double>(setup_.segment_bytes));
  return std::clamp<std::int64_t>(segments, least_burst(), 127);
}

std::int64_t Bbr::path_window(double bandwidth, double gain) const {
  if (minimum_rtt_ == Time::never()) return setup_.initial_window;
  return static_cast<std::int64_t>(std::ceil(bandwidth * minimum_rtt_.seconds() * gain));
}

// Room for a burst at the sender, on its way through the receiver's offload, and as an ACK; even,
// for delayed ACKs; and two more where probing starts, or small paths would never see it.
std::int64_t Bbr::with_bursts(std::int64_t window) const {
  window = (window + 3 * burst_segments() + 1) / 2 * 2;
  if (mode_ == Mode::probe_bandwidth && cycle_ == 0) window += 2;
  return window;
}

void Bbr::set_window(const Ack& ack) {
  if (ack.arrived > 0 && !keep_or_restore_window(ack, ack.arrived)) {
    const std::int64_t target =
        with_bursts(path_window(bandwidth_, window_gain_) + aggregation_allowance());
    if (full_) {
      window_ = std::min(window_ + ack.arrived, target);
    } else if (window_ < target || rate_.delivered() < setup_.initial_window) {
      window_ += ack.arrived;
    }
    window_ = std::max(window_, kLeastWindow);
  }
  if (mode_ == Mode::probe_rtt) window_ = std::min(window_, kLeastWindow);
}

// Losses take out what was lost. The first round trip of a recovery sends no more than arrives;
// its end restores the window. True: the window is decided.
bool Bbr::keep_or_restore_window(const Ack& ack, std::int64_t arrived) {
  window_ = ack.lost > 0 ? std::max<std::int64_t>(window_ - ack.lost, 1) : window_;
  if (ack.state == LossState::recovery && previous_state_ != LossState::recovery) {
    conserve_ = true;
    round_end_ = rate_.delivered();
    window_ = ack.in_flight + arrived;
  } else if (previous_state_ >= LossState::recovery && ack.state < LossState::recovery) {
    conserve_ = false;
    window_ = std::max(window_, saved_window_);
  }
  previous_state_ = ack.state;
  if (conserve_) window_ = std::max(window_, ack.in_flight + arrived);
  return conserve_;
}

void Bbr::save_window() {
  const bool usual = previous_state_ < LossState::recovery && mode_ != Mode::probe_rtt;
  saved_window_ = usual ? window_ : std::max(saved_window_, window_);
}

void Bbr::on_reduction(std::int64_t window) {
  window_ = window;
  save_window();
}

void Bbr::forget_plateau() {
  full_bandwidth_ = 0;
  full_count_ = 0;
}

void Bbr::on_timeout() {
  previous_state_ = LossState::loss;
  full_bandwidth_ = 0;
  round_start_ = true;
}

std::int64_t Bbr::on_transmit_start(Time now, std::int64_t window) {
  window_ = window;
  if (!rate_.application_limited()) return window_;
  idle_restart_ = true;
  epoch_ = now;
  epoch_arrived_ = 0;
  if (mode_ == Mode::probe_bandwidth) {
    set_pacing_rate(bandwidth_, 1);
  } else if (mode_ == Mode::probe_rtt) {
    leave_probe_rtt(now);
  }
  return window_;
}

}  // namespace linerate::models::tcp
