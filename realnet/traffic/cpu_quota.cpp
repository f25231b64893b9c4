#include "realnet/traffic/cpu_quota.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "realnet/system.hpp"

namespace linerate::realnet {
namespace {

namespace groups = std::filesystem;

constexpr const char* kVersion1 = "/sys/fs/cgroup/cpu";
constexpr const char* kVersion2 = "/sys/fs/cgroup";
constexpr const char* kGroup = "linerate-quota-";
constexpr std::int64_t kPeriod = 100'000;  // us

bool is_version_1() { return groups::exists(fmt::format("{}/cpu.cfs_quota_us", kVersion1)); }

/// Where groups are made, or "" without a cpu controller.
std::string group_root() {
  if (is_version_1()) return kVersion1;
  const std::string controllers = first_line(fmt::format("{}/cgroup.subtree_control", kVersion2));
  return (" " + controllers + " ").find(" cpu ") != std::string::npos ? kVersion2 : "";
}

std::string group_of(const std::string& root, pid_t process) {
  return fmt::format("{}/{}{}", root, kGroup, process);
}

}  // namespace

void join_quota(double share) {
  const std::string root = group_root();
  if (root.empty()) {
    throw std::runtime_error(
        "cpu.quota needs the cpu controller of control groups, which this machine has not switched "
        "on: echo +cpu > /sys/fs/cgroup/cgroup.subtree_control");
  }
  const std::string group = group_of(root, ::getpid());
  checked(::mkdir(group.c_str(), 0755), "mkdir " + group);
  const auto quota = static_cast<std::int64_t>(std::llround(share * kPeriod));
  if (is_version_1()) {
    write_parameter(group + "/cpu.cfs_period_us", std::to_string(kPeriod));
    write_parameter(group + "/cpu.cfs_quota_us", std::to_string(quota));
  } else {
    write_parameter(group + "/cpu.max", fmt::format("{} {}", quota, kPeriod));
  }
  write_parameter(group + "/cgroup.procs", std::to_string(::getpid()));
}

void remove_quotas(pid_t process) {
  const std::string root = group_root();
  if (root.empty()) return;
  ::rmdir(group_of(root, process).c_str());
  std::error_code none;
  for (const auto& entry : groups::directory_iterator(root, none)) {
    const std::string name = entry.path().filename();
    if (name.rfind(kGroup, 0) != 0) continue;
    pid_t owner = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] =
        std::from_chars(name.data() + std::string(kGroup).size(), end, owner);
    // A group with a process in it cannot be removed, whoever's it is.
    if (error == std::errc() && stop == end && ::kill(owner, 0) != 0 && errno == ESRCH)
      ::rmdir(entry.path().c_str());
  }
}

}  // namespace linerate::realnet
