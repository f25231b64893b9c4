// A 4-ary heap of events whose removal is finished by the next insertion.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "sim/check.hpp"
#include "sim/event.hpp"

namespace linerate::sim {

/// Min-heap by `before`. Four children a node halve the levels of a binary heap, and the four lie
/// side by side. Taking leaves a hole at the root; since handling an event nearly always schedules
/// another, the next push() drops into the hole and the pair costs one sift.
class EventHeap {
 public:
  EventHeap() { grow(); }

  bool empty() const { return used_ == hole_; }
  std::size_t size() const { return used_ - hole_; }

  /// Returns whether it needed a node more; else it took the hole.
  [[gnu::always_inline]] bool push(const Event& event) {
    if (hole_ == 0) [[unlikely]] {
      append(event);
      return true;
    }
    hole_ = 0;
    sift_down(event);
    return false;
  }

  /// The earliest event; the heap is not empty.
  const Event& top() {
    close_hole();
    return nodes_.front();
  }

  /// Removes and returns the earliest event, which stays in its place until the next call; the heap
  /// is not empty.
  const Event& take() {
    close_hole();
    hole_ = 1;
    return nodes_.front();
  }

  /// Passes every event to `visit`, in no order, and is empty afterwards.
  template <class Visitor>
  void drain(Visitor&& visit) {
    close_hole();
    for (std::size_t i = 0; i < used_; ++i) {
      visit(nodes_[i]);
      nodes_[i] = kVacant;
    }
    used_ = 0;
  }

 private:
  static constexpr std::size_t kArity = 4;
  static constexpr std::size_t kFirstFamilies = 16;
  // Later than every event. Nodes not in use hold it, so that a node always has four children to
  // compare and the choice among them needs no branch.
  static constexpr Event kVacant{.at = Time::never(),
                                 .order = std::numeric_limits<std::uint64_t>::max()};

  void close_hole() {
    if (hole_ != 0) [[unlikely]]
      fill_hole_with_last();
  }

  [[gnu::noinline]] void fill_hole_with_last() {
    hole_ = 0;
    const Event last = nodes_[--used_];
    nodes_[used_] = kVacant;
    if (used_ > 0) sift_down(last);
  }

  // Adds a node and places `event` there or among its ancestors.
  [[gnu::noinline]] void append(const Event& event) {
    if (used_ == nodes_.size()) grow();
    Event* const nodes = nodes_.data();
    std::size_t i = used_++;
    while (i > 0) {
      const std::size_t parent = (i - 1) / kArity;
      if (!before(event, nodes[parent])) break;
      nodes[i] = nodes[parent];
      i = parent;
    }
    nodes[i] = event;
  }

  // Places `event` at or below the vacant root.
  [[gnu::noinline]] void sift_down(const Event& event) {
    Event* const nodes = nodes_.data();
    Event* node = nodes;
    for (std::size_t child = 1; child < used_;) {
      // A small tournament: two independent comparisons, then one.
      Event* const family = nodes + child;
      Event* const left = family + (before(family[1], family[0]) ? 1 : 0);
      Event* const right = family + 2 + (before(family[3], family[2]) ? 1 : 0);
      Event* const least = before(*right, *left) ? right : left;
      if (!before(*least, event)) break;
      *node = *least;
      node = least;
      child = static_cast<std::size_t>(least - nodes) * kArity + 1;
    }
    *node = event;
  }

  // The root and whole families of four.
  void grow() {
    const std::size_t families = nodes_.empty() ? kFirstFamilies : (nodes_.size() - 1) / kArity * 2;
    nodes_.resize(1 + families * kArity, kVacant);
  }

  std::vector<Event> nodes_;
  std::size_t used_ = 0;  // nodes in use, a vacant root included
  std::size_t hole_ = 0;  // 1: nodes_[0] has been taken and awaits a successor
};

}  // namespace linerate::sim
