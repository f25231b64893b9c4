#include "realnet/traffic/tcp_state.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

namespace linerate::realnet {

tcp_info tcp_state(const FileDescriptor& socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  checked(::getsockopt(socket.number(), IPPROTO_TCP, TCP_INFO, &info, &size),
          "getsockopt TCP_INFO");
  return info;
}

}  // namespace linerate::realnet
