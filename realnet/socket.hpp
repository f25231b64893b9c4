// TCP and UDP sockets as a test asks for them.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/definition/experiment.hpp"
#include "realnet/system.hpp"

namespace linerate::realnet {

/// What decides a socket's options: the test and the stack of the host it is on.
struct SocketOptions {
  const experiments::Test* test = nullptr;
  const experiments::Stack* stack = nullptr;
  /// May exceed net.core.wmem_max and rmem_max (CAP_NET_ADMIN): the experiment's limit rules then.
  bool own_limits = false;
};

struct Endpoint {
  std::string address;  ///< IPv4 or IPv6
  std::uint16_t port = 0;
};

/// A listening socket on `address` and a free port. Throws std::system_error.
FileDescriptor listen_tcp(const std::string& address, const SocketOptions& options);
/// A UDP socket on `address` and a free port, or one whose peer is `peer`. Throws
/// std::system_error.
FileDescriptor listen_udp(const std::string& address, const SocketOptions& options);
FileDescriptor connect_udp(const Endpoint& peer, const SocketOptions& options);
std::uint16_t local_port(const FileDescriptor& socket);

/// Waits at most `patience` for a connection. Throws std::system_error or std::runtime_error.
FileDescriptor accept_tcp(const FileDescriptor& listener, Time patience);
FileDescriptor connect_tcp(const Endpoint& peer, const SocketOptions& options);

/// The congestion control a test uses on a host: the test's, else the stack's.
const std::string& congestion_of(const SocketOptions& options);

/// An int option as the kernel stores it.
int stored_option(const FileDescriptor& socket, int level, int option);

}  // namespace linerate::realnet
