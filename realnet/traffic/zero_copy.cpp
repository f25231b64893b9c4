#include "realnet/traffic/zero_copy.hpp"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>

namespace linerate::realnet {

ZeroCopy::ZeroCopy(const FileDescriptor& socket) : socket_(&socket) {
  const int on = 1;
  checked(::setsockopt(socket.number(), SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on),
          "setsockopt SO_ZEROCOPY");
}

void ZeroCopy::take() {
  for (;;) {
    alignas(cmsghdr) char control[128];
    msghdr message{};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (::recvmsg(socket_->number(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
         part = CMSG_NXTHDR(&message, part)) {
      sock_extended_err notice{};
      std::memcpy(&notice, CMSG_DATA(part), sizeof notice);
      if (notice.ee_origin != SO_EE_ORIGIN_ZEROCOPY) continue;
      // One notice for a range of writes.
      const std::int64_t writes = std::int64_t{notice.ee_data} - notice.ee_info + 1;
      ((notice.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0 ? copied_ : zero_copied_) += writes;
    }
  }
}

void ZeroCopy::wait() {
  pollfd waiting{socket_->number(), 0, 0};  // an error queue that is not empty is always told
  static_cast<void>(::poll(&waiting, 1, 10));
  take();
}

}  // namespace linerate::realnet
