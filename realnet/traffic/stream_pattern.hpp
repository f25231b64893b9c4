// Payload that says where it belongs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "sim/random.hpp"

namespace linerate::realnet {

/// The byte at every offset of a flow's stream: 64-bit words made of the flow and their place, so
/// that a byte lost, repeated or altered shows at once.
class StreamPattern {
 public:
  explicit StreamPattern(int flow) : flow_(static_cast<std::uint64_t>(flow) + 1) {}

  /// Writes `size` bytes as they stand from `offset` of the stream on.
  void fill(char* data, std::int64_t size, std::int64_t offset) const {
    for_each_piece(size, offset, [&](std::int64_t at, const char* piece, std::size_t length) {
      std::memcpy(data + at, piece, length);
      return true;
    });
  }

  /// Offset in the stream of the first byte of `data` that does not belong there.
  std::optional<std::int64_t> first_difference(const char* data, std::int64_t size,
                                               std::int64_t offset) const {
    std::optional<std::int64_t> difference;
    for_each_piece(size, offset, [&](std::int64_t at, const char* piece, std::size_t length) {
      if (std::memcmp(data + at, piece, length) == 0) return true;
      while (data[at] == *piece) ++at, ++piece;
      difference = offset + at;
      return false;
    });
    return difference;
  }

 private:
  static constexpr std::int64_t kWord = 8;

  /// Calls `action(place in the data, what belongs there, length)` word by word until it is false.
  template <class Action>
  void for_each_piece(std::int64_t size, std::int64_t offset, Action action) const {
    for (std::int64_t at = 0; at < size;) {
      const std::int64_t place = offset + at, within = place % kWord;
      std::uint64_t state = flow_ << 56 ^ static_cast<std::uint64_t>(place / kWord);
      const std::uint64_t word = sim::splitmix64(state);
      char bytes[kWord];
      std::memcpy(bytes, &word, sizeof bytes);
      const std::int64_t length = kWord - within < size - at ? kWord - within : size - at;
      if (!action(at, bytes + within, static_cast<std::size_t>(length))) return;
      at += length;
    }
  }

  std::uint64_t flow_;
};

}  // namespace linerate::realnet
