// Another program, with pipes at its standard input and output.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "realnet/system.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// A running program that ends with its owner: its input is closed, and what has not ended a second
/// later is killed with its process group. The kernel kills it when this process dies.
class Program {
 public:
  /// Starts `command` (found by PATH) with this process's standard error. Throws EnvironmentError
  /// when it cannot be started.
  explicit Program(const std::vector<std::string>& command);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  const FileDescriptor& output() const { return output_; }
  const FileDescriptor& input() const { return input_; }
  void close_input() { input_ = FileDescriptor(); }
  /// Waits up to `patience` for its end; "exit code 3", "signal 9", or "" while it runs.
  std::string ending(Time patience);

 private:
  pid_t process_ = -1;
  std::string ending_;
  FileDescriptor input_, output_;
};

/// What `command` writes to its standard output. Throws EnvironmentError, which names the command
/// and what happened, when it cannot be started, fails, writes more than `most` or takes longer
/// than `patience`.
std::string output_of(const std::vector<std::string>& command, Time patience, Bytes most);

/// The user's own ssh to `host`, running `command` there. It must get in without a password.
std::vector<std::string> over_ssh(const std::string& host, const std::vector<std::string>& command);

}  // namespace linerate::realnet
