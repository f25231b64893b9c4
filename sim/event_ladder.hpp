// The far future of a large event population, sorted only as finely as it draws near.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/check.hpp"
#include "sim/event.hpp"
#include "sim/units.hpp"

namespace linerate::sim {

/// A ladder queue (Tang, Goh and Thng, "Ladder queue: an O(1) priority queue structure for
/// large-scale discrete event simulation", ACM TOMACS 15, 2005). The top is an unsorted heap of
/// whatever is latest; each rung cuts a span of time into equal buckets, and the first bucket of a
/// rung that still holds too many events is cut again into the next rung. The caller keeps what is
/// earlier than the last rung's first bucket and compares it exactly, so ties never meet here.
///
/// Buckets are chains of chunks from one pool: its size follows the number of events and not the
/// fullest that every single bucket ever was, and a chunk is read as a few consecutive lines.
class EventLadder {
 public:
  std::size_t size() const { return size_; }

  /// Spans shorter than this are not worth a rung.
  static constexpr Time shortest_rung() { return Time::picoseconds(64); }
  bool full() const { return rung_count_ == kMaxRungs; }

  /// Begins an empty ladder for events at or after `first`.
  void start(Time first) {
    LINERATE_CHECK(size_ == 0, "only an empty ladder starts");
    rung_count_ = 0;
    clear_top(first);
  }

  /// Adds a last rung for about `expected` events in [first, end), where `end` is the caller's
  /// horizon: the earliest time the ladder covers so far. The caller then pushes them.
  void add_rung(Time first, Time end, std::size_t expected) {
    LINERATE_CHECK(!full(), "a ladder has few rungs");
    Rung& rung = rungs_[rung_count_++];
    const auto span = static_cast<std::uint64_t>((end - first).picoseconds());
    const auto buckets = std::clamp<std::uint64_t>(std::bit_ceil(expected / kEventsPerBucket + 1),
                                                   kFewestBuckets, kMostBuckets);
    // Bucket widths are powers of two: finding the bucket is a shift. span >> shift < buckets.
    const auto wanted_shift =
        static_cast<int>(std::bit_width(span)) - static_cast<int>(std::bit_width(buckets)) + 1;
    rung.shift = std::max(0, wanted_shift);
    rung.first = first;
    rung.end = end;
    rung.current = 0;
    rung.events = 0;
    rung.buckets.assign((span >> rung.shift) + 1, Bucket{});
  }

  /// Stores an event at or after the caller's horizon.
  void push(const Event& event) {
    ++size_;
    if (event.at >= top_first_) {
      LINERATE_CHECK(event.at < Time::never(), "an event that never happens is not scheduled");
      top_last_ = std::max(top_last_, event.at);
      top_earliest_ = std::min(top_earliest_, event.at);
      top_.push_back(event);
      return;
    }
    // The last rung is the earliest; where it ends, the current bucket of the one before ends too.
    std::size_t i = rung_count_ - 1;
    while (event.at >= rungs_[i].end) --i;
    add(rungs_[i], event);
  }

  /// Appends the earliest events to `run`, unsorted, and returns the new horizon: everything
  /// earlier is in the run now. The ladder is not empty.
  Time take_earliest(std::vector<Event>& run) {
    for (;;) {
      if (rung_count_ == 0) {
        pour_top_into_rung();
        continue;
      }
      Rung& rung = rungs_[rung_count_ - 1];
      if (rung.events == 0) {
        --rung_count_;
        continue;
      }
      while (rung.buckets[rung.current].events == 0) ++rung.current;
      const Bucket bucket = std::exchange(rung.buckets[rung.current], Bucket{});
      const Time from = rung.first + width(rung) * static_cast<std::int64_t>(rung.current);
      const Time to = std::min(rung.end, from + width(rung));
      ++rung.current;
      rung.events -= bucket.events;
      if (bucket.events <= kSplitAbove || to - from < shortest_rung() || full()) {
        size_ -= bucket.events;
        empty_bucket(bucket, [&](const Event& event) { run.push_back(event); });
        return to;
      }
      add_rung(from, to, bucket.events);
      Rung& finer = rungs_[rung_count_ - 1];
      empty_bucket(bucket, [&](const Event& event) { add(finer, event); });
    }
  }

