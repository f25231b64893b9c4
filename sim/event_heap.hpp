// A 4-ary heap of events whose removal is finished by the next insertion.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/check.hpp"
#include "sim/event.hpp"

namespace linerate::sim {

/// Min-heap by `before`. Four children a node halve the levels of a binary heap, and the four lie
/// side by side. take() leaves a hole at the root; since handling an event nearly always schedules
/// another, the next push() drops into the hole and the pair costs one sift.
class EventHeap {
 public:
  bool empty() const { return size() == 0; }
  std::size_t size() const { return nodes_.size() - (hole_ ? 1 : 0); }

  void push(const Event& event) {
    if (hole_) {
      hole_ = false;
      sift_down(event);
      return;
    }
    nodes_.push_back(event);
    sift_up(event);
  }

  /// The earliest event; the heap is not empty.
  const Event& top() {
    close_hole();
    return nodes_.front();
  }

  /// Removes and returns the earliest event; the heap is not empty.
  Event take() {
    close_hole();
    hole_ = true;
    return nodes_.front();
  }

  /// Passes every event to `visit`, in no order, and is empty afterwards.
  template <class Visitor>
  void drain(Visitor&& visit) {
    close_hole();
    for (const Event& event : nodes_) visit(event);
    nodes_.clear();
  }

 private:
  static constexpr std::size_t kArity = 4;

  void close_hole() {
    if (!hole_) return;
    hole_ = false;
    const Event last = nodes_.back();
    nodes_.pop_back();
    if (!nodes_.empty()) sift_down(last);
  }

  // Places `event`, whose node is the last one, among its ancestors.
  void sift_up(const Event& event) {
    Event* const nodes = nodes_.data();
    std::size_t i = nodes_.size() - 1;
    while (i > 0) {
      const std::size_t parent = (i - 1) / kArity;
      if (!before(event, nodes[parent])) break;
      nodes[i] = nodes[parent];
      i = parent;
    }
    nodes[i] = event;
  }

  // Places `event` at or below the vacant root.
  void sift_down(const Event& event) {
    Event* const nodes = nodes_.data();
    const std::size_t size = nodes_.size();
    std::size_t i = 0;
    for (;;) {
      const std::size_t child = i * kArity + 1;
      if (child >= size) break;
      std::size_t least = child;
      if (child + kArity <= size) [[likely]] {
        // A small tournament: two independent comparisons, then one.
        const std::size_t left = child + (before(nodes[child + 1], nodes[child]) ? 1 : 0);
        const std::size_t right = child + 2 + (before(nodes[child + 3], nodes[child + 2]) ? 1 : 0);
        least = before(nodes[right], nodes[left]) ? right : left;
      } else {
        for (std::size_t c = child + 1; c < size; ++c)
          if (before(nodes[c], nodes[least])) least = c;
      }
      if (!before(nodes[least], event)) break;
      nodes[i] = nodes[least];
      i = least;
    }
    nodes[i] = event;
  }

  std::vector<Event> nodes_;
  bool hole_ = false;  // nodes_[0] has been taken and awaits a successor
};

}  // namespace linerate::sim
