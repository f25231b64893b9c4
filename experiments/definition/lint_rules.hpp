// What the lint rules share: the experiment, its paths, and where findings go. Private to
// lint*.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/definition/parse.hpp"
#include "experiments/definition/topology.hpp"

namespace linerate::experiments {

class Lint {
 public:
  explicit Lint(const Experiment& experiment);

  const Experiment& experiment() const { return experiment_; }
  const Host& host(int index) const { return experiment_.hosts[static_cast<std::size_t>(index)]; }
  const Nic& nic(int host_index, int nic_index) const {
    return host(host_index).nics[static_cast<std::size_t>(nic_index)];
  }
  const Switch& switch_(int index) const {
    return experiment_.switches[static_cast<std::size_t>(index)];
  }
  const Link& link(const Hop& hop) const {
    return experiment_.links[static_cast<std::size_t>(hop.link)];
  }
  /// The link at a NIC, or nullptr.
  const Link* link_at(int host_index, int nic_index) const;
  /// The links the first flow of a pair crosses; empty if there is no way.
  std::vector<Hop> path(const Test::Pair& pair) const {
    return topology_.path(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic);
  }

  /// Adds a finding. A test over a pattern has many like pairs: the same words are added once.
  void warn(std::string path, std::string message, std::string remedy);
  std::vector<Diagnostic> take() { return std::move(found_); }

 private:
  Origin origin_of(std::string path) const;

  const Experiment& experiment_;
  Topology topology_;
  std::map<std::pair<int, int>, const Link*> links_by_nic_;
  std::set<std::string> reported_;
  std::vector<Diagnostic> found_;
};

/// The rules about links, hosts and switches, about shared media, about cores, and about tests.
void lint_devices(Lint& lint);
void lint_media(Lint& lint);
void lint_cpu(Lint& lint);
void lint_tests(Lint& lint);

// IEEE 802.3 clause 3: header, check sequence; clause 4: preamble 8 and gap 12, frames of 64 B on.
constexpr Bytes kEthernetHeader{14};
constexpr Bytes kFcs{4};
/// What a frame (with FCS) occupies on the wire.
constexpr Bytes wire_size(Bytes frame) {
  return (frame < Bytes(64) ? Bytes(64) : frame) + Bytes(20);
}
/// The frame (with FCS) that carries an IP packet.
constexpr Bytes frame_of_packet(Bytes packet) { return kEthernetHeader + packet + kFcs; }

/// "941.5 Mbit/s", "12.5 us", "64 KiB" with four significant digits.
std::string rate_text(double bits_per_second);
std::string rate_text(BitRate rate);
std::string time_text(Time time);
std::string size_text(double bytes);

}  // namespace linerate::experiments
