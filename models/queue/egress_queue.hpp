// What stands in front of a transmitter that decides late: one queue, or a queue for each traffic
// class and a scheduler. Passive: the caller says when a frame comes and when the line is free, and
// forwards, drops or marks as it is told. This folder knows frames, causes of
// drops and time; it must not know the network or its events.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "experiments/definition/queue.hpp"
#include "models/queue/codel.hpp"
#include "models/queue/delay_histogram.hpp"
#include "models/queue/fifo.hpp"
#include "models/queue/fq_codel.hpp"
#include "models/queue/pie.hpp"
#include "models/queue/queued_frame.hpp"
#include "models/queue/red.hpp"
#include "sim/random.hpp"

namespace linerate::models {

class EgressQueue {
 public:
  /// One queue with what passed it. Without classes there is one, and it has no name.
  class Class {
   public:
    Class(std::string name, const experiments::QueueSpec& spec, BitRate line, std::int64_t weight,
          std::uint64_t seed);

    const std::string& name() const { return name_; }
    QueueCounters counters() const;
    std::int64_t sent_frames() const { return sent_frames_; }
    std::int64_t sent_bytes() const { return sent_bytes_; }  ///< on the wire
    std::int64_t peak_bytes() const { return peak_bytes_; }
    /// Waits of the frames that left within the span observed, from enqueue() to dequeue().
    const DelayHistogram& delays() const { return delays_; }

   private:
    friend class EgressQueue;
    std::string name_;
    std::variant<Fifo, Red, Codel, FqCodel, Pie> queue_;
    std::int64_t quantum_;
    std::int64_t deficit_ = 0;
    std::int64_t sent_frames_ = 0, sent_bytes_ = 0, peak_bytes_ = 0;
    DelayHistogram delays_;
  };

  /// `line` is the transmitter's rate; `random` decides drops and where flows are hashed to.
  EgressQueue(const experiments::EgressSpec& spec, BitRate line, sim::RandomStream random);

  /// Whether a discipline draws random numbers that shape the run, so that repeats differ.
  bool random() const;

  /// Delays are recorded of frames that leave in [from, to); else of all.
  void observe(Time from, Time to) { observe_from_ = from, observe_to_ = to; }

  /// Takes `frame` at `now`. Anything but Drop::none: it stays the caller's and is lost.
  Drop enqueue(Time now, QueuedFrame frame);

  /// The frame that leaves at `now`, if one may: none of a priority in `paused` (bit n: priority n)
  /// does. Its ECN field is what must be on the wire. `now` never goes back.
  std::optional<QueuedFrame> dequeue(Time now, std::uint8_t paused);

  /// Frames that enqueue() or dequeue() dropped besides the one at hand. The caller releases them
  /// and clears the list.
  std::vector<QueuedFrame>& dropped() { return dropped_; }

  std::int64_t bytes() const { return bytes_; }    ///< held, wire bytes
  std::int64_t frames() const { return frames_; }  ///< held
  bool empty() const { return frames_ == 0; }

  /// Marks and drops of all classes so far.
  QueueCounters counters() const;
  /// Waits in all classes.
  DelayHistogram delays() const;
  /// Best first with `scheduler: strict`, else as in the experiment.
  const std::vector<Class>& classes() const { return classes_; }

 private:
  void add_classes(const experiments::EgressSpec& spec, BitRate line, sim::RandomStream& random);
  bool take(Time now, std::uint8_t paused, Class& from, QueuedFrame& frame);
  bool take_strict(Time now, std::uint8_t paused, QueuedFrame& frame);
  bool take_in_turn(Time now, std::uint8_t paused, QueuedFrame& frame);
  void next_turn();
  void forget_dropped(std::size_t before);

  experiments::Scheduler scheduler_;
  std::vector<Class> classes_;
  std::array<std::uint8_t, 8> class_of_{};  // by priority
  std::vector<QueuedFrame> dropped_;
  std::size_t turn_ = 0;  // drr: whose turn it is …
  bool granted_ = false;  // … and whether it has had its quantum for it
  std::int64_t bytes_ = 0, frames_ = 0;
  Time observe_from_{}, observe_to_ = Time::never();
};

}  // namespace linerate::models
