#include "realnet/greeting.hpp"

#include <poll.h>
#include <sys/socket.h>
namespace linerate::realnet {
namespace {

constexpr int kDiscard = 9;      // RFC 863; no host of a lab serves it
constexpr int kPatience = 2000;  // ms

}  // namespace

void greet(const std::string& address, const SocketOptions& options) {
  const FileDescriptor socket = connect_udp({address, kDiscard}, options);
  const char nothing = 0;
  if (::send(socket.number(), &nothing, sizeof nothing, 0) < 0) return;
  pollfd answered{socket.number(), 0, 0};  // port unreachable (RFC 1122 4.1.3.1) is an error
  static_cast<void>(::poll(&answered, 1, kPatience));
}

}  // namespace linerate::realnet
