// Rules about single links, hosts and switches: each is a small function that states one thing.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/definition/bus_capacity.hpp"
#include "experiments/definition/lint_rules.hpp"
#include "experiments/definition/media.hpp"

namespace linerate::experiments {
namespace {

std::string nic_path(const Host& host, const Nic& nic) {
  return "hosts." + host.name + ".nics." + nic.name;
}
std::string nic_name(const Host& host, const Nic& nic) { return host.name + ":" + nic.name; }

// Calls visit(host, nic, host index, NIC index) for every NIC.
template <class Visit>
void each_nic(const Experiment& experiment, Visit visit) {
  for (std::size_t h = 0; h < experiment.hosts.size(); ++h)
    for (std::size_t n = 0; n < experiment.hosts[h].nics.size(); ++n)
      visit(experiment.hosts[h], experiment.hosts[h].nics[n], static_cast<int>(h),
            static_cast<int>(n));
}

void medium_beyond_reach(Lint& lint) {
  for (const Link& link : lint.experiment().links) {
    const Medium* medium = find_medium(link.medium);
    if (medium == nullptr || link.length_m <= medium->max_length_m) continue;
    lint.warn("links." + link.name + ".length",
              fmt::format("{} m of {} is beyond its reach of {} m (IEEE 802.3 {})", link.length_m,
                          medium->name, medium->max_length_m, medium->clause),
              "shorten it, or choose a medium that reaches so far");
  }
}

// A link that names no medium may be half duplex up to 1 Gbit/s, where CSMA/CD ends.
void duplex_not_of_medium(Lint& lint) {
  const BitRate fastest_half = BitRate::bits_per_second(1'000'000'000);
  for (const Link& link : lint.experiment().links) {
    const Medium* medium = find_medium(link.medium);
    const bool half = link.duplex[0] == Duplex::half || link.duplex[1] == Duplex::half;
    const bool fits = medium == nullptr ? !half || link.rate <= fastest_half
                      : half            ? medium->half_duplex
                                        : medium->full_duplex;
    if (fits) continue;
    lint.warn("links." + link.name + ".duplex",
              fmt::format("{} at {} is {} duplex only, yet the link is {} duplex",
                          medium == nullptr ? "Ethernet" : medium->name, rate_text(link.rate),
                          half ? "full" : "half", half ? "half" : "full"),
              half ? "write duplex: full" : "write duplex: half");
  }
}

// What hosts at a switch can send into the rest of the network, against what its links there carry.
void oversubscribed_uplinks(Lint& lint) {
  const Experiment& e = lint.experiment();
  struct Capacity {
    double hosts = 0, network = 0;
    int host_links = 0, network_links = 0;
  };
  std::vector<Capacity> capacity(e.switches.size());
  for (const Link& link : e.links)
    for (const int end : {0, 1}) {
      if (link.ends[end].kind != NodeKind::switch_) continue;
      Capacity& c = capacity[static_cast<std::size_t>(link.ends[end].node)];
      const auto rate = static_cast<double>(link.rate.bits_per_second());
      const bool host = link.ends[1 - end].kind == NodeKind::host;
      (host ? c.hosts : c.network) += rate;
      ++(host ? c.host_links : c.network_links);
    }
  for (std::size_t i = 0; i < capacity.size(); ++i) {
    const Capacity& c = capacity[i];
    if (c.network_links == 0 || c.hosts <= c.network) continue;
    lint.warn("switches." + e.switches[i].name,
              fmt::format("oversubscribed {:.3g}:1: {} links to hosts carry {}, {} to other "
                          "switches carry {}",
                          c.hosts / c.network, c.host_links, rate_text(c.hosts), c.network_links,
                          rate_text(c.network)),
              "more or faster links between switches, where hosts send across all at once");
  }
}

void nic_without_link(Lint& lint) {
  each_nic(lint.experiment(), [&](const Host& host, const Nic& nic, int h, int n) {
    if (lint.link_at(h, n) != nullptr) return;
    lint.warn(nic_path(host, nic),
              fmt::format("{} has no link: nothing can pass it", nic_name(host, nic)),
              "add a link with this end, or remove the NIC");
  });
}

// The frames of one direction of every NIC must fit the bus together; a single NIC that does not
// fit alone is named.
void bus_narrower_than_nics(Lint& lint, const Host& host, int index) {
  double sum = 0, fastest = 0;
  std::string fastest_name;
  const Nic* widest = nullptr;
  Bytes packet{0};
  for (std::size_t n = 0; n < host.nics.size(); ++n) {
    const Link* link = lint.link_at(index, static_cast<int>(n));
    if (link == nullptr) continue;
    const auto rate = static_cast<double>(link->rate.bits_per_second());
    sum += rate;
    packet = std::max(packet, host.nics[n].mtu);
    if (rate <= fastest) continue;
    fastest = rate;
    widest = &host.nics[n];
    fastest_name = nic_name(host, host.nics[n]);
  }
  if (sum <= 0) return;
  const Bytes frame = kEthernetHeader + packet;  // the FCS, preamble and gap stay on the wire
  const double crosses = static_cast<double>(frame.count()) /
                         static_cast<double>(wire_size(frame_of_packet(packet)).count());
  const BusCapacity bus = bus_capacity(host.bus, frame, *widest);
  const auto usable = static_cast<double>(bus.usable.bits_per_second());
  if (sum * crosses <= usable) return;
  const bool alone = fastest * crosses > usable;
  lint.warn("hosts." + host.name + ".bus",
            fmt::format("{} moves at most {} of frames {} ({}); {} can bring {}", bus.name,
                        rate_text(usable),
                        bus.shared_by_directions ? "in both directions together" : "each way",
                        bus.reason, alone ? fastest_name : "its NICs together",
                        rate_text((alone ? fastest : sum) * crosses)),
            bus.shared_by_directions ? "a wider or faster bus, or fewer NICs on it"
                                     : "more lanes or a later generation");
}

// A search finds out what a device can do: that it can do less than its lines is no mistake.
bool is_under_test(const Lint& lint, const std::string& device) {
  const std::vector<Test>& tests = lint.experiment().tests;
  return std::any_of(tests.begin(), tests.end(),
                     [&](const Test& test) { return test.device == device; });
}

void buses_narrower_than_nics(Lint& lint) {
  const std::vector<Host>& hosts = lint.experiment().hosts;
  for (std::size_t h = 0; h < hosts.size(); ++h)
    if (hosts[h].bus.type != BusType::none && !is_under_test(lint, hosts[h].name))
      bus_narrower_than_nics(lint, hosts[h], static_cast<int>(h));
}

// A frame that is begun before all of it is in the FIFO waits for the bus on the wire.
void transmit_underruns(Lint& lint) {
  each_nic(lint.experiment(), [&](const Host& host, const Nic& nic, int h, int n) {
    const Link* link = lint.link_at(h, n);
    const Bytes frame = frame_of_packet(nic.mtu) - kFcs;
    if (link == nullptr || nic.ideal || !nic.on_bus || host.bus.type == BusType::none) return;
    if (nic.fifo.threshold == Bytes(0) || nic.fifo.threshold >= frame) return;
    const DmaTime time = dma_time(host.bus, nic, DmaDirection::to_nic, frame);
    const Time fetched = later(later(time.down, time.memory), time.engine);
    const double missing = static_cast<double>((frame - nic.fifo.threshold).count()) /
                           static_cast<double>(frame.count());
    if (fetched.scaled(missing) <= serialization_time(frame, link->rate)) return;
    lint.warn(nic_path(host, nic) + ".fifo.threshold",
              fmt::format("{} of a full frame are fetched in {} and sent in {}: it runs dry",
                          size_text(static_cast<double>((frame - nic.fifo.threshold).count())),
                          time_text(fetched.scaled(missing)),
                          time_text(serialization_time(frame, link->rate))),
              "a higher threshold, 0 for whole frames, or a faster bus");
  });
}

// Cores that forward and NICs that receive the shortest frames at line rate.
void router_slower_than_nics(Lint& lint, const Host& host, int index) {
  const ForwardCosts& costs = host.forward_costs;
  const Time frame = host.forward_frame() + costs.line;
  if (host.forwarding == Forwarding::none || frame == Time{}) return;
  double arriving = 0;
  for (std::size_t n = 0; n < host.nics.size(); ++n)
    if (const Link* link = lint.link_at(index, static_cast<int>(n)); link != nullptr)
      arriving += static_cast<double>(link->rate.bits_per_second()) /
                  static_cast<double>(wire_size(Bytes(64)).bits());
  const int cores = costs.cores > 0 ? costs.cores : host.cpu.cores;
  const double most = cores / frame.seconds();
  if (most >= arriving) return;
  lint.warn("hosts." + host.name + ".forward_costs",
            fmt::format("{} core{} can forward {:.4g} frames/s at most, and {:.4g} frames/s of "
                        "64 B can arrive",
                        cores, cores == 1 ? "" : "s", most, arriving),
            "expect loss of short frames at line rate; more cores, or a faster path");
}

void routers_slower_than_nics(Lint& lint) {
  const std::vector<Host>& hosts = lint.experiment().hosts;
  for (std::size_t h = 0; h < hosts.size(); ++h)
    if (!is_under_test(lint, hosts[h].name))
      router_slower_than_nics(lint, hosts[h], static_cast<int>(h));
}

void interrupt_later_than_ring(Lint& lint) {
  each_nic(lint.experiment(), [&](const Host& host, const Nic& nic, int h, int n) {
    const Coalescing& moderation = nic.receive_coalescing;
    const bool count_is_first = moderation.frames > 0 && moderation.frames <= nic.receive_ring;
    const Link* link = lint.link_at(h, n);
    if (nic.ideal || count_is_first || link == nullptr) return;
    const auto arrivals =
        moderation.delay / serialization_time(wire_size(frame_of_packet(nic.mtu)), link->rate);
    if (arrivals <= nic.receive_ring) return;
    lint.warn(
        nic_path(host, nic) + ".coalesce",
        fmt::format("within the interrupt delay of {} up to {} full frames arrive at {}, and "
                    "the receive ring holds {}",
                    time_text(moderation.delay), arrivals, rate_text(link->rate), nic.receive_ring),
        "a shorter delay, a frame count below the ring size, or a larger ring");
  });
}

void segmentation_without_checksum(Lint& lint) {
  each_nic(lint.experiment(), [&](const Host& host, const Nic& nic, int, int) {
    if (!nic.offloads.tso || nic.offloads.checksum) return;
    lint.warn(nic_path(host, nic) + ".offloads",
              fmt::format("{} is to cut segments (tso) but not to checksum them: a stack then "
                          "turns tso off",
                          nic_name(host, nic)),
              "turn checksum on, or tso off");
  });
}

// The ports of a switch that carry a link.
struct LinkedPorts {
  int count = 0;
  double rate_sum = 0;        // bit/s, one direction
  Bytes largest_frame{1518};  // of the NICs linked here directly, with FCS
};

std::vector<LinkedPorts> linked_ports(const Lint& lint) {
  std::vector<LinkedPorts> ports(lint.experiment().switches.size());
  for (const Link& link : lint.experiment().links)
    for (int end = 0; end < 2; ++end) {
      const PortRef& here = link.ends[end];
      const PortRef& there = link.ends[1 - end];
      if (here.kind != NodeKind::switch_) continue;
      LinkedPorts& at = ports[static_cast<std::size_t>(here.node)];
      ++at.count;
      at.rate_sum += static_cast<double>(link.rate.bits_per_second());
      if (there.kind == NodeKind::host)
        at.largest_frame =
            std::max(at.largest_frame, frame_of_packet(lint.nic(there.node, there.port).mtu));
    }
  return ports;
}

void switch_leads_nowhere(Lint& lint, const Switch& device, const LinkedPorts& ports) {
  if (ports.count >= 2) return;
  lint.warn("switches." + device.name,
            fmt::format("{} of {} ports of {} are linked: nothing can pass it", ports.count,
                        device.port_rates.size(), device.name),
            "link at least two ports, or remove the switch");
}

void buffer_below_a_frame(Lint& lint, const Switch& device, const LinkedPorts& ports) {
  const Buffer& buffer = device.buffer;
  if (buffer.total.count() == 0) return;
  const bool shared = buffer.policy == BufferPolicy::shared;
  // One queue alone on a shared buffer grows to alpha / (1 + alpha) of it (Choudhury, Hahne 1998).
  const double queue = static_cast<double>(buffer.total.count()) *
                       (shared ? buffer.alpha / (1 + buffer.alpha) : 1.0);
  if (queue >= static_cast<double>(ports.largest_frame.count())) return;
  lint.warn("switches." + device.name + ".buffer",
            fmt::format("one output queue holds {:.0f} B{}, less than a frame of {} B: it is "
                        "dropped whenever the port is busy",
                        queue, shared ? fmt::format(" (alpha {})", buffer.alpha) : "",
                        ports.largest_frame.count()),
            fmt::format("room for some frames, {} B and more", 4 * ports.largest_frame.count()));
}

void fabric_oversubscribed(Lint& lint, const Switch& device, const LinkedPorts& ports) {
  if (is_under_test(lint, device.name)) return;
  if (device.fabric_rate) {
    const auto fabric = static_cast<double>(device.fabric_rate->bits_per_second());
    if (fabric < ports.rate_sum)
      lint.warn(
          "switches." + device.name + ".fabric_rate",
          fmt::format("{} linked ports bring in {}, the fabric passes {}: {:.3g} to 1", ports.count,
                      rate_text(ports.rate_sum), rate_text(fabric), ports.rate_sum / fabric),
          "expect loss when every port is busy");
  }
  // The shortest frames come most often: 84 B of wire each.
  const double most_frames = ports.rate_sum / static_cast<double>(wire_size(Bytes(64)).bits());
  if (device.fabric_frame_rate && *device.fabric_frame_rate < most_frames)
    lint.warn("switches." + device.name + ".fabric_frame_rate",
              fmt::format("{} linked ports bring in up to {:.4g} frames/s of 64 B, the fabric "
                          "passes {:.4g} frames/s",
                          ports.count, most_frames, *device.fabric_frame_rate),
              "expect loss of short frames at line rate");
}

// A link goes down, and what passes it has no other way.
void down_without_another_way(Lint& lint) {
  const Experiment& e = lint.experiment();
  for (const LinkEvent& event : e.events) {
    if (event.action != LinkAction::down) continue;
    const Topology rest(e, {event.link});
    for (const Test& test : e.tests) {
      const auto stuck = std::find_if(test.pairs.begin(), test.pairs.end(),
                                      [&](const auto& pair) { return !rest.reaches(pair); });
      if (stuck == test.pairs.end()) continue;
      const Link& link = e.links[static_cast<std::size_t>(event.link)];
      lint.warn(
          "links." + link.name,
          fmt::format("it goes down, and there is no other way from {} to {}: test {} waits "
                      "until it is up",
                      lint.host(stuck->from_host).name, lint.host(stuck->to_host).name, test.name),
          "add a parallel link or path, unless that is what you want to see");
    }
  }
}

}  // namespace

void lint_devices(Lint& lint) {
  medium_beyond_reach(lint);
  duplex_not_of_medium(lint);
  nic_without_link(lint);
  oversubscribed_uplinks(lint);
  buses_narrower_than_nics(lint);
  routers_slower_than_nics(lint);
  transmit_underruns(lint);
  interrupt_later_than_ring(lint);
  segmentation_without_checksum(lint);
  down_without_another_way(lint);
  const std::vector<LinkedPorts> ports = linked_ports(lint);
  for (std::size_t s = 0; s < ports.size(); ++s) {
    const Switch& device = lint.experiment().switches[s];
    switch_leads_nowhere(lint, device, ports[s]);
    buffer_below_a_frame(lint, device, ports[s]);
    fabric_oversubscribed(lint, device, ports[s]);
  }
}

}  // namespace linerate::experiments
