#include "models/apps/datagram_pattern.hpp"

#include <array>

namespace linerate::models {

using experiments::kImixCounts;
using experiments::kImixSizes;

std::vector<Bytes> imix_round() {
  // Every turn each size earns its count; the one that has earned most is sent and pays the round.
  constexpr std::size_t kSizes = std::size(kImixSizes);
  std::array<int, kSizes> earned{};
  int round = 0;
  for (const int count : kImixCounts) round += count;
  std::vector<Bytes> order;
  for (int turn = 0; turn < round; ++turn) {
    std::size_t richest = 0;
    for (std::size_t i = 0; i < kSizes; ++i) {
      earned[i] += kImixCounts[i];
      if (earned[i] > earned[richest]) richest = i;
    }
    earned[richest] -= round;
    order.push_back(kImixSizes[richest]);
  }
  return order;
}

// The line, or the pace of the payload, is taken for as long as `size` lasts at the rate.
void DatagramPattern::wait_for(Bytes size) {
  __extension__ using Wide = __int128;
  const std::int64_t rate = parts_.rate.bits_per_second();
  const Wide ps = static_cast<Wide>(size.bits()) * 1'000'000'000'000 + fraction_;
  due_ += Time::picoseconds(static_cast<std::int64_t>(ps / rate));
  fraction_ = static_cast<std::int64_t>(ps % rate);
}

DatagramPattern::Frame DatagramPattern::next() {
  Bytes payload;
  if (parts_.sizes) {
    payload = parts_.sizes->next();
  } else {
    payload = parts_.round[place_];
    if (++place_ == parts_.round.size()) place_ = 0;
  }
  const Bytes wire = framing_.wire_size(payload);
  if (parts_.arrivals) {
    parts_.arrivals->step();
    due_ = parts_.arrivals->due();
  } else {
    wait_for(parts_.rate_on_wire ? wire : payload);
  }
  return {static_cast<std::uint32_t>(payload.count()), static_cast<std::uint32_t>(wire.count())};
}

}  // namespace linerate::models
