// The sending half of a TCP connection: it accepts the writer's bytes, decides what may leave and
// when, and repairs losses. It knows windows, timers and acknowledgments; it does not know the
// handshake, what arrives in the other direction, or the network below.
//
// sender.cpp           writes, Nagle and segmentation, transmission
// sender_ack.cpp       acknowledgments: windows, SACK, RTT samples, growth
// sender_model.cpp     BBR in the place of windows and PRR
// sender_pacing.cpp    pacing, the device below, use of the window, blocked times
// sender_timers.cpp    retransmission timeout, loss probe, persist timer
// recovery.cpp         loss states: reduction, retransmission, undo
// recovery_detect.cpp  which segments are lost
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "experiments/definition/stack.hpp"
#include "models/tcp/bbr.hpp"
#include "models/tcp/congestion.hpp"
#include "models/tcp/endpoint.hpp"
#include "models/tcp/loss_state.hpp"
#include "models/tcp/receiver.hpp"
#include "models/tcp/ring.hpp"
#include "models/tcp/rtt.hpp"
#include "models/tcp/scoreboard.hpp"
#include "models/tcp/segment.hpp"
#include "models/tcp/send_buffer.hpp"
#include "models/tcp/timer_grid.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

/// What the handshake settled for the sending half.
struct SenderStart {
  Bytes segment_size{};  ///< payload of a full segment: MSS less the options of every one
  Bytes max_segment{};   ///< the MSS option that holds, before options are taken off
  Bytes option_bytes{};  ///< options on every segment
  Bytes window{};        ///< what the peer's last handshake segment offers
  bool sack = false;
  bool timestamps = false;
  bool ecn = false;
  std::optional<Time> rtt;  ///< of the handshake, if it was not retransmitted
};

/// The largest send buffer handed to the device at once (Linux gso_max_size).
constexpr std::int64_t kLargestSendBuffer = 65536;

class Sender {
 public:
  /// Segments go to `out`; `receiver` writes the fields of the other direction into them.
  Sender(const EndpointConfig& config, Receiver& receiver, std::vector<Segment>& out);

  void start(Time now, const SenderStart& start);

  /// Accepts up to `size` bytes; less means that the writer sleeps until take_writable().
  Bytes write(Time now, Bytes size, bool more = false);
  void shutdown(Time now);
  /// Takes an acknowledgment (any segment with kAck); retransmits what it shows to be lost.
  void on_ack(Time now, const Segment& segment) {
    if (!started_ || segment.acknowledgment > nxt_) return;
    // The receiver of a stream has nothing in flight, and every data segment comes by here.
    if (scoreboard_.empty() && segment.acknowledgment == una_ && segment.sack_count == 0) {
      update_window(segment);
      if (!buffer_.all_sent()) resume_persist(now);
      return;
    }
    take_ack(now, segment);
  }
  /// Sends what may be sent and wakes the writer; after on_ack, when the receiving half has seen
  /// the segment too.
  void push(Time now) {
    // A receiver has nothing to send, and every segment comes by here.
    if (blocked_ == Blocked::no && !writer_waits_ && !unsent()) return;
    push_unsent(now);
  }
  void on_timer(Time now);
  Time deadline() { return earlier(timer_at(), pacing_at_); }
  /// A pure ACK or SYN of ours went to the device as well.
  void on_emitted(Bytes packet) { below_ += packet.count(); }
  void on_transmitted(Time now, Bytes packet);
  /// Whether marks are weighed by their number (DCTCP), so that they must be echoed exactly.
  bool judges_marks() const { return window_.judges_marks(); }
  /// Whether it sends again only when the device has let go of a packet.
  bool waits_for_device() const { return throttled_; }

  bool take_writable();
  Sequence next() const { return nxt_; }  ///< SND.NXT
  /// The ECN field of a packet of ours that is not new data (RFC 3168 6.1.4 to 6.1.6).
  Ecn control_ecn() const { return control_ecn_; }
  std::uint8_t option_bytes() const { return option_bytes_; }  ///< of every segment
  bool all_acked() const { return started_ && una_ >= buffer_.end(); }
  /// What the receiving half may know, but for the age of an echoed timestamp.
  PathView path() const { return {rtt_.smoothed(), rtt_.timeout(), Time{}}; }
  /// Age of the timestamp that an arriving segment echoes; see PathView.
  Time echo_age(Time now, const Segment& arriving) const {
    if (!timestamps_ || !arriving.has(kAck)) return {};
    return stack_.timestamp_tick *
           static_cast<std::int32_t>(timestamp(now) - arriving.timestamp_echo);
  }
  std::uint32_t timestamp(Time now) const {
    return static_cast<std::uint32_t>(now / stack_.timestamp_tick);
  }
  /// This half's part of Progress.
  Progress progress() const {
    return {.bytes_received = 0,
            .retransmits = counts_.retransmits,
            .cwnd = window_.size(),
            .srtt = rtt_.smoothed()};
  }
  /// Adds this half's part to `info`.
  void describe(Info& info) const;
  /// Adds the running interval to the blocked times; call before reading them.
  BlockedTimes blocked(Time now) const;

