// What one direction of a link does to frames: queue, serialization, loss, delay. A passive device:
// it is told when frames arrive and says when they are due, and neither reads a clock nor sends.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/random.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// Addresses and type, without FCS: what a packet of the kernel carries beyond its MTU.
inline constexpr Bytes kEthernetHeader{14};

/// Why a frame does not come out.
enum class LineDrop : std::uint8_t { none, queue, loss, bit_error, blackhole, too_large, overrun };
inline constexpr int kLineDrops = 7;
/// "bit-error", as the ports of a result spell causes.
const char* name_of(LineDrop cause);

/// One direction of a link.
struct LineConfig {
  BitRate rate;
  Time latency;                  ///< propagation and added delay
  Time jitter;                   ///< uniform in [0, jitter], order kept
  double loss = 0;               ///< probability per frame
  double bit_error_rate = 0;     ///< of the bits of the frame itself
  std::optional<Bytes> queue;    ///< wire bytes that may wait, the frame in service included
  std::optional<Bytes> largest;  ///< IP packet that passes
  std::vector<std::pair<Time, Time>> blackholes;  ///< [from, to) after begin(): all are lost
  std::uint64_t seed = 0;                         ///< the experiment's
  std::uint64_t entity = 0;                       ///< differs for every direction of every link
  bool operator==(const LineConfig&) const = default;
};

class Line {
 public:
  explicit Line(const LineConfig& config);

  struct Fate {
    LineDrop drop = LineDrop::none;
    Time due;  ///< at the other end
  };
  /// Takes a frame that arrives at `now`, not before an earlier one. `size` is what the kernel
  /// holds of it: the Ethernet frame without FCS.
  Fate take(Time now, Bytes size);

  /// Blackholes count from `start`.
  void begin(Time start) { start_ = start; }

  /// What a frame of `size` occupies on the wire: with FCS (4 B), preamble (8 B) and gap (12 B),
  /// and padded to the smallest frame (IEEE 802.3 3.1.1, 3.2.8, 4.4.2).
  static Bytes wire_size(Bytes size) { return larger(size + Bytes(24), Bytes(84)); }

  /// When the line has sent all it was given.
  Time free_at() const { return free_at_; }
  std::int64_t frames() const { return frames_; }  ///< given to the line, lost ones included
  std::int64_t wire_bytes() const { return wire_bytes_; }  ///< of those
  std::int64_t peak_queue() const { return peak_queue_; }  ///< wire bytes
  std::int64_t drops(LineDrop cause) const { return drops_[static_cast<std::size_t>(cause)]; }
  void count_drop(LineDrop cause) { ++drops_[static_cast<std::size_t>(cause)]; }

 private:
  LineDrop judge(Time now, Bytes size);
  std::int64_t bytes_in(Time span) const;

  LineConfig config_;
  Time gap_;  ///< between a frame's last bit and the line being free
  Time start_ = Time::never();
  Time free_at_, last_due_;
  sim::RandomStream random_;
  std::int64_t frames_ = 0, wire_bytes_ = 0, peak_queue_ = 0;
  std::array<std::int64_t, kLineDrops> drops_{};
};

}  // namespace linerate::realnet
