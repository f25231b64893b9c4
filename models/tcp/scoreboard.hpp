// The sent and not yet cumulatively acknowledged segments, and what is known of each. A ring with
// counters: every question about the flight is O(1), marking is O(1) amortised per segment.
#pragma once

#include <cstdint>

#include "models/tcp/ring.hpp"
#include "models/tcp/segment.hpp"
#include "sim/check.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

/// One segment in flight, at most an MSS long.
struct SentSegment {
  enum Mark : std::uint8_t {
    kSacked = 1,             ///< the receiver says it holds it (RFC 2018)
    kLost = 2,               ///< judged lost; not sent again yet unless kInFlightAgain
    kInFlightAgain = 4,      ///< a retransmission of it is under way
    kEverRetransmitted = 8,  ///< its RTT is ambiguous (Karn)
    kBufferEnd = 16,         ///< last of a send buffer, whose overhead its ACK frees
    kEndOfStream = 32,       ///< carries the FIN
    kCounted = kSacked | kLost | kInFlightAgain,
  };
  Sequence begin = 0;
  Time sent{};               ///< latest transmission
  std::uint32_t length = 0;  ///< payload, bytes
  std::uint32_t skip = 0;    ///< low bits of the next index not known to be sacked, when kSacked
  std::uint8_t marks = 0;

  bool has(std::uint8_t any) const { return (marks & any) != 0; }
  /// Sent once, and nothing is known of it: as nearly all are.
  bool plain() const { return (marks | kBufferEnd) == kBufferEnd; }
  Sequence end() const { return begin + length + (has(kEndOfStream) ? 1u : 0u); }
};

/// Segments are named by an index that only grows: first() is SND.UNA's, end() one past the last.
class Scoreboard {
 public:
  using Index = Ring<SentSegment>::Index;

  Index first() const { return ring_.first(); }
  Index end() const { return ring_.end(); }
  bool empty() const { return ring_.empty(); }
  std::int64_t size() const { return static_cast<std::int64_t>(ring_.size()); }
  std::int64_t sacked() const { return sacked_; }
  std::int64_t lost() const { return lost_; }
  std::int64_t in_flight_again() const { return again_; }
  /// RFC 6675's pipe, counted in segments.
  std::int64_t in_flight() const { return size() - sacked_ - lost_ + again_; }

  const SentSegment& at(Index index) const { return ring_.at(index); }
  const SentSegment& front() const { return at(first()); }
  const SentSegment& back() const { return at(end() - 1); }

  void push(const SentSegment& segment) { ring_.push(segment); }
  /// Removes the first segment: it is acknowledged cumulatively.
  void pop() {
    if (front().has(SentSegment::kCounted)) drop_counts(front());
    ring_.pop();
  }
  /// Removes everything before `index`, none of which is marked but as the end of a buffer.
  void pop_plain(Index index) { ring_.pop_to(index); }
  /// The first `bytes` of the first segment are acknowledged.
  void trim_front(std::uint32_t bytes) {
    SentSegment& head = ring_.at(first());
    LINERATE_CHECK(bytes < head.length, "a whole segment is popped, not trimmed");
    head.begin += bytes;
    head.length -= bytes;
  }

  /// The first segment that ends after `sequence`; end() if none does.
  Index find(Sequence sequence) const;
  /// The first segment at or after `index` that is not sacked.
  Index next_unsacked(Index index);

  void mark_sacked(Index index);
  /// A lost segment whose retransmission was lost as well is marked again.
  void mark_lost(Index index);
  /// Without SACK: how many duplicate ACKs stand for segments that have arrived.
  void set_assumed_arrived(std::int64_t segments) { sacked_ = segments; }
  void mark_sent_again(Index index, Time now, bool counts_as_repair);
  /// Cuts every segment into pieces of at most `bytes`, each marked as the whole was. All get new
  /// indices.
  void recut(std::uint32_t bytes);
  /// A recovery was undone: nothing is lost.
  void forget_losses();

 private:
  void drop_counts(const SentSegment& segment);

  Ring<SentSegment> ring_;
  std::int64_t sacked_ = 0, lost_ = 0, again_ = 0;
};

}  // namespace linerate::models::tcp
