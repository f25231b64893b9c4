// Thin owners of what the kernel hands out, and one way to report what it refuses.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "sim/units.hpp"

namespace linerate::realnet {

/// A file descriptor with one owner.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  int number() const { return number_; }

 private:
  int number_ = -1;
};

/// Throws std::system_error with errno's meaning after `call` ("bind 198.18.0.2").
[[noreturn]] void throw_errno(const std::string& call);

/// `result` of a system call, or throws std::system_error naming `call` if it is negative.
int checked(int result, const std::string& call);

/// CLOCK_MONOTONIC, which a program shares with its children; both ends of a test are timed by it.
/// It counts from about when the program started, because a Time spans 106 days and machines run
/// for longer. In an agent it is that of its controller, as far as shift_clock() can make it so.
Time monotonic_now();

/// CLOCK_REALTIME, counted from about when the program started, for the same reason.
Time real_now();
/// The same for a moment the kernel has stamped.
Time real_time(std::int64_t seconds, std::int64_t nanoseconds);

/// Adds `offset` to what monotonic_now() returns from now on, here and in children forked later,
/// and takes it from the deadlines of sleep_until(): an agent keeps its controller's time.
void shift_clock(Time offset);

/// Sleeps until monotonic_now() reaches `deadline`; interruptions do not shorten it.
void sleep_until(Time deadline);

/// The first line of a file (a kernel parameter), or empty when it cannot be read.
std::string first_line(const std::string& path);

/// Writes `value` to a kernel parameter below /proc/sys. Throws std::system_error.
void write_parameter(const std::string& path, const std::string& value);

/// Runs `action` in a thread of its own inside the network namespace `descriptor` and hands its
/// exception on, so that the caller never leaves its own namespace.
void run_in_namespace(int descriptor, const std::function<void()>& action);

}  // namespace linerate::realnet
