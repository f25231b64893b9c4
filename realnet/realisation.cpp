#include "realnet/realisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "experiments/definition/media.hpp"
#include "experiments/definition/shared_medium.hpp"
#include "experiments/definition/topology.hpp"
#include "realnet/lab_vlans.hpp"
#include "realnet/lab_wires.hpp"

namespace linerate::realnet {
namespace {

using experiments::Experiment;
using experiments::Host;
using experiments::LabType;
using experiments::Link;
using experiments::Nic;
using experiments::Stack;

/// Values of every stack parameter as text, to find where two stacks differ.
class StackTexts {
 public:
  template <class T>
  void operator()(const char* name, const T& value, const char*) {
    if constexpr (std::is_same_v<T, Bytes>) {
      texts[name] = std::to_string(value.count());
    } else if constexpr (std::is_same_v<T, Time>) {
      texts[name] = std::to_string(value.picoseconds());
    } else if constexpr (std::is_same_v<T, std::string>) {
      texts[name] = value;
    } else if constexpr (std::is_enum_v<T>) {
      texts[name] = std::to_string(static_cast<int>(value));
    } else {
      texts[name] = std::to_string(value);
    }
  }
  std::map<std::string, std::string> texts;
};

std::map<std::string, std::string> texts_of(const Stack& stack) {
  StackTexts visitor;
  Stack::describe(visitor, stack);
  return visitor.texts;
}

/// Whether buffer sizes mean what Linux means by them.
bool counts_like_linux(const Stack& stack) {
  return stack.buffer_accounting == experiments::BufferAccounting::truesize &&
         stack.buffer_factor == 2;
}

/// Whether the catalog's description of this kernel supplied a parameter of the host's stack.
bool described_by_catalog(const experiments::Experiment& experiment, const Host& host,
                          const std::string& parameter) {
  const auto origin = experiment.origins.find("hosts." + host.name + ".stack." + parameter);
  return origin != experiment.origins.end() && origin->second.source == "catalog stacks/linux-6";
}

/// Parameters in which the host's stack differs from a current Linux and which no setting of the
/// machine can bring about.
std::vector<std::string> unrealised_parameters(const experiments::Experiment& experiment,
                                               const Host& host) {
  const Stack& stack = host.stack;
  std::set<std::string> settable{"timestamps", "sack", "window_scaling", "congestion", "ecn"};
  if (counts_like_linux(stack)) {
    settable.insert({"send_buffer", "send_buffer_max", "receive_buffer", "receive_buffer_max",
                     "autotune_send", "autotune_receive", "socket_buffer_limit"});
  }
  const auto wanted = texts_of(stack);
  const auto current = texts_of(Stack{});
  std::vector<std::string> differing;
  for (const auto& [name, text] : wanted) {
    if (!settable.contains(name) && current.at(name) != text &&
        !described_by_catalog(experiment, host, name))
      differing.push_back(name);
  }
  return differing;
}

/// Collects elements under one prefix ("links.a-b").
class ElementList {
 public:
  explicit ElementList(std::vector<PlannedElement>& elements) : elements_(elements) {}
  /// Where the elements added next belong.
  PlannedElement owner;
  std::string prefix;

  void realised(const std::string& key, const std::string& why) { add(key, "realised", why); }
  void approximated(const std::string& key, const std::string& why) {
    add(key, "approximated", why);
  }
  /// `decisive`: a figure of a test that uses this element says little without it.
  void ignored(const std::string& key, const std::string& why, bool decisive) {
    add(key, "ignored", why);
    elements_.back().decisive = decisive;
  }
  PlannedElement& last() { return elements_.back(); }

