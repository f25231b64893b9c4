#include "models/tcp/receiver.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace linerate::models::tcp {
namespace {

constexpr int kOptionSpace = 40;       // RFC 9293 3.1: data offset is at most 15 words
constexpr int kSackHeader = 4;         // two NOPs, kind and length
constexpr Bytes kTimestampOption{12};  // RFC 7323 appendix A, padded
constexpr Bytes kCountOption{8};       // RFC 1644, padded
constexpr Bytes kEthernetHeader{14}, kTcpHeader{20};
constexpr std::uint32_t kGrowthLength = 128;  // Linux: shorter segments do not open the window

Bytes ip_header(int version) { return Bytes(version == 6 ? 40 : 20); }

Bytes our_max_segment(const EndpointConfig& config) {
  const Bytes fits = config.mtu - ip_header(config.ip) - kTcpHeader;
  return config.max_segment ? std::min(*config.max_segment, fits) : fits;
}

}  // namespace

Receiver::Receiver(const EndpointConfig& config)
    : stack_(config.stack),
      max_segment_(our_max_segment(config)),
      reassembly_(config.stack.duplicate_sack),
      window_(WindowSetup{config.stack, config.receive_buffer, max_segment_,
                          kEthernetHeader + ip_header(config.ip) + kTcpHeader, config.same_memory}),
      policy_(config.stack, config.grid_phase) {}

void Receiver::on_syn(const Segment& syn, bool passive) {
  LINERATE_CHECK(syn.has(kSyn), "a connection starts with a SYN");
  synchronized_ = true;
  next_ = read_ = 1;
  scaling_ = stack_.window_scaling && syn.syn.window_scaling;
  sack_ = stack_.sack && syn.syn.sack_permitted;
  timestamps_ = stack_.timestamps && syn.syn.timestamps;
  recent_timestamp_ = syn.timestamp;
  Bytes segment = max_segment_;
  if (timestamps_) segment -= kTimestampOption;
  if (stack_.connection_count && syn.syn.connection_count) segment -= kCountOption;
  const Bytes peer(syn.syn.max_segment > 0 ? syn.syn.max_segment : 536);  // RFC 9293 3.7.1
  window_.agree({passive, scaling_, segment, peer});
  policy_.on_sack_agreed(sack_);
}

void Receiver::on_established(Time now) { window_.establish(now, next_); }

// RFC 9293 3.10.7.4, with the left edge at the last acknowledgment sent: what lies between it and
// RCV.NXT is a duplicate whose ACK field is still news.
inline bool Receiver::acceptable(const Segment& segment) const {
  const Sequence end = segment.sequence + segment.span();
  const Sequence edge = next_ + static_cast<Sequence>(window_.offered(next_).count());
  return end >= window_.advertised_at() && segment.sequence <= edge;
}

Arrival Receiver::on_segment(Time now, const Segment& segment, const PathView& path) {
  path_ = path;
  Arrival arrival;
  if (!acceptable(segment)) {
    refuse(now, segment);
    arrival.acceptable = false;
    return arrival;
  }
  remember_timestamp(segment);
  window_.sample_rtt(segment, path.echo_age, next_ == read_);
  if (segment.length == 0 && !segment.has(kFin)) return arrival;

  const Sequence left = segment.sequence;
  Sequence right = left + segment.length;
  const Sequence edge = next_ + static_cast<Sequence>(window_.offered(next_).count());
  const bool fits = right <= edge;
  if (segment.has(kFin) && fits && !fin_received_) {
    fin_known_ = true;
    fin_at_ = right;
  }
  if (right < next_ || (right == next_ && !(fin_known_ && fin_at_ == next_))) {
    arrival.duplicate = true;
    if (segment.length > 0) reassembly_.duplicate({left, right});
    policy_.on_trouble(window_);
    return arrival;
  }
  if (!fits) right = edge;  // RFC 9293 3.10.7.4: what lies beyond the window is cut off
  arrival.dropped = !fits;
  if (ecn_ != EcnEcho::none && segment.length > 0) take_marks(segment);
  if (right <= left && segment.length > 0) {
    policy_.on_trouble(window_);  // a probe of a closed window
  } else if (left > next_) {
    store(segment, {left, right}, arrival);
  } else {
    if (left < next_) reassembly_.duplicate({left, next_});
    deliver(now, segment, right, arrival);
  }
  return arrival;
}

void Receiver::refuse(Time now, const Segment& segment) {
  if (segment.span() == 0) {
    // Two ends that each find the other's ACK out of window would answer for ever.
    if (policy_.may_answer(now)) policy_.require_now();
    return;
  }
  policy_.on_trouble(window_);
  policy_.require_now();
  const Sequence end = segment.sequence + segment.length;
  if (segment.length > 0 && segment.sequence < next_)
    reassembly_.duplicate({segment.sequence, std::min(end, next_)});
}

// RFC 7323 section 4.3: echo the timestamp of the earliest segment not yet acknowledged. PAWS is
// left out: sequence numbers do not wrap here.
inline void Receiver::remember_timestamp(const Segment& segment) {
  const auto advance = static_cast<std::int32_t>(segment.timestamp - recent_timestamp_);
  if (timestamps_ && advance >= 0 && segment.sequence <= last_ack_sent_)
    recent_timestamp_ = segment.timestamp;
}

