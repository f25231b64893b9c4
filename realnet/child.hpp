// A process that runs one end of a transfer and cannot outlive the one that started it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>

#include "realnet/system.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// The child's side of its line to the parent.
class ParentLine {
 public:
  explicit ParentLine(FileDescriptor socket) : socket_(std::move(socket)) {}
  void say(char message) const;  ///< throws std::system_error
  void wait_for_go() const;      ///< until the parent says go

 private:
  FileDescriptor socket_;
};

/// Where a child leaves the reason of its failure, zero-terminated.
using FailureText = std::span<char>;

class Child {
 public:
  /// Forks. The child runs `body` in a session of its own and is killed by the kernel after
  /// `limit` or when the parent dies; what `body` throws goes to `failure` (shared memory).
  Child(const std::function<void(const ParentLine&)>& body, FailureText failure, Time limit);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  ///< kills and reaps

  void go() const;
  /// To poll for a message or the end of the child.
  int line() const { return line_.number(); }
  /// The next message, 0 when there is none yet, -1 when the child has ended.
  int message() const;

 private:
  FileDescriptor line_;
  pid_t process_ = -1;
};

}  // namespace linerate::realnet
