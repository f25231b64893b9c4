#include "models/capture/capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace linerate::models {

namespace {

using experiments::Experiment;
using experiments::NodeKind;
using experiments::PortRef;
using experiments::Test;

// "fwd[64B].a-eth0.pcapng" without what shells and other systems take amiss.
std::string file_name(const std::string& job, const std::string& port) {
  std::string name = job + "." + port + ".pcapng";
  std::erase(name, ']');
  for (char& c : name)
    if (c == '[' || c == ':') c = '-';
  return name;
}

std::vector<PortRef> ports_to_capture(const CaptureOptions& options, const Experiment& experiment,
                                      const std::vector<const Test*>& tests) {
  std::vector<PortRef> ports;
  auto add = [&](const PortRef& port) {
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
  };
  for (const std::string& name : options.ports)
    if (const std::optional<PortRef> port = find_port(experiment, name)) add(*port);
  if (!options.ports.empty()) return ports;
  for (const Test* test : tests) {
    for (const Test::Pair& pair : test->pairs) {
      add({NodeKind::host, pair.from_host, pair.from_nic});
      add({NodeKind::host, pair.to_host, pair.to_nic});
    }
  }
  return ports;
}

}  // namespace

std::optional<PortRef> find_port(const Experiment& experiment, const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string node = name.substr(0, colon), port = name.substr(colon + 1);
  for (std::size_t i = 0; i < experiment.hosts.size(); ++i) {
    if (experiment.hosts[i].name != node) continue;
    const auto& nics = experiment.hosts[i].nics;
    for (std::size_t j = 0; j < nics.size(); ++j)
      if (nics[j].name == port) return PortRef{NodeKind::host, int(i), int(j)};
  }
  int number = 0;
  const auto parsed = std::from_chars(port.data(), port.data() + port.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != port.data() + port.size()) return std::nullopt;
  for (std::size_t i = 0; i < experiment.switches.size(); ++i)
    if (experiment.switches[i].name == node && number >= 1 &&
        number <= static_cast<int>(experiment.switches[i].port_rates.size()))
      return PortRef{NodeKind::switch_, int(i), number - 1};
  return std::nullopt;
}

Capture::Capture(const CaptureOptions& options, const Experiment& experiment,
                 const std::vector<const Test*>& tests, const std::string& job,
                 const Network& network)
    : options_(options), experiment_(experiment), layout_(experiment, network) {
  const std::vector<PortRef> wanted = ports_to_capture(options, experiment, tests);
  ports_.resize(experiment.links.size() * 2);
  for (std::uint32_t wire = 0; wire < ports_.size(); ++wire) {
    if (std::find(wanted.begin(), wanted.end(), from(wire)) == wanted.end()) continue;
    const std::string name = experiments::port_name(experiment, from(wire));
    ports_[wire] =
        std::make_unique<Port>(Port{.name = name,
                                    .file = PcapngWriter(options.open(file_name(job, name)),
                                                         {name, experiment.links[wire / 2].rate}),
                                    .sent = {},
                                    .received = {}});
    for (const std::uint32_t tapped : {wire, wire ^ 1u})
      if (std::find(wires_.begin(), wires_.end(), tapped) == wires_.end()) wires_.push_back(tapped);
  }
}

const PortRef& Capture::from(std::uint32_t wire) const {
  return experiment_.links[wire / 2].ends[wire % 2];
}

void Capture::sent(Time now, std::uint32_t wire, Time at, const Packet& packet) {
  Port* port = ports_[wire].get();
  if (port == nullptr || port->full) return;
  port->sent.push_back(frame_of(at, wire, WireEnd::sender, packet));
  write_until(now, *port);
}

void Capture::received(Time now, std::uint32_t wire, Time at, const Packet& packet) {
  Port* port = ports_[wire ^ 1u].get();
  if (port == nullptr || port->full) return;
  port->received.push_back(frame_of(at, wire, WireEnd::receiver, packet));
  write_until(now, *port);
}

void Capture::cut(Time now, std::uint32_t wire) {
  Port* port = ports_[wire ^ 1u].get();
  if (port == nullptr) return;
  write_until(now, *port);
  port->received = {};
}

void Capture::finish(Time now) {
  for (const std::unique_ptr<Port>& port : ports_)
    if (port) write_until(now, *port);
}

// Whatever is still handed in passes the port later than `now`.
void Capture::write_until(Time now, Port& port) {
  auto due = [now](const sim::Ring<Frame>& frames) {
    return !frames.empty() && frames.front().at <= now;
  };
  while (due(port.sent) || due(port.received)) {
    const bool out =
        due(port.sent) && (!due(port.received) || port.sent.front().at <= port.received.front().at);
    const Frame frame = (out ? port.sent : port.received).take_front();
    write(port, frame, out ? CaptureDirection::outbound : CaptureDirection::inbound);
  }
}

void Capture::write(Port& port, const Frame& frame, CaptureDirection direction) {
  if (port.full) return;
  if (port.file.written() + PcapngWriter::size_of(frame.bytes.size()) > options_.limit.count()) {
    port.full = true;
    options_.note(fmt::format("the capture of {} ends at {:.6f} s: its file has reached {} bytes",
                              port.name, frame.at.seconds(), options_.limit.count()));
    return;
  }
  port.file.add(frame.at, frame.bytes, frame.length, direction);
}

Capture::Frame Capture::frame_of(Time at, std::uint32_t wire, WireEnd end, const Packet& packet) {
  FrameBytes frame = layout_.frame(wire, end, packet);
  const auto headers = static_cast<std::uint32_t>(frame.bytes.size());
  frame.bytes.resize(headers + std::min(options_.payload_bytes, frame.length - headers));
  return {.at = at, .bytes = std::move(frame.bytes), .length = frame.length};
}

}  // namespace linerate::models
