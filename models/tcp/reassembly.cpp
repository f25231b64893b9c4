#include "models/tcp/reassembly.hpp"

#include <algorithm>

namespace linerate::models::tcp {
namespace {

bool touches(const SackBlock& a, const SackBlock& b) {
  return a.left <= b.right && b.left <= a.right;
}

SackBlock hull(const SackBlock& a, const SackBlock& b) {
  return {std::min(a.left, b.left), std::max(a.right, b.right)};
}

}  // namespace

bool Reassembly::store(SackBlock payload, Bytes memory) {
  // After a loss nearly every segment continues the highest range, so look there first.
  auto first = ranges_.end();
  if (!ranges_.empty() && ranges_.back().block.left <= payload.left)
    first = ranges_.end() - (ranges_.back().block.right >= payload.left ? 1 : 0);
  else
    first = std::find_if(ranges_.begin(), ranges_.end(),
                         [&](const Range& range) { return range.block.right >= payload.left; });

  if (first != ranges_.end() && first->block.left <= payload.left &&
      first->block.right >= payload.right) {
    duplicate(payload);
    make_recent(first->block);  // RFC 2883 section 4.2: the enclosing block follows the D-SACK
    return false;
  }
  SackBlock merged = payload;
  auto last = first;
  for (; last != ranges_.end() && touches(last->block, payload); ++last) {
    const SackBlock overlap{std::max(last->block.left, payload.left),
                            std::min(last->block.right, payload.right)};
    if (overlap.left < overlap.right) duplicate(overlap);
    merged = hull(merged, last->block);
    memory += last->memory;
  }
  if (first == last) {
    ranges_.insert(first, Range{merged, memory});
  } else {
    *first = Range{merged, memory};
    ranges_.erase(first + 1, last);
  }
  make_recent(merged);
  return true;
}

Reassembly::Joined Reassembly::join(Sequence next) {
  Joined joined{next, Bytes{}};
  auto last = ranges_.begin();
  for (; last != ranges_.end() && last->block.left <= joined.next; ++last) {
    const Sequence covered = std::min(joined.next, last->block.right);
    if (covered > last->block.left) duplicate({last->block.left, covered});
    joined.next = std::max(joined.next, last->block.right);
    joined.memory += last->memory;
  }
  ranges_.erase(ranges_.begin(), last);
  const auto end = std::remove_if(recent_.begin(), recent_.begin() + recent_count_,
                                  [&](const SackBlock& b) { return b.left <= joined.next; });
  recent_count_ = static_cast<int>(end - recent_.begin());
  return joined;
}

void Reassembly::duplicate(SackBlock block) {
  if (!report_duplicates_) return;
  if (!duplicate_pending())
    duplicate_ = block;
  else if (touches(duplicate_, block))
    duplicate_ = hull(duplicate_, block);
}

// RFC 2018 section 4: the first block holds the segment that triggered the ACK, the rest repeat
// the blocks reported most recently.
void Reassembly::make_recent(SackBlock block) {
  std::array<SackBlock, 4> kept{};
  kept[0] = block;
  int count = 1;
  for (int i = 0; i < recent_count_ && count < 4; ++i) {
    const bool absorbed = recent_[i].left >= block.left && recent_[i].right <= block.right;
    if (!absorbed) kept[count++] = recent_[i];
  }
  recent_ = kept;
  recent_count_ = count;
}

int Reassembly::report(int room, std::array<SackBlock, 4>& blocks) {
  room = std::min(room, 4);
  int count = 0;
  if (duplicate_pending() && room > 0) blocks[count++] = duplicate_;
  duplicate_ = {};
  for (int i = 0; i < recent_count_ && count < room; ++i) blocks[count++] = recent_[i];
  return count;
}

}  // namespace linerate::models::tcp
