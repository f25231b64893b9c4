// What the kernel tells about a TCP connection.
#pragma once

#include <linux/tcp.h>

#include "realnet/system.hpp"

namespace linerate::realnet {

/// TCP_INFO of a socket. Throws std::system_error.
tcp_info tcp_state(const FileDescriptor& socket);

}  // namespace linerate::realnet
