// Rules about cores: whether the receiver of a stream can take in what its line brings.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/definition/lint_rules.hpp"
#include "experiments/definition/media.hpp"

namespace linerate::experiments {
namespace {

double copy_seconds(Bytes size, const std::optional<BitRate>& rate) {
  return rate ? serialization_time(size, *rate).seconds() : 0;
}

// What the receiver of a full segment spends on it at least, where nothing is merged: the program
// (a read that takes many costs nothing beyond its copy), and the kernel below it.
struct SegmentCost {
  double program = 0, kernel = 0;  // s
};

SegmentCost segment_cost(const Host& host, const Nic& nic, Bytes segment) {
  const CpuCosts& costs = host.cpu.costs;
  SegmentCost cost;
  cost.program = copy_seconds(segment, costs.read_copy);
  if (!nic.offloads.checksum) cost.program += copy_seconds(segment, costs.checksum);
  cost.kernel = (costs.frame + costs.segment_received).seconds() + costs.ack_sent.seconds() / 2;
  return cost;
}

void core_slower_than_line(Lint& lint, const Test& test, const Test::Pair& pair) {
  const bool reverse = test.direction == Direction::reverse;
  const int index = reverse ? pair.from_host : pair.to_host;
  const int nic_index = reverse ? pair.from_nic : pair.to_nic;
  const Host& host = lint.host(index);
  const Nic& nic = lint.nic(index, nic_index);
  const Link* link = lint.link_at(index, nic_index);
  if (!host.cpu.modelled() || link == nullptr || nic.offloads.gro) return;
  if (link->medium == kVirtualPair) return;  // a core is all there is
  // IP and TCP headers and timestamps (RFC 791, 8200, 9293, 7323).
  const Bytes segment = nic.mtu - Bytes(test.ip == 6 ? 72 : 52);
  const SegmentCost cost = segment_cost(host, nic, segment);
  const int program_core = test.core.value_or(host.cpu.application_core.value_or(1));
  const bool one_core = host.cpu.cores == 1 || program_core == host.cpu.interrupt_core.value_or(0);
  const double seconds =
      one_core ? cost.program + cost.kernel : std::max(cost.program, cost.kernel);
  const double brought = static_cast<double>(link->rate.bits_per_second()) *
                         static_cast<double>(segment.count()) /
                         static_cast<double>(wire_size(frame_of_packet(nic.mtu)).count());
  const double taken = seconds > 0 ? static_cast<double>(segment.bits()) / seconds : brought;
  if (test.flows > 1 && !one_core) return;  // programs spread over cores
  if (taken >= brought) return;
  lint.warn("hosts." + host.name + ".cpu.costs",
            fmt::format("a core takes in at most {} of full segments ({:.3g} us of program, {:.3g} "
                        "us of kernel each); {}:{} can bring {}",
                        rate_text(taken), cost.program * 1e6, cost.kernel * 1e6, host.name,
                        nic.name, rate_text(brought)),
            one_core && host.cpu.cores > 1
                ? "place program and interrupts on two cores, or merge segments (offloads.gro)"
                : "merge segments (offloads.gro), a larger MTU, or a faster core");
}

}  // namespace

void lint_cpu(Lint& lint) {
  for (const Test& test : lint.experiment().tests) {
    if (test.type != TestType::tcp_stream && test.type != TestType::file_transfer) continue;
    for (const Test::Pair& pair : test.pairs) core_slower_than_line(lint, test, pair);
  }
}

}  // namespace linerate::experiments
