#include "realnet/probe/probe.hpp"

#include <fmt/format.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/route/tc.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>

#include "realnet/system.hpp"

namespace linerate::realnet {
namespace {

/// Parameters that decide how fast TCP gets.
constexpr const char* kParameters[] = {"net/core/default_qdisc",
                                       "net/core/netdev_budget",
                                       "net/core/netdev_max_backlog",
                                       "net/core/rmem_max",
                                       "net/core/wmem_max",
                                       "net/ipv4/tcp_available_congestion_control",
                                       "net/ipv4/tcp_congestion_control",
                                       "net/ipv4/tcp_ecn",
                                       "net/ipv4/tcp_moderate_rcvbuf",
                                       "net/ipv4/tcp_mtu_probing",
                                       "net/ipv4/tcp_rmem",
                                       "net/ipv4/tcp_sack",
                                       "net/ipv4/tcp_slow_start_after_idle",
                                       "net/ipv4/tcp_timestamps",
                                       "net/ipv4/tcp_window_scaling",
                                       "net/ipv4/tcp_wmem"};

/// Those that a lab or a host may want.
constexpr const char* kDisciplines[] = {
    "cake",  "codel",      "etf", "fq",   "fq_codel", "htb", "mqprio", "netem",
    "pfifo", "pfifo_fast", "pie", "prio", "red",      "sfq", "taprio", "tbf"};

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos)
      return line.substr(std::min(line.size(), colon + 2));
  }
  return {};
}

/// Tries each discipline on the loopback device of a network namespace that exists for this only.
std::vector<std::string> disciplines_of_kernel() {
  std::vector<std::string> found;
  std::thread apart([&] {
    if (::unshare(CLONE_NEWNET) != 0) return;
    const std::unique_ptr<nl_sock, void (*)(nl_sock*)> socket(nl_socket_alloc(), nl_socket_free);
    if (!socket || nl_connect(socket.get(), NETLINK_ROUTE) < 0) return;
    std::uint32_t number = 0;
    for (const char* kind : kDisciplines) {
      // By hand: libnl's own modules end the program for some kinds without options.
      nl_msg* request = nlmsg_alloc_simple(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
      if (!request) return;
      tcmsg header{};
      header.tcm_ifindex = 1;  // the loopback device, in every namespace
      header.tcm_parent = TC_H_ROOT;
      header.tcm_handle = TC_HANDLE(++number, 0);  // the kind of an old one may not change
      nlmsg_append(request, &header, sizeof header, NLMSG_ALIGNTO);
      nla_put_string(request, TCA_KIND, kind);
      const int answer = nl_send_sync(socket.get(), request);  // which also frees the request
      // One that wants options, or another device, is there all the same.
      if (answer != -NLE_OBJ_NOTFOUND) found.push_back(kind);
    }
  });
  apart.join();
  return found;
}

/// A legal name of a host or NIC: [a-z][a-z0-9-]*.
std::string legal_name(const std::string& name, const char* otherwise) {
  std::string legal;
  for (const char c : name.substr(0, name.find('.'))) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool letter = lower >= 'a' && lower <= 'z';
    const bool digit = lower >= '0' && lower <= '9';
    if (legal.empty() && !letter) continue;
    legal += letter || digit ? lower : '-';
  }
  return legal.empty() ? otherwise : legal;
}

/// A value of the machine in a comment must not end it.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

std::string rate_text(int megabits) {
  return megabits % 1000 == 0 ? fmt::format("{}Gbit/s", megabits / 1000)
                              : fmt::format("{}Mbit/s", megabits);
}

class Block {
 public:
  void line(int depth, const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(depth) * 2, ' ') + text + "\n";
  }
  void comment(int depth, const std::string& text) { line(depth, "# " + one_line(text)); }
  std::string text_;
};

std::string parameter(const MachineFacts& facts, const std::string& path) {
  const auto found = std::find_if(facts.parameters.begin(), facts.parameters.end(),
                                  [&](const auto& entry) { return entry.first == path; });
  return found == facts.parameters.end() ? "" : found->second;
}

