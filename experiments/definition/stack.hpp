// A TCP/IP stack as a set of parameters. Presets live in experiments/catalog/stacks/*.yaml, each
// number with its source; models/tcp runs one engine over whatever set it is given.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sim/units.hpp"

namespace linerate::experiments {

/// Which short segments wait while data is unacknowledged.
enum class Nagle {
  off,           ///< nothing waits
  rfc896,        ///< every short segment waits (RFC 896; BSD)
  half_segment,  ///< only segments below half an MSS wait (Linux 2.2)
  minshall,      ///< waits only while an earlier short segment is unacknowledged (Linux 2.4 on)
};

/// When a writer blocked on a full send buffer is woken.
enum class WriterWake {
  any_space,   ///< as soon as the queue is below the buffer size (Linux 2.2)
  third_free,  ///< when the queue has shrunk to two thirds of the buffer (Linux 2.4 on)
  low_water,   ///< when `send_low_water` bytes are free (BSD)
};

/// How a socket buffer's contents are counted against its size.
enum class BufferAccounting {
  truesize,  ///< memory: packet descriptors and data areas (Linux)
  payload,   ///< payload bytes, with a cap on buffer memory of twice the size (BSD mbufs)
};

/// How the receiver turns free buffer space into the window it offers.
enum class WindowRule {
  bsd_space,      ///< free payload space, right edge never shrinks, silly windows offered as 0
  half_space,     ///< (buffer - memory used) / 2, in whole segments (Linux 2.2)
  adv_win_scale,  ///< space x (1 - 2^-adv_win_scale) (Linux 2.4 to 6.5)
  scaling_ratio,  ///< space x measured payload / truesize (Linux 6.6 on)
};

/// When an arriving segment is acknowledged without waiting for the delayed-ACK timer.
enum class AckRule {
  linux_receive,   ///< more than one segment outstanding and the window edge can advance; quick
                   ///< ACKs at the start; at once when a pushed segment has been read (Linux 2.4+)
  linux_2_2,       ///< two full segments outstanding; quick ACKs at the start
  every_second,    ///< every second segment (RFC 1122 4.2.3.2)
  window_update,   ///< only by the window update as the application reads, or the timer (4.4BSD)
};

/// What clocks a delayed ACK.
enum class DelayedAckClock {
  per_connection,  ///< a timer of the connection's own, estimated between min and max
  shared_grid,     ///< the next tick of a grid all connections share (BSD: 200 ms)
};

/// How lost segments are found and repaired.
enum class Recovery {
  reno,     ///< fast retransmit, fast recovery left by the first new ACK (RFC 2581)
  newreno,  ///< partial ACKs retransmit the next hole (RFC 6582)
  sack,     ///< scoreboard by RFC 6675
  rack,     ///< RACK-TLP with PRR (RFC 8985, 6937; Linux)
};

/// When Explicit Congestion Notification is agreed on (RFC 3168 6.1.1).
enum class EcnUse {
  off,
  accept,  ///< only if the peer asks for it (Linux tcp_ecn = 2)
  on,      ///< asked for in every SYN as well (tcp_ecn = 1)
};

/// How slow start ends before a loss.
enum class HyStart {
  off,
  on,         ///< ACK trains and delay, as CUBIC in Linux has it
  plus_plus,  ///< RFC 9406, with any window that has a slow start
};

/// What a sender knows of links on the way that carry less than its own.
enum class PathMtuDiscovery {
  on,         ///< what RFC 1191 and 8201 find, found before the test
  off,        ///< not asked for: beyond a router 576 B (RFC 1122 3.3.3)
  blackhole,  ///< asked for, but the answers are filtered: what is too large vanishes (RFC 2923)
};

/// The congestion controls there are, by the names the kernel gives them.
inline constexpr std::array<std::string_view, 5> kCongestionControls = {"reno", "cubic", "dctcp",
                                                                        "vegas", "bbr"};

/// Every parameter in which TCP stacks differ, resolved. Sizes in bytes of payload unless said.
struct Stack {
  std::string preset;

  // Options on the wire.
  bool timestamps = true;          ///< RFC 7323, 12 bytes a segment
  bool sack = true;                ///< RFC 2018
  bool window_scaling = true;      ///< RFC 7323
  bool connection_count = false;   ///< T/TCP's CC option, 8 bytes a segment (RFC 1644)

  EcnUse ecn = EcnUse::accept;     ///< RFC 3168; DCTCP asks for it whatever this says

