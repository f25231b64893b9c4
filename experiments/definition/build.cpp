#include "experiments/definition/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "experiments/definition/device_fields.hpp"
#include "experiments/definition/nearest.hpp"

namespace linerate::experiments {

namespace {

// Beyond any chassis; ends without a NIC's name are looked for among all of them.
constexpr std::size_t kMostNics = 128;

void check_stack(BuildContext& context, const std::string& path, const Stack& stack) {
  check_congestion(context, path + ".congestion", stack.congestion);
  check_congestion_fits(context, path + ".congestion", stack.congestion, stack);
  const auto ordered = [&](const char* low_key, Time low, const char* high_key, Time high) {
    if (low <= high) return;
    context.error(path + "." + low_key, fmt::format("{} is above {}", low_key, high_key));
  };
  ordered("delayed_ack_min", stack.delayed_ack_min, "delayed_ack_max", stack.delayed_ack_max);
  ordered("rto_min", stack.rto_min, "rto_max", stack.rto_max);
  ordered("persist_min", stack.persist_min, "persist_max", stack.persist_max);
  if (stack.initial_window < 1) {
    context.error(path + ".initial_window", "nothing could ever be sent", "at least 1 segment");
  }
  if (stack.duplicate_ack_threshold < 1) {
    context.error(path + ".duplicate_ack_threshold", "every acknowledgement would mean a loss",
                  "at least 1");
  }
  if (stack.buffer_factor < 1) {
    context.error(path + ".buffer_factor", "buffers would hold nothing", "at least 1");
  }
  if (stack.delayed_ack_clock == DelayedAckClock::shared_grid && stack.delayed_ack_grid == Time{}) {
    context.error(path + ".delayed_ack_grid", "a shared grid needs a period", "write 200ms");
  }
}

void check_cpu(BuildContext& context, const std::string& path, const Cpu& cpu) {
  for (const auto& [key, core] : {std::pair{"application", cpu.application_core},
                                  std::pair{"interrupts", cpu.interrupt_core}}) {
    if (!core || *core < cpu.cores) continue;
    context.error(fmt::format("{}.placement.{}", path, key),
                  fmt::format("there is no core {}", *core),
                  fmt::format("write 0 to {}", cpu.cores - 1));
  }
  for (std::size_t i = 1; i < cpu.idle_states.size(); ++i) {
    const IdleState &above = cpu.idle_states[i - 1], &state = cpu.idle_states[i];
    if (state.residency > above.residency && state.exit >= above.exit) continue;
    context.error(fmt::format("{}.idle_states[{}]", path, i),
                  "a deeper state needs a longer residency and is not left sooner",
                  "sort the states, the shallowest first");
  }
}

// Work of so many cycles takes longer at a lower clock. Copies follow it too, which is right for
// cores that wait for themselves rather than for their memory.
struct AtClock {
  double slower;

