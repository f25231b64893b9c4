#include "models/queue/egress_queue.hpp"

#include <algorithm>

namespace linerate::models {

namespace {

using experiments::Discipline;
using experiments::EgressSpec;
using experiments::QueueSpec;
using experiments::Scheduler;
using experiments::TrafficClass;

// One full frame (1500-byte MTU) a round for a weight of 1: with a quantum below the largest frame
// a class could need several rounds for one frame (Shreedhar and Varghese 1996, section 4.1).
constexpr std::int64_t kQuantum = 1538;

std::variant<Fifo, Red, Codel, FqCodel, Pie> make_queue(const QueueSpec& given, BitRate line,
                                                        std::uint64_t seed) {
  const QueueSpec spec = experiments::with_defaults(given, line);
  const sim::RandomStream random({.seed = seed, .entity = 0, .name = "discipline"});
  switch (spec.discipline) {
    case Discipline::fifo:
      return Fifo(spec);
    case Discipline::red:
      return Red(spec, line, random);
    case Discipline::codel:
      return Codel(spec);
    case Discipline::fq_codel:
      return FqCodel(spec, random);
    case Discipline::pie:
      return Pie(spec, random);
  }
  return Fifo(spec);
}

}  // namespace

EgressQueue::Class::Class(std::string name, const QueueSpec& spec, BitRate line,
                          std::int64_t weight, std::uint64_t seed)
    : name_(std::move(name)), queue_(make_queue(spec, line, seed)), quantum_(weight * kQuantum) {}

QueueCounters EgressQueue::Class::counters() const {
  return std::visit([](const auto& queue) { return queue.counters(); }, queue_);
}

EgressQueue::EgressQueue(const EgressSpec& spec, BitRate line, sim::RandomStream random)
    : scheduler_(spec.scheduler) {
  if (spec.scheduler == Scheduler::none)
    classes_.emplace_back("", spec.queue, line, 1, random.bits());
  else
    add_classes(spec, line, random);
}

void EgressQueue::add_classes(const EgressSpec& spec, BitRate line, sim::RandomStream& random) {
  std::vector<TrafficClass> classes = experiments::complete_classes(spec);
  if (scheduler_ == Scheduler::strict)
    std::stable_sort(classes.begin(), classes.end(), experiments::more_urgent);
  for (const TrafficClass& c : classes) {
    for (const std::int64_t priority : c.priorities)
      class_of_[static_cast<std::size_t>(priority)] = static_cast<std::uint8_t>(classes_.size());
    classes_.emplace_back(c.name, c.queue, line, c.weight, random.bits());
  }
}

bool EgressQueue::random() const {
  return std::any_of(classes_.begin(), classes_.end(), [](const Class& c) {
    return !std::holds_alternative<Fifo>(c.queue_) && !std::holds_alternative<Codel>(c.queue_);
  });
}

// What left the queues without being sent leaves the totals.
void EgressQueue::forget_dropped(std::size_t before) {
  for (std::size_t i = before; i < dropped_.size(); ++i) bytes_ -= dropped_[i].bytes;
  frames_ -= static_cast<std::int64_t>(dropped_.size() - before);
}

Drop EgressQueue::enqueue(Time now, QueuedFrame frame) {
  frame.queued = now;
  Class& to = classes_[class_of_[frame.priority]];
  const std::size_t before = dropped_.size();
  const Drop drop = std::visit(
      [&](auto& queue) {
        if constexpr (requires { queue.enqueue(now, frame, dropped_); })
          return queue.enqueue(now, frame, dropped_);
        else
          return queue.enqueue(now, frame);
      },
      to.queue_);
  if (drop != Drop::none) return drop;
  ++frames_;
  bytes_ += frame.bytes;
  if (dropped_.size() > before) forget_dropped(before);
  to.peak_bytes_ = std::max(to.peak_bytes_,
                            std::visit([](const auto& queue) { return queue.bytes(); }, to.queue_));
  return Drop::none;
}

bool EgressQueue::take(Time now, std::uint8_t paused, Class& from, QueuedFrame& frame) {
  const std::size_t before = dropped_.size();
  const bool sent = std::visit(
      [&](auto& queue) { return queue.dequeue(now, paused, frame, dropped_); }, from.queue_);
  if (dropped_.size() > before) forget_dropped(before);
  if (!sent) return false;
  --frames_;
  bytes_ -= frame.bytes;
  ++from.sent_frames_;
  from.sent_bytes_ += frame.bytes;
  if (now >= observe_from_ && now < observe_to_) from.delays_.record(now - frame.queued);
  return true;
}

bool EgressQueue::take_strict(Time now, std::uint8_t paused, QueuedFrame& frame) {
  for (Class& c : classes_)
    if (take(now, paused, c, frame)) return true;
  return false;
}

void EgressQueue::next_turn() {
  turn_ = turn_ + 1 == classes_.size() ? 0 : turn_ + 1;
  granted_ = false;
}

// Deficit round robin (Shreedhar and Varghese, IEEE/ACM ToN 4(3), 1996): in its turn a class may
// send its quantum and what it had left over; an empty class saves nothing. A discipline may drop
// the frame whose size was asked for; what it sends instead is charged all the same.
bool EgressQueue::take_in_turn(Time now, std::uint8_t paused, QueuedFrame& frame) {
  const auto next_bytes = [&](const Class& c) {
    return std::visit([&](const auto& queue) { return queue.next_bytes(paused); }, c.queue_);
  };
  const auto held = [](const Class& c) {
    return std::visit([](const auto& queue) { return queue.frames(); }, c.queue_);
  };
  for (std::size_t passed = 0; passed < classes_.size();) {
    Class& c = classes_[turn_];
    const std::int64_t bytes = next_bytes(c);
    if (bytes == 0) {
      if (held(c) == 0) c.deficit_ = 0;
      next_turn();
      ++passed;
      continue;
    }
    passed = 0;
    if (!granted_) c.deficit_ += c.quantum_;
    granted_ = true;
    if (bytes > c.deficit_) {
      next_turn();
      continue;
    }
    if (!take(now, paused, c, frame)) continue;
    c.deficit_ -= frame.bytes;
    if (held(c) == 0) {
      c.deficit_ = 0;
      next_turn();
    }
    return true;
  }
  return false;
}

std::optional<QueuedFrame> EgressQueue::dequeue(Time now, std::uint8_t paused) {
  QueuedFrame frame;
  const bool sent = scheduler_ == Scheduler::drr ? take_in_turn(now, paused, frame)
                                                 : take_strict(now, paused, frame);
  if (!sent) return std::nullopt;
  return frame;
}

DelayHistogram EgressQueue::delays() const {
  DelayHistogram sum;
  for (const Class& c : classes_) sum.add(c.delays());
  return sum;
}

QueueCounters EgressQueue::counters() const {
  QueueCounters sum;
  for (const Class& c : classes_) sum += c.counters();
  return sum;
}

}  // namespace linerate::models
