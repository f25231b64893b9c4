// Which of a NIC's receive queues the frames of a flow come to (receive-side scaling).
#pragma once

#include <cstdint>

#include "sim/random.hpp"

namespace linerate::models {

/// A hash of a flow that knows nothing of the order in which flows were made, as a NIC's of
/// addresses and ports: what a splitmix64 stream gives after an odd number of steps. `receiver`:
/// who its frames are for, as packets say it.
inline std::uint64_t receive_hash(std::uint32_t receiver) {
  std::uint64_t state = (std::uint64_t{receiver} << 1) * 0x9e3779b97f4a7c15u;
  return sim::splitmix64(state);
}

}  // namespace linerate::models
