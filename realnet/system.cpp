#include "realnet/system.hpp"

#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <fstream>
#include <system_error>
#include <thread>

namespace linerate::realnet {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

void throw_errno(const std::string& call) {
  throw std::system_error(errno, std::generic_category(), call);
}

int checked(int result, const std::string& call) {
  if (result < 0) throw_errno(call);
  return result;
}

namespace {

/// One clock a process, as the kernel's is. Set before there are threads.
Time clock_offset;

/// Where this program's time begins, in whole seconds of `clock`: an hour before it started, so
/// that no moment is near to zero.
time_t origin_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec - 3600;
}

/// Known before main() and so to every child.
const time_t kMonotonicOrigin = origin_of(CLOCK_MONOTONIC);
const time_t kRealOrigin = origin_of(CLOCK_REALTIME);

}  // namespace

void shift_clock(Time offset) { clock_offset += offset; }

Time monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return Time::seconds(now.tv_sec - kMonotonicOrigin) + Time::nanoseconds(now.tv_nsec) +
         clock_offset;
}

Time real_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return real_time(now.tv_sec, now.tv_nsec);
}

Time real_time(std::int64_t seconds, std::int64_t nanoseconds) {
  return Time::seconds(seconds - kRealOrigin) + Time::nanoseconds(nanoseconds);
}

void sleep_until(Time deadline) {
  const std::int64_t nanoseconds =
      std::max<std::int64_t>((deadline - clock_offset).picoseconds() / 1'000, 0);
  const timespec until{kMonotonicOrigin + nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void write_parameter(const std::string& path, const std::string& value) {
  const FileDescriptor file(checked(::open(path.c_str(), O_WRONLY | O_CLOEXEC), "open " + path));
  if (::write(file.number(), value.data(), value.size()) < 0) {
    throw_errno("write " + value + " to " + path);
  }
}

void run_in_namespace(int descriptor, const std::function<void()>& action) {
  std::exception_ptr failure;
  std::thread inside([&] {
    try {
      checked(::setns(descriptor, CLONE_NEWNET), "setns");
      action();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  inside.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace linerate::realnet
