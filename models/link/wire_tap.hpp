// Somebody who looks at the frames of a wire. Chosen when the network is built; a wire without a
// tap never asks.
#pragma once

#include <cstdint>

#include "models/network/packet.hpp"
#include "sim/units.hpp"

namespace linerate::models {

class WireTap {
 public:
  virtual ~WireTap() = default;
  /// The last bit of a frame leaves the transmitter at `at`, not before `now`.
  virtual void sent(Time now, std::uint32_t wire, Time at, const Packet& packet) = 0;
  /// … and reaches the other end.
  virtual void received(Time now, std::uint32_t wire, Time at, const Packet& packet) = 0;
};

}  // namespace linerate::models
