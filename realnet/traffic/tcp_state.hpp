// What the kernel tells about a TCP connection.
#pragma once

#include <cstdint>

#include "realnet/system.hpp"

namespace linerate::realnet {

/// What is used of the kernel's TCP_INFO.
struct TcpState {
  double cwnd = 0;           ///< segments
  double srtt = 0;           ///< s
  double retransmits = 0;    ///< segments sent again so far
  double delivery_rate = 0;  ///< bit/s
  /// Since the connection began to send, s.
  double busy = 0, receive_window_limited = 0, send_buffer_limited = 0;
  std::int64_t segment_size = 0;  ///< payload
  bool timestamps = false;
};

/// Throws std::system_error.
TcpState tcp_state(const FileDescriptor& socket);

/// Whether the peer has acknowledged all that was written, or never will because the connection is
/// broken. Throws std::system_error.
bool all_acknowledged(const FileDescriptor& socket);

}  // namespace linerate::realnet
