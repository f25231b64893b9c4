// What one direction of a link does to frames: queue, serialization, loss, delay, and changes of
// these. A passive device: it is told when frames arrive and says when they are due, and neither
// reads a clock nor sends.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "realnet/wire/queue_rule.hpp"
#include "sim/random.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// Addresses and type, without FCS: what a packet of the kernel carries beyond its MTU.
inline constexpr Bytes kEthernetHeader{14};

/// Why a frame does not come out.
enum class LineDrop : std::uint8_t {
  none,
  queue,
  loss,
  bit_error,
  blackhole,
  script,
  too_large,
  overrun,
  down,
  early
};
inline constexpr int kLineDrops = 10;
/// "bit-error", as the ports of a result spell causes.
const char* name_of(LineDrop cause);

/// What of a line may change while tests run.
struct LineState {
  BitRate rate;
  Time latency;       ///< propagation and added delay
  double loss = 0;    ///< probability per frame
  bool down = false;  ///< no carrier: what is on the line and in its queue is lost, and what comes
  bool operator==(const LineState&) const = default;
};

/// One direction of a link.
struct LineConfig : LineState {
  Time jitter;                 ///< uniform in [0, jitter], order kept
  double bit_error_rate = 0;   ///< of the bits of the frame itself
  std::optional<Bytes> queue;  ///< wire bytes that may wait, the frame in service included
  /// A queue that decides, in place of that one; the frame in service does not count.
  std::optional<experiments::QueueSpec> discipline;
  bool path = false;             ///< hands a frame over when its whole wire time is spent
  std::optional<Bytes> largest;  ///< IP packet that passes
  Bytes tag{0};                  ///< that every frame carries besides what the kernel holds
  std::vector<std::pair<Time, Time>> blackholes;  ///< [from, to) after begin(): all are lost
  /// How the line is from a time after begin() on, in the order of time.
  std::vector<std::pair<Time, LineState>> changes;
  /// By data segments, which a line does not know: its wire does. Not with changes or a discipline.
  experiments::Script script;
  std::uint64_t seed = 0;    ///< the experiment's
  std::uint64_t entity = 0;  ///< differs for every direction of every link
  bool operator==(const LineConfig&) const = default;
};

class Line {
 public:
  explicit Line(const LineConfig& config);

  struct Fate {
    LineDrop drop = LineDrop::none;
    Time due = Time::never();  ///< at the other end; never: settle() will say
    bool mark = false;         ///< it has met congestion (RFC 3168)
  };
  /// Takes a frame that arrives at `now`, not before an earlier one and not before settle() has
  /// said all there was to say by then. `size` is what the kernel holds of it: the Ethernet frame
  /// without FCS; `capable`: its sender reacts to marks.
  Fate take(Time now, Bytes size, bool capable = false);

  /// What became of frames that take() left open, and of those on the line.
  struct News {
    enum class Kind : std::uint8_t {
      none,   ///< nothing more by then
      frame,  ///< the oldest frame left open has the fate `fate`
      cut     ///< whatever is due after `fate.due` is lost: the link went down then
    };
    Kind kind = Kind::none;
    Fate fate;
  };
  /// The next of what happens up to `now`.
  News settle(Time now);
  /// When settle() will next have something to say.
  Time next() const;

  /// A group of tests starts at `start`: blackholes and changes count from there.
  void begin(Time start);

  /// What a frame of `size` occupies on the wire: with FCS (4 B), preamble (8 B) and gap (12 B),
  /// and padded to the smallest frame (IEEE 802.3 3.1.1, 3.2.8, 4.4.2).
  Bytes wire_size(Bytes size) const { return larger(size + Bytes(24), Bytes(84)) + config_.tag; }

  /// When the line has sent all it was given.
  Time free_at() const { return free_at_; }
  std::int64_t frames() const { return frames_; }  ///< given to the line, lost ones included
  std::int64_t wire_bytes() const { return wire_bytes_; }  ///< of those
  std::int64_t peak_queue() const { return peak_queue_; }  ///< wire bytes
  std::int64_t marks() const { return marks_; }
  std::int64_t drops(LineDrop cause) const { return drops_[static_cast<std::size_t>(cause)]; }
  void count_drop(LineDrop cause) { ++drops_[static_cast<std::size_t>(cause)]; }

 private:
  struct Waiting {
    Time arrival;
    Bytes size;
    bool capable;
  };
  QueueLength length() const {
    return {waiting_bytes_, static_cast<std::int64_t>(waiting_.size())};
  }
  Fate take_by_rule(Time now, Bytes size, bool capable);
  Fate send(Time now, Time start, Bytes size);
  LineDrop judge(Time now, Bytes size);
  std::int64_t bytes_in(Time span) const;
  Time next_change() const;

  LineConfig config_;
  std::optional<QueueRule> rule_;
  LineState state_;  ///< now
  bool late_;        ///< a frame's fate is known when its turn comes, not when it arrives
  Time start_ = Time::never();
  std::size_t change_ = 0;          ///< the next one
  std::deque<Waiting> waiting_;     ///< frames whose turn has not come; empty unless `late_`
  std::int64_t waiting_bytes_ = 0;  ///< on the wire
  Time free_at_, last_due_;
  sim::RandomStream random_;
  std::int64_t frames_ = 0, wire_bytes_ = 0, peak_queue_ = 0, marks_ = 0;
  std::array<std::int64_t, kLineDrops> drops_{};
};

}  // namespace linerate::realnet
