// A growing first-in first-out queue in one array.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "sim/check.hpp"

namespace linerate::sim {

/// FIFO over a power-of-two array of which one place stays empty. Growing doubles the array and
/// moves the elements; once it has been as full as it gets, nothing allocates. `T` is
/// default-constructible and movable; a popped element stays in its place until overwritten.
template <class T>
class Ring {
 public:
  Ring() = default;
  Ring(Ring&& other) noexcept
      : slots_(std::move(other.slots_)),
        mask_(std::exchange(other.mask_, 0)),
        head_(std::exchange(other.head_, 0)),
        tail_(std::exchange(other.tail_, 0)) {}
  Ring& operator=(Ring&& other) noexcept {
    slots_ = std::move(other.slots_);
    mask_ = std::exchange(other.mask_, 0);
    head_ = std::exchange(other.head_, 0);
    tail_ = std::exchange(other.tail_, 0);
    return *this;
  }

  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }

  [[gnu::always_inline]] void push_back(T value) {
    if (tail_ - head_ == mask_) [[unlikely]]
      grow();
    slots_[tail_++ & mask_] = std::move(value);
  }
  void pop_front() {
    LINERATE_CHECK(!empty(), "only a ring with elements is popped");
    ++head_;
  }
  /// Removes the front and returns it.
  T take_front() {
    LINERATE_CHECK(!empty(), "only a ring with elements is popped");
    return std::move(slots_[head_++ & mask_]);
  }
  void clear() { head_ = tail_; }

  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size() - 1]; }
  const T& back() const { return (*this)[size() - 1]; }

  /// The element `i` places behind the front.
  T& operator[](std::size_t i) {
    LINERATE_CHECK(i < size(), "a ring is indexed within its size");
    return slots_[(head_ + i) & mask_];
  }
  const T& operator[](std::size_t i) const { return const_cast<Ring&>(*this)[i]; }

 private:
  static constexpr std::size_t kFirstSlots = 8;

  [[gnu::noinline]] void grow() {
    const std::size_t slots = mask_ == 0 ? kFirstSlots : (mask_ + 1) * 2;
    auto moved = std::make_unique<T[]>(slots);
    for (std::size_t i = head_; i != tail_; ++i)
      moved[i & (slots - 1)] = std::move(slots_[i & mask_]);
    slots_ = std::move(moved);
    mask_ = slots - 1;
  }

  std::unique_ptr<T[]> slots_;
  std::size_t mask_ = 0;  // one less than the number of slots; 0: none yet
  // Count up for ever; their low bits name the slots.
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace linerate::sim
