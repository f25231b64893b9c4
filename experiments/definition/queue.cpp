#include "experiments/definition/queue.hpp"

#include <algorithm>
#include <cmath>

namespace linerate::experiments {

namespace {

template <class T, class U>
void fill(std::optional<T>& field, U value) {
  if (!field) field = value;
}

/// Frames of full size (1500-byte MTU: 1538 bytes on the wire) that the line sends in a second.
double frames_per_second(BitRate line) {
  return static_cast<double>(line.bits_per_second()) / (8.0 * 1538);
}

void red_thresholds(QueueSpec& spec, std::int64_t min_frames) {
  if (!spec.min && !spec.min_frames) {
    if (spec.max)
      spec.min = *spec.max / 3;
    else
      spec.min_frames = spec.max_frames ? *spec.max_frames / 3 : min_frames;
  }
  if (!spec.max && !spec.max_frames) {
    if (spec.min)
      spec.max = *spec.min * 3;
    else
      spec.max_frames = *spec.min_frames * 3;
  }
}

void red_defaults(QueueSpec& spec, std::optional<BitRate> line) {
  fill(spec.gentle, true);  // Floyd, "Recommendation on using the gentle variant of RED", 2000
  fill(spec.adaptive, false);
  fill(spec.mean_frame, Bytes(1000));  // tc-red(8), avpkt
  fill(spec.max_probability, 0.1);     // Floyd, "RED: Discussions of setting parameters", 1997
  if (!*spec.adaptive) {
    fill(spec.weight, 0.002);  // Floyd and Jacobson 1993, as are the thresholds
    red_thresholds(spec, 5);
    return;
  }
  // Adaptive RED chooses what it is not told (Floyd, Gummadi and Shenker 2001, section 4): a mean
  // that follows within a second, and a lower threshold of half the target's queue.
  fill(spec.target, Time::milliseconds(5));
  if (!line) return;
  const double rate = frames_per_second(*line);
  fill(spec.weight, 1 - std::exp(-1 / std::max(rate, 1.0)));
  red_thresholds(spec, std::max<std::int64_t>(5, std::llround(spec.target->seconds() * rate / 2)));
}

}  // namespace

QueueSpec with_defaults(QueueSpec spec, std::optional<BitRate> line) {
  // Frames unless bytes are given. RFC 8290 5.2.3 for FQ-CoDel; tc-codel(8) and tc-pie(8) say 1000,
  // which is also Linux's txqueuelen.
  if (!spec.limit)
    fill(spec.limit_frames, spec.discipline == Discipline::fq_codel ? 10'240 : 1'000);
  switch (spec.discipline) {
    case Discipline::fifo:
      break;
    case Discipline::red:
      red_defaults(spec, line);
      break;
    case Discipline::fq_codel:
      fill(spec.flows, 1024);           // RFC 8290 5.2.4
      fill(spec.quantum, Bytes(1538));  // RFC 8290 5.2.3: one full frame; here with all it costs
      [[fallthrough]];
    case Discipline::codel:
      fill(spec.target, Time::milliseconds(5));      // RFC 8289 4.4
      fill(spec.interval, Time::milliseconds(100));  // RFC 8289 4.4
      break;
    case Discipline::pie:
      fill(spec.target, Time::milliseconds(15));               // RFC 8033 4.2
      fill(spec.interval, Time::milliseconds(15));             // RFC 8033 4.2
      fill(spec.alpha, 0.125);                                 // RFC 8033 4.2, per second
      fill(spec.beta, 1.25);                                   // RFC 8033 4.2, per second
      fill(spec.burst, Time::milliseconds(150));               // RFC 8033 4.4
      fill(spec.mark_below, 0.1);                              // RFC 8033 5.1
      fill(spec.delay_estimator, DelayEstimator::timestamps);  // as Linux since 5.5
      fill(spec.derandomised, false);                          // RFC 8033 5.4 is optional
      break;
  }
  return spec;
}

std::vector<TrafficClass> complete_classes(const EgressSpec& spec) {
  std::vector<TrafficClass> classes = spec.classes;
  if (classes.empty()) {
    for (std::int64_t priority = 0; priority < kPriorities; ++priority)
      classes.push_back({std::to_string(priority), {priority}, 1, spec.queue});
    return classes;
  }
  bool taken[kPriorities] = {};
  for (const TrafficClass& c : classes)
    for (const std::int64_t priority : c.priorities) taken[priority] = true;
  for (TrafficClass& c : classes) {
    if (!c.priorities.empty()) continue;
    for (std::int64_t priority = 0; priority < kPriorities; ++priority)
      if (!taken[priority]) c.priorities.push_back(priority);
  }
  return classes;
}

bool more_urgent(const TrafficClass& a, const TrafficClass& b) {
  const auto highest = [](const TrafficClass& c) {
    return c.priorities.empty() ? -1 : *std::max_element(c.priorities.begin(), c.priorities.end());
  };
  return highest(a) > highest(b);
}

}  // namespace linerate::experiments