 private:
  void add(const std::string& key, const std::string& how, const std::string& why) {
    PlannedElement element = owner;
    element.realisation = {prefix + "." + key, how, why};
    elements_.push_back(std::move(element));
  }
  std::vector<PlannedElement>& elements_;
};

std::string ecn_setting(experiments::EcnUse use) {
  switch (use) {
    case experiments::EcnUse::off:
      return "0";
    case experiments::EcnUse::accept:
      return "2";
    case experiments::EcnUse::on:
      return "1";
  }
  return "2";
}

void list_stack(const experiments::Experiment& experiment, const Host& host, bool own_namespace,
                ElementList& list) {
  const auto missing = unrealised_parameters(experiment, host);
  if (!missing.empty()) {
    list.ignored("stack",
                 fmt::format("the running kernel's TCP decides; it cannot be told {}",
                             fmt::join(missing, ", ")),
                 true);
    list.last().ends_only = true;
  } else if (own_namespace) {
    list.approximated("stack",
                      "the running kernel's TCP, with the options and buffer limits of the "
                      "experiment set in the host's namespace");
  } else {
    list.approximated("stack", "the running kernel's TCP with the machine's settings");
  }
}

/// Whether the NIC is one of a pair of virtual interfaces in the experiment as well.
bool is_virtual(const Experiment& experiment, const experiments::PortRef& port) {
  return std::any_of(experiment.links.begin(), experiment.links.end(), [&](const Link& link) {
    return link.medium == experiments::kVirtualPair &&
           (link.ends[0] == port || link.ends[1] == port);
  });
}

void list_virtual_nic(const Nic& nic, ElementList& list) {
  const std::string key = "nics." + nic.name;
  list.realised(key + ".mtu", fmt::format("{} B on the virtual device", nic.mtu.count()));
  list.realised(key + ".offloads.tso", "switched on or off on the virtual device");
}

constexpr const char* kNoDiscipline =
    "the lab has fifo with marks, RED that does not adapt and CoDel, without classes";

/// `followed`: a wire runs the discipline of its queue.
void list_nic(const Nic& nic, bool shaped, bool followed, ElementList& list) {
  const std::string key = "nics." + nic.name;
  if (shaped) {
    list.realised(key + ".mtu", fmt::format("{} B on the virtual device", nic.mtu.count()));
    list.approximated(key + ".transmit_queue",
                      "ring and queue are one byte limit of the link's token bucket");
  } else {
    list.ignored(key + ".mtu", "the loopback device has its own MTU", true);
  }
  if (!nic.encapsulation.empty())
    list.ignored(key + ".encapsulation", "the lab sends plain IP packets", true);
  if (nic.vlan && shaped) {
    list.approximated(key + ".vlan", "the 4 B of the tag are counted in every frame and not sent");
  } else if (nic.vlan) {
    list.ignored(key + ".vlan", "the loopback device has no frames", true);
  }
  if (nic.egress && followed) {
    list.approximated(
        key + ".queue",
        "user-space wire: the queue stands behind the host, whose TCP does not feel it "
        "fill as it feels its own");
  } else if (nic.egress) {
    list.ignored(key + ".queue", kNoDiscipline, true);
  }
  if (nic.receive_coalescing != experiments::Coalescing{} ||
      nic.transmit_coalescing != experiments::Coalescing{}) {
    list.ignored(key + ".coalesce", "a virtual device raises no interrupts", false);
  }
  if (nic.offloads.tso || nic.offloads.gro) {
    list.ignored(key + ".offloads",
                 shaped ? "off up to 200 Mbit/s and on above, as counting every frame needs"
                        : "the loopback device decides",
                 false);
  }
}

/// Whether wires run the discipline of all queues that are of `of` (a NIC, or a switch: port -1).
bool follows_queue(const Experiment& experiment, const experiments::PortRef& of) {
  for (const Link& link : experiment.links) {
    for (int end = 0; end < 2; ++end) {
      const auto& port = link.ends[end];
      const bool meant =
          port.kind == of.kind && port.node == of.node && (of.port < 0 || port.port == of.port);
      if (meant && !link.egress && !discipline_of(experiment, link, end)) return false;
    }
  }
  return true;
}

void list_hosts(const Experiment& experiment, bool netns, ElementList& list) {
  for (int i = 0; i < static_cast<int>(experiment.hosts.size()); ++i) {
    const Host& host = experiment.hosts[i];
    list.owner = {};
    list.owner.host = i;
    list.prefix = "hosts." + host.name;
    list_stack(experiment, host, netns, list);
    if (host.machine.empty())
      list.ignored("cpu", "all hosts share the processor of this machine", false);
    else
      list.approximated("machine", "this machine, which nobody compares with its description");
    if (host.cpu.slice > Time{})
      list.approximated("cpu.slice", "batch programs (sched(7)), with the kernel's slices");
    if (host.bus.type != experiments::BusType::none) {
      list.ignored("bus", "virtual devices are not behind a bus", false);
    }
    if (host.forwarding != experiments::Forwarding::none) {
      if (!netns) {
        list.ignored("forwarding", "the loopback device passes no host", true);
      } else if (host.forwarding == experiments::Forwarding::kernel) {
        list.realised("forwarding", "the running kernel forwards, in a namespace of its own");
      } else {
        list.approximated("forwarding",
                          "the running kernel forwards, where packets would be polled");
      }
    }
    if (!host.bonds.empty()) {
      list.ignored("bonds", "every NIC of the lab stands for itself", true);
    }
    for (int nic = 0; nic < static_cast<int>(host.nics.size()); ++nic) {
      const experiments::PortRef port{experiments::NodeKind::host, i, nic};
      if (netns && is_virtual(experiment, port)) {
        list_virtual_nic(host.nics[nic], list);
      } else {
        list_nic(host.nics[nic], netns, netns && follows_queue(experiment, port), list);
      }
    }
  }
}

void list_rate(const Link& link, const PlannedLink* planned, ElementList& list) {
  if (!planned) {
    list.ignored("rate", "the loopback device has no rate", true);
  } else if (link.medium == experiments::kVirtualPair) {
    list.realised("medium", "a pair of virtual interfaces, which is what the experiment says");
  } else if (link.rate > kFastestLine) {
    list.ignored("rate", "no virtual link is held to more than 10 Gbit/s", true);
  } else if (planned->wire) {
    const char* how =
        "a program between the ends gives every frame its time, with preamble, gap "
        "and FCS";
    if (link.rate <= kFrameByFrame) {
      list.realised("rate", how);
    } else {
      list.approximated("rate", fmt::format("{}; the processor may be the limit", how));
    }
  } else if (planned->ends[0].single_frames) {
    list.realised(
        "rate",
        fmt::format(
            "token bucket at each end that counts every frame with preamble, gap and FCS; {} B may "
            "leave back to back",
            planned->ends[0].shaper->burst.count()));
  } else {
    list.approximated("rate",
                      "token bucket at a rate scaled for full-sized frames; smaller frames pass "
                      "too fast, and the processor may be the limit");
  }
  if (experiments::is_shared(link)) {
    list.ignored("duplex", "virtual links are full duplex", true);
  }
}

void list_path_effects(const Experiment& experiment, const Link& link, bool netns,
                       ElementList& list) {
  // What a user-space wire does, and the loopback device does not.
  const auto emulated = [&](const char* key, bool used, const std::string& how) {
    if (!used) return;
    if (netns) {
      list.realised(key, "user-space wire: " + how);
    } else {
      list.ignored(key, "the loopback device has no line", true);
    }
  };
  emulated("delay", link.delay != Time{}, "added to the time of every frame's departure");
  emulated("jitter", link.jitter != Time{}, "uniform and seeded, order kept");
  if (netns && link.jitter_reorders)
    list.ignored("jitter_reorders", "frames of a user-space wire keep their order", true);
  emulated("loss", link.loss[0] > 0 || link.loss[1] > 0,
           "every frame is lost by a seeded draw after it has taken its time on the line");
  emulated("bit_error_rate", link.bit_error_rate > 0,
           "a frame is lost when one of its bits would be wrong, by a seeded draw");
  emulated("queue", link.queue.has_value(),
           "drop-tail limit in wire bytes; hosts hand frames over at once");
  emulated("blackholes", !link.blackholes.empty(), "all frames of the time are lost");
  emulated("mtu", link.mtu.has_value(), "larger packets are lost without a word");
  if (link.propagation != Time{}) {
    if (netns && link.propagation > kNoticeable) {
      list.realised("length", "user-space wire: propagation added to every frame's departure");
    } else {
      // 100 m of cable are half a microsecond, which no figure of a lab can tell from none.
      list.ignored("length", "virtual links have no length", link.propagation > kNoticeable);
    }
  }
  if (link.scripted() && netns && !can_follow_script(experiment, link)) {
    list.ignored("script", "not on a link that changes or whose queue decides", true);
  } else {
    emulated("script", link.scripted(), "data segments are counted at their first transmission");
  }
  if (!link.egress) return;
  if (netns && discipline_of(experiment, link, 0)) {
    list.realised("queue", "user-space wire: the discipline of the RFC, ECN marks in the packets");
  } else {
    list.ignored("queue", netns ? kNoDiscipline : "the loopback device has no line", true);
  }
}

// Whether the link goes down and a test that may cross it has another way.
bool moves_flows(const Experiment& experiment, int link) {
  const auto& events = experiment.events;
  if (std::none_of(events.begin(), events.end(), [&](const auto& e) {
        return e.link == link && e.action == experiments::LinkAction::down;
      }))
    return false;
  const experiments::Topology whole(experiment), rest(experiment, {link});
  const auto has_another_way = [&](const experiments::Test::Pair& pair) {
    const auto way = [&](const experiments::Topology& topology) {
      return std::pair(
          topology.path(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic),
          topology.path_count(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic));
    };
    return rest.reaches(pair) && way(whole) != way(rest);
  };
  return std::any_of(experiment.tests.begin(), experiment.tests.end(), [&](const auto& test) {
    return std::any_of(test.pairs.begin(), test.pairs.end(), has_another_way);
  });
}

void list_events(const Experiment& experiment, int link, bool netns, ElementList& list) {
  const auto& events = experiment.events;
  if (std::none_of(events.begin(), events.end(), [&](const auto& e) { return e.link == link; }))
    return;
  if (netns) {
    list.realised("events",
                  "user-space wire: from the microsecond on; while it is down, a host's own queue "
                  "drains into it and is lost");
    if (moves_flows(experiment, link))
      list.ignored("reroute", "no routing protocol runs: flows keep their link", true);
  } else {
    list.ignored("events", "nothing happens to the loopback device while tests run", true);
  }
}

void list_switches(const Experiment& experiment, bool netns, ElementList& list) {
  for (int i = 0; i < static_cast<int>(experiment.switches.size()); ++i) {
    const auto& device = experiment.switches[i];
    list.owner = {};
    list.owner.switch_ = i;
    list.prefix = "switches." + device.name;
    if (!netns) {
      list.ignored("ports", "the loopback device passes no switch", true);
      continue;
    }
    list.approximated("forwarding", "a bridge, which stores and forwards at once");
    if (device.latency != Time{}) {
      list.ignored("latency", "the bridge takes what it takes",
                   device.latency > Time::microseconds(100));
    }
    if (device.buffer.total != Bytes(0)) {
      const bool shared = device.buffer.policy == experiments::BufferPolicy::shared;
      list.approximated("buffer", shared ? "a fixed byte limit a port: what one queue alone gets"
                                         : "byte limit of each port's token bucket");
    }
    if (!device.vlans.empty() && has_vlans_apart(device)) {
      list.realised("vlans",
                    "a bridge for each; where frames would carry a tag its 4 B are counted");
    } else if (!device.vlans.empty()) {
      list.ignored("vlans",
                   "a port that carries several would need tags; the bridge joins all ports", true);
    }
    if (device.pause) list.ignored("pause", "virtual links carry no PAUSE frames", true);
    if (device.egress && follows_queue(experiment, {experiments::NodeKind::switch_, i, -1})) {
      list.realised("queue",
                    "user-space wire: the discipline of the RFC, ECN marks in the packets");
    } else if (device.egress) {
      list.ignored("queue", kNoDiscipline, true);
    }
    if (device.fabric_rate || device.fabric_frame_rate) {
      list.ignored("fabric", "the bridge has no fabric limit", true);
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> stack_parameters(const Stack& stack) {
  const auto on_off = [](bool on) { return std::string(on ? "1" : "0"); };
  std::vector<std::pair<std::string, std::string>> parameters{
      // Without this the second repeat would start from what the first learned of the path.
      {"net/ipv4/tcp_no_metrics_save", "1"},
      // No duplicate address detection and no search for routers: both would delay the first test.
      {"net/ipv6/conf/all/accept_dad", "0"},
      {"net/ipv6/conf/default/accept_dad", "0"},
      {"net/ipv6/conf/default/router_solicitations", "0"},
      {"net/ipv4/tcp_timestamps", on_off(stack.timestamps)},
      {"net/ipv4/tcp_sack", on_off(stack.sack)},
      {"net/ipv4/tcp_window_scaling", on_off(stack.window_scaling)},
      {"net/ipv4/tcp_ecn", ecn_setting(stack.ecn)},
  };
  if (counts_like_linux(stack)) {
    const auto sizes = [](Bytes initial, Bytes largest) {
      return fmt::format("4096 {} {}", initial.count(), std::max(initial, largest).count());
    };
    parameters.emplace_back("net/ipv4/tcp_moderate_rcvbuf", on_off(stack.autotune_receive));
    parameters.emplace_back("net/ipv4/tcp_rmem",
                            sizes(stack.receive_buffer, stack.receive_buffer_max));
    // There is no switch for the sender's side; a buffer that may not exceed its start stays there.
    parameters.emplace_back(
        "net/ipv4/tcp_wmem",
        sizes(stack.send_buffer, stack.autotune_send ? stack.send_buffer_max : stack.send_buffer));
  }
  return parameters;
}

namespace {

/// Real hosts and the network between them are what they are.
std::vector<PlannedElement> list_real(const Experiment& experiment) {
  std::vector<PlannedElement> elements;
  ElementList list(elements);
  for (int i = 0; i < static_cast<int>(experiment.hosts.size()); ++i) {
    const Host& host = experiment.hosts[i];
    list.owner = {};
    list.owner.host = i;
    list.prefix = "hosts." + host.name;
    list_stack(experiment, host, experiment.lab_configure != experiments::LabConfigure::check,
               list);
    list.approximated("hardware", "the real host, which nobody compares with its description");
    for (const Nic& nic : host.nics)
      list.realised("nics." + nic.name + ".mtu", "the real interface takes at least so much");
  }
  list.owner = {};
  list.prefix = "links";
  list.approximated("*", "the real network, which nobody compares with its description");
  if (!experiment.switches.empty()) {
    list.prefix = "switches";
    list.approximated("*", "external: what stands between the hosts");
  }
  return elements;
}

}  // namespace

std::vector<PlannedElement> list_elements(const Experiment& experiment, const LabPlan& plan) {
  if (experiment.lab == LabType::hosts) return list_real(experiment);
  const bool netns = experiment.lab == LabType::netns;
  std::vector<PlannedElement> elements;
  ElementList list(elements);
  list_hosts(experiment, netns, list);
  for (int i = 0; i < static_cast<int>(experiment.links.size()); ++i) {
    const Link& link = experiment.links[i];
    list.owner = {};
    list.owner.link = i;
    list.prefix = "links." + link.name;
    list_rate(link, netns ? &plan.links[i] : nullptr, list);
    list_path_effects(experiment, link, netns, list);
    list_events(experiment, i, netns, list);
  }
  list_switches(experiment, netns, list);
  for (const auto& test : experiment.tests) {
    list.owner = {};
    list.prefix = "tests." + test.name;
    if (test.zero_copy) list.ignored("zero_copy", "senders copy", false);
    if (test.cpu_quota) list.realised("cpu.quota", "a control group of each program's own");
    if (test.cipher != experiments::Cipher::none)
      list.ignored("cipher", "programs send plain bytes", true);
  }
  return elements;
}

}  // namespace linerate::realnet
