// What a real host must be for the tests: checked, or made so and undone afterwards.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "realnet/system.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

struct HostSetup {
  struct Interface {
    std::string device;
    std::vector<std::string> addresses;  ///< that it must have, without prefix length
    Bytes mtu;                           ///< that it must take
  };
  std::vector<Interface> interfaces;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< below /proc/sys, with value
  bool apply = false;  ///< set MTU and parameters; else only look
};

/// Throws std::runtime_error, with a remedy, for an interface that is missing, down, without its
/// address or (where nothing may be set) with too small an MTU. Returns the parameters that differ
/// and stay so, "net/ipv4/tcp_sack is 1, not 0".
std::vector<std::string> check_setup(const HostSetup& setup);

/// Restores what apply_setup() changed: a process that waits for its parent to end, however it
/// does.
class SetupGuardian {
 public:
  SetupGuardian(FileDescriptor line, int process) : line_(std::move(line)), process_(process) {}
  SetupGuardian(const SetupGuardian&) = delete;
  SetupGuardian& operator=(const SetupGuardian&) = delete;
  ~SetupGuardian();  ///< waits until everything is as it was

 private:
  FileDescriptor line_;
  int process_;
};

/// Sets MTU and parameters. Throws std::system_error; then everything is as it was.
std::unique_ptr<SetupGuardian> apply_setup(const HostSetup& setup);

}  // namespace linerate::realnet
