// One thing that will happen: a small value, ordered totally, meaningless to the engine.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/check.hpp"
#include "sim/units.hpp"

namespace linerate::sim {

/// An entry of the event queue. `kind`, `target` and `argument` belong to the model; `at` and
/// `order` decide when it is dispatched.
struct Event {
  Time at;                     ///< simulated time at which it happens
  std::uint64_t order = 0;     ///< see order_key; breaks ties in `at`
  std::uint32_t target = 0;    ///< which entity it happens to
  std::uint32_t kind = 0;      ///< what happens, one of the model's closed set
  std::uint64_t argument = 0;  ///< a packed Handle, a generation or a number

  /// The kind as the model's own enumeration.
  template <class Kind>
  Kind kind_as() const {
    static_assert(std::is_enum_v<Kind>, "a model's kinds are an enumeration");
    return static_cast<Kind>(kind);
  }
};

// The queue copies events freely and keeps two in a cache line; both are part of its speed.
static_assert(sizeof(Event) == 32);
static_assert(std::is_trivially_copyable_v<Event>);

constexpr int kSequenceBits = 40;
constexpr std::uint64_t kSequenceMask = (std::uint64_t{1} << kSequenceBits) - 1;
constexpr std::uint32_t kMaxSources = 1u << (64 - kSequenceBits);

/// The tie-break of an event: its source entity (24 bits), then how many events that source had
/// scheduled before (40 bits). It depends on nothing but the source's own history, so a partitioned
/// run orders events exactly as a serial one.
constexpr std::uint64_t order_key(std::uint32_t source, std::uint64_t sequence) {
  LINERATE_CHECK(source < kMaxSources, "a source entity fits 24 bits");
  LINERATE_CHECK(sequence >> kSequenceBits == 0, "a source's sequence number fits 40 bits");
  return static_cast<std::uint64_t>(source) << kSequenceBits | sequence;
}

/// Total order: time first, then order key. Both make one wide integer, compared in two
/// instructions without a branch that could be mispredicted.
constexpr bool before(const Event& a, const Event& b) {
  __extension__ using Wide = __int128;
  const Wide first = static_cast<Wide>(a.at.picoseconds()) << 64 | static_cast<Wide>(a.order);
  const Wide second = static_cast<Wide>(b.at.picoseconds()) << 64 | static_cast<Wide>(b.order);
  return first < second;
}

}  // namespace linerate::sim
