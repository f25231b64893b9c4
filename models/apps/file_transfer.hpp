// What makes a program at one end of a file transfer more than a writer or reader: its own work on
// the data and the disk behind the page cache. The program does one thing after the other; the disk
// works beside it, reading ahead or writing out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "experiments/definition/experiment.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// The page cache between a program and a disk, seen by a program that passes through a file: so
/// much can be taken (read ahead) or put (below the dirty limit) before it must wait for the disk,
/// which restores that at its rate.
class PageCache {
 public:
  /// `room`: bytes that can pass at once; without `rate` any number can.
  PageCache(Bytes room, std::optional<BitRate> rate) : room_(room), rate_(rate), free_(room) {}

  /// `size` bytes pass at `now`; returns when the program may go on.
  Time pass(Time now, Bytes size) {
    if (!rate_) return now;
    free_ = smaller(room_, free_ + restored(now - last_)) - size;
    last_ = now;
    return free_ < Bytes(0) ? now + serialization_time(Bytes(-free_.count()), *rate_) : now;
  }

 private:
  Bytes restored(Time span) const {
    __extension__ using Wide = __int128;
    const Wide bits = static_cast<Wide>(span.picoseconds()) * rate_->bits_per_second();
    return Bytes(static_cast<std::int64_t>(
        std::min<Wide>(bits / 8 / 1'000'000'000'000, static_cast<Wide>(room_.count()) * 2)));
  }

  Bytes room_;
  std::optional<BitRate> rate_;
  Bytes free_;  // negative while the disk is behind
  Time last_{};
};

/// One end of a transfer.
struct FileProgram {
  experiments::Program program;
  std::optional<BitRate> copy;  ///< between program and page cache
  PageCache cache;

  FileProgram(const experiments::Program& own, const experiments::Host& host, bool reads_file)
      : program(own),
        copy(host.cpu.costs.file_copy),
        cache(reads_file ? host.disk.read_ahead : host.disk.dirty_limit,
              reads_file ? host.disk.read : host.disk.write) {}
};

}  // namespace linerate::models
