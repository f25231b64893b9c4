#include "experiments/definition/text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace linerate::experiments {

std::optional<std::string> read_text_file(const std::string& path, int source,
                                          Diagnostics& diagnostics) {
  const auto refuse = [&](const std::string& why) {
    diagnostics.error({source, 0, 0}, "", why);
    return std::nullopt;
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return refuse("is a directory, not a file");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) return refuse(std::string("open: ") + std::strerror(errno));
  // One byte above what read_yaml takes, so that it can say so; a pipe may never end.
  constexpr std::size_t kMost = (16u << 20) + 1;
  std::string text;
  char buffer[65536];
  while (text.size() < kMost) {
    const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get());
    text.append(buffer, got);
    if (got < sizeof buffer) break;
  }
  if (std::ferror(file.get())) return refuse(std::string("read: ") + std::strerror(errno));
  return text;
}

}  // namespace linerate::experiments
