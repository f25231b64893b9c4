// Which of a NIC's receive queues the frames of a flow come to (receive-side scaling).
#pragma once

#include <cstdint>

namespace linerate::models {

/// A hash of a flow that knows nothing of the order in which flows were made, as a NIC's of
/// addresses and ports (finalizer of SplitMix64). `receiver`: who its frames are for, as packets
/// say it.
inline std::uint64_t receive_hash(std::uint32_t receiver) {
  std::uint64_t x = (std::uint64_t{receiver} << 1 | 1u) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace linerate::models
