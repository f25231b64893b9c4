#include "models/tcp/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "models/tcp/receiver.hpp"
#include "models/tcp/sender.hpp"
#include "models/tcp/timer_grid.hpp"
#include "sim/check.hpp"

namespace linerate::models::tcp {

namespace {

constexpr std::uint16_t kDefaultMaxSegment = 536;  // RFC 9293 3.7.1, when no option came
constexpr std::int64_t kTimestampBytes = 12;       // RFC 7323, padded
constexpr std::int64_t kConnectionCountBytes = 8;  // RFC 1644, padded

/// Options of a SYN in bytes, in Linux's packing: SACK-permitted fills the timestamps' padding.
std::uint8_t syn_option_bytes(const SynOptions& syn) {
  int bytes = 4;
  if (syn.window_scaling) bytes += 4;
  if (syn.timestamps) {
    bytes += 12;
  } else if (syn.sack_permitted) {
    bytes += 4;
  }
  if (syn.connection_count) bytes += 8;
  return static_cast<std::uint8_t>(bytes);
}

}  // namespace

struct Endpoint::State {
  enum class Phase { closed, listening, syn_sent, syn_received, established };

  explicit State(const EndpointConfig& c)
      : stack(c.stack),
        packet_headers(c.ip == 6 ? 60 : 40),
        largest_segment(c.path_mtu.value_or(c.mtu).count() - packet_headers),
        receiver(c),
        sender(c, receiver, out),
        exact_ecn(sender.judges_marks()),
        grid{c.stack.timer_tick, Time{},
             c.stack.coarse_timers ? TimerWheel::levels : TimerWheel::flat} {
    out.reserve(64);
  }

  bool wants_ecn() const { return exact_ecn || stack.ecn == experiments::EcnUse::on; }
  bool accepts_ecn() const { return wants_ecn() || stack.ecn == experiments::EcnUse::accept; }
  SynOptions own_options(const SynOptions* peer) const;
  void send_syn(Time now);
  void offer_ecn(Segment& segment);
  void send_ack(Time now);
  void begin(Time now, const Segment& segment);
  void on_handshake(Time now, const Segment& segment);
  void on_established_segment(Time now, const Segment& segment);
  void on_handshake_timer(Time now);
  void collect();
  std::int64_t bytes_received() const;

