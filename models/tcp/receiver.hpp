// The receiving half of a TCP connection: reassembly, acknowledgment policy and the window it
// offers. It never sends: it says when an ACK is due and fills the fields of whatever leaves. It
// does not know congestion control, retransmission or the connection's state beyond "data flows".
#pragma once

#include <cstdint>

#include "models/tcp/ack_policy.hpp"
#include "models/tcp/endpoint.hpp"
#include "models/tcp/reassembly.hpp"
#include "models/tcp/receive_window.hpp"
#include "models/tcp/segment.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

/// How congestion marks are echoed: until the peer confirms with CWR (RFC 3168 6.1.3), or exactly,
/// one ACK for each run of marked or unmarked segments (RFC 8257 3.2).
enum class EcnEcho : std::uint8_t { none, until_confirmed, exact };

/// What an arriving segment turned out to be. An ACK may be due: ask Receiver::ack_due.
struct Arrival {
  bool acceptable = true;      ///< RFC 9293 3.10.7.4; if not, nothing else of it may be used
  bool data_arrived = false;   ///< in-order payload became readable
  bool duplicate = false;      ///< carried payload, all of it held already
  bool out_of_order = false;   ///< payload was stored above a gap
  bool dropped = false;        ///< payload discarded: no buffer space or beyond the window
  bool end_of_stream = false;  ///< the peer's FIN became in order with this segment
};

/// What a read() took, and whether it makes an ACK (or window update) due at once.
struct Reading {
  Bytes taken{};
  bool ack_due = false;
};

/// The receiving half. The owner's order for one arriving segment: on_segment, then its own ACK
/// processing and any data that goes out (fill clears the pending ACK), then ack_due.
class Receiver {
 public:
  explicit Receiver(const EndpointConfig& config);

  // Handshake.
  /// Our MSS option: MTU (or max_segment) less IP and TCP headers.
  Bytes offered_max_segment() const { return max_segment_; }
  std::uint8_t offered_window_scale() const { return window_.scale(); }
  /// Takes the peer's SYN (`passive`: we answer it) or SYN-ACK. Settles scaling, SACK and
  /// timestamps from what both sides offer, and the window a SYN-ACK shows.
  void on_syn(const Segment& syn, bool passive);
  /// The handshake is complete: call before the first ACK is filled (active) or before the
  /// segment that completes it goes to on_segment (passive).
  void on_established(Time now);

  /// What the handshake settled about ECN; call before data arrives.
  void on_ecn_agreed(EcnEcho echo) { ecn_ = echo; }

  // Arrivals.
  /// RFC 8257 3.2: the mark of this data segment differs from that of those before it, for which
  /// an ACK is owed. That ACK must leave before on_segment, or it would carry the wrong echo.
  bool ack_due_before(const Segment& segment) const {
    return ecn_ == EcnEcho::exact && segment.length > 0 && marked_ != (segment.ecn == Ecn::ce) &&
           policy_.owed();
  }
  /// Takes any segment of an established connection; `path` is what the sending half knows.
  Arrival on_segment(Time now, const Segment& segment, const PathView& path);
  /// Whether on_segment will use the age of the timestamp that `segment` echoes.
  bool wants_echo_age(const Segment& segment) const { return window_.wants_echo_age(segment); }
  /// Whether an ACK must leave now. Otherwise the delayed-ACK or compression timer is armed when
  /// one is owed. Call once per arriving segment, after data has had its chance to carry the ACK.
  bool ack_due(Time now);

  // The application.
  Bytes readable() const;                              ///< in-order bytes not yet read
  Reading read(Bytes size);                            ///< takes up to `size`; see Reading::ack_due
  bool end_received() const { return fin_received_; }  ///< the peer's FIN is in order
  /// The FIN has been received and every byte before it read.
  bool end_read() const { return fin_received_ && readable().count() == 0; }

  // Departures.
  /// Writes acknowledgment, window, timestamp echo and SACK blocks into any segment that leaves
  /// (also a SYN or SYN-ACK: unscaled initial window), sets kAck once the peer's SYN is known, and
  /// records that the ACK went out. Set length, flags and the other options' bytes first: SACK
  /// takes what room is left of 40 and adds its bytes to option_bytes.
  void fill(Time now, Segment& out);
  /// Bytes the SACK option would take in a segment with `other_options` bytes of options.
  Bytes sack_option_size(Bytes other_options) const;
  /// Whether it would take any: something is held above a gap, or came twice.
  bool reports_blocks() const { return reassembly_.reports_blocks(); }

  // Timers.
  Time deadline() const { return policy_.deadline(); }  ///< Time::never(): none armed
  /// True when an ACK must leave now.
  bool on_timer(Time now) { return policy_.on_timer(now, path_); }

  // State for Info.
  Sequence next() const { return next_; }                  ///< RCV.NXT
  Bytes window() const { return window_.offered(next_); }  ///< what the peer may still send
  Bytes buffer() const { return window_.buffer(); }  ///< receive buffer, as the stack counts it
  bool sack_agreed() const { return sack_; }
  bool timestamps_agreed() const { return timestamps_; }
  bool scaling_agreed() const { return scaling_; }

 private:
  bool acceptable(const Segment& segment) const;
  void refuse(Time now, const Segment& segment);
  void remember_timestamp(const Segment& segment);
  void take_marks(const Segment& segment);
  [[gnu::always_inline]] void deliver(Time now, const Segment& segment, Sequence right,
                                      Arrival& arrival);
  void store(const Segment& segment, SackBlock payload, Arrival& arrival);
  void close_gaps();
  int sack_blocks(int other_options) const;

  experiments::Stack stack_;
  Bytes max_segment_;  ///< our MSS option
  EcnEcho ecn_ = EcnEcho::none;
  bool marked_ = false;    ///< the last data segment was marked (EcnEcho::exact)
  std::uint8_t echo_ = 0;  ///< kEce while congestion is echoed
  bool sack_ = false, timestamps_ = false, scaling_ = false;
  bool synchronized_ = false;  ///< the peer's SYN has arrived
  bool fin_received_ = false;
  bool fin_known_ = false;  ///< a FIN was seen, perhaps above a gap, at fin_at_
  Sequence fin_at_ = 0;
  Sequence next_ = 0;                   ///< RCV.NXT
  Sequence read_ = 1;                   ///< first byte not yet read
  Sequence last_ack_sent_ = 0;          ///< RFC 7323's Last.ACK.sent
  std::uint32_t recent_timestamp_ = 0;  ///< RFC 7323's TS.Recent
  Reassembly reassembly_;
  ReceiveWindow window_;
  AckPolicy policy_;
  PathView path_;  ///< as of the last arrival
};

}  // namespace linerate::models::tcp
