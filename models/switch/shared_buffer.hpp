// A packet memory that several output queues share, with dynamic thresholds: a queue may grow while
// it is shorter than alpha times what is free (Choudhury & Hahne, IEEE/ACM ToN 6(2), 1998).
#pragma once

#include <cstdint>
#include <vector>

#include "models/link/backlog.hpp"
#include "sim/units.hpp"

namespace linerate::models {

class SharedBuffer {
 public:
  SharedBuffer(Bytes total, double alpha, std::size_t ports)
      : total_(total.count()), alpha_(alpha), queues_(ports), held_(ports) {}

  /// Whether a frame of `bytes` for `port` finds room at `now`.
  bool admits(Time now, std::size_t port, std::uint32_t bytes) {
    expire(now);
    const std::int64_t free = total_ - used_;
    const std::int64_t queue = queue_bytes(port);
    return bytes <= free && static_cast<double>(queue) < alpha_ * static_cast<double>(free);
  }
  /// As admits(), for traffic that flow control keeps from overrunning the memory: no threshold.
  bool fits(Time now, std::uint32_t bytes) {
    expire(now);
    return bytes <= total_ - used_;
  }

  /// Takes memory for an admitted frame whose departure is not known yet …
  void hold(std::size_t port, std::uint32_t bytes) {
    held_[port] += bytes;
    used_ += bytes;
  }
  /// … and gives it back: when it is dropped, or to store() it now that its departure is known.
  void release(std::size_t port, std::uint32_t bytes) {
    held_[port] -= bytes;
    used_ -= bytes;
  }

  /// Stores an admitted frame until `departure`.
  void store(std::size_t port, Time departure, std::uint32_t bytes) {
    if (queues_[port].empty()) busy_.push_back(port);
    queues_[port].add(departure, bytes);
    used_ += bytes;
  }

  std::int64_t queue_bytes(std::size_t port) const { return queues_[port].bytes() + held_[port]; }
  std::int64_t used() const { return used_; }

 private:
  // Only ports with frames are visited; in an incast that is one or two of many.
  void expire(Time now) {
    for (std::size_t i = 0; i < busy_.size();) {
      Backlog& queue = queues_[busy_[i]];
      used_ -= queue.expire(now);
      if (queue.empty()) {
        busy_[i] = busy_.back();
        busy_.pop_back();
      } else {
        ++i;
      }
    }
  }

  std::int64_t total_;
  double alpha_;
  std::int64_t used_ = 0;
  std::vector<Backlog> queues_;
  std::vector<std::int64_t> held_;  // by port: frames that wait for a decision
  std::vector<std::size_t> busy_;
};

}  // namespace linerate::models