  void operator()(const char*, Time& cost, const char*) const { cost = cost.scaled(slower); }
  void operator()(const char*, int&, const char*, FieldRule) const {}
  void operator()(const char*, std::optional<BitRate>& rate, const char*, FieldRule) const {
    if (!rate) return;
    const double scaled = static_cast<double>(rate->bits_per_second()) / slower;
    rate = BitRate::bits_per_second(std::max<std::int64_t>(1, std::llround(scaled)));
  }
};

void check_clock(BuildContext& context, const std::string& path, const Host& host) {
  if (!host.cpu.clock || host.cpu.costs_clock) return;
  if (host.cpu.costs == CpuCosts{} && host.forward_costs.frame == Time{}) return;
  context.error(path + ".cpu.clock", "nothing says at which clock the costs were taken",
                "add costs_clock, or remove clock");
}

void apply_clock(Host& host) {
  const Cpu& cpu = host.cpu;
  if (!cpu.clock || !cpu.costs_clock || cpu.clock == cpu.costs_clock) return;
  const AtClock at{static_cast<double>(*cpu.costs_clock) / static_cast<double>(*cpu.clock)};
  describe(at, host.cpu.costs);
  describe(at, host.cpu.ciphers);
  ForwardCosts& forwarding = host.forward_costs;
  for (Time* cost : {&forwarding.frame, &forwarding.line, &forwarding.interrupt})
    *cost = cost->scaled(at.slower);
  if (forwarding.poll_mode_frame)
    forwarding.poll_mode_frame = forwarding.poll_mode_frame->scaled(at.slower);
}

// What hosts of one machine share is one thing.
void check_machines(BuildContext& context) {
  const std::vector<Host>& hosts = context.spec.hosts;
  for (const Host& host : hosts) {
    if (host.machine.empty()) continue;
    const Host& first = *std::find_if(hosts.begin(), hosts.end(), [&](const Host& other) {
      return other.machine == host.machine;
    });
    if (host.cpu == first.cpu) continue;
    context.error(
        "hosts." + host.name + ".cpu",
        fmt::format("`{}` and `{}` are one machine, and it has one processor", first.name,
                    host.name),
        fmt::format("describe it alike in both: {}: {{like: {}}}", host.name, first.name));
  }
}

// How many bulk packets a frame or microframe holds at most (USB 1.1 and 2.0, table 5-10; 500 MB/s
// of SuperSpeed).
void check_usb(BuildContext& context, const std::string& path, const Bus& bus) {
  if (bus.generation > 3) {
    context.error(path + ".generation", fmt::format("USB {} is not modelled", bus.generation),
                  "write 1 (USB 1.1), 2 (USB 2.0) or 3 (SuperSpeed)");
    return;
  }
  constexpr int kMost[] = {19, 13, 58};
  const int most = kMost[bus.generation - 1];
  if (bus.packets && *bus.packets > most)
    context.error(
        path + ".packets",
        fmt::format("{} packets, and USB {} has room for {}", *bus.packets, bus.generation, most),
        fmt::format("write {} or less", most));
}

void check_bus(BuildContext& context, const std::string& path, const Bus& bus) {
  if (bus.width != 32 && bus.width != 64) {
    context.error(path + ".width", fmt::format("a bus of {} bits does not exist", bus.width),
                  "write 32 or 64 (PCI 2.2)");
  }
  // PCIe encodes both sizes as powers of two from 128 to 4096 bytes (Device Control Register).
  for (const auto& [key, size] : {std::pair{"max_payload", bus.max_payload},
                                  std::pair{"max_read_request", bus.max_read_request}}) {
    if (std::has_single_bit(static_cast<std::uint64_t>(size.count()))) continue;
    context.error(path + "." + key, fmt::format("{} B is no power of two", size.count()),
                  "write 128B, 256B, 512B, 1KiB, 2KiB or 4KiB");
  }
  if (!std::has_single_bit(static_cast<unsigned>(bus.lanes)) && bus.lanes != 12) {
    context.error(path + ".lanes", fmt::format("a slot of {} lanes does not exist", bus.lanes),
                  "write 1, 2, 4, 8, 12, 16 or 32");
  }
  if (bus.completion > Bytes(0) && bus.completion < Bytes(64))
    context.error(
        path + ".completion",
        fmt::format("completions of {} B: the boundary is 64 or 128 B", bus.completion.count()),
        "write 64B or more (PCI Express Base Specification 2.3.1.1)");
  if (!std::has_single_bit(static_cast<std::uint64_t>(bus.lines.size.count())))
    context.error(path + ".lines.size",
                  fmt::format("{} B is no power of two", bus.lines.size.count()),
                  "write 32B, 64B or 128B");
  if (bus.type == BusType::usb) check_usb(context, path, bus);
}

void check_fifo(BuildContext& context, const std::string& path, const Nic& nic) {
  // Header, tag and checksum (IEEE 802.3 3.2.7).
  const Bytes frame = nic.mtu + Bytes(14 + 4 + 4);
  for (const auto& [key, size] :
       {std::pair{"transmit", nic.fifo.transmit}, std::pair{"receive", nic.fifo.receive}}) {
    if (size >= frame) continue;
    context.error(fmt::format("{}.fifo.{}", path, key),
                  fmt::format("{} B cannot hold a frame of {} B", size.count(), frame.count()),
                  "a larger FIFO, or a smaller mtu");
  }
}

void check_forwarding(BuildContext& context, const std::string& path, const Host& host) {
  const ForwardCosts& costs = host.forward_costs;
  if (costs.cores > host.cpu.cores)
    context.error(path + ".forward_costs.cores",
                  fmt::format("{} cores forward, and the host has {}", costs.cores, host.cpu.cores),
                  "more `cpu: {cores: …}`, or fewer here");
  if (host.forwarding == Forwarding::poll_mode &&
      (costs.interrupt > Time{} || costs.interrupts == ForwardInterrupts::per_frame))
    context.error(path + ".forward_costs.interrupt", "a poll-mode driver takes no interrupts",
                  "remove it, or write forwarding: kernel");
}

void build_bonds(BuildContext& context, const std::string& path, Host& host) {
  std::vector<bool> bonded(host.nics.size());
  for (Bond& bond : host.bonds) {
    const std::string place = path + ".bonds." + bond.name;
    if (find_nic(host, bond.name) >= 0)
      context.error(place, fmt::format("a NIC is called `{}` too", bond.name), "rename the bond");
    for (const std::string& name : bond.nic_names) {
      const int nic = find_nic(host, name);
      if (nic < 0) {
        context.error(place, fmt::format("`{}` has no NIC `{}`", host.name, name),
                      fmt::format("its NICs: {}", nic_list(host)));
      } else if (bonded[static_cast<std::size_t>(nic)]) {
        context.error(place, fmt::format("`{}` is in a bond already", name), "name it once");
      } else {
        bonded[static_cast<std::size_t>(nic)] = true;
        bond.nics.push_back(nic);
      }
    }
    if (bond.nic_names.empty()) context.error(place, "a bond of no NICs", "name two or more");
  }
}

/// "1-2" or "8" as ports from 0, into `ports`.
void read_vlan_ports(BuildContext& context, const std::string& path, const Switch& device,
                     const std::vector<std::string>& texts, std::vector<int>& ports) {
  const int count = static_cast<int>(device.port_rates.size());
  for (const std::string& text : texts) {
    int first = 0, last = 0;
    if (!parse_port_range(text, first, last) || last > count) {
      context.error(path, fmt::format("`{}` is no range of the {} ports", text, count),
                    "write \"1-2\" or \"8\"");
      continue;
    }
    for (int port = first; port <= last; ++port) ports.push_back(port - 1);
  }
}

void build_vlans(BuildContext& context, const std::string& path, const SwitchSpec& spec,
                 Switch& built) {
  std::vector<int> untagged_in(built.port_rates.size());
  for (const VlanSpec& vlan : spec.vlans) {
    const std::string place = path + ".vlans." + vlan.name;
    VlanPorts ports;
    ports.id = std::stoi(vlan.name);
    read_vlan_ports(context, place, built, vlan.untagged, ports.untagged);
    read_vlan_ports(context, place, built, vlan.tagged, ports.tagged);
    for (const int port : ports.untagged) {
      int& owner = untagged_in[static_cast<std::size_t>(port)];
      if (owner != 0)
        context.error(place, fmt::format("port {} is untagged in VLAN {} already", port + 1, owner),
                      "a frame without a tag belongs to one VLAN");
      owner = ports.id;
      if (std::count(ports.tagged.begin(), ports.tagged.end(), port) > 0)
        context.error(place, fmt::format("port {} is tagged and untagged", port + 1), "choose one");
    }
    built.vlans.push_back(std::move(ports));
  }
}

// The smallest IP packet every host must take (RFC 791); more, and nothing useful fits.
constexpr Bytes kSmallestMtu{68};
constexpr std::size_t kMostEncapsulations = 8;

void check_encapsulation(BuildContext& context, const std::string& path, const Nic& nic) {
  const std::vector<Encapsulation>& list = nic.encapsulation;
  if (list.size() > kMostEncapsulations) {
    context.error(path, fmt::format("{} encapsulations", list.size()),
                  fmt::format("at most {}", kMostEncapsulations));
    return;
  }
  if (const auto misfit = find_misfit(list)) {
    context.error(fmt::format("{}[{}]", path, misfit->index), misfit->message, misfit->remedy);
    return;
  }
  if (nic.vlan && !list.empty() && std::holds_alternative<QinQ>(list.back())) {
    context.error(path, "`qinq` holds both tags, and the NIC's `vlan` is a third",
                  "remove `vlan`; write {qinq: {outer: …, inner: …}}");
    return;
  }
  const std::vector<Layer> layers = encapsulation_layers(list, 4, nic.mtu);
  const Bytes room = inner_mtu(layers, nic.mtu);
  if (room < kSmallestMtu)
    context.error(path,
                  fmt::format("an MTU of {} B leaves {} B for a packet inside", nic.mtu.count(),
                              std::max<std::int64_t>(room.count(), 0)),
                  fmt::format("at least {}; raise the NIC's mtu", kSmallestMtu.count()));
  // A tunnel told to take more than its outside carries would fragment every full packet.
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Bytes outer =
        inner_mtu({layers.begin() + static_cast<long>(i) + 1, layers.end()}, nic.mtu);
    const Bytes most = outer - layers[i].overhead();
    if (!layers[i].padding.limit || *layers[i].padding.limit <= most) continue;
    context.error(fmt::format("{}[{}]", path, i),
                  fmt::format("packets of {} B do not fit {} B outside",
                              layers[i].padding.limit->count(), outer.count()),
                  fmt::format("write mtu: {}B or less", most.count()));
  }
}

void build_hosts(BuildContext& context) {
  check_machines(context);
  for (Host& host : context.spec.hosts) {
    const std::string path = "hosts." + host.name;
    context.hosts.emplace(host.name, static_cast<int>(context.hosts.size()));
    if (!context.read.diagnostics.touched(path)) {
      check_stack(context, path + ".stack", host.stack);
      check_cpu(context, path + ".cpu", host.cpu);
      check_clock(context, path, host);
      check_bus(context, path + ".bus", host.bus);
      check_forwarding(context, path, host);
      for (const Nic& nic : host.nics) {
        const std::string place = fmt::format("{}.nics.{}", path, nic.name);
        check_encapsulation(context, place + ".encapsulation", nic);
        if (host.bus.type != BusType::none && !nic.ideal && nic.on_bus)
          check_fifo(context, place, nic);
      }
    }
    if (host.nics.size() > kMostNics) {
      context.error(path + ".nics", fmt::format("{} NICs", host.nics.size()),
                    fmt::format("at most {} in a host", kMostNics));
    }
    build_bonds(context, path, host);
    for (Nic& nic : host.nics)
      if (nic.egress)
        build_queue(context, path + ".nics." + nic.name + ".queue", nic.egress->queue);
    context.experiment.hosts.push_back(host);
    apply_clock(context.experiment.hosts.back());
  }
  if (context.spec.hosts.empty()) {
    context.error("hosts", "there is no host", "add `hosts:`, or a `topology:` that makes some");
  }
}

void check_pause(BuildContext& context, const std::string& path, const Switch& device) {
  const Pause& pause = *device.pause;
  if (pause.xon > pause.xoff)
    context.error(path + ".pause.xon", "above xoff: senders would never be stopped for long",
                  "write less than xoff");
  if (device.buffer.total > Bytes(0) && pause.xoff >= device.buffer.total)
    context.error(path + ".pause.xoff",
                  fmt::format("{} B, and the buffer holds {} B: frames are lost before",
                              pause.xoff.count(), device.buffer.total.count()),
                  "leave room for what is on its way: twice the cable and two frames a port");
}

void build_switches(BuildContext& context) {
  for (SwitchSpec& spec : context.spec.switches) {
    const std::string path = "switches." + spec.value.name;
    context.switches.emplace(spec.value.name, static_cast<int>(context.switches.size()));
    if (context.hosts.contains(spec.value.name)) {
      context.error(path, fmt::format("a host is called `{}` too", spec.value.name),
                    "rename one of them");
    }
    Switch built = spec.value;
    built.egress = build_egress(context, spec);
    for (const Ports::Range& range : spec.ports.ranges) {
      for (int port = range.first; port <= range.last; ++port) {
        built.port_rates.push_back(range.rate);
      }
    }
    if (built.port_rates.empty()) {
      built.port_rates.assign(static_cast<std::size_t>(spec.ports.count),
                              spec.rate.value_or(BitRate{}));
    }
    if (!context.read.diagnostics.touched(path)) {
      if (spec.ports.count == 0) {
        context.error(path, "the key `ports` is missing",
                      "add `ports: 8` and `rate: 1Gbit/s`, or `ports: {\"1-8\": 1Gbit/s}`");
      } else if (!spec.ports.ranges.empty() && spec.rate) {
        context.error(path + ".rate", "the ranges of `ports` give the rates already",
                      "remove `rate`");
      } else if (spec.ports.ranges.empty() && !spec.rate) {
        context.error(path + ".ports", fmt::format("{} ports of unknown rate", spec.ports.count),
                      "add `rate: 1Gbit/s`");
      }
    }
    build_vlans(context, path, spec, built);
    if (built.pause && !context.read.diagnostics.touched(path)) check_pause(context, path, built);
    context.experiment.switches.push_back(std::move(built));
  }
}

}  // namespace

