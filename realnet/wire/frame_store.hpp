// Frames on their way through a wire, in the order in which they leave it.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <span>

#include "sim/units.hpp"

namespace linerate::realnet {

/// A first-in-first-out store of frames in one block of memory.
class FrameStore {
 public:
  explicit FrameStore(Bytes capacity)
      : size_(static_cast<std::size_t>(capacity.count())),
        memory_(std::make_unique_for_overwrite<std::byte[]>(size_)) {}

  struct Frame {
    Time due;  ///< never: not yet known
    std::span<std::byte> bytes;
    bool lost = false;
  };

  /// Whether a frame of `size` bytes can be added.
  bool fits(std::size_t size) const {
    if (size <= room_at_end()) return true;
    // Frames are whole: what is left at the end of the memory is skipped.
    if (!frames_.empty() && write_ <= begin()) return false;
    return size <= (frames_.empty() ? size_ : begin());
  }
  /// Copies in a frame that fits.
  void add(Time due, std::span<const std::byte> bytes) {
    if (bytes.size() > room_at_end()) write_ = 0;
    std::byte* place = memory_.get() + write_;
    std::memcpy(place, bytes.data(), bytes.size());
    frames_.push_back({due, {place, bytes.size()}});
    write_ += bytes.size();
  }
  const Frame& newest() const { return frames_.back(); }
  /// What has become of a frame.
  void settle(std::size_t index, Time due) { frames_[index].due = due; }
  void lose(std::size_t index) { frames_[index].lost = true; }

  bool empty() const { return frames_.empty(); }
  std::size_t count() const { return frames_.size(); }
  const Frame& operator[](std::size_t index) const { return frames_[index]; }
  /// Forgets the `count` oldest.
  void remove(std::size_t count) {
    frames_.erase(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(count));
    if (frames_.empty()) write_ = 0;
  }

 private:
  std::size_t begin() const {
    return static_cast<std::size_t>(frames_.front().bytes.data() - memory_.get());
  }
  /// Free bytes from where writing goes on to the oldest frame or the end of the memory. Where the
  /// two places are one while there are frames, the store is full.
  std::size_t room_at_end() const {
    return frames_.empty() || write_ > begin() ? size_ - write_ : begin() - write_;
  }

  std::size_t size_, write_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  std::deque<Frame> frames_;
};

}  // namespace linerate::realnet