 private:
  using Index = Scoreboard::Index;
  enum class TimerKind : std::uint8_t { none, retransmit, loss_probe, reorder, persist };
  enum class Blocked : std::uint8_t {
    no,
    receive_window,
    congestion_window,
    nagle,
    pacing,
    device,
    send_buffer
  };
  /// How hard to push: a full buffer alone, everything by Nagle's rules, everything, or a probe.
  enum class Push : std::uint8_t { one_buffer, nagle, all, probe };
  enum class Resend : std::uint8_t { nothing, lost, new_data };

  /// What may leave next as one send buffer.
  struct Chunk {
    std::int64_t bytes = 0;
    bool push = false;
    Blocked blocked = Blocked::no;
    bool window_limited = false;  ///< the congestion window, not data, cut it or held it
  };
  /// What one acknowledgment told.
  struct AckFacts {
    Sequence previous_una = 0;
    Sequence previous_highest = 0;     ///< end of what was sacked before
    std::int64_t previous_flight = 0;  ///< segments not yet acknowledged cumulatively
    std::int64_t previous_delivered = 0;
    std::int64_t acked = 0;      ///< segments newly acknowledged cumulatively
    std::int64_t delivered = 0;  ///< segments newly known to have arrived
    std::int64_t newly_lost = 0;
    std::int64_t buffers_freed = 0;
    bool advanced = false;
    bool carries_data = false;
    bool window_changed = false;
    bool sacked_new = false;          ///< SACK news
    bool duplicate_report = false;    ///< D-SACK
    bool duplicate_of_probe = false;  ///< D-SACK for a loss probe
    bool original_arrived = false;    ///< never retransmitted data of before the timeout
    bool retransmission_acked = false;
    bool retransmission_lost = false;
    bool restart_timer = false;
    bool duplicate_ack = false;
    bool congestion_echo = false;  ///< the peer has seen marks (ECE)
    std::uint32_t echo = 0;
    std::int64_t previous_in_flight = 0;  ///< for BBR, as is the next
    std::optional<Time> latest_rtt;       ///< of the latest sent segment that arrived
    bool maybe_delayed = false;  ///< one short flight acknowledged: a timer may have waited
    Time first_acked = Time::never(), last_acked{};    ///< send times of originals, acknowledged
    Time first_sacked = Time::never(), last_sacked{};  ///< and of those newly sacked
    Sequence lowest_late = ~Sequence{0};  ///< lowest original that arrived after a higher one
  };

  // Writes and transmission (sender.cpp).
  bool unsent() const { return !buffer_.all_sent() || (fin_queued_ && !fin_sent_); }
  void push_unsent(Time now);
  void restart_after_idle(Time now);
  std::int64_t buffer_capacity() const;
  bool write_piece(Time now, std::int64_t& left);
  bool write_stream_piece(Time now, std::int64_t& left);
  bool stream_accepts(std::int64_t left) const;
  bool corked();
  void mark_push();
  void transmit(Time now, Push push);
  void after_transmit(Time now, Push push, std::int64_t sent, bool window_limited);
  Chunk next_chunk(Time now, Push push, std::int64_t quota);
  Chunk offload_chunk(Time now, Push push, std::int64_t quota);
  Chunk buffer_chunk(Push push) const;
  Chunk stream_chunk() const;
  bool offload_waits(Time now, std::int64_t length, bool last, Chunk& chunk) const;
  bool nagle_holds(std::int64_t length, Push push) const;
  /// Options of the other direction (SACK blocks) make segments shorter.
  std::int64_t segment_size_now() const {
    return sack_ && receiver_.reports_blocks() ? segment_size_beside_blocks() : segment_size_;
  }
  std::int64_t segment_size_beside_blocks() const;
  std::int64_t sized_window() const;
  std::int64_t send_new(Time now, std::int64_t bytes, bool push);
  void send_fin(Time now);
  void mark_capable(Segment& segment);
  Segment& emit(Time now, Sequence sequence, std::uint32_t length, std::uint8_t flags);
  void repeat(Sequence sequence, std::uint32_t length, std::uint8_t flags);
  Sequence window_edge() const { return una_ + static_cast<Sequence>(wnd_); }

