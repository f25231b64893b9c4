#include "models/link/collision_domain.hpp"

#include <algorithm>
#include <utility>

#include "sim/check.hpp"

namespace linerate::models {

namespace {

constexpr std::int64_t kGigabit = 1'000'000'000;
// IEEE 802.3 table 4-2.
constexpr std::int64_t kPreambleBits = 64, kGapBits = 96, kJamBits = 32;
constexpr std::int64_t kSlotBits = 512, kGigabitSlotBits = 4096, kBurstBits = 65'536;
constexpr int kMostAttempts = 16, kMostDoublings = 10;

// Line time of a frame without the gap behind it.
constexpr std::int64_t bits_without_gap(std::uint32_t wire_bytes) {
  return std::int64_t{wire_bytes} * 8 - kGapBits;
}

}  // namespace

MacTiming::MacTiming(BitRate line) : rate(line), gigabit(line.bits_per_second() >= kGigabit) {
  slot = bits(gigabit ? kGigabitSlotBits : kSlotBits);
  gap = bits(kGapBits);
  gap_part_1 = bits(kGapBits * 2 / 3);
  preamble = bits(kPreambleBits);
  jam = bits(kJamBits);
  burst = bits(kBurstBits);
}

Time MacTiming::bits(std::int64_t count) const {
  return serialization_time(Bytes(count / 8), rate);
}

CollisionDomain::CollisionDomain(DomainConfig config)
    : timing_(config.rate),
      separate_pairs_(config.separate_pairs),
      delays_(std::move(config.delays)) {
  timing_.slot = config.slot.value_or(timing_.slot);
  for (DomainStation& station : config.stations)
    stations_.push_back({.half_duplex = station.half_duplex, .random = std::move(station.random)});
  LINERATE_CHECK(delays_.size() == stations_.size() * stations_.size(),
                 "every station has a distance to every other");
  LINERATE_CHECK(!separate_pairs_ || stations_.size() == 2, "a cable has two ends");
}

// Steps of one time happen in the order in which they were set, so a station whose wait ends at the
// moment at which another starts cannot have heard it.
bool CollisionDomain::later_step(const Step& a, const Step& b) {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
}

void CollisionDomain::push(Step step) {
  step.order = order_++;
  steps_.push_back(step);
  std::push_heap(steps_.begin(), steps_.end(), later_step);
}

// A station waits for one thing at a time: setting its timer cancels the one before.
void CollisionDomain::set_timer(std::uint32_t station, What what, Time at) {
  push({.at = at,
        .order = 0,
        .station = station,
        .timer = ++stations_[station].timer,
        .what = what,
        .packet = {},
        .frame_from = {}});
}

std::optional<MacReport> CollisionDomain::next(Time now) {
  while (!steps_.empty() && steps_.front().at <= now) {
    std::pop_heap(steps_.begin(), steps_.end(), later_step);
    const Step step = steps_.back();
    steps_.pop_back();
    if (auto report = perform(step)) return report;
  }
  return {};
}

std::optional<MacReport> CollisionDomain::perform(const Step& step) {
  switch (step.what) {
    case What::rise:
      rise(step.at, step.station);
      return {};
    case What::fall:
      fall(step.at, step.station);
      return {};
    case What::arrival:
      return arrive(step);
    default:
      break;
  }
  if (step.timer != stations_[step.station].timer) return {};
  switch (step.what) {
    case What::frame_end:
      return end_frame(step.at, step.station);
    case What::abort:
      return end_collision(step.at, step.station);
    case What::carrier_end:
      end_carrier(step.at, step.station);
      return {};
    default:
      attempt(step.at, step.station);
      return {};
  }
}

void CollisionDomain::offer(Time now, std::uint32_t station, const MacFrame& frame) {
  Station& s = stations_[station];
  LINERATE_CHECK(!s.frame, "a MAC takes a frame when it has none");
  LINERATE_CHECK(frame.destination < stations_.size() && frame.destination != station,
                 "a frame goes to another station of its medium");
  s.frame = frame;
  s.attempts = 0;
  s.backoff_until = now;
  ++held_;
  wanted_.begin(now);
  if (s.sending) {
    // The frame before has just ended, its carrier not yet.
    if (continues_burst(now, s)) send_frame(now + timing_.gap, station);
    return;
  }
  aim(now, station);
  if (s.half_duplex && s.clear_at > now && (s.carriers > 0 || !s.own_last)) ++s.counters.deferred;
}

// Deference goes on for as long as anybody is heard; a gap that ran out while somebody was, with
// nothing to send, is over (the process Deference of 802.3 4.2.8).
void CollisionDomain::note_carrier(Time now, Station& s) const {
  if (s.carriers == 0 || s.sending || s.clear_at >= now) return;
  s.clear_at = Time::never();
  s.own_last = false;
}

// Sets the next attempt of a station that holds a frame, unless a carrier holds it off.
void CollisionDomain::aim(Time now, std::uint32_t station) {
  Station& s = stations_[station];
  if (!s.frame || s.sending) return;
  if (s.half_duplex) note_carrier(now, s);
  if (s.clear_at != Time::never())
    set_timer(station, What::attempt, later(now, later(s.clear_at, s.backoff_until)));
}

// A station whose gap ends sends even if another has just been heard (4.2.3.2.1); after a back-off
// it listens first.
void CollisionDomain::attempt(Time now, std::uint32_t station) {
  Station& s = stations_[station];
  if (s.half_duplex) note_carrier(now, s);
  if (s.clear_at > now) return aim(now, station);
  const int before = mixing(s);
  s.sending = true;
  s.colliding = s.late = false;
  s.burst_from = now;
  note_mixing(now, s, before);
  carrying_.begin(now);
  signal(now, station, What::rise);
  send_frame(now, station);
  if (s.half_duplex && s.carriers > 0) collide(now, station);
}

// At 1 Gbit/s the first frame of a burst lasts at least a slot behind its preamble (4.2.3.4).
void CollisionDomain::send_frame(Time first_bit, std::uint32_t station) {
  Station& s = stations_[station];
  s.frame_from = first_bit;
  Time length = timing_.bits(bits_without_gap(s.frame->wire_bytes));
  if (timing_.gigabit && s.half_duplex && first_bit == s.burst_from)
    length = later(length, timing_.preamble + timing_.slot);
  set_timer(station, What::frame_end, first_bit + length);
}

bool CollisionDomain::continues_burst(Time now, const Station& s) const {
  return timing_.gigabit && s.half_duplex && !s.colliding && now - s.burst_from < timing_.burst;
}

// The preamble is finished before the jam begins (4.2.3.2.4). A collision is late beyond a slot
// behind the preamble, as controllers count it ("after the 64th byte"); in a burst, beyond the slot
// of its first frame.
void CollisionDomain::collide(Time now, std::uint32_t station) {
  Station& s = stations_[station];
  s.colliding = true;
  s.late = now - s.burst_from > timing_.preamble + timing_.slot;
  set_timer(station, What::abort, later(now, s.frame_from + timing_.preamble) + timing_.jam);
}

MacReport CollisionDomain::end_frame(Time now, std::uint32_t station) {
  Station& s = stations_[station];
  const MacFrame frame = *s.frame;
  s.frame.reset();
  wanted_.end(now);
  ++s.counters.frames;
  s.counters.wire_bytes += frame.wire_bytes;
  const Time delay = this->delay(station, frame.destination);
  push({.at = now + delay,
        .order = 0,
        .station = frame.destination,
        .timer = 0,
        .what = What::arrival,
        .packet = frame.packet,
        .frame_from = s.frame_from + delay});
  set_timer(station, What::carrier_end, now);
  return {MacReport::Kind::sent, station, frame.packet};
}

void CollisionDomain::end_carrier(Time now, std::uint32_t station) {
  Station& s = stations_[station];
  const int before = mixing(s);
  s.sending = false;
  note_mixing(now, s, before);
  s.counters.sending += now - s.burst_from;
  carrying_.end(now);
  signal(now, station, What::fall);
  s.own_last = true;
  s.clear_at = s.half_duplex && s.carriers > 0 ? Time::never() : now + timing_.gap;
  aim(now, station);
}

// Truncated binary exponential back-off (4.2.3.2.5), counted from the end of the jam.
std::optional<MacReport> CollisionDomain::end_collision(Time now, std::uint32_t station) {
  Station& s = stations_[station];
  ++s.counters.collisions;
  ++s.attempts;
  const PacketHandle packet = s.frame->packet;
  std::optional<MacReport> report;
  if (s.late) {
    ++s.counters.late_collisions;
    report = {MacReport::Kind::late_collision, station, packet};
  } else if (s.attempts == kMostAttempts) {
    ++s.counters.excessive_collisions;
    report = {MacReport::Kind::excessive_collisions, station, packet};
  }
  if (report) {
    s.frame.reset();
    wanted_.end(now);
    --held_;
  } else {
    const auto range = std::uint64_t{1} << std::min(s.attempts, kMostDoublings);
    s.backoff_until = now + timing_.slot * static_cast<std::int64_t>(s.random.below(range));
  }
  end_carrier(now, station);
  return report;
}

void CollisionDomain::rise(Time now, std::uint32_t station) {
  Station& s = stations_[station];
  const int before = mixing(s);
  if (s.half_duplex && !s.sending && s.carriers == 0) {
    // Strictly: whoever may send from this moment on does not know of it yet.
    const bool heeded = s.clear_at < now || (!s.own_last && s.clear_at != Time::never() &&
                                             now < s.clear_at - timing_.gap + timing_.gap_part_1);
    if (heeded) {
      s.clear_at = Time::never();
      s.own_last = false;
    }
  }
  ++s.carriers;
  note_mixing(now, s, before);
  if (s.half_duplex && s.sending && !s.colliding && s.frame) collide(now, station);
}

void CollisionDomain::fall(Time now, std::uint32_t station) {
  Station& s = stations_[station];
  if (s.half_duplex) note_carrier(now, s);
  const int before = mixing(s);
  --s.carriers;
  note_mixing(now, s, before);
  if (!s.half_duplex || s.sending || s.carriers > 0) return;
  // A carrier that came and went in the last third of the gap was not heeded.
  if (s.clear_at == Time::never()) s.clear_at = now + timing_.gap;
  aim(now, station);
}

MacReport CollisionDomain::arrive(const Step& step) {
  Station& s = stations_[step.station];
  --held_;
  const bool mixed =
      s.disturbed_until > step.frame_from || (mixing(s) > 1 && s.overlap_from < step.at);
  if (mixed) ++s.counters.destroyed;
  return {mixed ? MacReport::Kind::destroyed : MacReport::Kind::delivered, step.station,
          step.packet};
}

// Lets every other station hear the beginning or the end of what one sends.
void CollisionDomain::signal(Time now, std::uint32_t from, What edge) {
  for (std::uint32_t to = 0; to < stations_.size(); ++to) {
    if (to == from) continue;
    push({.at = now + delay(from, to),
          .order = 0,
          .station = to,
          .timer = 0,
          .what = edge,
          .packet = {},
          .frame_from = {}});
  }
}

// Signals that spoil each other at a station: two of them, and no frame can be received.
int CollisionDomain::mixing(const Station& s) const {
  const bool own = s.half_duplex || !separate_pairs_;
  return s.carriers + (own && s.sending ? 1 : 0);
}

void CollisionDomain::note_mixing(Time now, Station& s, int before) const {
  const int after = mixing(s);
  if (before > 1) s.disturbed_until = now;
  if (before <= 1 && after > 1) s.overlap_from = now;
}

}  // namespace linerate::models
