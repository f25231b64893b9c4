#include "cli/console.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/failure.hpp"
#include "cli/interrupt.hpp"
#include "experiments/results/json.hpp"

namespace linerate::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestInput = std::size_t{256} << 20;

std::string words_of(int error) { return std::generic_category().message(error); }

/// Returns errno, or 0 when all was written.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Closes a descriptor we opened.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ > STDERR_FILENO) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

bool is_device_or_pipe(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

bool Console::colour() const {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term == nullptr || std::strcmp(term, "dumb") == 0) return false;
  return ::isatty(STDOUT_FILENO) == 1;
}

// The file first: a closed or full standard output must not cost the document of a long run.
void Console::deliver(std::string_view text, std::string_view document) const {
  write_file(document);
  if (options_.json || options_.file == "-") {
    write_standard_output(document);
  } else if (!options_.quiet) {
    write_standard_output(text);
  }
}

void Console::deliver(std::string_view document) const {
  write_file(document);
  if (options_.json || options_.file.empty() || options_.file == "-")
    write_standard_output(document);
}

void Console::write_file(std::string_view document) const {
  if (options_.file.empty() || options_.file == "-") return;
  try {
    experiments::write_file_atomically(options_.file, std::string(document));
  } catch (const std::system_error& error) {
    write_standard_error("linerate: " + options_.file + ": cannot be written: " + error.what() +
                         "; the document is on standard output instead\n");
    write_standard_output(document);
    // Said already, and standard output holds its one document: there is nothing left to report.
    throw Failure(ExitCode::refused, {});
  }
}

void Console::warn(const std::vector<experiments::Diagnostic>& warnings) const {
  if (options_.quiet) return;
  for (const auto& warning : warnings)
    write_standard_error("warning: " + experiments::format(warning) + "\n");
}

void check_writable(const std::string& path) {
  if (path == "-" || is_device_or_pipe(path)) return;
  const auto refuse = [&](const std::string& why, const std::string& remedy) {
    throw file_error(ExitCode::bad_input, path, why, remedy);
  };
  std::error_code ignored;
  if (path.empty())
    throw usage_error("an output file has an empty name", "name a file to write to");
  if (fs::is_directory(path, ignored)) refuse("is a directory", "name a file to write to");
  const fs::path directory = fs::absolute(path).parent_path();
  if (!fs::is_directory(directory, ignored))
    refuse("cannot be written: the directory " + directory.string() + " does not exist",
           "create it first");
  // The file appears by rename, which needs a writable directory whatever the file allows.
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    refuse("cannot be written: the directory " + directory.string() + ": " + words_of(errno), "");
}

void write_standard_output(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE)
    throw file_error(ExitCode::refused, "standard output", "cannot be written: " + words_of(error));
}

void write_standard_error(std::string_view text) {
  // Diagnostics that cannot be shown must not stop the work they are about.
  (void)write_all(STDERR_FILENO, text);
}

void check_readable(const std::string& path) {
  if (path == "-") return;
  const auto refuse = [&](const std::string& why, const std::string& remedy) {
    throw file_error(ExitCode::bad_input, path, why, remedy);
  };
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0)
    refuse("cannot be read: " + words_of(errno),
           errno == ENOENT ? "`linerate init --list` shows templates to start from" : "");
  if (S_ISDIR(status.st_mode)) refuse("is a directory", "name a file in it");
  if (::access(path.c_str(), R_OK) != 0) refuse("cannot be read: " + words_of(errno), "");
}

std::string read_input(const std::string& path) {
  check_readable(path);
  const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name = path == "-" ? "standard input" : path;
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = file.number() < 0 ? -1 : ::read(file.number(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) {
      if (!stop_requested()) continue;
      throw file_error(interrupt_code(), name, "interrupted while it was read");
    }
    if (count < 0)
      throw file_error(ExitCode::bad_input, name, "cannot be read: " + words_of(errno));
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > kLargestInput)
      throw file_error(ExitCode::bad_input, name, "is larger than 256 MiB");
  }
}

}  // namespace linerate::cli