/// The three numbers of tcp_rmem or tcp_wmem; empty when it is not of that form.
std::vector<long long> three_sizes(const std::string& text) {
  std::istringstream stream(text);
  std::vector<long long> sizes(std::istream_iterator<long long>(stream), {});
  return sizes.size() == 3 ? sizes : std::vector<long long>{};
}

void write_stack(const MachineFacts& facts, Block& block) {
  std::vector<std::string> fields{"preset: linux-6"};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) fields.push_back(fmt::format("{}: {}", key, value));
  };
  const auto on_off = [&](const char* path) {
    const std::string value = parameter(facts, path);
    return value.empty() ? "" : value == "0" ? "off" : "on";
  };
  const std::string congestion = parameter(facts, "net/ipv4/tcp_congestion_control");
  if (congestion == "cubic" || congestion == "reno" || congestion == "bbr")
    add("congestion", congestion);
  add("timestamps", on_off("net/ipv4/tcp_timestamps"));
  add("sack", on_off("net/ipv4/tcp_sack"));
  add("window_scaling", on_off("net/ipv4/tcp_window_scaling"));
  const auto receive = three_sizes(parameter(facts, "net/ipv4/tcp_rmem"));
  const auto send = three_sizes(parameter(facts, "net/ipv4/tcp_wmem"));
  if (!receive.empty()) {
    add("receive_buffer", fmt::format("{}B", receive[1]));
    add("receive_buffer_max", fmt::format("{}B", receive[2]));
  }
  if (!send.empty()) {
    add("send_buffer", fmt::format("{}B", send[1]));
    add("send_buffer_max", fmt::format("{}B", send[2]));
  }
  const std::string limit = parameter(facts, "net/core/rmem_max");
  if (!limit.empty()) add("socket_buffer_limit", limit + "B");
  block.line(2, fmt::format("stack: {{{}}}", fmt::join(fields, ", ")));
}

/// A host has one bus; the first NIC whose place on it is known speaks for all.
void write_bus(const MachineFacts& facts, Block& block) {
  for (const NicFacts& nic : facts.nics) {
    if (!nic.bus || !nic.bus->generation || !nic.bus->lanes) continue;
    std::string text = fmt::format("bus: {{type: pcie, generation: {}, lanes: {}",
                                   *nic.bus->generation, *nic.bus->lanes);
    if (nic.bus->max_payload) text += fmt::format(", max_payload: {}B", *nic.bus->max_payload);
    if (nic.bus->max_read_request)
      text += fmt::format(", max_read_request: {}B", *nic.bus->max_read_request);
    block.line(2, text + "}  # of " + nic.device);
    return;
  }
}

std::string coalescing_text(const CoalesceFacts& facts) {
  return fmt::format("{{delay: {}us, frames: {}}}", facts.microseconds, facts.frames);
}

void write_comments(const NicFacts& nic, Block& block) {
  block.comment(4, fmt::format("driver {} {}{}", nic.driver, nic.driver_version,
                               nic.queues ? fmt::format(", {} queue(s)", *nic.queues) : ""));
  if (nic.most_transmit_ring && nic.most_receive_ring) {
    block.comment(4, fmt::format("rings take up to {} and {} descriptors", *nic.most_transmit_ring,
                                 *nic.most_receive_ring));
  }
  if (nic.bus) {
    std::string place = "bus address " + nic.bus->address;
    if (nic.bus->generation && nic.bus->lanes) {
      place +=
          fmt::format(", PCIe generation {} x{} (of {} x{})", *nic.bus->generation, *nic.bus->lanes,
                      nic.bus->most_generation.value_or(0), nic.bus->most_lanes.value_or(0));
    }
    if (nic.numa_node) place += fmt::format(", NUMA node {}", *nic.numa_node);
    block.comment(4, place);
  }
  if (!nic.megabits) block.comment(4, "it does not say at which speed it runs: give `rates`");
  if ((nic.receive_coalescing && nic.receive_coalescing->adaptive) ||
      (nic.transmit_coalescing && nic.transmit_coalescing->adaptive)) {
    block.comment(4, "moderation is adaptive: the values below are where it stands now");
  }
  if (nic.lro.value_or(false)) block.comment(4, "large receive offload is on");
}

