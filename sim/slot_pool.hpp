// Owns the many short-lived values of a run (packets, messages) behind checked handles.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/check.hpp"

namespace linerate::sim {

/// Names one tenancy of one slot. A default handle names nothing.
struct Handle {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  ///< odd while the slot is held; 0 names nothing

  bool operator==(const Handle&) const = default;
  explicit operator bool() const { return generation != 0; }

  /// The handle as an event's argument, and back.
  std::uint64_t packed() const { return static_cast<std::uint64_t>(index) << 32 | generation; }
  static Handle unpack(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed >> 32), static_cast<std::uint32_t>(packed)};
  }
};

/// Slots of `T` in blocks: references stay valid while the pool grows, neighbours stay neighbours,
/// and the slot freed last is used first, so that it is still in the cache. A handle kept beyond
/// release() is a bug and stops the program. `T` is default-constructible and movable.
template <class T>
class SlotPool {
 public:
  /// Takes a slot and puts `value` into it. Allocates only when more are live than ever before.
  Handle acquire(T value = T{}) {
    const Taken taken = take();
    taken.value = std::move(value);
    return taken.handle;
  }

  /// A slot as its last tenant left it.
  struct Taken {
    Handle handle;
    T& value;
  };
  /// As acquire(), for callers that set every member they will read: large values are not written
  /// twice.
  Taken take() {
    if (first_free_ == nullptr) [[unlikely]]
      grow();
    Slot& slot = *first_free_;
    first_free_ = slot.next_free;
    ++slot.generation;
    ++live_;
    return {{slot.index, slot.generation}, slot.value};
  }

  /// Gives the slot back; every copy of the handle is stale from now on.
  [[gnu::always_inline]] void release(Handle handle) { give_back(checked(handle)); }
  /// The same for a caller who still has the value that get() gave, so that it need not be found
  /// again.
  [[gnu::always_inline]] void release(Handle handle, const T& value) {
    static_assert(std::is_standard_layout_v<Slot>, "a slot stands where its value does");
    Slot& slot = *reinterpret_cast<Slot*>(const_cast<T*>(&value));
    LINERATE_CHECK(slot.index == handle.index && slot.generation == handle.generation,
                   "a handle is released with its own value");
    give_back(slot);
  }

  [[gnu::always_inline]] T& get(Handle handle) { return checked(handle).value; }
  [[gnu::always_inline]] const T& get(Handle handle) const {
    return const_cast<SlotPool&>(*this).checked(handle).value;
  }

  /// Slots held now: acquired and not yet released.
  std::uint32_t live() const { return live_; }
  /// Slots that exist, held or free.
  std::uint32_t capacity() const { return capacity_; }

  /// Calls `visit(handle, value)` for every live slot, in index order: the account at the end.
  template <class Visitor>
  void for_each_live(Visitor&& visit) {
    for (std::uint32_t index = 0; index < capacity(); ++index) {
      Slot& slot = at(index);
      if (slot.generation % 2 == 1) visit(Handle{index, slot.generation}, slot.value);
    }
  }

 private:
  struct Slot {
    T value{};
    std::uint32_t generation = kFirstFree;
    std::uint32_t index = 0;
    Slot* next_free = nullptr;
  };
  static constexpr std::uint32_t kBlockBits = 8;
  static constexpr std::uint32_t kBlock = 1u << kBlockBits;
  // Free slots have even generations. They start above the 0 of a default handle, so that a handle,
  // which is odd or 0, is valid exactly when the generations are equal.
  static constexpr std::uint32_t kFirstFree = 2;

  void give_back(Slot& slot) {
    ++slot.generation;
    slot.next_free = first_free_;
    first_free_ = &slot;
    --live_;
  }

  Slot& at(std::uint32_t index) { return blocks_[index >> kBlockBits][index & (kBlock - 1)]; }

  [[gnu::always_inline]] Slot& checked(Handle handle) {
    LINERATE_CHECK(handle.index < capacity_, "a handle points into its pool");
    Slot& slot = at(handle.index);
    LINERATE_CHECK(slot.generation == handle.generation,
                   "a handle is used only while its slot is held");
    return slot;
  }

  [[gnu::noinline]] void grow() {
    const std::uint32_t first = capacity();
    LINERATE_CHECK(first <= ~0u - kBlock, "a pool's index fits 32 bits");
    blocks_.push_back(std::make_unique<Slot[]>(kBlock));
    capacity_ += kBlock;
    for (std::uint32_t i = kBlock; i-- > 0;) {
      Slot& slot = at(first + i);
      slot.index = first + i;
      slot.next_free = first_free_;
      first_free_ = &slot;
    }
  }

  std::vector<std::unique_ptr<Slot[]>> blocks_;
  std::uint32_t capacity_ = 0;
  Slot* first_free_ = nullptr;
  std::uint32_t live_ = 0;
};

}  // namespace linerate::sim
