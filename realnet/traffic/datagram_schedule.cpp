#include "realnet/traffic/datagram_schedule.hpp"

#include <algorithm>

#include "experiments/definition/fragments.hpp"

namespace linerate::realnet {
namespace {

// IEEE 802.3: header 14, FCS 4, preamble 8 and gap 12; a frame has 64 bytes at least.
constexpr Bytes kEthernet{14 + 4 + 8 + 12}, kAroundFrame{8 + 12}, kLeastOnWire{64 + 8 + 12};
constexpr Bytes kUdpHeader{8};

experiments::Fragments packets_of(const DatagramFraming& framing, Bytes payload) {
  return experiments::fragments(framing.ip, payload + kUdpHeader, framing.mtu);
}

}  // namespace

Bytes DatagramFraming::wire_size(Bytes size) const {
  if (raw) return size + kAroundFrame;
  const experiments::Fragments packets = packets_of(*this, size);
  return larger(packets.full + kEthernet, kLeastOnWire) * (packets.count - 1) +
         larger(packets.last + kEthernet, kLeastOnWire);
}

std::int64_t DatagramFraming::frames(Bytes size) const {
  return raw ? 1 : packets_of(*this, size).count;
}

DatagramSchedule::DatagramSchedule(const Setup& setup)
    : framing_(setup.framing),
      rate_(setup.test.rate.value_or(setup.line)),
      rate_on_wire_(setup.framing.raw || !setup.test.rate),
      duration_(setup.test.duration) {
  const experiments::Test& test = setup.test;
  if (test.sizes) {
    drawn_.emplace(*test.sizes,
                   experiments::SizeSource::Range{Bytes(framing_.raw ? 64 : 1), setup.room},
                   setup.sizes);
  } else if (test.imix) {
    // A datagram is what a frame of that size carries.
    const Bytes headers = framing_.raw ? Bytes(0) : Bytes(test.ip == 6 ? 66 : 46);
    for (const Bytes frame : experiments::imix_round()) round_.push_back(frame - headers);
  } else {
    round_.push_back(framing_.raw ? test.frame_sizes.front() : test.datagram);
  }
  if (test.arrivals) arrivals_.emplace(*test.arrivals, setup.arrivals);
  if (test.frame_rate) {
    arrivals_.emplace(experiments::Arrivals{.poisson = {}, .periodic = test.frame_rate},
                      setup.arrivals);
  }
  if (test.bytes) {
    const Bytes each = round_.empty() ? Bytes(1) : round_.front();
    limit_ = (test.bytes->count() + each.count() - 1) / std::max<std::int64_t>(each.count(), 1);
  }
}

void DatagramSchedule::start(Time now) {
  due_ = now;
  end_ = limit_ ? Time::never() : now + duration_;
  if (arrivals_) {
    arrivals_->start(now);
    due_ = arrivals_->due();
  }
  draw();
}

void DatagramSchedule::draw() {
  if (drawn_) {
    size_ = drawn_->next();
    return;
  }
  size_ = round_[place_];
  if (++place_ == round_.size()) place_ = 0;
}

void DatagramSchedule::advance() {
  ++passed_;
  if (arrivals_) {
    arrivals_->step();
    due_ = arrivals_->due();
  } else {
    // The line, or the pace of the payload, is taken for as long as this one lasts at the rate.
    __extension__ using Wide = __int128;
    const Bytes counted = rate_on_wire_ ? framing_.wire_size(size_) : size_;
    const std::int64_t rate = rate_.bits_per_second();
    const Wide ps = static_cast<Wide>(counted.bits()) * 1'000'000'000'000 + fraction_;
    due_ += Time::picoseconds(static_cast<std::int64_t>(ps / rate));
    fraction_ = static_cast<std::int64_t>(ps % rate);
  }
  draw();
}

}  // namespace linerate::realnet
