#include "realnet/traffic/datagram_io.hpp"

#include <sys/socket.h>

namespace linerate::realnet {
void unbind_from_queues(const FileDescriptor& socket) {
  constexpr int kUnderWay = 32 << 20;
  // More than everyone is allowed needs CAP_NET_ADMIN.
  for (const int option : {SO_SNDBUF, SO_SNDBUFFORCE}) {
    ::setsockopt(socket.number(), SOL_SOCKET, option, &kUnderWay, sizeof kUnderWay);
  }
}

void TimestampClock::follow() {
  const Time now = monotonic_now();
  if (measured_ != Time::never() && now - measured_ < Time::seconds(1)) return;
  measured_ = now;
  // Of several tries the one least disturbed: its two looks at the one clock are closest.
  Time narrowest = Time::never();
  for (int i = 0; i < 5; ++i) {
    const Time before = monotonic_now();
    const Time real = real_now();
    const Time width = monotonic_now() - before;
    if (width >= narrowest) continue;
    narrowest = width;
    offset_ = real - (before + width / 2);
  }
}

}  // namespace linerate::realnet
