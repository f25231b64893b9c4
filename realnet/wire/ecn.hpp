// The ECN field of a frame's IP packet (RFC 3168 5).
#pragma once

#include <cstddef>
#include <span>

namespace linerate::realnet {

/// Whether a frame carries an IP packet whose sender reacts to marks (ECT or CE).
bool is_capable(std::span<const std::byte> frame);

/// Marks such a packet: congestion experienced.
void mark_congestion(std::span<std::byte> frame);

}  // namespace linerate::realnet
