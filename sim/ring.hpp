// A growing first-in first-out queue in one array.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "sim/check.hpp"

namespace linerate::sim {

/// FIFO over a power-of-two array. Growing doubles the array and moves the elements; once it has
/// been as full as it gets, nothing allocates. `T` is default-constructible and movable; a popped
/// element stays in its place until overwritten.
template <class T>
class Ring {
 public:
  Ring() = default;
  Ring(Ring&& other) noexcept
      : slots_(std::move(other.slots_)),
        capacity_(std::exchange(other.capacity_, 0)),
        head_(std::exchange(other.head_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  Ring& operator=(Ring&& other) noexcept {
    slots_ = std::move(other.slots_);
    capacity_ = std::exchange(other.capacity_, 0);
    head_ = std::exchange(other.head_, 0);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }

  [[gnu::always_inline]] void push_back(T value) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    slots_[(head_ + size_) & (capacity_ - 1)] = std::move(value);
    ++size_;
  }
  void pop_front() {
    LINERATE_CHECK(size_ > 0, "only a ring with elements is popped");
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
  }
  /// Removes the front and returns it.
  T take_front() {
    LINERATE_CHECK(size_ > 0, "only a ring with elements is popped");
    T& front = slots_[head_];
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
    return std::move(front);
  }
  void clear() { head_ = size_ = 0; }

  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  /// The element `i` places behind the front.
  T& operator[](std::size_t i) {
    LINERATE_CHECK(i < size_, "a ring is indexed within its size");
    return slots_[(head_ + i) & (capacity_ - 1)];
  }
  const T& operator[](std::size_t i) const { return const_cast<Ring&>(*this)[i]; }

 private:
  static constexpr std::size_t kFirstCapacity = 8;

  [[gnu::noinline]] void grow() {
    const std::size_t wider = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
    auto moved = std::make_unique<T[]>(wider);
    for (std::size_t i = 0; i < size_; ++i) moved[i] = std::move((*this)[i]);
    slots_ = std::move(moved);
    capacity_ = wider;
    head_ = 0;
  }

  std::unique_ptr<T[]> slots_;
  std::size_t capacity_ = 0;  // zero or a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace linerate::sim