// Congestion marks of a data segment; a CWR ends the echo of earlier ones (RFC 3168 6.1.3). Linux
// acknowledges a CWR at once, since a window cut to one segment may wait for that ACK.
void Receiver::take_marks(const Segment& segment) {
  const bool marked = segment.ecn == Ecn::ce;
  if (ecn_ == EcnEcho::exact) {
    if (marked != marked_) policy_.require_now();
    marked_ = marked;
    echo_ = marked ? kEce : 0;
    return;
  }
  if (segment.has(kCwr)) {
    echo_ = 0;
    policy_.require_now();
  }
  if (!marked || echo_ != 0) return;
  echo_ = kEce;
  policy_.on_congestion(window_);
}

inline void Receiver::deliver(Time now, const Segment& segment, Sequence right, Arrival& arrival) {
  if (segment.length > 0) {
    if (!window_.admit() && readable().count() > 0) {
      window_.out_of_memory();
      policy_.require_now();
      arrival.dropped = true;
      return;
    }
    const Bytes memory = window_.memory_of(segment);
    next_ = right;
    window_.queue(right, memory);
    const SegmentClass size = window_.observe(segment, memory);
    window_.measure_window_time(now, next_);
    policy_.on_data(now, segment, window_, size, path_);
    if (segment.length >= kGrowthLength && window_.grow(segment, memory))
      policy_.on_window_growth();
    arrival.data_arrived = true;
    if (!reassembly_.empty()) close_gaps();
  }
  if (fin_known_ && fin_at_ == next_) {
    fin_known_ = false;
    fin_received_ = arrival.end_of_stream = true;
    ++next_;
    policy_.on_end_of_stream();
  }
}

void Receiver::close_gaps() {
  const Reassembly::Joined joined = reassembly_.join(next_);
  if (joined.memory > Bytes{}) window_.join(joined.next, joined.memory);
  next_ = joined.next;
  // RFC 5681 4.2: what fills all or part of a gap is acknowledged at once. (4.4BSD: TF_ACKNOW
  // whenever the reassembly queue is not empty.)
  if (reassembly_.empty())
    policy_.on_gap_closed();
  else
    policy_.on_out_of_order();
}

void Receiver::store(const Segment& segment, SackBlock payload, Arrival& arrival) {
  if (segment.length == 0) {  // a FIN beyond a gap
    policy_.on_out_of_order();
    return;
  }
  if (!window_.admit()) {
    arrival.dropped = true;
    return;
  }
  const Bytes memory = window_.memory_of(segment);
  arrival.out_of_order = reassembly_.store(payload, memory);
  arrival.duplicate = !arrival.out_of_order;
  policy_.on_out_of_order();
  if (arrival.duplicate) return;
  window_.observe(segment, memory);
  // Without SACK a changed window would keep the peer from counting duplicate ACKs (RFC 5681).
  if (sack_ && window_.grow(segment, memory)) policy_.on_window_growth();
  window_.hold(memory);
  window_.on_out_of_order(next_, reassembly_.highest());
}

bool Receiver::ack_due(Time now) {
  return policy_.due(now, next_, window_, !reassembly_.empty(), path_);
}

Bytes Receiver::readable() const {
  return Bytes(static_cast<std::int64_t>(next_ - read_) - (fin_received_ ? 1 : 0));
}

Reading Receiver::read(Bytes size) {
  const Bytes taken = std::min(size, readable());
  if (taken <= Bytes{}) return {};
  read_ += static_cast<Sequence>(taken.count());
  window_.release(read_, next_, reassembly_.highest());
  const bool drained = window_.memory_used() == Bytes{};
  return {taken, policy_.due_after_read(next_, window_, {drained, !fin_received_})};
}

int Receiver::sack_blocks(int other_options) const {
  if (!sack_ || !synchronized_) return 0;
  return reassembly_.block_count((kOptionSpace - other_options - kSackHeader) / 8);
}

Bytes Receiver::sack_option_size(Bytes other_options) const {
  const int blocks = sack_blocks(static_cast<int>(other_options.count()));
  return Bytes(blocks > 0 ? kSackHeader + 8 * blocks : 0);
}

void Receiver::fill(Time now, Segment& out) {
  if (!synchronized_) {
    out.window = window_.syn_window();
    return;
  }
  out.flags |= kAck;
  out.acknowledgment = last_ack_sent_ = next_;
  if (timestamps_) out.timestamp_echo = recent_timestamp_;
  if (out.has(kSyn)) {
    out.window = window_.syn_window();
    return;
  }
  out.flags |= echo_;
  out.window = window_.advertise(next_);
  policy_.check_space(window_);
  const int blocks = sack_blocks(out.option_bytes);
  out.sack_count = 0;
  if (blocks > 0) {
    out.sack_count = static_cast<std::uint8_t>(reassembly_.report(blocks, out.sack));
    out.option_bytes = static_cast<std::uint8_t>(out.option_bytes + kSackHeader + 8 * blocks);
  }
  policy_.on_ack_sent();
  if (out.length > 0) policy_.on_data_sent(now);
}

}  // namespace linerate::models::tcp