  experiments::Stack stack;
  std::int64_t packet_headers;
  std::int64_t largest_segment;  ///< that the path takes, as far as is known
  std::vector<Segment> out;
  Receiver receiver;
  Sender sender;
  bool exact_ecn;  ///< the congestion control is DCTCP
  TimerGrid grid;
  Phase phase = Phase::closed;
  SynOptions peer;
  bool ecn_asked = false;  ///< our SYN offered ECN
  bool ecn_agreed = false;
  Time syn_sent_at{}, syn_timeout{}, syn_timer = Time::never();
  int syn_retries = 0;
  bool waits_for_acks = false;  ///< something written is not yet reported as acknowledged
  Signals signals;
  CallCounts calls;
  std::int64_t segments_in = 0, data_segments_in = 0, acks_out = 0, others_out = 0;
  Time last_call{};
};

SynOptions Endpoint::State::own_options(const SynOptions* from) const {
  SynOptions syn;
  syn.max_segment = static_cast<std::uint16_t>(receiver.offered_max_segment().count());
  syn.window_scaling = stack.window_scaling && (!from || from->window_scaling);
  syn.window_scale = syn.window_scaling ? receiver.offered_window_scale() : std::uint8_t{0};
  syn.sack_permitted = stack.sack && (!from || from->sack_permitted);
  syn.timestamps = stack.timestamps && (!from || from->timestamps);
  syn.connection_count = stack.connection_count && (!from || from->connection_count);
  return syn;
}

// SYN or, once the peer's is known, SYN-ACK; also its retransmission (RFC 6298 5.5 and 5.6).
void Endpoint::State::send_syn(Time now) {
  Segment& segment = out.emplace_back();
  segment.flags = kSyn;
  segment.syn = own_options(phase == Phase::syn_received ? &peer : nullptr);
  segment.option_bytes = syn_option_bytes(segment.syn);
  segment.retransmission = syn_retries > 0;
  if (segment.syn.timestamps) segment.timestamp = sender.timestamp(now);
  offer_ecn(segment);
  receiver.fill(now, segment);
  sender.on_emitted(Bytes(packet_headers + segment.option_bytes));
  ++others_out;
  syn_sent_at = now;
  syn_timeout = syn_retries == 0 ? stack.rto_initial : std::min(syn_timeout * 2, stack.rto_max);
  syn_timer = grid.expiry(now, syn_timeout);
}

// RFC 3168 6.1.1: a SYN asks with ECE and CWR, a SYN-ACK agrees with ECE. A SYN that is not
// answered is repeated without, for what may have dropped it because of them.
void Endpoint::State::offer_ecn(Segment& segment) {
  if (phase == Phase::syn_received) {
    if (ecn_agreed) segment.flags |= kEce;
  } else if (wants_ecn() && syn_retries == 0) {
    segment.flags |= kEce | kCwr;
    ecn_asked = true;
  } else {
    return;
  }
  if (exact_ecn) segment.ecn = Ecn::ect0;  // RFC 8257 3.5
}

void Endpoint::State::send_ack(Time now) {
  Segment& segment = out.emplace_back();
  segment.sequence = sender.next();
  segment.flags = kAck;
  segment.option_bytes = sender.option_bytes();
  segment.ecn = sender.control_ecn();
  if (receiver.timestamps_agreed()) segment.timestamp = sender.timestamp(now);
  receiver.fill(now, segment);
  sender.on_emitted(Bytes(packet_headers + segment.option_bytes));
  ++acks_out;
}

// Both SYNs are known: settle the segment size and open both halves.
void Endpoint::State::begin(Time now, const Segment& segment) {
  const std::int64_t offered = peer.max_segment > 0 ? peer.max_segment : kDefaultMaxSegment;
  const std::int64_t max_segment =
      std::min({offered, receiver.offered_max_segment().count(), largest_segment});
  std::int64_t options = receiver.timestamps_agreed() ? kTimestampBytes : 0;
  if (stack.connection_count && peer.connection_count) options += kConnectionCountBytes;
  SenderStart start;
  start.max_segment = Bytes(max_segment);
  start.option_bytes = Bytes(options);
  start.segment_size = Bytes(max_segment - options);
  start.window = Bytes(static_cast<std::int64_t>(segment.window));
  start.sack = receiver.sack_agreed();
  start.timestamps = receiver.timestamps_agreed();
  start.ecn = ecn_agreed;
  if (ecn_agreed) receiver.on_ecn_agreed(exact_ecn ? EcnEcho::exact : EcnEcho::until_confirmed);
  // A retransmitted SYN leaves the sample ambiguous (Karn).
  if (syn_retries == 0) start.rtt = now - syn_sent_at;
  phase = Phase::established;
  syn_timer = Time::never();
  receiver.on_established(now);
  sender.start(now, start);
  signals.connected = true;
}

inline void Endpoint::State::collect() {
  signals.writable |= sender.take_writable();
  if (waits_for_acks && sender.all_acked()) {
    waits_for_acks = false;
    signals.acked_all = true;
  }
}

inline void Endpoint::State::on_established_segment(Time now, const Segment& segment) {
  if (segment.has(kSyn)) {  // the peer did not see our ACK of its SYN-ACK
    send_ack(now);
    return;
  }
  if (receiver.ack_due_before(segment)) send_ack(now);
  PathView path = sender.path();
  if (receiver.wants_echo_age(segment)) path.echo_age = sender.echo_age(now, segment);
  const Arrival arrival = receiver.on_segment(now, segment, path);
  if (arrival.acceptable && segment.has(kAck)) sender.on_ack(now, segment);
  sender.push(now);
  if (receiver.ack_due(now)) send_ack(now);
  signals.readable |= arrival.data_arrived || arrival.end_of_stream;
  collect();
}

void Endpoint::State::on_handshake(Time now, const Segment& segment) {
  if (phase == Phase::listening && segment.has(kSyn)) {
    peer = segment.syn;
    receiver.on_syn(segment, true);
    ecn_agreed = accepts_ecn() && segment.has(kEce) && segment.has(kCwr);
    phase = Phase::syn_received;
    send_syn(now);
  } else if (phase == Phase::syn_sent && segment.has(kSyn) && segment.has(kAck)) {
    peer = segment.syn;
    receiver.on_syn(segment, false);
    ecn_agreed = ecn_asked && segment.has(kEce) && !segment.has(kCwr);
    begin(now, segment);
    send_ack(now);
  } else if (phase == Phase::syn_received) {
    if (segment.has(kSyn)) {  // our SYN-ACK was lost
      send_syn(now);
    } else if (segment.has(kAck) && segment.acknowledgment >= 1) {
      begin(now, segment);
      on_established_segment(now, segment);
    }
  }
}

void Endpoint::State::on_handshake_timer(Time now) {
  syn_timer = Time::never();
  ++syn_retries;
  send_syn(now);
}

Endpoint::Endpoint(const EndpointConfig& config) : state_(new State(config)) {}
Endpoint::~Endpoint() { delete state_; }
Endpoint::Endpoint(Endpoint&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
Endpoint& Endpoint::operator=(Endpoint&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

void Endpoint::listen() {
  LINERATE_CHECK(state_->phase == State::Phase::closed, "an endpoint is opened once");
  state_->phase = State::Phase::listening;
}

void Endpoint::connect(Time now) {
  LINERATE_CHECK(state_->phase == State::Phase::closed, "an endpoint is opened once");
  state_->phase = State::Phase::syn_sent;
  state_->last_call = now;
  state_->send_syn(now);
}

Bytes Endpoint::write(Time now, Bytes size, bool more) {
  state_->last_call = now;
  const Bytes taken = state_->sender.write(now, size, more);
  ++state_->calls.writes;
  state_->calls.written += taken.count();
  if (taken.count() > 0) state_->waits_for_acks = true;
  return taken;
}

Bytes Endpoint::readable() const { return state_->receiver.readable(); }

Bytes Endpoint::read(Time now, Bytes size) {
  state_->last_call = now;
  const Reading reading = state_->receiver.read(size);
  ++state_->calls.reads;
  state_->calls.read += reading.taken.count();
  if (reading.ack_due) state_->send_ack(now);
  return reading.taken;
}

void Endpoint::shutdown(Time now) {
  state_->last_call = now;
  state_->sender.shutdown(now);
}

bool Endpoint::peer_closed() const { return state_->receiver.end_read(); }

void Endpoint::on_packet(Time now, const Segment& segment) {
  state_->last_call = now;
  ++state_->segments_in;
  if (segment.length > 0) ++state_->data_segments_in;
  if (state_->phase == State::Phase::established) {
    state_->on_established_segment(now, segment);
  } else {
    state_->on_handshake(now, segment);
  }
}

void Endpoint::on_timer(Time now) {
  state_->last_call = now;
  if (state_->syn_timer <= now) state_->on_handshake_timer(now);
  if (state_->phase != State::Phase::established) return;
  if (state_->sender.deadline() <= now) state_->sender.on_timer(now);
  if (state_->receiver.deadline() <= now && state_->receiver.on_timer(now)) state_->send_ack(now);
  state_->collect();
}

Time Endpoint::next_timer() const {
  return earlier(state_->syn_timer,
                 earlier(state_->sender.deadline(), state_->receiver.deadline()));
}

bool Endpoint::waits_for_device() const { return state_->sender.waits_for_device(); }

void Endpoint::on_transmitted(Time now, Bytes size) {
  state_->last_call = now;
  state_->sender.on_transmitted(now, size);
}

std::vector<Segment>& Endpoint::output() { return state_->out; }

Signals Endpoint::take_signals() { return std::exchange(state_->signals, Signals{}); }

bool Endpoint::has_news() const { return !state_->out.empty() || state_->signals.any(); }

// The SYN and the FIN take sequence numbers, but no bytes.
std::int64_t Endpoint::State::bytes_received() const {
  const Sequence received = receiver.next();
  return static_cast<std::int64_t>(received) - (received > 0 ? 1 : 0) -
         (receiver.end_received() ? 1 : 0);
}

Progress Endpoint::progress() const {
  Progress progress = state_->sender.progress();
  progress.bytes_received = state_->bytes_received();
  return progress;
}

std::uint8_t Endpoint::window_scale() const { return state_->receiver.offered_window_scale(); }

const CallCounts& Endpoint::calls() const { return state_->calls; }

Info Endpoint::info() const {
  Info info;
  info.acks_out = state_->acks_out;
  info.segments_out = state_->acks_out + state_->others_out;
  info.segments_in = state_->segments_in;
  info.data_segments_in = state_->data_segments_in;
  info.receive_window = state_->receiver.window().count();
  info.bytes_received = state_->bytes_received();
  state_->sender.describe(info);
  info.blocked = state_->sender.blocked(state_->last_call);
  return info;
}

}  // namespace linerate::models::tcp
