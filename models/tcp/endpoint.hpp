// One end of a TCP connection with a virtual clock: packets, timers and application calls go in,
// segments come out. No I/O, no clock, no randomness; the same calls give the same segments.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/definition/stack.hpp"
#include "models/tcp/segment.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

struct EndpointConfig {
  experiments::Stack stack;
  Bytes mtu{1500};                ///< largest IP packet of the NIC
  std::optional<Bytes> path_mtu;  ///< the largest it sends, if it knows of less than `mtu`
  int ip = 4;
  std::optional<Bytes> send_buffer;  ///< setsockopt arguments
  std::optional<Bytes> receive_buffer;
  std::optional<Bytes> max_segment;
  bool no_delay = false;
  std::optional<BitRate> pacing;          ///< SO_MAX_PACING_RATE
  std::optional<std::string> congestion;  ///< overrides the stack's
  bool local = true;                      ///< no router between the two ends
  bool same_memory = false;               ///< the peer's buffers are handed over as they are
  std::uint64_t seed = 1;                 ///< of what a stack leaves to chance (BBR's phases)
  Time grid_phase{};                      ///< where this host's shared delayed-ACK grid stands
};

/// What the application has asked of the endpoint.
struct CallCounts {
  std::int64_t writes = 0, reads = 0;  ///< calls, those that took nothing included
  std::int64_t written = 0, read = 0;  ///< bytes
};

/// What the application would like to know after a call, cleared when taken.
struct Signals {
  bool connected = false;
  bool writable = false;   ///< a writer that was refused may continue
  bool readable = false;   ///< new in-order data (or the end of the stream)
  bool acked_all = false;  ///< everything written so far is acknowledged

  /// All four are bytes of 0 or 1, so one question is enough.
  bool any() const { return std::bit_cast<std::uint32_t>(*this) != 0; }
};

/// Why the sender was not sending while it had data, cumulative.
struct BlockedTimes {
  Time receive_window, congestion_window, nagle, pacing, device;
  Time send_buffer;  ///< no unsent data while a writer was refused
};

/// Counters and state in the manner of TCP_INFO. Windows in segments, sizes in bytes.
struct Info {
  std::int64_t cwnd = 0, ssthresh = 0, in_flight = 0;
  Time srtt{}, rttvar{}, rto{}, min_rtt{};
  std::int64_t retransmits = 0;                                        ///< segments sent again
  std::int64_t segments_out = 0, data_segments_out = 0, acks_out = 0;  ///< acks: pure ACKs
  std::int64_t segments_in = 0, data_segments_in = 0;
  std::int64_t mark_reductions = 0;  ///< windows reduced because of ECN marks
  std::int64_t timeouts = 0, tail_probes = 0, recoveries = 0, undos = 0, persist_probes = 0;
  std::int64_t bytes_acked = 0, bytes_received = 0;
  std::int64_t send_window = 0, receive_window = 0;
  std::int64_t segment_size = 0;  ///< payload of a full segment
  double pacing_rate = 0;         ///< bytes a second; 0: not known
  std::string_view state;         ///< "open", "disorder", "recovery", "loss"
  BlockedTimes blocked;
};

/// The part of Info that is sampled often.
struct Progress {
  std::int64_t bytes_received = 0, retransmits = 0;
  std::int64_t cwnd = 0;  ///< segments
  Time srtt{};
};

class Endpoint {
 public:
  explicit Endpoint(const EndpointConfig& config);
  ~Endpoint();
  Endpoint(Endpoint&&) noexcept;
  Endpoint& operator=(Endpoint&&) noexcept;

  // Application calls.
  void listen();           ///< passive open
  void connect(Time now);  ///< active open; emits the SYN
  /// One write() or the rest of one. Returns what the send buffer took; less than `size` means the
  /// writer sleeps until Signals::writable. `more`: the call goes on with another piece, so its
  /// end is not pushed out yet.
  Bytes write(Time now, Bytes size, bool more = false);
  Bytes readable() const;  ///< in-order bytes not yet read
  /// Takes up to `size` in-order bytes; may emit a window update or an ACK.
  Bytes read(Time now, Bytes size);
  void shutdown(Time now);   ///< no more writes: FIN after the data
  bool peer_closed() const;  ///< the peer's FIN has been read up to

  // The wire.
  void on_packet(Time now, const Segment& segment);
  /// Expires every timer due at `now`; harmless when none is.
  void on_timer(Time now);
  Time next_timer() const;  ///< Time::never() when nothing is armed
  /// `size` bytes of our frames (TCP payload and headers as IP packets) have left the device;
  /// releases the small-queue limit.
  void on_transmitted(Time now, Bytes size);
  /// Whether only the small-queue limit keeps it from sending: the caller must call
  /// on_transmitted() as soon as the device has let go of a frame.
  bool waits_for_device() const;

  /// Segments emitted since the last clear, in order. The caller moves them on and clears.
  std::vector<Segment>& output();
  Signals take_signals();
  /// Whether there is output, or anything to signal.
  bool has_news() const;
  /// By how many bits the windows it advertises are shifted, once the SYNs have agreed on it.
  std::uint8_t window_scale() const;
  const CallCounts& calls() const;
  Info info() const;
  Progress progress() const;

 private:
  struct State;
  State* state_;
};

}  // namespace linerate::models::tcp
