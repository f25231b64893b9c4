// Real files at the ends of a transfer, which leave nothing behind.
#pragma once

#include <cstddef>

#include "realnet/system.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// A file without a name in $TMPDIR, else /var/tmp; it goes with its descriptor. All calls throw
/// std::system_error.
class TransferFile {
 public:
  /// One with `size` bytes that must come from the disk, as far as the kernel lets its cache go.
  static TransferFile to_read(Bytes size);
  static TransferFile to_write();

  /// The next `size` bytes, all of them.
  void read(char* data, std::size_t size);
  void write(const char* data, std::size_t size);
  /// Spent in these calls so far: the page cache's copies, and waits for the disk. s.
  double seconds() const { return spent_.seconds(); }

 private:
  TransferFile() = default;
  FileDescriptor file_;
  Time spent_;
};

}  // namespace linerate::realnet
