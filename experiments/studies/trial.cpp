#include "experiments/studies/trial.hpp"

#include <fmt/format.h>

#include <utility>

namespace linerate::experiments {

std::vector<SendingPort> sending_ports(const Test& test) {
  std::vector<SendingPort> ports;
  std::map<std::pair<int, int>, int> flows;
  const auto add = [&](const Test::Pair& ends) {
    ports.push_back({ends, 0});
    flows[{ends.from_host, ends.from_nic}] += test.flows;
  };
  for (const Test::Pair& pair : test.pairs) {
    if (test.direction != Direction::reverse) add(pair);
    if (test.direction != Direction::forward)
      add({pair.to_host, pair.to_nic, pair.from_host, pair.from_nic});
  }
  for (SendingPort& port : ports) port.sharing = flows[{port.ends.from_host, port.ends.from_nic}];
  return ports;
}

std::string worst_drop(const std::map<std::string, PortCounters>& ports) {
  std::string worst;
  std::int64_t most = 0;
  for (const auto& [port, counters] : ports) {
    for (const auto& [cause, count] : counters.drops) {
      if (count <= most) continue;
      most = count;
      worst = fmt::format("{} ({})", port, cause);
    }
  }
  return worst;
}

}  // namespace linerate::experiments
