#include "realnet/traffic/round_barrier.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "realnet/system.hpp"

namespace linerate::realnet {

RoundBarrier::Round RoundBarrier::arrive(bool more, const std::atomic<bool>& cut) {
  // The word itself: std::atomic::wait() is for the threads of one process.
  static_assert(sizeof round_ == sizeof(std::uint32_t));
  const std::uint32_t round = round_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
    arrived_ = 0;
    over_ = !more;
    const Time now = monotonic_now();
    opened_ = now.picoseconds();
    round_.fetch_add(1, std::memory_order_release);
    if (::syscall(SYS_futex, &round_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0) < 0)
      throw_errno("futex wake");
    return {true, more, now};
  }
  const timespec patience{0, 100'000'000};
  while (round_.load(std::memory_order_acquire) == round) {
    if (cut) return {};
    if (::syscall(SYS_futex, &round_, FUTEX_WAIT, round, &patience, nullptr, 0) < 0 &&
        errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT)
      throw_errno("futex wait");
  }
  // Nobody can have arrived for the round after the one that has begun: this member is in it.
  return {false, !over_, Time::picoseconds(opened_)};
}

}  // namespace linerate::realnet
