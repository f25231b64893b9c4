#include "realnet/remote/host_setup.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/if.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <stdexcept>

namespace linerate::realnet {
namespace {

/// Interface settings by ioctl (netdevice(7)).
class InterfaceControl {
 public:
  explicit InterfaceControl(const std::string& device)
      : socket_(checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket")) {
    std::strncpy(request_.ifr_name, device.c_str(), IFNAMSIZ - 1);
  }
  bool exists() { return ::ioctl(socket_.number(), SIOCGIFFLAGS, &request_) == 0; }
  bool up() { return exists() && (request_.ifr_flags & IFF_UP) != 0; }
  int mtu() {
    checked(::ioctl(socket_.number(), SIOCGIFMTU, &request_), "read the MTU");
    return request_.ifr_mtu;
  }
  void set_mtu(int mtu) {
    request_.ifr_mtu = mtu;
    checked(::ioctl(socket_.number(), SIOCSIFMTU, &request_),
            fmt::format("set MTU {} of {}", mtu, request_.ifr_name));
  }

 private:
  FileDescriptor socket_;
  ifreq request_{};
};

std::set<std::string> addresses_of(const std::string& device) {
  ifaddrs* list = nullptr;
  checked(::getifaddrs(&list), "getifaddrs");
  std::set<std::string> found;
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (!entry->ifa_addr || device != entry->ifa_name) continue;
    char text[INET6_ADDRSTRLEN] = "";
    const int family = entry->ifa_addr->sa_family;
    if (family == AF_INET) {
      ::inet_ntop(family, &reinterpret_cast<sockaddr_in*>(entry->ifa_addr)->sin_addr, text,
                  sizeof text);
    } else if (family == AF_INET6) {
      ::inet_ntop(family, &reinterpret_cast<sockaddr_in6*>(entry->ifa_addr)->sin6_addr, text,
                  sizeof text);
    }
    found.insert(text);
  }
  ::freeifaddrs(list);
  return found;
}

void check_interface(const HostSetup::Interface& interface, bool apply) {
  InterfaceControl control(interface.device);
  if (!control.exists()) {
    throw std::runtime_error(
        fmt::format("there is no interface {}; `ip link` lists those there are", interface.device));
  }
  if (!control.up()) {
    throw std::runtime_error(fmt::format("interface {} is down; start it with `ip link set {} up`",
                                         interface.device, interface.device));
  }
  const auto present = addresses_of(interface.device);
  for (const std::string& address : interface.addresses) {
    if (present.contains(address)) continue;
    throw std::runtime_error(
        fmt::format("interface {} does not have the address {} (it has: {}); correct lab.hosts, or "
                    "add it with `ip address add`",
                    interface.device, address, fmt::join(present, " ")));
  }
  const int mtu = control.mtu();
  if (mtu < interface.mtu.count() && !apply) {
    throw std::runtime_error(fmt::format(
        "interface {} has an MTU of {} B, and the experiment needs {} B: set it with `ip link set "
        "{} mtu {}`, or write `configure: apply-and-restore`",
        interface.device, mtu, interface.mtu.count(), interface.device, interface.mtu.count()));
  }
}

std::string parameter_path(const std::string& name) { return "/proc/sys/" + name; }

/// Spaces in place of tabs, as a list of numbers may be written.
std::string normal(std::string value) {
  std::replace(value.begin(), value.end(), '\t', ' ');
  return value;
}

/// What to put back.
struct Saved {
  std::vector<std::pair<std::string, int>> mtus;
  std::vector<std::pair<std::string, std::string>> parameters;

  void restore() const {
    for (const auto& [device, mtu] : mtus) quietly([&] { InterfaceControl(device).set_mtu(mtu); });
    for (const auto& [name, value] : parameters)
      quietly([&] { write_parameter(parameter_path(name), value); });
  }
  /// One that cannot be put back does not keep the others from being so.
  template <class Action>
  static void quietly(Action action) {
    try {
      action();
    } catch (const std::exception& error) {
      fmt::print(stderr, "linerate agent: not restored: {}\n", error.what());
    }
  }
};

/// The guardian's life: until its parent's end of the line is closed.
[[noreturn]] void guard(int line, const Saved& saved) {
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  char nothing = 0;
  while (::read(line, &nothing, 1) < 0 && errno == EINTR) {
  }
  saved.restore();
  ::_exit(0);
}

}  // namespace

std::vector<std::string> check_setup(const HostSetup& setup) {
  for (const auto& interface : setup.interfaces) check_interface(interface, setup.apply);
  std::vector<std::string> differing;
  if (setup.apply) return differing;
  for (const auto& [name, value] : setup.parameters) {
    const std::string present = normal(first_line(parameter_path(name)));
    if (!present.empty() && present != value)
      differing.push_back(fmt::format("{} is {}, not {}", name, present, value));
  }
  return differing;
}

std::unique_ptr<SetupGuardian> apply_setup(const HostSetup& setup) {
  Saved saved;
  for (const auto& interface : setup.interfaces) {
    const int mtu = InterfaceControl(interface.device).mtu();
    if (mtu < interface.mtu.count()) saved.mtus.emplace_back(interface.device, mtu);
  }
  for (const auto& [name, value] : setup.parameters) {
    const std::string present = first_line(parameter_path(name));
    if (!present.empty() && normal(present) != value) saved.parameters.emplace_back(name, present);
  }
  // The guardian stands before anything is changed.
  int ends[2];
  checked(::pipe(ends), "pipe");
  FileDescriptor read_end(ends[0]), write_end(ends[1]);
  const pid_t process = checked(::fork(), "fork");
  if (process == 0) {
    write_end = FileDescriptor();  // else it would wait for itself
    guard(read_end.number(), saved);
  }
  auto guardian = std::make_unique<SetupGuardian>(std::move(write_end), process);
  for (const auto& interface : setup.interfaces) {
    if (InterfaceControl(interface.device).mtu() < interface.mtu.count())
      InterfaceControl(interface.device).set_mtu(static_cast<int>(interface.mtu.count()));
  }
  for (const auto& [name, before] : saved.parameters) {
    const auto wanted = std::find_if(setup.parameters.begin(), setup.parameters.end(),
                                     [&](const auto& entry) { return entry.first == name; });
    write_parameter(parameter_path(name), wanted->second);
  }
  return guardian;
}

SetupGuardian::~SetupGuardian() {
  line_ = FileDescriptor();
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace linerate::realnet
