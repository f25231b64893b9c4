// Queues that decide: the disciplines of a port, its traffic classes and the order in which they
// are served. Fields that stand for nothing in a discipline stay empty; `with_defaults` fills in
// those that do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/units.hpp"

namespace linerate::experiments {

/// Priorities of IEEE 802.1Q: 0 to 7.
inline constexpr int kPriorities = 8;

enum class Discipline { fifo, red, codel, fq_codel, pie };
/// How PIE learns the delay of its queue (RFC 8033 5.3).
enum class DelayEstimator { timestamps, departure_rate };

/// One queue. Sizes are wire bytes (frame, preamble and gap), as everywhere in linerate.
struct QueueSpec {
  Discipline discipline = Discipline::fifo;
  std::optional<Bytes> limit;                        ///< bytes it may hold …
  std::optional<std::int64_t> limit_frames;          ///< … and frames
  bool ecn = false;                                  ///< ECT frames are marked instead of dropped
  std::optional<Bytes> ecn_threshold;                ///< fifo: ECT frames are marked above it …
  std::optional<std::int64_t> ecn_threshold_frames;  ///< … or above so many frames

  // RED (Floyd and Jacobson 1993). Thresholds of its mean length, in bytes or in frames.
  std::optional<Bytes> min, max;
  std::optional<std::int64_t> min_frames, max_frames;
  std::optional<double> max_probability;  ///< of a drop at `max`
  std::optional<double> weight;           ///< of the newest length in the mean
  std::optional<Bytes> mean_frame;        ///< by which idle time is counted
  std::optional<bool> gentle;             ///< rises to 1 at twice `max` instead of at once
  std::optional<bool> adaptive;           ///< moves max_probability (Floyd et al. 2001)

  // CoDel (RFC 8289), FQ-CoDel (RFC 8290), PIE (RFC 8033), adaptive RED.
  std::optional<Time> target;         ///< delay the queue aims at
  std::optional<Time> interval;       ///< CoDel: for so long above; PIE: from update to update
  std::optional<std::int64_t> flows;  ///< FQ-CoDel: queues flows are hashed to
  std::optional<Bytes> quantum;       ///< FQ-CoDel: bytes a flow may send in one round
  std::optional<double> alpha, beta;  ///< PIE: probability per second of delay, and its change
  std::optional<Time> burst;          ///< PIE: bursts that nothing is dropped from
  std::optional<double> mark_below;   ///< PIE: drops in place of marks from this probability
  std::optional<DelayEstimator> delay_estimator;  ///< PIE
  std::optional<bool> derandomised;               ///< PIE: neither clusters nor long gaps of drops
  bool operator==(const QueueSpec&) const = default;

  /// Whether it is a drop-tail queue of so many bytes and nothing else.
  bool only_limit() const {
    QueueSpec plain;
    plain.limit = limit;
    return limit && plain == *this;
  }
};

/// `spec` with what it leaves open. The numbers are those of the RFCs, or of Linux's tc where an
/// RFC gives none; each stands with its source in queue.cpp. Adaptive RED derives some from the
/// rate of its line: they stay open where that is not known.
QueueSpec with_defaults(QueueSpec spec, std::optional<BitRate> line);

/// How the classes of a port share its transmitter; `none`: there are no classes.
enum class Scheduler { none, strict, drr };

/// A queue of its own for some priorities.
struct TrafficClass {
  std::string name;
  std::vector<std::int64_t> priorities;  ///< 0 to 7; empty: those no other class has
  std::int64_t weight = 1;               ///< drr: share of the line, relative to the other classes
  QueueSpec queue;
  bool operator==(const TrafficClass&) const = default;
};

/// What stands in front of a transmitter: one queue, or classes and the order they are served in.
struct EgressSpec {
  QueueSpec queue;  ///< without classes
  Scheduler scheduler = Scheduler::none;
  std::vector<TrafficClass> classes;
  bool operator==(const EgressSpec&) const = default;
};

/// The classes of `spec` with every priority in one of them: one that names none has those left.
/// A scheduler without classes has one a priority (IEEE 802.1Q 8.6.6), named "0" to "7".
std::vector<TrafficClass> complete_classes(const EgressSpec& spec);

/// Whether `a` goes before `b` under strict priority: by the highest priority of each.
bool more_urgent(const TrafficClass& a, const TrafficClass& b);

}  // namespace linerate::experiments