  // Sending.
  std::string congestion = "cubic";        ///< one of kCongestionControls
  HyStart hystart = HyStart::on;           ///< how slow start ends before a loss
  int initial_window = 10;                 ///< segments (RFC 6928)
  bool local_slow_start = true;            ///< the initial window also holds where no router is
                                           ///< in between; off: there the window starts open
  bool byte_counting = true;               ///< growth counts acknowledged segments, not ACKs
  Nagle nagle = Nagle::minshall;
  bool whole_segment_window = false;       ///< a segment is sent only if all of it fits the window
  Bytes send_chunk{0};                     ///< a write reaches TCP in pieces of this size (BSD
                                           ///< mbuf clusters of 2048 B); 0: in one piece
  WriterWake writer_wake = WriterWake::third_free;
  Bytes send_low_water{2048};              ///< for WriterWake::low_water
  bool window_validation = true;           ///< cwnd grows only when it was used (RFC 7661's concern;
                                           ///< Linux 2.4 on; BSD grows it regardless)
  bool pacing = false;                     ///< paces without being asked (BBR or fq)
  bool tso_autosize = true;                ///< cuts bursts by the pacing rate
  Bytes small_queue_limit{0};              ///< bytes below the socket (Linux TSQ); 0: no limit

  // Buffers.
  BufferAccounting buffer_accounting = BufferAccounting::truesize;
  int buffer_factor = 2;                   ///< setsockopt's argument is multiplied by this
  bool round_buffers_to_segment = false;   ///< sizes rounded up to whole segments (BSD)
  Bytes send_buffer{16384};                ///< default, as stored
  Bytes send_overhead{832};                ///< truesize of a queued send buffer beyond its payload
  Bytes send_buffer_max{4194304};
  Bytes receive_buffer{131072};            ///< default, as stored
  Bytes receive_buffer_max{33554432};
  Bytes socket_buffer_limit{4194304};      ///< cap of setsockopt's argument
  bool autotune_send = true;
  bool autotune_receive = true;
  Bytes packet_overhead{256};              ///< truesize of a received frame beyond its data area
  Bytes packet_data_unit{2048};            ///< data area of a full-sized received frame

  // Receiving.
  WindowRule window_rule = WindowRule::scaling_ratio;
  int adv_win_scale = 1;
  int initial_offer = 0;           ///< segments the first window offers (Linux 2.4: 4); 0: all space
  AckRule ack_rule = AckRule::linux_receive;
  bool ack_threshold_without_options = false;  ///< ACK and update thresholds use the MSS before
                                               ///< options are taken off (RFC 2525; 4.4BSD)
  int quick_acks = 16;                     ///< segments acknowledged at once at the start
  DelayedAckClock delayed_ack_clock = DelayedAckClock::per_connection;
  Time delayed_ack_min = Time::milliseconds(40);
  Time delayed_ack_max = Time::milliseconds(200);
  Time delayed_ack_grid = Time::milliseconds(200);  ///< period of the shared grid
  bool sack_compression = true;            ///< merges duplicate ACKs (Linux 4.18 on)
  bool duplicate_sack = true;              ///< reports duplicates, RFC 2883
  Time answer_interval = Time::milliseconds(500);  ///< least time between answers to empty segments
                                                   ///< outside the window (Linux 3.19 on); 0: none

  // Timers and recovery.
  Recovery recovery = Recovery::rack;
  int duplicate_ack_threshold = 3;
  bool frto = true;                        ///< probes after a timeout whether it was spurious (RFC
                                           ///< 5682), and undoes what it did
  PathMtuDiscovery path_mtu_discovery = PathMtuDiscovery::on;
  bool mtu_probing = false;                ///< repeated timeouts make segments smaller (RFC 4821)
  Time rto_min = Time::milliseconds(200);
  Time rto_initial = Time::seconds(1);
  Time rto_max = Time::seconds(120);
  Time timer_tick = Time::milliseconds(4); ///< timers expire on this grid, never early
  bool coarse_timers = true;               ///< far timers expire on coarser wheels (Linux 4.8 on)
  Time timestamp_tick = Time::milliseconds(1);  ///< unit of the RFC 7323 clock
  Time persist_min = Time::milliseconds(200);
  Time persist_max = Time::seconds(120);
  Time slow_timer = Time{};                ///< RTO counted in ticks of this (BSD: 500 ms); 0: none
  Time clock_tick{};                       ///< step of the clock programs read and set timers by
                                           ///< (VxWorks: the system clock); 0: too fine to matter

