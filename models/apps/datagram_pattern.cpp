#include "models/apps/datagram_pattern.hpp"

namespace linerate::models {

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