void BuildContext::error(const std::string& path, std::string message, std::string remedy) {
  read.diagnostics.error(read.place_of(path), path, std::move(message), std::move(remedy));
}

void check_congestion(BuildContext& context, const std::string& path, const std::string& name) {
  const std::vector<std::string> known(kCongestionControls.begin(), kCongestionControls.end());
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  context.error(path, fmt::format("`{}` is no congestion control", name), suggest(name, known));
}

// BBR is driven by the delivery rate, which needs to know of every segment when it arrived.
void check_congestion_fits(BuildContext& context, const std::string& path, const std::string& name,
                           const Stack& stack) {
  if (name != "bbr" || (stack.recovery == Recovery::rack && stack.sack)) return;
  context.error(path, "bbr samples the delivery rate, which needs SACK and RACK on this host",
                "write `stack: {sack: on, recovery: rack}`, or another congestion control");
}

int find_nic(const Host& host, const std::string& name) {
  for (std::size_t i = 0; i < host.nics.size(); ++i) {
    if (host.nics[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string nic_list(const Host& host) {
  std::string text;
  for (const Nic& nic : host.nics) text += (text.empty() ? "" : ", ") + nic.name;
  return text.empty() ? "none" : text;
}

void build_experiment(ReadContext& read, ExperimentSpec& spec, Experiment& experiment) {
  BuildContext context{read, spec, experiment};
  experiment.name = spec.name;
  experiment.seed = static_cast<std::uint64_t>(spec.seed);
  build_hosts(context);
  build_switches(context);
  build_hubs(context);
  build_links(context);
  check_shared_media(context);
  build_tests(context);
  build_events(context);
  build_judgements(context);
  build_lab(context);
}

}  // namespace linerate::experiments