  // Pacing, device and use of the window (sender_pacing.cpp).
  bool pacing_active() const { return adaptive_pacing_ || pacing_limit_.has_value(); }
  bool pacing_holds(Time now);
  void charge_pacing(Time now, std::int64_t bytes);
  void update_pacing_rate();
  bool device_full() const;
  void validate_window(Time now, bool window_limited);
  bool window_was_used() const;
  void set_blocked(Time now, Blocked why);

  // Acknowledgments (sender_ack.cpp).
  void take_ack(Time now, const Segment& segment);
  /// RFC 9293 3.10.7.4: only a newer segment may change the window. Returns whether it did.
  bool update_window(const Segment& segment) {
    const Sequence ack = segment.acknowledgment;
    const auto offered = static_cast<std::int64_t>(segment.window);
    const bool newer =
        ack > una_ || segment.sequence > window_from_sequence_ ||
        (segment.sequence == window_from_sequence_ && (offered > wnd_ || offered == 0));
    if (newer) {
      window_from_sequence_ = segment.sequence;
      wnd_ = offered;
      if (offered > max_wnd_) max_wnd_ = offered;
    }
    una_ = ack;
    return newer;
  }
  void take_echo(const Segment& segment, AckFacts& facts);
  void take_sack(Time now, const Segment& segment, AckFacts& facts);
  void take_duplicate_report(const SackBlock& block, AckFacts& facts);
  void sack_range(Time now, const SackBlock& block, AckFacts& facts);
  [[gnu::always_inline]] void remove_acked(Time now, Sequence ack, AckFacts& facts);
  void sample_rtt(Time now, AckFacts& facts);
  void note_reordering(Sequence lowest);
  void settle_probe(Time now, Sequence ack, const AckFacts& facts);
  void control_window(Time now, const AckFacts& facts);
  void wake_writer(Time now);

  // BBR (sender_model.cpp).
  void start_model(Time now, std::optional<Time> rtt);
  void control_by_model(Time now, const AckFacts& facts);
  void note_arrival(Time now, Index index, const SentSegment& segment);
  void note_starvation();

  // Loss states (recovery.cpp) and detection (recovery_detect.cpp).
  Resend process_losses(Time now, AckFacts& facts);
  bool leave_finished_state(Time now, const AckFacts& facts);
  bool finish_recovery(Time now, const AckFacts& facts);
  Resend process_recovery(Time now, AckFacts& facts);
  bool process_timeout_state(Time now, const AckFacts& facts, Resend& what);
  Resend process_open(Time now, AckFacts& facts);
  void count_duplicate(const AckFacts& facts);
  void identify_losses(Time now, AckFacts& facts);
  void rack_advance(Time now, const SentSegment& segment);
  bool rack_later(Time sent, Sequence end) const;
  Time rack_window() const;
  Time rack_detect(Time now, AckFacts& facts);
  void adapt_rack_window(const AckFacts& facts);
  void detect_by_sack(AckFacts& facts);
  void lose(Index index, AckFacts& facts);
  void enter_recovery(Time now);
  void enter_loss(Time now);
  std::int64_t threshold_after_loss();
  void begin_reduction(bool marks);
  void reduce_for_marks(Time now);
  void reduce(const AckFacts& facts);
  void end_reduction(Time now);
  void remember_for_undo();
  bool undo_proven(const AckFacts& facts) const;
  bool delayed_not_lost(const AckFacts& facts) const;
  void undo_reduction(Time now, bool forget_losses);
  bool try_undo_partial(Time now, AckFacts& facts);
  bool try_undo_loss(Time now, const AckFacts& facts, bool proven);
  bool try_undo_by_duplicates(Time now);
  bool any_resent() const;
  void keep_open();
  std::int64_t threshold_now() const;
  void resend(Time now, Index index, bool counts_as_repair);
  void resend_first_lost(Time now);
  void resend_lost(Time now);
  void continue_recovery(Time now, Resend what);

  // Timers (sender_timers.cpp).
  void arm(TimerKind kind, Time now, Time delay);
  void settle_timer();
  Time timer_at() {
    if (!timer_settled_) settle_timer();
    return timer_at_;
  }
  void disarm();
  void resume_persist(Time now);
  bool arm_loss_probe(Time now, bool advancing);
  void restart_retransmit(Time now);
  Time time_to_timeout(Time now) const;
  Time persist_delay() const;
  void on_retransmit_timeout(Time now);
  void on_loss_probe(Time now);
  void suspect_black_hole(Time now);
  void shrink_segments(std::int64_t bytes);
  void on_reorder_timeout(Time now);
  void on_persist(Time now);

  bool reducing() const { return state_ == LossState::reduced || state_ == LossState::recovery; }
  std::int64_t flight() const { return scoreboard_.in_flight(); }

