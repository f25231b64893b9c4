// Completion times of finite flows and their slowdown.
#include <algorithm>
#include <cmath>

#include "models/report/report.hpp"

namespace linerate::models {

namespace {

// The classes by which flow completion times are usually told apart: Alizadeh et al., pFabric,
// SIGCOMM 2013, section 5.
constexpr Bytes kSmall{100'000}, kMedium{10'000'000};

const char* class_of(std::int64_t size) {
  if (Bytes(size) <= kSmall) return ".small";
  return Bytes(size) <= kMedium ? ".medium" : ".large";
}

// How long a small frame, or the first of several large ones, takes from end to end.
Time crossing(const Subject& s, const TcpEnd& from, std::uint32_t wire_bytes) {
  Time time{};
  for (const std::uint32_t index : s.network.route(from.route).wires) {
    const Wire& wire = s.network.wires()[index];
    time += wire.latency() + wire.serialization(wire_bytes);
    if (s.network.leads_to_switch(index))
      time += s.experiment.switches[s.network.far_node(index)].latency;
  }
  return time;
}

// What the flow would take alone with windows that never close: the handshake, and its segments
// back to back at the slowest link of its way.
Time unloaded_time(const Subject& s, const TcpEnd& sender, const TcpEnd& receiver,
                   std::int64_t size) {
  const std::int64_t segment = std::max<std::int64_t>(1, sender.endpoint.info().segment_size);
  const experiments::Stack& stack =
      s.experiment.hosts[s.network.route(sender.route).from_host].stack;
  const Bytes options = tcp_option_bytes({.timestamps = stack.timestamps,
                                          .sack_blocks = 0,
                                          .connection_count = stack.connection_count});
  auto wire_bytes = [&](std::int64_t payload) {
    return static_cast<std::uint32_t>(sender.framing.wire_size(Bytes(payload) + options).count());
  };
  Time slowest{};
  const std::uint32_t first = wire_bytes(std::min(segment, size)),
                      last = wire_bytes(size % segment);
  for (const std::uint32_t index : s.network.route(sender.route).wires)
    slowest = std::max(slowest, s.network.wires()[index].serialization(first));
  const double full = static_cast<double>(size / segment) - 1;
  const double rest = size % segment > 0 ? static_cast<double>(last) / first : 0;
  const Time handshake = crossing(s, sender, wire_bytes(0)) + crossing(s, receiver, wire_bytes(0));
  return handshake + crossing(s, sender, first) +
         slowest.scaled(std::max(0.0, size > segment ? full + rest : 0.0));
}

class Summary {
 public:
  void add(const std::string& name, double value) { values_[name].push_back(value); }
  void write(FigureValues& out) {
    for (auto& [name, list] : values_) {
      std::sort(list.begin(), list.end());
      double sum = 0;
      for (const double value : list) sum += value;
      out[name + ".mean"] = sum / static_cast<double>(list.size());
      out[name + ".p50"] = rank(list, 0.50);
      out[name + ".p99"] = rank(list, 0.99);
    }
  }

 private:
  // Nearest rank: the smallest value that at least p of the samples do not exceed.
  static double rank(const std::vector<double>& sorted, double p) {
    const auto nth = static_cast<std::size_t>(std::ceil(p * static_cast<double>(sorted.size())));
    return sorted[nth > 0 ? nth - 1 : 0];
  }
  std::map<std::string, std::vector<double>> values_;
};

}  // namespace

void flow_figures(const Subject& s, FigureValues& out) {
  if (!s.test.sizes && !s.test.arrivals) return;
  Summary summary;
  for (const TcpFlow& flow : s.network.tcp_flows()) {
    if (flow.test != s.index || !flow.finished || flow.start < s.test.start + s.test.omit) continue;
    const TcpEnd& sender = s.network.end(flow.data_from_client ? flow.client : flow.server);
    const TcpEnd& receiver = s.network.end(flow.data_from_client ? flow.server : flow.client);
    const auto& reader = std::get<StreamReader>(receiver.application);
    const std::int64_t size = reader.bytes();
    // From the arrival (the first SYN) until the receiving application has everything.
    const Time elapsed = reader.last_read() - flow.start;
    const double slowdown = elapsed.seconds() / unloaded_time(s, sender, receiver, size).seconds();
    for (const std::string& of : {std::string(), std::string(class_of(size))}) {
      summary.add("flow_elapsed" + of, elapsed.seconds());
      summary.add("slowdown" + of, slowdown);
    }
  }
  summary.write(out);
}

}  // namespace linerate::models
