#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <system_error>

#include "experiments/results/json.hpp"

namespace linerate::experiments {
namespace {

[[noreturn]] void fail(const char* call, const std::string& path) {
  throw std::system_error(errno, std::generic_category(), std::string(call) + " " + path);
}

/// An open file; closed in the end whatever happens.
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const std::string& path, int flags, mode_t mode) { open(path, flags, mode); }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void open(const std::string& path, int flags, mode_t mode) {
    fd_ = ::open(path.c_str(), flags, mode);
  }
  int fd() const { return fd_; }
  /// close() may be the first to report that the disk is full (NFS); so it is checked.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_ = -1;
};

void write_all(const Descriptor& file, const std::string& text, const std::string& path) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(file.fd(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", path);
    written += static_cast<std::size_t>(count);
  }
}

/// The file that a chain of symbolic links ends at, so that the link is kept and its target
/// replaced; the path itself if there is no such file yet.
std::string final_path(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result = resolved;
  std::free(resolved);
  return result;
}

/// The temporary file is gone again unless the rename succeeded.
class Temporary {
 public:
  explicit Temporary(std::string path) : path_(std::move(path)) {}
  ~Temporary() {
    if (!renamed_) ::unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  void rename_to(const std::string& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) fail("rename", target);
    renamed_ = true;
  }

 private:
  std::string path_;
  bool renamed_ = false;
};

void replace_file(const std::string& target, const std::string& text, const struct stat* existing) {
  // Another writer, or one that was killed, may hold a name already.
  std::string name;
  Descriptor file;
  for (int attempt = 0; attempt < 100 && file.fd() < 0; ++attempt) {
    name = target + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    file.open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file.fd() < 0 && errno != EEXIST) fail("open", name);
  }
  if (file.fd() < 0) fail("open", name);
  Temporary temporary(name);
  if (existing != nullptr && ::fchmod(file.fd(), existing->st_mode & 07777) != 0)
    fail("fchmod", name);
  write_all(file, text, name);
  if (::fsync(file.fd()) != 0) fail("fsync", name);
  if (!file.close()) fail("close", name);
  temporary.rename_to(target);
  // The rename itself is durable once the directory is; some file systems cannot, and need not.
  const std::size_t slash = target.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  const Descriptor folder(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder.fd() >= 0) ::fsync(folder.fd());
}

}  // namespace

void write_file_atomically(const std::string& path, const std::string& text) {
  const std::string target = final_path(path);
  struct stat existing {};
  const bool exists = ::stat(target.c_str(), &existing) == 0;
  if (!exists || S_ISREG(existing.st_mode)) {
    replace_file(target, text, exists ? &existing : nullptr);
    return;
  }
  // A terminal, a pipe or /dev/null is written to; replacing it by a file would destroy it.
  Descriptor file(target, O_WRONLY | O_CLOEXEC, 0);
  if (file.fd() < 0) fail("open", target);
  write_all(file, text, target);
  if (!file.close()) fail("close", target);
}

}  // namespace linerate::experiments