  // What the stack is.
  experiments::Stack stack_;
  experiments::Nagle nagle_;
  bool offload_;  ///< several segments leave as one send buffer
  bool stream_;   ///< buffers do not bound segments (BSD)
  bool rack_;
  bool adaptive_pacing_;
  std::optional<double> pacing_limit_;  ///< bytes per second
  Receiver& receiver_;
  std::vector<Segment>& out_;
  std::uint64_t random_seed_;
  std::int64_t packet_headers_;  ///< IP and TCP without options, bytes

  // The connection.
  bool started_ = false, sack_ = false, timestamps_ = false;
  bool ecn_ = false;                ///< agreed on: data is ECN-capable, echoes count
  bool confirm_reduction_ = false;  ///< the next new data carries CWR
  Ecn control_ecn_ = Ecn::not_ect;  ///< of whatever is not new data
  std::int64_t segment_size_ = 536, max_segment_ = 536;
  std::uint8_t option_bytes_ = 0;
  Sequence una_ = 1, nxt_ = 1;
  std::int64_t wnd_ = 0, max_wnd_ = 0;
  Sequence window_from_sequence_ = 1;  ///< RFC 9293's SND.WL1
  Sequence pushed_ = 1;                ///< end of the last write that was pushed
  Sequence small_end_ = 0;             ///< end of the last short segment sent (Minshall)
  bool fin_queued_ = false, fin_sent_ = false;
  bool writer_waits_ = false, writable_ = false;
  std::int64_t writer_left_ = 0;  ///< of the refused write
  bool idle_ = false;             ///< nothing was in flight when transmit() was entered
  SendBuffer buffer_;
  Scoreboard scoreboard_;
  RttEstimator rtt_;
  CongestionWindow window_;
  std::unique_ptr<Bbr> bbr_;  ///< null: the window grows and shrinks by itself

  // Use of the window.
  bool window_limited_ = false;
  std::int64_t most_out_ = 0, used_when_starved_ = 0;
  Sequence usage_until_ = 0;
  Time window_used_at_{}, last_sent_{};
  std::int64_t burst_segments_ = 1;  ///< largest send buffer now
  double pacing_rate_ = 0;           ///< bytes per second; 0: not known
  Time pacing_next_{}, pacing_at_ = Time::never();
  std::int64_t below_ = 0;  ///< bytes given to the device and not yet on the wire
  bool throttled_ = false;

  // Losses.
  LossState state_ = LossState::open;
  Sequence recovery_point_ = 0;
  std::int64_t delivered_ = 0;
  std::int64_t reported_duplicates_ = 0;  ///< segments reported by D-SACK
  std::int64_t threshold_segments_;       ///< duplicate threshold, grows with reordering
  std::int64_t duplicates_ = 0;           ///< duplicate ACKs in a row
  std::int64_t reduction_delivered_ = 0, reduction_out_ = 0, window_before_ = 0;  ///< PRR
  bool frto_ = false;
  int timeouts_in_row_ = 0;
  Time stuck_since_{};  ///< the first of them
  bool segments_shrunk_ = false;
  Index resend_from_ = 0;  ///< nothing below it waits to be sent again
  Index judged_to_ = 0;    ///< RFC 6675: judged by SACK up to here
  std::int64_t sacked_below_judged_ = 0;

  // Undo (RFC 3522, 3708).
  std::optional<Sequence> undo_from_;
  std::int64_t undo_open_ = 0;       ///< retransmissions not yet reported as duplicates
  std::int64_t undo_threshold_ = 0;  ///< 0: none to go back to
  std::optional<std::uint32_t> first_resend_stamp_;

  // RACK (RFC 8985).
  struct Resent {
    Index index;
    Time sent;
  };
  Ring<Resent> resent_;      ///< retransmissions in the order they were made
  Index original_from_ = 0;  ///< originals below it are judged
  Time rack_sent_{}, rack_rtt_{};
  Sequence rack_end_ = 0, highest_sacked_ = 0;
  bool rack_advanced_ = false, reordering_seen_ = false, duplicate_seen_ = false;
  int rack_steps_ = 1, rack_persist_ = 0;
  std::int64_t rack_adapted_at_ = 0;
  Sequence probe_end_ = 0;  ///< SND.NXT at a loss probe; 0: none out
  bool probe_resent_ = false;

  // Timers.
  TimerGrid grid_;
  TimerKind timer_ = TimerKind::none;
  bool timer_settled_ = true;  ///< else timer_at_ is to be computed
  Time timer_at_ = Time::never();
  Time timer_armed_{}, timer_delay_{};
  int persist_back_offs_ = 0;

  Blocked blocked_ = Blocked::no;
  Time blocked_since_{};
  BlockedTimes blocked_times_;
  Info counts_;
};

}  // namespace linerate::models::tcp
