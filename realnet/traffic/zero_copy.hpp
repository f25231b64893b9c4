// Writes whose pages the kernel sends from (Linux, Documentation/networking/msg_zerocopy.rst).
#pragma once

#include <cstdint>

#include "realnet/system.hpp"

namespace linerate::realnet {

/// Takes back what a socket has sent with MSG_ZEROCOPY, so that the kernel goes on lending.
class ZeroCopy {
 public:
  /// Turns it on for `socket`, which must outlive this. Throws std::system_error.
  explicit ZeroCopy(const FileDescriptor& socket);

  /// What has come back, without waiting.
  void take();
  /// Waits until something comes back, at most 10 ms.
  void wait();

  /// A write has been handed over.
  void lend() { ++lent_; }
  /// Writes whose pages the kernel may still read.
  std::int64_t pending() const { return lent_ - zero_copied_ - copied_; }

  std::int64_t zero_copied() const { return zero_copied_; }
  /// Writes the kernel copied all the same, as it does on the loopback interface and on a way to a
  /// socket of the same machine.
  std::int64_t copied() const { return copied_; }

 private:
  const FileDescriptor* socket_;
  std::int64_t lent_ = 0, zero_copied_ = 0, copied_ = 0;
};

}  // namespace linerate::realnet