  /// Passes every event to `visit`, in no order, and is empty afterwards.
  template <class Visitor>
  void drain(Visitor&& visit) {
    for (; rung_count_ > 0; --rung_count_)
      for (const Bucket& bucket : rungs_[rung_count_ - 1].buckets) empty_bucket(bucket, visit);
    for (const Event& event : top_) visit(event);
    clear_top(Time{});
    size_ = 0;
  }

 private:
  static constexpr std::uint32_t kNoChunk = ~0u;
  static constexpr std::size_t kChunkEvents = 7;  // with two counters: four cache lines
  static constexpr std::size_t kMaxRungs = 10;
  static constexpr std::size_t kEventsPerBucket = 8;
  static constexpr std::uint32_t kSplitAbove = 64;
  static constexpr std::uint64_t kFewestBuckets = 16;
  static constexpr std::uint64_t kMostBuckets = 1u << 15;

  struct alignas(64) Chunk {
    std::array<Event, kChunkEvents> events;
    std::uint32_t used;
    std::uint32_t next;
  };
  struct Bucket {
    std::uint32_t chunk = kNoChunk;  // the one being filled; full ones follow
    std::uint32_t events = 0;
  };
  struct Rung {
    Time first, end;          // covers [first, end)
    int shift = 0;            // a bucket lasts 2^shift ps
    std::size_t current = 0;  // earlier buckets are done
    std::size_t events = 0;
    std::vector<Bucket> buckets;
  };

  static Time width(const Rung& rung) { return Time::picoseconds(std::int64_t{1} << rung.shift); }

  void add(Rung& rung, const Event& event) {
    const auto offset = static_cast<std::uint64_t>((event.at - rung.first).picoseconds());
    Bucket& bucket = rung.buckets[offset >> rung.shift];
    if (bucket.chunk == kNoChunk || chunks_[bucket.chunk].used == kChunkEvents)
      bucket.chunk = new_chunk(bucket.chunk);
    Chunk& chunk = chunks_[bucket.chunk];
    chunk.events[chunk.used++] = event;
    ++bucket.events;
    ++rung.events;
  }

  // Visits a bucket's events; each chunk goes back to the pool once it has been read.
  template <class Visitor>
  void empty_bucket(const Bucket& bucket, Visitor&& visit) {
    for (std::uint32_t i = bucket.chunk; i != kNoChunk;) {
      for (std::uint32_t k = 0; k < chunks_[i].used; ++k) {
        // A copy: the visitor may make the pool grow.
        const Event event = chunks_[i].events[k];
        visit(event);
      }
      const std::uint32_t next = chunks_[i].next;
      chunks_[i].next = free_chunk_;
      free_chunk_ = i;
      i = next;
    }
  }

  std::uint32_t new_chunk(std::uint32_t next) {
    std::uint32_t i = free_chunk_;
    if (i == kNoChunk) {
      i = static_cast<std::uint32_t>(chunks_.size());
      chunks_.emplace_back();
    } else {
      free_chunk_ = chunks_[i].next;
    }
    chunks_[i].used = 0;
    chunks_[i].next = next;
    return i;
  }

  void pour_top_into_rung() {
    LINERATE_CHECK(!top_.empty(), "a ladder without rungs keeps its events in the top");
    const Time end = top_last_ + Time::picoseconds(1);
    add_rung(top_earliest_, end, top_.size());
    for (const Event& event : top_) add(rungs_[0], event);
    clear_top(end);
  }

  void clear_top(Time first) {
    top_.clear();
    top_first_ = first;
    top_earliest_ = Time::never();
    top_last_ = first;
  }

  std::vector<Event> top_;  // at or after top_first_
  Time top_first_{};
  Time top_earliest_ = Time::never();
  Time top_last_{};
  std::array<Rung, kMaxRungs> rungs_;
  std::size_t rung_count_ = 0;
  std::vector<Chunk> chunks_;
  std::uint32_t free_chunk_ = kNoChunk;
  std::size_t size_ = 0;
};

}  // namespace linerate::sim
