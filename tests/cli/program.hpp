// The built executable as a child process: what scripts see of it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace linerate::tests {

/// An empty folder that goes away with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& text) const;
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

std::string text_of(const std::string& path);

struct Run {
  int code = -1;               ///< exit code; 128 + n when a signal killed it
  std::string output, errors;  ///< standard output and standard error
};

/// A child that still runs.
class Program {
 public:
  /// Starts the executable; `input` is its standard input, `environment` holds "NAME=value" over a
  /// minimal one. `command` stands before it, such as {"setpriv", …}.
  explicit Program(const std::vector<std::string>& arguments, const std::string& input = {},
                   const std::vector<std::string>& environment = {},
                   const std::vector<std::string>& command = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const;
  /// Waits until `text` stands on its standard error; false after 20 s or when it has ended.
  bool wait_for_error_text(const std::string& text) const;
  /// Waits for its end; kills it after 60 s.
  Run finish();

 private:
  TemporaryFolder folder_;
  pid_t pid_ = -1;
};

/// Runs the executable to its end.
Run run(const std::vector<std::string>& arguments, const std::string& input = {},
        const std::vector<std::string>& environment = {});

/// The same as somebody without rights, whoever runs the tests.
Run run_unprivileged(const std::vector<std::string>& arguments);

/// A file that everybody may read and folders that everybody may enter, so that
/// run_unprivileged works in them.
void open_to_everybody(const std::string& path);

}  // namespace linerate::tests