void write_nic(const NicFacts& nic, Block& block) {
  block.line(3, legal_name(nic.device, "nic") + ":");
  write_comments(nic, block);
  if (nic.megabits) block.line(4, fmt::format("rates: [{}]", rate_text(*nic.megabits)));
  if (nic.mtu >= 68 && nic.mtu <= 65'535) block.line(4, fmt::format("mtu: {}B", nic.mtu));
  if (nic.transmit_ring.value_or(0) > 0)
    block.line(4, fmt::format("transmit_ring: {}", *nic.transmit_ring));
  if (nic.receive_ring.value_or(0) > 0)
    block.line(4, fmt::format("receive_ring: {}", *nic.receive_ring));
  if (nic.transmit_queue > 0) block.line(4, fmt::format("transmit_queue: {}", nic.transmit_queue));
  if (nic.receive_coalescing && nic.transmit_coalescing) {
    block.line(4,
               fmt::format("coalesce: {{rx: {}, tx: {}}}", coalescing_text(*nic.receive_coalescing),
                           coalescing_text(*nic.transmit_coalescing)));
  }
  std::vector<std::string> offloads;
  const auto offload = [&](const char* key, std::optional<bool> on) {
    if (on) offloads.push_back(fmt::format("{}: {}", key, *on ? "on" : "off"));
  };
  offload("checksum", nic.checksum);
  offload("tso", nic.tso);
  offload("gro", nic.gro);
  if (!offloads.empty()) block.line(4, fmt::format("offloads: {{{}}}", fmt::join(offloads, ", ")));
}

}  // namespace

MachineFacts probe_machine() {
  MachineFacts facts;
  utsname system{};
  ::uname(&system);
  facts.name = system.nodename;
  facts.kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  facts.cpu_model = cpu_model();
  cpu_set_t usable;
  facts.cores = ::sched_getaffinity(0, sizeof usable, &usable) == 0
                    ? CPU_COUNT(&usable)
                    : static_cast<int>(std::thread::hardware_concurrency());
  for (const std::string& device : hardware_devices()) facts.nics.push_back(facts_of(device));
  for (const char* path : kParameters) {
    const std::string value = first_line(std::string("/proc/sys/") + path);
    if (!value.empty()) facts.parameters.emplace_back(path, value);
  }
  facts.queue_disciplines = disciplines_of_kernel();
  return facts;
}

std::string host_block(const MachineFacts& facts, const std::string& name) {
  Block block;
  block.comment(0, fmt::format("{}, as `linerate probe` found it: {}", facts.name, facts.kernel));
  block.line(0, "hosts:");
  block.line(1, legal_name(name.empty() ? facts.name : name, "machine") + ":");
  if (!facts.cpu_model.empty()) block.comment(2, facts.cpu_model);
  block.line(2, fmt::format("cpu: {{cores: {}}}", std::max(facts.cores, 1)));
  write_stack(facts, block);
  write_bus(facts, block);
  for (const auto& [path, value] : facts.parameters)
    block.comment(2, fmt::format("{} = {}", path, value));
  if (!facts.queue_disciplines.empty()) {
    block.comment(2,
                  fmt::format("queueing disciplines: {}", fmt::join(facts.queue_disciplines, " ")));
  } else {
    block.comment(2, "queueing disciplines: not asked, which needs root");
  }
  if (facts.nics.empty()) {
    block.line(2, "nics: {}");
    return block.text_;
  }
  block.line(2, "nics:");
  for (const NicFacts& nic : facts.nics) write_nic(nic, block);
  return block.text_;
}

}  // namespace linerate::realnet
