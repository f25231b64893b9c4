// What queues that decide have done: marks, drops and how long frames waited.
#include <optional>

#include "models/report/report.hpp"

namespace linerate::models {

namespace {

void add_figures(const QueueCounters& counters, const DelayHistogram& delays,
                 experiments::QueueUse& use) {
  use.figures["marked"] = static_cast<double>(counters.marked);
  if (delays.count() == 0) return;
  use.figures["queue_delay.mean"] = delays.mean().seconds();
  use.figures["queue_delay.p99"] = delays.quantile(0.99).seconds();
}

}  // namespace

void queue_figures(const Subject& s, FigureValues& out) {
  std::optional<DelayHistogram> worst;
  for (const std::uint32_t wire : data_wires(s)) {
    const EgressPort* port = s.network.port(wire);
    if (port == nullptr) continue;
    DelayHistogram delays = port->queue.delays();
    if (delays.count() == 0 || (worst && worst->mean() >= delays.mean())) continue;
    worst = std::move(delays);
  }
  if (!worst) return;
  out["queue_delay.mean"] = worst->mean().seconds();
  out["queue_delay.p99"] = worst->quantile(0.99).seconds();
}

void add_queue_use(const EgressQueue& queue, experiments::PortCounters& port) {
  add_figures(queue.counters(), queue.delays(), port);
  if (queue.classes().size() == 1 && queue.classes()[0].name().empty()) return;
  for (const EgressQueue::Class& c : queue.classes()) {
    experiments::QueueUse& use = port.classes[c.name()];
    use.frames_sent = c.sent_frames();
    use.wire_bytes_sent = c.sent_bytes();
    use.peak_queue = c.peak_bytes();
    const QueueCounters counters = c.counters();
    if (counters.full_drops > 0) use.drops[name_of(Drop::queue)] = counters.full_drops;
    if (counters.early_drops > 0) use.drops[name_of(Drop::early)] = counters.early_drops;
    add_figures(counters, c.delays(), use);
  }
}

}  // namespace linerate::models
