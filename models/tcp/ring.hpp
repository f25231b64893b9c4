// A first-in first-out queue that stops allocating once it has grown to its largest size.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace linerate::models::tcp {

/// Elements are named by an index that only grows: first() is the oldest, end() one past the
/// newest.
template <class T>
class Ring {
 public:
  using Index = std::uint64_t;

  Ring() : slots_(kFirstSlots) {}
  Index first() const { return first_; }
  Index end() const { return end_; }
  bool empty() const { return first_ == end_; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - first_); }
  T& at(Index index) { return slots_[index & mask_]; }
  const T& at(Index index) const { return slots_[index & mask_]; }
  void pop() { ++first_; }
  /// Everything before `index` leaves.
  void pop_to(Index index) { first_ = index; }
  void clear() { first_ = end_; }
  [[gnu::always_inline]] void push(const T& value) {
    if (size() > mask_) [[unlikely]]
      grow();
    slots_[end_++ & mask_] = value;
  }

 private:
  static constexpr std::size_t kFirstSlots = 16;

  [[gnu::noinline]] void grow() {
    std::vector<T> larger(slots_.size() * 2);
    for (Index i = first_; i != end_; ++i) larger[i & (larger.size() - 1)] = at(i);
    slots_ = std::move(larger);
    mask_ = slots_.size() - 1;
  }

  std::vector<T> slots_;  ///< a power of two of them, one more than the mask
  Index mask_ = kFirstSlots - 1;
  Index first_ = 0, end_ = 0;
};

}  // namespace linerate::models::tcp
