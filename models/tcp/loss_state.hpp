// How a sender stands with losses.
#pragma once

#include <cstdint>

namespace linerate::models::tcp {

/// Under the names and in the order TCP_INFO has them.
enum class LossState : std::uint8_t { open, disorder, reduced, recovery, loss };

}  // namespace linerate::models::tcp
