// Datagrams that arrive in fragments: each is there when its last fragment is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace linerate::models {

/// The incomplete datagrams of one flow. It has room for the latest few: a datagram that others
/// overtake so far has lost a fragment, and a host forgets it (RFC 791 3.2, RFC 8200 4.5).
class Reassembly {
 public:
  /// A fragment of datagram `ordinal` (from 1), which has `count` of them, arrives; each does once.
  /// Whether it is the last one missing.
  bool complete(std::int64_t ordinal, std::int64_t count) {
    Entry& entry = at(ordinal);
    if (ordinal < entry.ordinal) return false;
    if (ordinal > entry.ordinal) entry = {ordinal, 0};
    return ++entry.arrived == count;
  }
  /// How many fragments of it are here.
  std::int64_t arrived(std::int64_t ordinal) const {
    const Entry& entry = entries_[static_cast<std::size_t>(ordinal) % kEntries];
    return entry.ordinal == ordinal ? entry.arrived : 0;
  }

 private:
  static constexpr std::size_t kEntries = 16;
  struct Entry {
    std::int64_t ordinal = 0;
    std::int64_t arrived = 0;
  };
  Entry& at(std::int64_t ordinal) { return entries_[static_cast<std::size_t>(ordinal) % kEntries]; }

  std::array<Entry, kEntries> entries_{};
};

}  // namespace linerate::models
