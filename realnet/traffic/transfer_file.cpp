#include "realnet/traffic/transfer_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

namespace linerate::realnet {
namespace {

FileDescriptor nameless_file() {
  const char* chosen = ::getenv("TMPDIR");
  // /tmp is often memory, which would be a disk without a limit.
  const std::string folder = chosen && *chosen ? chosen : "/var/tmp";
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return FileDescriptor(file);
  // A file system without such files: one whose name goes at once.
  std::string name = folder + "/linerate-XXXXXX";
  FileDescriptor named(checked(::mkostemp(name.data(), O_CLOEXEC), "create a file in " + folder));
  ::unlink(name.c_str());
  return named;
}

}  // namespace

TransferFile TransferFile::to_read(Bytes size) {
  TransferFile made;
  made.file_ = nameless_file();
  const std::vector<char> block(std::size_t{1} << 20, 'x');
  for (std::int64_t left = size.count(); left > 0;) {
    const auto piece = std::min<std::int64_t>(left, static_cast<std::int64_t>(block.size()));
    made.write(block.data(), static_cast<std::size_t>(piece));
    left -= piece;
  }
  checked(::fsync(made.file_.number()), "fsync of the file to send");
  // Advice only; what stays cached is read faster, as it is for any program.
  static_cast<void>(::posix_fadvise(made.file_.number(), 0, 0, POSIX_FADV_DONTNEED));
  checked(static_cast<int>(::lseek(made.file_.number(), 0, SEEK_SET)), "lseek");
  made.spent_ = {};
  return made;
}

TransferFile TransferFile::to_write() {
  TransferFile made;
  made.file_ = nameless_file();
  return made;
}

void TransferFile::read(char* data, std::size_t size) {
  const Time before = monotonic_now();
  while (size > 0) {
    const ssize_t came = ::read(file_.number(), data, size);
    if (came == 0) throw std::system_error(EIO, std::generic_category(), "the file to send ends");
    if (came < 0 && errno != EINTR) throw_errno("read the file to send");
    if (came < 0) continue;
    data += came;
    size -= static_cast<std::size_t>(came);
  }
  spent_ += monotonic_now() - before;
}

void TransferFile::write(const char* data, std::size_t size) {
  const Time before = monotonic_now();
  while (size > 0) {
    const ssize_t taken = ::write(file_.number(), data, size);
    if (taken < 0 && errno != EINTR) throw_errno("write a transferred file");
    if (taken < 0) continue;
    data += taken;
    size -= static_cast<std::size_t>(taken);
  }
  spent_ += monotonic_now() - before;
}

}  // namespace linerate::realnet
