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
    case LineDrop::too_large:
      return "too-large";
    case LineDrop::overrun:
      return "lab-overrun";
  }
  return "";
}

Line::Line(const LineConfig& config)
    : config_(config),
      // A path with a queue of its own hands a frame over when its whole wire time is spent.
      gap_(config.queue ? Time{} : serialization_time(kGap, config.rate)),
      random_({config.seed, config.entity, "wire"}) {}

Line::Fate Line::take(Time now, Bytes size) {
  const Bytes wire = wire_size(size);
  const Time start = later(now, free_at_);
  const std::int64_t queued = bytes_in(start - now) + wire.count();
  peak_queue_ = std::max(peak_queue_, queued);
  if (config_.queue && queued > config_.queue->count()) {
    count_drop(LineDrop::queue);
    return {LineDrop::queue, {}};
  }
  free_at_ = start + serialization_time(wire, config_.rate);
  ++frames_;
  wire_bytes_ += wire.count();
  const LineDrop drop = judge(now, size);
  if (drop != LineDrop::none) {
    count_drop(drop);
    return {drop, {}};
  }
  Time due = free_at_ - gap_ + config_.latency;
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
  if (config_.loss > 0 && random_.uniform01() < config_.loss) return LineDrop::loss;
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
                                   config_.rate.bits_per_second() / 8'000'000'000'000);
}

}  // namespace linerate::realnet
