// Data held above a gap in the stream, and what the receiver reports of it in SACK options.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/tcp/segment.hpp"
#include "sim/units.hpp"

namespace linerate::models::tcp {

/// The out-of-order ranges of one connection with the memory they occupy, the order in which SACK
/// blocks are reported (RFC 2018) and the duplicate to report next (RFC 2883).
class Reassembly {
 public:
  /// `report_duplicates`: whether RFC 2883 is in use.
  explicit Reassembly(bool report_duplicates) : report_duplicates_(report_duplicates) {
    ranges_.reserve(64);
  }

  bool empty() const { return ranges_.empty(); }
  /// One past the highest byte held; 0 when nothing is.
  Sequence highest() const { return ranges_.empty() ? 0 : ranges_.back().block.right; }

  /// Stores payload above a gap, which occupies `memory`. Returns false when every byte of it was
  /// held already (then nothing is kept); overlaps become the D-SACK to report.
  bool store(SackBlock payload, Bytes memory);

  /// What the stream gained by reaching what was held.
  struct Joined {
    Sequence next = 0;  ///< the new first missing byte
    Bytes memory{};     ///< memory of the ranges that joined the stream
  };
  /// The stream now reaches `next`: ranges it touches leave the queue.
  Joined join(Sequence next);

  /// Remembers a block received twice, for the next SACK option only. Adjoining ones are merged;
  /// of several apart the first is kept.
  void duplicate(SackBlock block);
  bool duplicate_pending() const { return duplicate_.right > duplicate_.left; }

  bool reports_blocks() const { return recent_count_ > 0 || duplicate_pending(); }
  /// Number of blocks a SACK option with room for `room` would carry.
  int block_count(int room) const {
    const int blocks = recent_count_ + (duplicate_pending() ? 1 : 0);
    return blocks < room ? blocks : room;
  }
  /// Writes at most `room` blocks, the D-SACK first, then the block changed last, and forgets the
  /// D-SACK. Returns how many.
  int report(int room, std::array<SackBlock, 4>& blocks);

 private:
  struct Range {
    SackBlock block;
    Bytes memory;
  };
  void make_recent(SackBlock block);

  std::vector<Range> ranges_;          ///< sorted, disjoint, not adjoining
  std::array<SackBlock, 4> recent_{};  ///< blocks by time of last change, latest first
  int recent_count_ = 0;
  SackBlock duplicate_{};
  bool report_duplicates_;
};

}  // namespace linerate::models::tcp
