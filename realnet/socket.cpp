#include "realnet/socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace linerate::realnet {
namespace {

union SocketAddress {
  sockaddr any;
  sockaddr_in ipv4;
  sockaddr_in6 ipv6;
};

SocketAddress parse_address(const Endpoint& endpoint) {
  SocketAddress address{};
  if (::inet_pton(AF_INET, endpoint.address.c_str(), &address.ipv4.sin_addr) == 1) {
    address.ipv4.sin_family = AF_INET;
    address.ipv4.sin_port = htons(endpoint.port);
  } else if (::inet_pton(AF_INET6, endpoint.address.c_str(), &address.ipv6.sin6_addr) == 1) {
    address.ipv6.sin6_family = AF_INET6;
    address.ipv6.sin6_port = htons(endpoint.port);
  } else {
    throw std::runtime_error("not an IP address: " + endpoint.address);
  }
  return address;
}

socklen_t size_of(const SocketAddress& address) {
  return address.any.sa_family == AF_INET ? sizeof address.ipv4 : sizeof address.ipv6;
}

void set_option(const FileDescriptor& socket, int level, int option, int value, const char* name) {
  checked(::setsockopt(socket.number(), level, option, &value, sizeof value),
          fmt::format("setsockopt {} {}", name, value));
}

void set_buffers(const FileDescriptor& socket, const SocketOptions& options) {
  const auto capped = [&](Bytes asked) {
    return static_cast<int>(std::min(asked, options.stack->socket_buffer_limit).count());
  };
  const auto& test = *options.test;
  if (test.send_buffer) {
    set_option(socket, SOL_SOCKET, options.own_limits ? SO_SNDBUFFORCE : SO_SNDBUF,
               capped(*test.send_buffer), "SO_SNDBUF");
  }
  if (test.receive_buffer) {
    set_option(socket, SOL_SOCKET, options.own_limits ? SO_RCVBUFFORCE : SO_RCVBUF,
               capped(*test.receive_buffer), "SO_RCVBUF");
  }
}

/// The class of service both on this host and, as an IP precedence (RFC 2474 4.2.2), on the way.
void set_priority(const FileDescriptor& socket, int family, int priority) {
  if (priority == 0) return;
  set_option(socket, SOL_SOCKET, SO_PRIORITY, priority, "SO_PRIORITY");
  const int class_selector = priority << 5;
  if (family == AF_INET) {
    set_option(socket, IPPROTO_IP, IP_TOS, class_selector, "IP_TOS");
  } else {
    set_option(socket, IPPROTO_IPV6, IPV6_TCLASS, class_selector, "IPV6_TCLASS");
  }
}

FileDescriptor make_udp_socket(int family, const SocketOptions& options) {
  FileDescriptor socket(checked(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
  set_buffers(socket, options);
  set_priority(socket, family, options.test->priority);
  return socket;
}

/// Everything that must be set before the handshake: window scaling follows the receive buffer, the
/// MSS option the largest segment.
FileDescriptor make_socket(int family, const SocketOptions& options) {
  FileDescriptor socket(checked(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  const auto& test = *options.test;
  const std::string& congestion = congestion_of(options);
  checked(::setsockopt(socket.number(), IPPROTO_TCP, TCP_CONGESTION, congestion.data(),
                       static_cast<socklen_t>(congestion.size())),
          "setsockopt TCP_CONGESTION " + congestion);
  set_buffers(socket, options);
  set_priority(socket, family, test.priority);
  if (test.max_segment) {
    set_option(socket, IPPROTO_TCP, TCP_MAXSEG, static_cast<int>(test.max_segment->count()),
               "TCP_MAXSEG");
  }
  if (test.no_delay) set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
  if (test.pacing) {
    // Rounded up: 0 would mean no pacing.
    const std::uint64_t bytes_per_second = (test.pacing->bits_per_second() + 7) / 8;
    checked(::setsockopt(socket.number(), SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_second,
                         sizeof bytes_per_second),
            "setsockopt SO_MAX_PACING_RATE");
  }
  return socket;
}

}  // namespace

const std::string& congestion_of(const SocketOptions& options) {
  return options.test->congestion ? *options.test->congestion : options.stack->congestion;
}

FileDescriptor listen_tcp(const std::string& address, const SocketOptions& options) {
  const SocketAddress local = parse_address({address, 0});
  FileDescriptor socket = make_socket(local.any.sa_family, options);
  checked(::bind(socket.number(), &local.any, size_of(local)), "bind " + address);
  checked(::listen(socket.number(), SOMAXCONN), "listen");
  return socket;
}

FileDescriptor listen_udp(const std::string& address, const SocketOptions& options) {
  const SocketAddress local = parse_address({address, 0});
  FileDescriptor socket = make_udp_socket(local.any.sa_family, options);
  checked(::bind(socket.number(), &local.any, size_of(local)), "bind " + address);
  return socket;
}

FileDescriptor connect_udp(const Endpoint& peer, const SocketOptions& options) {
  const SocketAddress remote = parse_address(peer);
  FileDescriptor socket = make_udp_socket(remote.any.sa_family, options);
  checked(::connect(socket.number(), &remote.any, size_of(remote)), "connect " + peer.address);
  return socket;
}

std::uint16_t local_port(const FileDescriptor& socket) {
  SocketAddress local{};
  socklen_t size = sizeof local;
  checked(::getsockname(socket.number(), &local.any, &size), "getsockname");
  return ntohs(local.any.sa_family == AF_INET ? local.ipv4.sin_port : local.ipv6.sin6_port);
}

FileDescriptor accept_tcp(const FileDescriptor& listener, Time patience) {
  pollfd waiting{listener.number(), POLLIN, 0};
  const auto milliseconds = static_cast<int>(patience.whole_microseconds() / 1'000);
  if (checked(::poll(&waiting, 1, milliseconds), "poll") == 0) {
    throw std::runtime_error("the sender did not connect in time");
  }
  return FileDescriptor(
      checked(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC), "accept"));
}

FileDescriptor connect_tcp(const Endpoint& peer, const SocketOptions& options) {
  const SocketAddress remote = parse_address(peer);
  FileDescriptor socket = make_socket(remote.any.sa_family, options);
  checked(::connect(socket.number(), &remote.any, size_of(remote)),
          fmt::format("connect {} port {}", peer.address, peer.port));
  return socket;
}

int stored_option(const FileDescriptor& socket, int level, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  checked(::getsockopt(socket.number(), level, option, &value, &size), "getsockopt");
  return value;
}

}  // namespace linerate::realnet
