// Proportional integral controller enhanced (RFC 8033): arriving frames are dropped with a
// probability that is corrected every 15 ms by how far the delay is from its target and how fast it
// changes.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/definition/queue.hpp"
#include "models/queue/queued_frame.hpp"
#include "sim/random.hpp"

namespace linerate::models {

class Pie {
 public:
  /// `spec` must be complete (experiments::with_defaults).
  Pie(const experiments::QueueSpec& spec, sim::RandomStream random);

  Drop enqueue(Time now, QueuedFrame frame);
  bool dequeue(Time now, std::uint8_t paused, QueuedFrame& frame, std::vector<QueuedFrame>&);

  std::uint32_t next_bytes(std::uint8_t paused) const { return row_.next_bytes(paused); }
  std::int64_t bytes() const { return row_.bytes(); }
  std::int64_t frames() const { return row_.frames(); }
  const QueueCounters& counters() const { return counters_; }

  double probability() const { return probability_; }
  /// Bytes a second that leave, as measured with `delay_estimator: departure-rate`; 0: not yet.
  double departure_rate() const { return departure_rate_; }

 private:
  void catch_up(Time now);
  void update();
  Time delay() const;
  bool chosen();
  void measure_departure(Time now, std::uint32_t bytes);

  QueueLimit limit_;
  Time target_, interval_, burst_;
  double alpha_, beta_, mark_below_;
  bool ecn_, by_rate_, derandomised_;
  sim::RandomStream random_;
  FrameRow row_;
  Time next_update_;
  Time allowance_;       ///< what is left of the burst that nothing is dropped from
  Time delay_before_{};  ///< at the last update
  Time last_wait_{};     ///< of the frame that left last; 0 once the queue is empty
  double probability_ = 0;
  double accumulated_ = 0;  ///< probability since the last drop
  bool measuring_ = false;
  Time measured_from_{};
  std::int64_t measured_bytes_ = 0;
  double departure_rate_ = 0;
  QueueCounters counters_;
};

}  // namespace linerate::models
