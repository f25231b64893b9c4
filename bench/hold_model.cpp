// The hold model (Jones, "An empirical comparison of priority-queue and event-set implementations",
// CACM 29, 1986): take the earliest event, schedule it again a little later, at constant
// population. Prints nanoseconds of CPU time per hold for our queue beside std::priority_queue.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "sim/event_queue.hpp"
#include "sim/random.hpp"

namespace {

using linerate::Bytes;
using linerate::Time;
using linerate::sim::Event;
using linerate::sim::EventQueue;
using linerate::sim::RandomStream;

// The standard queue behind the same few functions.
class StandardQueue {
 public:
  void push(const Event& event) { queue_.push(event); }
  Event take() {
    const Event event = queue_.top();
    queue_.pop();
    return event;
  }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return linerate::sim::before(b, a); }
  };
  std::priority_queue<Event, std::vector<Event>, Later> queue_;
};

// What the event's handler would touch: one cache line a pending event.
struct alignas(64) Entity {
  std::uint64_t visits = 0;
};

constexpr std::size_t kIncrements = 1 << 16;

enum class Increments { two_constants, exponential };

std::vector<Time> make_increments(Increments kind) {
  RandomStream random({.seed = 1, .entity = 0, .name = "increments"});
  // A full frame at 10 Gbit/s and a propagation delay: what most events of a network wait for.
  const Time frame =
      linerate::serialization_time(Bytes(1538), linerate::BitRate::bits_per_second(10'000'000'000));
  const Time propagation = Time::microseconds(1);
  std::vector<Time> increments(kIncrements);
  for (Time& increment : increments)
    increment = kind == Increments::exponential ? random.exponential(propagation)
                : random.below(2) == 0          ? frame
                                                : propagation;
  return increments;
}

double cpu_nanoseconds() {
  std::timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// Nanoseconds per hold with `pending` events, after as many holds again to warm up.
template <class Queue>
double nanoseconds_per_hold(std::size_t pending, std::size_t holds,
                            const std::vector<Time>& increments) {
  Queue queue;
  std::vector<Entity> entities(pending);
  std::uint64_t sequence = 0;
  for (std::size_t i = 0; i < pending; ++i)
    queue.push({.at = increments[i * 40503 % kIncrements],
                .order = sequence++,
                .target = static_cast<std::uint32_t>(i),
                .kind = 0,
                .argument = 0});
  const auto hold = [&](std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      Event event = queue.take();
      ++entities[event.target].visits;
      event.at += increments[i * 40503 % kIncrements];
      event.order = sequence++;
      queue.push(event);
    }
  };
  hold(std::max(holds / 4, pending * 2));
  const double start = cpu_nanoseconds();
  hold(holds);
  return (cpu_nanoseconds() - start) / static_cast<double>(holds);
}

template <class Queue>
double median_of_three(std::size_t pending, std::size_t holds,
                       const std::vector<Time>& increments) {
  std::array<double, 3> runs{};
  for (double& run : runs) run = nanoseconds_per_hold<Queue>(pending, holds, increments);
  std::sort(runs.begin(), runs.end());
  return runs[1];
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t holds = 1'000'000;
  if (argc == 3 && std::string_view(argv[1]) == "--events") {
    holds = std::strtoull(argv[2], nullptr, 10);
  } else if (argc != 1) {
    fmt::print(stderr, "usage: {} [--events N]   N holds a figure, default {}\n", argv[0], holds);
    return 2;
  }
  if (holds == 0) {
    fmt::print(stderr, "--events needs a positive number\n");
    return 2;
  }
  fmt::print("ns of CPU per hold (take + push), median of three\n");
  fmt::print("{:<15} {:>9} {:>12} {:>20}\n", "increments", "pending", "EventQueue",
             "std::priority_queue");
  for (const Increments kind : {Increments::two_constants, Increments::exponential}) {
    const std::vector<Time> increments = make_increments(kind);
    for (const std::size_t pending : {4, 10, 100, 1'000, 10'000, 100'000, 1'000'000})
      fmt::print("{:<15} {:>9} {:>12.1f} {:>20.1f}\n",
                 kind == Increments::exponential ? "exponential" : "two constants", pending,
                 median_of_three<EventQueue>(pending, holds, increments),
                 median_of_three<StandardQueue>(pending, holds, increments));
  }
}
