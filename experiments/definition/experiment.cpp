#include "experiments/definition/experiment.hpp"

namespace linerate::experiments {

std::string port_name(const Experiment& experiment, const PortRef& port) {
  if (port.kind == NodeKind::host) {
    const Host& host = experiment.hosts[port.node];
    return host.name + ":" + host.nics[port.port].name;
  }
  const bool hub = port.kind == NodeKind::hub;
  return (hub ? experiment.hubs[port.node].name : experiment.switches[port.node].name) + ":" +
         std::to_string(port.port + 1);
}

}  // namespace linerate::experiments
