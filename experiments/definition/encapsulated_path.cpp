#include "experiments/definition/encapsulated_path.hpp"

#include <fmt/format.h>

#include <limits>

namespace linerate::experiments {

namespace {

bool tunnels(const Encapsulation& encapsulation) {
  return std::visit(
      [](const auto& s) {
        return requires { s.ip; };
      },
      encapsulation);
}

std::string list_text(const std::vector<Encapsulation>& encapsulations) {
  std::string text;
  for (const Encapsulation& encapsulation : encapsulations)
    text += (text.empty() ? "" : ", ") + std::string(name_of(encapsulation));
  return "[" + text + "]";
}

/// What is around the packet now, from the inside out.
class Wrapping {
 public:
  Wrapping(int ip, EncapsulatedPath& path) : ip_(ip), path_(path) {}

  void send(const Nic& nic) {
    const int ip = outer_ip_version(around_.encapsulations, ip_);
    for (Layer& layer : encapsulation_layers(nic.encapsulation, ip, nic.mtu))
      around_.layers.push_back(std::move(layer));
    around_.encapsulations.insert(around_.encapsulations.end(), nic.encapsulation.begin(),
                                  nic.encapsulation.end());
  }

  void pass(const Nic& nic) { path_.mtu = std::min(path_.mtu, inner_mtu(around_.layers, nic.mtu)); }

  void receive(const Experiment& experiment, const PortRef& port, bool last) {
    const Host& host = experiment.hosts[static_cast<std::size_t>(port.node)];
    const Nic& nic = host.nics[static_cast<std::size_t>(port.port)];
    const std::vector<Encapsulation>& all = around_.encapsulations;
    const std::vector<Encapsulation>& expected = nic.encapsulation;
    const std::size_t count = expected.size();
    bool fits = count <= all.size() &&
                std::equal(expected.begin(), expected.end(), all.end() - long(count));
    const std::vector<Encapsulation> arrived = all;
    drop(std::min(count, all.size()));
    while (!all.empty() && (last || !tunnels(all.back()))) {
      fits = false;
      drop(1);
    }
    if (fits || path_.mismatch) return;
    path_.mismatch = {
        port, fmt::format("{}:{} takes off {}, what arrives there carries {}", host.name, nic.name,
                          list_text(expected), list_text(arrived))};
  }

  const EncapsulatedHop& around() const { return around_; }

 private:
  void drop(std::size_t count) {
    const std::size_t left = around_.layers.size() - count;
    around_.encapsulations.resize(left);
    around_.layers.resize(left);
  }

  int ip_;
  EncapsulatedPath& path_;
  EncapsulatedHop around_;
};

}  // namespace

EncapsulatedPath encapsulated_path(const Experiment& experiment, const std::vector<Hop>& path,
                                   int ip) {
  EncapsulatedPath result;
  result.mtu = result.narrowest = Bytes(std::numeric_limits<std::int64_t>::max());
  Wrapping wrapping(ip, result);
  const auto nic = [&](const PortRef& port) -> const Nic& {
    return experiment.hosts[static_cast<std::size_t>(port.node)]
        .nics[static_cast<std::size_t>(port.port)];
  };
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Link& link = experiment.links[static_cast<std::size_t>(path[i].link)];
    const PortRef& from = link.ends[path[i].from_end];
    const PortRef& to = link.ends[1 - path[i].from_end];
    if (from.kind == NodeKind::host) {
      wrapping.send(nic(from));
      wrapping.pass(nic(from));
    }
    result.hops.push_back(wrapping.around());
    if (link.mtu)
      result.narrowest = std::min(result.narrowest, inner_mtu(wrapping.around().layers, *link.mtu));
    if (to.kind == NodeKind::host) {
      wrapping.pass(nic(to));
      wrapping.receive(experiment, to, i + 1 == path.size());
    }
  }
  return result;
}

}  // namespace linerate::experiments
