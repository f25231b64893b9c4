// What the hosts of a lab have to know of each other before a clock runs.
#pragma once

#include <string>

#include "realnet/socket.hpp"

namespace linerate::realnet {

/// Has every host on the way to `address` and back learn the link addresses of its neighbours (ARP,
/// RFC 4861), so that neither the handshake's round trip nor the first datagrams include it. Sends
/// one datagram to a port where nobody listens and waits for the answer that says so, at most two
/// seconds: a path that loses it is used as it is. Throws std::system_error when there is no
/// socket.
void greet(const std::string& address, const SocketOptions& options);

}  // namespace linerate::realnet
