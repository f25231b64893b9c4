// The lab: how each host of a lab of real hosts is reached, and on which interfaces.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "experiments/definition/build.hpp"
#include "experiments/definition/nearest.hpp"

namespace linerate::experiments {
namespace {

/// Whether `text` is an address of `family` with a prefix length.
bool is_prefixed_address(const std::string& text, int family) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  unsigned char address[16];
  if (::inet_pton(family, text.substr(0, slash).c_str(), address) != 1) return false;
  int length = -1;
  const char* begin = text.data() + slash + 1;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, length);
  return error == std::errc{} && rest == end && length >= 0 &&
         length <= (family == AF_INET ? 32 : 128);
}

class LabBuilder {
 public:
  explicit LabBuilder(BuildContext& context) : context_(context) {}

  void build() {
    for (const LabHost& host : context_.spec.lab_hosts) check_host(host);
    for (const LabSwitch& entry : context_.spec.lab_switches) {
      if (!context_.switches.contains(entry.name)) {
        error("lab.switches." + entry.name, "there is no such switch",
              "name a switch of `switches`");
      }
    }
    for (const Test& test : context_.experiment.tests) check_test(test);
  }

 private:
  void error(const std::string& path, std::string message, std::string remedy) {
    context_.error(path, std::move(message), std::move(remedy));
  }

  void check_host(const LabHost& entry) {
    const std::string path = "lab.hosts." + entry.name;
    const auto found = context_.hosts.find(entry.name);
    if (found == context_.hosts.end()) {
      std::vector<std::string> names;
      for (const auto& [name, index] : context_.hosts) names.push_back(name);
      return error(path, "there is no such host", suggest(entry.name, names));
    }
    if (entry.ssh.empty() == entry.command.empty()) {
      error(path,
            entry.ssh.empty() ? "nothing says how it is reached" : "it is reached in two ways",
            "write `ssh: user@host`, or `command: [ip, netns, exec, name]`");
    }
    const Host& host = context_.experiment.hosts[static_cast<std::size_t>(found->second)];
    for (const LabInterface& interface : entry.interfaces) check_interface(path, host, interface);
  }

  void check_interface(const std::string& host_path, const Host& host,
                       const LabInterface& interface) {
    const std::string path = host_path + ".interfaces." + interface.name;
    if (find_nic(host, interface.name) < 0) {
      error(path, fmt::format("host {} has no NIC of this name", host.name),
            "it has " + nic_list(host));
    }
    if (interface.device.size() > 15) {
      error(path + ".device", "no Linux interface has a name of more than 15 characters",
            "write the name that `ip link` shows");
    }
    if (!interface.address.empty() && !is_prefixed_address(interface.address, AF_INET)) {
      error(path + ".address",
            fmt::format("`{}` is no IPv4 address with prefix length", interface.address),
            "write it as in 192.0.2.1/24");
    }
    if (!interface.address6.empty() && !is_prefixed_address(interface.address6, AF_INET6)) {
      error(path + ".address6",
            fmt::format("`{}` is no IPv6 address with prefix length", interface.address6),
            "write it as in 2001:db8::1/64");
    }
  }

  void check_test(const Test& test) {
    for (const Test::Pair& pair : test.pairs) {
      check_end(test, pair.from_host, pair.from_nic);
      check_end(test, pair.to_host, pair.to_nic);
    }
  }

  /// Once for each NIC.
  void check_end(const Test& test, int host_index, int nic_index) {
    const Host& host = context_.experiment.hosts[static_cast<std::size_t>(host_index)];
    const Nic& nic = host.nics[static_cast<std::size_t>(nic_index)];
    if (!seen_.insert({host_index, nic_index, test.ip}).second) return;
    const auto& entries = context_.spec.lab_hosts;
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const LabHost& e) { return e.name == host.name; });
    if (entry == entries.end()) {
      return error(
          "lab.hosts",
          fmt::format("test {} needs host {}, and nothing says where it is", test.name, host.name),
          fmt::format("add `{}: {{ssh: user@host, interfaces: {{{}: {{device: …, "
                      "address: …}}}}}}`",
                      host.name, nic.name));
    }
    const auto interface = std::find_if(entry->interfaces.begin(), entry->interfaces.end(),
                                        [&](const LabInterface& i) { return i.name == nic.name; });
    const std::string path = "lab.hosts." + host.name + ".interfaces";
    if (interface == entry->interfaces.end()) {
      return error(path,
                   fmt::format("test {} needs NIC {} of host {}", test.name, nic.name, host.name),
                   fmt::format("add `{}: {{device: …, address: …}}`", nic.name));
    }
    const std::string key = test.ip == 6 ? "address6" : "address";
    if ((test.ip == 6 ? interface->address6 : interface->address).empty()) {
      error(path + "." + nic.name,
            fmt::format("test {} needs its IPv{} address", test.name, test.ip),
            fmt::format("add `{}: {}`", key, test.ip == 6 ? "2001:db8::1/64" : "192.0.2.1/24"));
    }
  }

  BuildContext& context_;
  std::set<std::tuple<int, int, int>> seen_;
};

}  // namespace

void build_lab(BuildContext& context) {
  context.experiment.lab = context.spec.lab;
  context.experiment.lab_in_turn = context.spec.lab_in_turn;
  context.experiment.lab_hosts = context.spec.lab_hosts;
  context.experiment.lab_configure = context.spec.lab_configure.value_or(LabConfigure::check);
  if (context.spec.lab == LabType::hosts) {
    if (context.read.diagnostics.touched("lab")) return;
    LabBuilder(context).build();
    return;
  }
  for (const char* key : {"hosts", "switches", "configure"}) {
    const std::string path = std::string("lab.") + key;
    if (context.given(path)) {
      context.error(path, "only a lab of real hosts has it", "write `type: hosts`, or remove it");
    }
  }
}

}  // namespace linerate::experiments
