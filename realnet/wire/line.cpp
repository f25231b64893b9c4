#include "realnet/wire/line.hpp"

#include <algorithm>
#include <cmath>

namespace linerate::realnet {
namespace {

constexpr Bytes kGap{12};  // IEEE 802.3 4.4.2

}  // namespace

const char* name_of(LineDrop cause) {
  switch (cause) {
    case LineDrop::none:
      return "none";
    case LineDrop::queue:
      return "queue";
    case LineDrop::loss:
      return "loss";
    case LineDrop::bit_error:
      return "bit-error";
    case LineDrop::blackhole:
      return "blackhole";
    case LineDrop::script:
      return "script";
    case LineDrop::too_large:
      return "too-large";
    case LineDrop::overrun:
      return "lab-overrun";
    case LineDrop::down:
      return "down";
    case LineDrop::early:
      return "early";
  }
  return "";
}

Line::Line(const LineConfig& config)
    : config_(config),
      state_(config),
      late_(!config.changes.empty() || config.discipline),
      random_({config.seed, config.entity, "wire"}) {
  if (config.discipline) {
    rule_.emplace(with_defaults(*config.discipline, config.rate), config.rate,
                  sim::RandomStream({config.seed, config.entity, "queue"}));
  }
}

void Line::begin(Time start) {
  if (start == start_) return;
  start_ = start;
  change_ = 0;
  state_ = config_;
}

Time Line::next_change() const {
  if (start_ == Time::never() || change_ == config_.changes.size()) return Time::never();
  return start_ + config_.changes[change_].first;
}

Time Line::next() const {
  const Time turn = waiting_.empty() ? Time::never() : later(waiting_.front().arrival, free_at_);
  return std::min(turn, next_change());
}

Line::Fate Line::take(Time now, Bytes size, bool capable) {
  if (state_.down) {
    count_drop(LineDrop::down);
    return {LineDrop::down};
  }
  if (rule_) return take_by_rule(now, size, capable);
  const Bytes wire = wire_size(size);
  const std::int64_t queued =
      waiting_bytes_ + bytes_in(later(free_at_ - now, Time{})) + wire.count();
  peak_queue_ = std::max(peak_queue_, queued);
  if (config_.queue && queued > config_.queue->count()) {
    count_drop(LineDrop::queue);
    return {LineDrop::queue};
  }
  if (!late_) return send(now, later(now, free_at_), size);
  waiting_.push_back({now, size, capable});
  waiting_bytes_ += wire.count();
  return {};
}

Line::Fate Line::take_by_rule(Time now, Bytes size, bool capable) {
  const Bytes wire = wire_size(size);
  const Time idle = waiting_.empty() ? free_at_ : Time::never();
  const auto verdict = rule_->arrives(now, length(), capable, idle);
  if (verdict == QueueRule::Verdict::drop) {
    count_drop(LineDrop::early);
    return {LineDrop::early};
  }
  if (!rule_->has_room(length(), wire)) {
    count_drop(LineDrop::queue);
    return {LineDrop::queue};
  }
  waiting_.push_back({now, size, capable});
  waiting_bytes_ += wire.count();
  peak_queue_ = std::max(peak_queue_, waiting_bytes_);
  Fate fate;
  fate.mark = verdict == QueueRule::Verdict::mark;
  marks_ += fate.mark;
  return fate;
}

Line::News Line::settle(Time now) {
  const Time event = next();
  if (event > now) return {};
  if (event == next_change()) {
    const bool was_up = !state_.down;
    state_ = config_.changes[change_++].second;
    if (!state_.down || !was_up) return settle(now);
    drops_[static_cast<std::size_t>(LineDrop::down)] += static_cast<std::int64_t>(waiting_.size());
    waiting_.clear();
    waiting_bytes_ = 0;
    free_at_ = event;
    return {News::Kind::cut, {LineDrop::down, event}};
  }
  const Waiting head = waiting_.front();
  waiting_.pop_front();
  waiting_bytes_ -= wire_size(head.size).count();
  auto verdict = QueueRule::Verdict::keep;
  if (rule_) verdict = rule_->leaves(event, event - head.arrival, length(), head.capable);
  if (verdict == QueueRule::Verdict::drop) {
    count_drop(LineDrop::early);
    return {News::Kind::frame, {LineDrop::early}};
  }
  News news{News::Kind::frame, send(head.arrival, event, head.size)};
  news.fate.mark = verdict == QueueRule::Verdict::mark;
  marks_ += news.fate.mark;
  return news;
}

/// Puts a frame that arrived at `now` on the line at `start`.
Line::Fate Line::send(Time now, Time start, Bytes size) {
  const Bytes wire = wire_size(size);
  free_at_ = start + serialization_time(wire, state_.rate);
  ++frames_;
  wire_bytes_ += wire.count();
  const LineDrop drop = judge(now, size);
  if (drop != LineDrop::none) {
    count_drop(drop);
    return {drop};
  }
  // A path with a queue of its own hands a frame over when its whole wire time is spent.
  const Time gap = config_.queue || config_.path ? Time{} : serialization_time(kGap, state_.rate);
  Time due = free_at_ - gap + state_.latency;
  if (config_.jitter > Time{}) due += config_.jitter.scaled(random_.uniform01());
  last_due_ = later(due, last_due_);
  return {LineDrop::none, last_due_};
}

LineDrop Line::judge(Time now, Bytes size) {
  if (config_.largest && size > *config_.largest + kEthernetHeader) return LineDrop::too_large;
  for (const auto& [from, to] : config_.blackholes) {
    if (start_ != Time::never() && now >= start_ + from && now < start_ + to)
      return LineDrop::blackhole;
  }
  if (state_.loss > 0 && random_.uniform01() < state_.loss) return LineDrop::loss;
  if (config_.bit_error_rate > 0) {
    // Every bit from the addresses to the FCS must survive; preamble and gap do not matter.
    const double bits = 8.0 * static_cast<double>((wire_size(size) - Bytes(20)).count());
    const double survives = std::exp(bits * std::log1p(-config_.bit_error_rate));
    if (random_.uniform01() >= survives) return LineDrop::bit_error;
  }
  return LineDrop::none;
}

/// Bytes the line sends in `span`.
std::int64_t Line::bytes_in(Time span) const {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(span.picoseconds()) *
                                   state_.rate.bits_per_second() / 8'000'000'000'000);
}

}  // namespace linerate::realnet
