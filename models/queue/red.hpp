// Random early detection (Floyd and Jacobson, "Random early detection gateways for congestion
// avoidance", IEEE/ACM ToN 1(4), 1993), with the gentle slope and, if asked for, adaptive
// max_probability (Floyd, Gummadi and Shenker, "Adaptive RED", 2001).
#pragma once

#include <vector>

#include "experiments/definition/queue.hpp"
#include "models/queue/queued_frame.hpp"
#include "sim/random.hpp"

namespace linerate::models {

class Red {
 public:
  /// `spec` must be complete (experiments::with_defaults). Thresholds in bytes make it count bytes,
  /// else it counts frames. Either way a frame's size does not change its chance (RFC 7141 2.2).
  Red(const experiments::QueueSpec& spec, BitRate line, sim::RandomStream random);

  Drop enqueue(Time now, QueuedFrame frame);
  bool dequeue(Time now, std::uint8_t paused, QueuedFrame& frame, std::vector<QueuedFrame>&);

  std::uint32_t next_bytes(std::uint8_t paused) const { return row_.next_bytes(paused); }
  std::int64_t bytes() const { return row_.bytes(); }
  std::int64_t frames() const { return row_.frames(); }
  const QueueCounters& counters() const { return counters_; }

  /// Mean length as RED sees it, bytes or frames.
  double mean() const { return mean_; }
  /// Probability of a drop at the mean's present value, before the gaps are evened out.
  double probability() const;
  double max_probability() const { return max_probability_; }

 private:
  void update_mean(Time now);
  void adapt(Time now);
  bool chosen();

  QueueLimit limit_;
  double min_, max_, weight_, max_probability_;
  bool in_bytes_, gentle_, adaptive_, ecn_;
  BitRate line_;
  Time mean_frame_time_;
  sim::RandomStream random_;
  FrameRow row_;
  double mean_ = 0;
  std::int64_t since_ = 0;  ///< frames let through since the last drop or mark
  Time idle_since_{};
  Time adapt_at_{};
  QueueCounters counters_;
};

}  // namespace linerate::models
