#include "realnet/lab_vlans.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace linerate::realnet {
namespace {

using experiments::NodeKind;
using experiments::Switch;
using experiments::VlanPorts;

/// The VLANs that a port carries. One that no VLAN names is in VLAN 1.
struct Membership {
  int count = 0;
  int id = 1;
  bool tagged = false;
};

Membership membership_of(const Switch& device, int port) {
  Membership found;
  const auto add = [&](const VlanPorts& vlan, const std::vector<int>& ports, bool tagged) {
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) return;
    found = {found.count + 1, vlan.id, tagged};
  };
  for (const VlanPorts& vlan : device.vlans) {
    add(vlan, vlan.untagged, false);
    add(vlan, vlan.tagged, true);
  }
  return found;
}

}  // namespace

bool has_vlans_apart(const Switch& device) {
  for (int port = 0; port < static_cast<int>(device.port_rates.size()); ++port) {
    if (membership_of(device, port).count > 1) return false;
  }
  return true;
}

std::string bridge_of(const Switch& device, int port) {
  if (device.vlans.empty() || !has_vlans_apart(device)) return "bridge";
  return fmt::format("bridge{}", membership_of(device, port).id);
}

Bytes tag_of(const experiments::Experiment& experiment, const experiments::Link& link) {
  constexpr Bytes kTag{4};
  for (const experiments::PortRef& end : link.ends) {
    if (end.kind == NodeKind::host && experiment.hosts[end.node].nics[end.port].vlan) return kTag;
    if (end.kind != NodeKind::switch_) continue;
    const Switch& device = experiment.switches[end.node];
    const Membership membership = membership_of(device, end.port);
    if (membership.count == 1 && membership.tagged && has_vlans_apart(device)) return kTag;
  }
  return Bytes(0);
}

}  // namespace linerate::realnet