  /// Calls `visit(name, field, words)` for every parameter. Parser, schema, `check --resolved` and
  /// the catalog all go through this list, so a parameter exists everywhere or nowhere.
  template <class Visitor, class Self>
  static void describe(Visitor&& visit, Self& s) {
    visit("timestamps", s.timestamps, "RFC 7323 timestamps, 12 bytes a segment");
    visit("sack", s.sack, "selective acknowledgements, RFC 2018");
    visit("window_scaling", s.window_scaling, "RFC 7323 window scaling");
    visit("connection_count", s.connection_count, "T/TCP CC option, 8 bytes a segment, RFC 1644");
    visit("ecn", s.ecn, "explicit congestion notification, RFC 3168");
    visit("congestion", s.congestion, "congestion control: reno, cubic, dctcp, vegas or bbr");
    visit("hystart", s.hystart, "how slow start ends before a loss; on: by HyStart, in CUBIC");
    visit("initial_window", s.initial_window, "initial congestion window in segments");
    visit("local_slow_start", s.local_slow_start, "slow start also where no router is in between");
    visit("byte_counting", s.byte_counting, "growth counts acknowledged segments, not ACKs");
    visit("nagle", s.nagle, "which short segments wait for an acknowledgement");
    visit("whole_segment_window", s.whole_segment_window, "segments are never cut to the window");
    visit("send_chunk", s.send_chunk, "pieces in which a write reaches TCP; 0: one piece");
    visit("writer_wake", s.writer_wake, "when a blocked writer is woken");
    visit("send_low_water", s.send_low_water, "free space that wakes a BSD writer");
    visit("window_validation", s.window_validation, "cwnd grows only when it was used");
    visit("pacing", s.pacing, "paces segments by cwnd and srtt");
    visit("tso_autosize", s.tso_autosize, "sizes bursts by the pacing rate");
    visit("small_queue_limit", s.small_queue_limit, "bytes below the socket (TSQ); 0: no limit");
    visit("buffer_accounting", s.buffer_accounting, "what a socket buffer counts");
    visit("buffer_factor", s.buffer_factor, "setsockopt's argument is multiplied by this");
    visit("round_buffers_to_segment", s.round_buffers_to_segment, "sizes rounded up to segments");
    visit("send_buffer", s.send_buffer, "default send buffer, as stored");
    visit("send_overhead", s.send_overhead, "memory of a queued send buffer beyond its payload");
    visit("send_buffer_max", s.send_buffer_max, "largest autotuned send buffer");
    visit("receive_buffer", s.receive_buffer, "default receive buffer, as stored");
    visit("receive_buffer_max", s.receive_buffer_max, "largest autotuned receive buffer");
    visit("socket_buffer_limit", s.socket_buffer_limit, "cap of setsockopt's argument");
    visit("autotune_send", s.autotune_send, "send buffer grows with the window");
    visit("autotune_receive", s.autotune_receive, "receive buffer grows with the data rate");
    visit("packet_overhead", s.packet_overhead, "memory of a received frame beyond its data");
    visit("packet_data_unit", s.packet_data_unit, "data area of a full-sized received frame");
    visit("window_rule", s.window_rule, "how free space becomes an offered window");
    visit("adv_win_scale", s.adv_win_scale, "tcp_adv_win_scale");
    visit("initial_offer", s.initial_offer, "segments the first window offers; 0: all space");
    visit("ack_rule", s.ack_rule, "when a segment is acknowledged at once");
    visit("ack_threshold_without_options", s.ack_threshold_without_options,
          "thresholds use the MSS before options are taken off");
    visit("quick_acks", s.quick_acks, "segments acknowledged at once at the start");
    visit("delayed_ack_clock", s.delayed_ack_clock, "what clocks a delayed ACK");
    visit("delayed_ack_min", s.delayed_ack_min, "shortest delayed-ACK timer");
    visit("delayed_ack_max", s.delayed_ack_max, "longest delayed-ACK timer");
    visit("delayed_ack_grid", s.delayed_ack_grid, "period of the shared delayed-ACK grid");
    visit("sack_compression", s.sack_compression, "merges duplicate ACKs");
    visit("duplicate_sack", s.duplicate_sack, "reports duplicates, RFC 2883");
    visit("answer_interval", s.answer_interval,
          "least time between answers to empty out-of-window segments; 0: no limit");
    visit("recovery", s.recovery, "how losses are found and repaired");
    visit("duplicate_ack_threshold", s.duplicate_ack_threshold, "duplicate ACKs that mean a loss");
    visit("frto", s.frto, "finds spurious timeouts, RFC 5682");
    visit("path_mtu_discovery", s.path_mtu_discovery,
          "what is known of smaller MTUs on the way; blackhole: nothing, the answers are filtered");
    visit("mtu_probing", s.mtu_probing, "repeated timeouts make segments smaller, RFC 4821");
    visit("rto_min", s.rto_min, "shortest retransmission timeout");
    visit("rto_initial", s.rto_initial, "retransmission timeout before the first sample");
    visit("rto_max", s.rto_max, "longest retransmission timeout");
    visit("timer_tick", s.timer_tick, "grid on which timers expire");
    visit("coarse_timers", s.coarse_timers, "far timers expire on coarser wheels");
    visit("timestamp_tick", s.timestamp_tick, "unit of the RFC 7323 clock");
    visit("persist_min", s.persist_min, "shortest persist timer");
    visit("persist_max", s.persist_max, "longest persist timer");
    visit("slow_timer", s.slow_timer, "tick in which RTO is counted (BSD 500 ms); 0: none");
    visit("clock_tick", s.clock_tick, "step of the clock that programs read; 0: fine");
  }

  bool operator==(const Stack&) const = default;
};

}  // namespace linerate::experiments
