// sim/: the discrete-event engine: time, an ordered queue of events, pools, rings, timers and
// seeded random streams. Knows no networking: kinds, targets and arguments of events are the
// model's.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sim/check.hpp"
#include "sim/event.hpp"
#include "sim/event_queue.hpp"
#include "sim/units.hpp"

namespace linerate::sim {

/// Why Engine::run returned.
enum class RunEnd {
  reached,  ///< every event up to and including `until` is done; now() is `until`
  drained,  ///< the queue is empty; now() is the time of the last event
  stopped,  ///< the predicate asked for it; now() is the time of the last event
};

/// Runs events in their total order through `Model::dispatch(const Event&)`, which holds the one
/// switch over its kinds. `Model` may be incomplete where the engine is a member.
template <class Model>
class Engine {
 public:
  /// `sources` entities, numbered from 0, may schedule (at most 2^24).
  explicit Engine(std::uint32_t sources) : sources_(sources) {
    LINERATE_CHECK(sources <= kMaxSources, "a source entity fits 24 bits");
    next_order_.reserve(sources);
    for (std::uint32_t source = 0; source < sources; ++source)
      next_order_.push_back(order_key(source, 0));
  }

  /// Time of the event being dispatched, or where the last run ended.
  Time now() const { return now_; }
  /// Events dispatched so far.
  std::uint64_t events() const { return events_; }
  /// Events waiting.
  std::size_t pending() const { return queue_.size(); }

  /// Puts an event `source` causes into the queue. `at` must not lie before now(): the past is
  /// done.
  template <class Kind>
  requires std::is_enum_v<Kind>
  [[gnu::always_inline]] void schedule(std::uint32_t source, Time at, Kind kind,
                                       std::uint32_t target, std::uint64_t argument = 0) {
    LINERATE_CHECK(source < sources_, "an event's source is one of the engine's");
    LINERATE_CHECK(at >= now_, "an event is scheduled for now or later");
    // Counting up the whole key counts the sequence, until it would run into the source's bits:
    // see check_sequences.
    queue_.push({.at = at,
                 .order = next_order_[source]++,
                 .target = target,
                 .kind = static_cast<std::uint32_t>(kind),
                 .argument = argument});
  }

  /// Dispatches every event up to and including `until`. After every `check_every` events asks
  /// `stop()`; a run that was stopped can be continued by another call.
  template <std::predicate Stop>
  RunEnd run(Model& model, Time until, Stop&& stop, std::uint64_t check_every = 4096) {
    LINERATE_CHECK(check_every > 0, "the stop predicate is asked every so many events");
    std::uint64_t next_check = events_ + check_every;
    while (const Event* next = queue_.take_until(until)) {
      const Event event = *next;
      now_ = event.at;
      ++events_;
      model.dispatch(event);
      if (events_ >= next_check) [[unlikely]] {
        check_sequences();
        if (stop()) return RunEnd::stopped;
        next_check = events_ + check_every;
      }
    }
    if (queue_.empty()) return RunEnd::drained;
    now_ = until > now_ ? until : now_;
    return RunEnd::reached;
  }

  RunEnd run(Model& model, Time until) {
    return run(model, until, [] { return false; });
  }

 private:
  // No source can have counted into its neighbour's bits before all of them together have scheduled
  // so many events; looking now and then spares every event the question.
  void check_sequences() const {
    LINERATE_CHECK((events_ + queue_.size()) >> kSequenceBits == 0,
                   "the sequence numbers of a run fit 40 bits");
  }

  EventQueue queue_;
  std::uint32_t sources_;
  std::vector<std::uint64_t> next_order_;  // the order key of each source's next event
  Time now_{};
  std::uint64_t events_ = 0;
};

}  // namespace linerate::sim
