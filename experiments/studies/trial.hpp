// studies/: questions that take many runs to answer, such as the highest rate a device forwards
// without loss. Knows experiments and results; does not know the back ends: each hands in a Tester,
// so a simulated and a measured figure come from the same search.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"
#include "sim/units.hpp"

namespace linerate::experiments {

/// One trial (RFC 2544 23): frames of one size at a constant load, or one burst.
struct TrialRequest {
  Bytes frame_size;               ///< with FCS
  double load = 1;                ///< fraction of the line rate of every sending port, (0, 1]
  Time duration;                  ///< how long frames are counted
  std::int64_t frames_least = 0;  ///< a tester in virtual time lasts longer until so many were sent
  std::int64_t burst = 0;  ///< instead of a duration: so many frames back to back at line rate
                           ///< from every sending port; 0: no burst
};

/// How long frames were on their way: from the first bit sent to the last bit received.
struct Latencies {
  Time mean, maximum;
  std::optional<Time> minimum{}, p50{}, p99{}, p999{};  ///< if the tester keeps what it takes
  /// Of the device alone, on average: from the last bit in to the first bit out, or from the first
  /// bit in where it cuts through (RFC 1242 3.8).
  std::optional<Time> device{};
  bool operator==(const Latencies&) const = default;
};

/// What the counters of the tester say after the device has settled, over all its ports.
struct TrialOutcome {
  /// Frames counted. A frame that a queue in the device still held in excess of its steady state
  /// counts as lost: a queue that swallows what a short trial offers too much must not look like
  /// throughput.
  std::int64_t sent = 0, received = 0;
  double seconds = 0;  ///< in which they were sent
  bool generator_limited =
      false;  ///< the tester could not offer the load: says nothing of a device
  std::optional<Latencies> latency{};
  std::string limited_by{};  ///< what lost them, if the tester can tell: "switch s1 fabric"

  std::int64_t lost() const { return sent > received ? sent - received : 0; }
  double loss() const {
    return sent > 0 ? static_cast<double>(lost()) / static_cast<double>(sent) : 0;
  }
};

/// One direction of a pair of ports in a trial; how many flows leave by the port it sends from.
struct SendingPort {
  Test::Pair ends;
  int sharing = 1;
};
/// The directions of `test`, in the order of its pairs.
std::vector<SendingPort> sending_ports(const Test& test);

/// Where and why most frames were dropped: "s1:2 (queue)", or "" where none was.
std::string worst_drop(const std::map<std::string, PortCounters>& ports);

/// What runs trials: the simulator, or a frame generator on real ports.
class Tester {
 public:
  virtual ~Tester() = default;
  /// Frames per second that all sending ports together send back to back at this size, and one.
  virtual double line_rate(Bytes frame_size) const = 0;
  virtual double port_rate(Bytes frame_size) const = 0;
  /// How long a trial of full length counts frames.
  virtual Time trial_duration() const = 0;
  /// Whether two trials of the same load can differ, as far as the trials so far tell.
  virtual bool random() const = 0;
  /// Runs one trial. Throws Interrupted when the user has asked to stop.
  virtual TrialOutcome run(const TrialRequest& request) = 0;
};

/// The user asked to stop in the middle of a study.
struct Interrupted {};

}  // namespace linerate::experiments
