#include "models/tcp/scoreboard.hpp"

#include <algorithm>
#include <vector>

namespace linerate::models::tcp {

void Scoreboard::drop_counts(const SentSegment& segment) {
  if (segment.has(SentSegment::kSacked)) --sacked_;
  if (segment.has(SentSegment::kLost)) --lost_;
  if (segment.has(SentSegment::kInFlightAgain)) --again_;
}

Scoreboard::Index Scoreboard::find(Sequence sequence) const {
  Index low = first();
  Index high = end();
  // Nearly all segments are full, so a first guess by division is seldom far off.
  if (low != high && sequence >= at(low).begin && at(low).length > 0) {
    const Index guess = low + (sequence - at(low).begin) / at(low).length;
    if (guess < high && at(guess).begin <= sequence && at(guess).end() > sequence) return guess;
  }
  while (low != high) {
    const Index middle = low + (high - low) / 2;
    if (at(middle).end() > sequence) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

Scoreboard::Index Scoreboard::next_unsacked(Index index) {
  const Index start = index;
  while (index != end() && at(index).has(SentSegment::kSacked))
    index += static_cast<std::uint32_t>(at(index).skip - static_cast<std::uint32_t>(index));
  // Path compression: whoever walked the run remembers where it ended.
  if (index != start) ring_.at(start).skip = static_cast<std::uint32_t>(index);
  return index;
}

void Scoreboard::mark_sacked(Index index) {
  SentSegment& segment = ring_.at(index);
  drop_counts(segment);
  segment.marks = static_cast<std::uint8_t>((segment.marks | SentSegment::kSacked) &
                                            ~(SentSegment::kLost | SentSegment::kInFlightAgain));
  segment.skip = static_cast<std::uint32_t>(index + 1);
  ++sacked_;
}

void Scoreboard::mark_lost(Index index) {
  SentSegment& segment = ring_.at(index);
  LINERATE_CHECK(!segment.has(SentSegment::kSacked), "what the receiver holds is not lost");
  drop_counts(segment);
  segment.marks = static_cast<std::uint8_t>((segment.marks | SentSegment::kLost) &
                                            ~SentSegment::kInFlightAgain);
  ++lost_;
}

void Scoreboard::mark_sent_again(Index index, Time now, bool counts_as_repair) {
  SentSegment& segment = ring_.at(index);
  segment.sent = now;
  segment.marks |= SentSegment::kEverRetransmitted;
  if (!counts_as_repair || segment.has(SentSegment::kInFlightAgain)) return;
  segment.marks |= SentSegment::kInFlightAgain;
  ++again_;
}

void Scoreboard::recut(std::uint32_t bytes) {
  std::vector<SentSegment> whole;
  for (Index i = first(); i != end(); ++i) whole.push_back(at(i));
  ring_.clear();
  sacked_ = lost_ = again_ = 0;
  constexpr auto kOfLast =
      static_cast<std::uint8_t>(SentSegment::kBufferEnd | SentSegment::kEndOfStream);
  for (const SentSegment& segment : whole) {
    std::uint32_t cut = 0;
    do {
      SentSegment piece = segment;
      piece.begin += cut;
      piece.length = std::min(bytes, segment.length - cut);
      cut += piece.length;
      if (cut < segment.length) piece.marks = static_cast<std::uint8_t>(piece.marks & ~kOfLast);
      piece.skip = static_cast<std::uint32_t>(end() + 1);
      ring_.push(piece);
      sacked_ += piece.has(SentSegment::kSacked) ? 1 : 0;
      lost_ += piece.has(SentSegment::kLost) ? 1 : 0;
      again_ += piece.has(SentSegment::kInFlightAgain) ? 1 : 0;
    } while (cut < segment.length);
  }
}

void Scoreboard::forget_losses() {
  for (Index i = first(); i != end(); ++i)
    ring_.at(i).marks = static_cast<std::uint8_t>(ring_.at(i).marks & ~SentSegment::kLost);
  lost_ = 0;
}

}  // namespace linerate::models::tcp
