#include "realnet/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "experiments/results/recovery.hpp"
#include "realnet/samples.hpp"
#include "realnet/traffic/traffic_figures.hpp"
#include "realnet/transfer.hpp"

namespace linerate::realnet {
namespace {

using experiments::Better;
using experiments::Clock;
using experiments::Experiment;
using experiments::Test;
using experiments::TestResult;

/// Time and bytes by which a transfer's goodput is counted.
struct Span {
  double seconds = 0;
  double bytes = 0;
};

/// netperf's sender shuts down and waits for the peer to close; others stop at their last write.
double sender_elapsed(const Test& test, const TransferOutcome& transfer) {
  const SenderReport& sender = transfer.sender;
  return ((test.clock == Clock::netperf ? sender.closed : sender.ended) - transfer.start).seconds();
}

/// From the receiver's first data to the end of the stream.
double receiver_elapsed(const TransferOutcome& transfer) {
  return (transfer.receiver.ended - transfer.receiver.first_byte).seconds();
}

/// What lftp times: a put until its last write() has returned, a get until the end of the stream.
double client_elapsed(const Test& test, const TransferOutcome& transfer) {
  return test.direction == experiments::Direction::reverse ? receiver_elapsed(transfer)
                                                           : sender_elapsed(test, transfer);
}

double elapsed(const Test& test, const TransferOutcome& transfer) {
  switch (test.clock) {
    case Clock::netperf:
      return sender_elapsed(test, transfer);
    case Clock::nttcp:
      return receiver_elapsed(transfer);
    case Clock::lftp:
      return client_elapsed(test, transfer);
    case Clock::standard:
      break;
  }
  // As a capture would tell it: from the first SYN until everything has arrived.
  return (transfer.sender.connecting + transfer.sender.closed - transfer.start).seconds();
}

Span span_of(const Test& test, const TransferOutcome& transfer) {
  const ReceiverReport& receiver = transfer.receiver;
  switch (test.clock) {
    case Clock::netperf:
      return {sender_elapsed(test, transfer), static_cast<double>(transfer.sender.bytes)};
    case Clock::nttcp:
      return {receiver_elapsed(transfer), static_cast<double>(receiver.bytes)};
    case Clock::lftp:
      return {client_elapsed(test, transfer), static_cast<double>(receiver.bytes)};
    case Clock::standard:
      break;
  }
  if (counts_everything(test)) {
    return {(receiver.last_byte - transfer.start).seconds(), static_cast<double>(receiver.bytes)};
  }
  // Background traffic is counted for as long as it lasts.
  Span span{
      (test.background ? (receiver.ended - transfer.start) - test.omit : test.duration - test.omit)
          .seconds(),
      0};
  for (int flow = 0; flow < test.flows; ++flow) span.bytes += receiver.window_bytes[flow];
  return span;
}

double rate(const Span& span) { return span.seconds > 0 ? span.bytes * 8 / span.seconds : 0; }

double goodput_of(const Test& test, const Repeat& repeat) {
  double total = 0;
  for (const auto& transfer : repeat.transfers) total += rate(span_of(test, transfer));
  return total;
}

void add_goodput(const Test& test, const Repeat& repeat, Samples& samples) {
  std::vector<double> flows;
  double directions[2] = {0, 0};
  for (const auto& transfer : repeat.transfers) {
    const Span span = span_of(test, transfer);
    directions[transfer.reverse] += rate(span);
    for (int flow = 0; flow < test.flows && !test.sizes; ++flow) {
      flows.push_back(rate({span.seconds, transfer.receiver.window_bytes[flow]}));
    }
  }
  samples.add("goodput", "bit/s", Better::higher, goodput_of(test, repeat));
  if (test.direction == experiments::Direction::both) {
    samples.add("goodput.forward", "bit/s", Better::higher, directions[0]);
    samples.add("goodput.reverse", "bit/s", Better::higher, directions[1]);
  }
  if (flows.size() > 1) {
    samples.add("goodput.min", "bit/s", Better::higher,
                *std::min_element(flows.begin(), flows.end()));
    if (const auto fairness = experiments::jains_index(flows))
      samples.add("fairness", "fraction", Better::higher, *fairness);
  }
}

void add_times(const Test& test, const Repeat& repeat, Samples& samples) {
  double sender = 0, receiver = 0, whole = 0;
  for (const auto& transfer : repeat.transfers) {
    sender = std::max(sender, sender_elapsed(test, transfer));
    receiver = std::max(receiver, receiver_elapsed(transfer));
    whole = std::max(whole, elapsed(test, transfer));
  }
  samples.add("sender.elapsed", "s", Better::lower, sender);
  samples.add("receiver.elapsed", "s", Better::lower, receiver);
  samples.add("elapsed", "s", Better::lower, whole);
}

void add_costs(const Repeat& repeat, Samples& samples) {
  double sender_cpu = 0, receiver_cpu = 0, sends = 0, reads = 0, retransmits = 0;
  for (const auto& transfer : repeat.transfers) {
    sender_cpu += transfer.sender.cpu;
    receiver_cpu += transfer.receiver.cpu;
    sends += static_cast<double>(transfer.sender.calls);
    reads += static_cast<double>(transfer.receiver.calls);
    retransmits += static_cast<double>(transfer.sender.retransmits);
  }
  samples.add("sender.cpu", "s", Better::lower, sender_cpu);
  samples.add("receiver.cpu", "s", Better::lower, receiver_cpu);
  samples.add("sender.calls", "count", Better::neither, sends);
  samples.add("receiver.calls", "count", Better::neither, reads);
  samples.add("retransmits", "count", Better::lower, retransmits);
  double reading = 0, writing = 0;
  for (const auto& transfer : repeat.transfers) {
    reading += transfer.sender.file_seconds;
    writing += transfer.receiver.file_seconds;
  }
  if (writing == 0) return;
  samples.add("sender.file_time", "s", Better::lower, reading);
  samples.add("receiver.file_time", "s", Better::lower, writing);
}

/// What a NIC has sent in the window, bit/s; nothing where nobody counts.
std::optional<double> wire_rate(const LabPlan& plan, const std::string& label, const Repeat& repeat,
                                const SenderReport& sender) {
  // A wire knows what the line has carried; what the NIC has sent may still wait for the line.
  const auto counted = repeat.use.ports.find(label);
  if (plan.has_wire(label) && counted != repeat.use.ports.end() && repeat.use.in_time) {
    return static_cast<double>(counted->second.wire_bytes_sent) * 8 / repeat.use.seconds;
  }
  if (sender.wire_bytes == 0 || sender.counted <= Time{}) return std::nullopt;
  return static_cast<double>(sender.wire_bytes) * 8 / sender.counted.seconds();
}

/// What the senders' NICs sent, each NIC once however many transfers use it.
void add_throughput(const Experiment& experiment, const LabPlan& plan, const Test& test,
                    const Repeat& repeat, Samples& samples) {
  std::map<std::string, double> by_nic;
  for (const auto& transfer : repeat.transfers) {
    const auto& pair = test.pairs[transfer.pair];
    const auto& host = experiment.hosts[transfer.reverse ? pair.to_host : pair.from_host];
    const auto& nic = host.nics[transfer.reverse ? pair.to_nic : pair.from_nic];
    const std::string label = host.name + ":" + nic.name;
    const auto rate_on_wire = wire_rate(plan, label, repeat, transfer.sender);
    if (!rate_on_wire) return;
    by_nic[label] = *rate_on_wire;
  }
  double total = 0;
  for (const auto& [nic, rate_on_wire] : by_nic) total += rate_on_wire;
  samples.add("throughput", "bit/s", Better::higher, total);
}

/// The time series of a repeat: what each interval brought, and the senders' state at its end.
std::vector<experiments::Interval> intervals_of(const Repeat& repeat) {
  Time step;
  for (const auto& transfer : repeat.transfers) {
    step = std::max({step, transfer.sender.step, transfer.receiver.step});
  }
  // An end that kept no table, as one that ended at once, leaves nothing to show.
  for (const auto& transfer : repeat.transfers) {
    if (transfer.sender.step == Time{} || transfer.receiver.step == Time{}) return {};
  }
  std::vector<experiments::Interval> intervals;
  const auto transfers = static_cast<double>(repeat.transfers.size());
  for (const auto& transfer : repeat.transfers) {
    // Steps are doublings or multiples of one another unless a table overflowed; then the finer one
    // is read at the nearest point before.
    const std::int64_t reads = step / transfer.receiver.step;
    const std::int64_t sends = step / transfer.sender.step;
    double bytes_before = 0;
    SenderSample earlier;
    for (std::int64_t i = 0; (i + 1) * reads <= transfer.receiver.intervals &&
                             (i + 1) * sends <= transfer.sender.intervals;
         ++i) {
      if (i == static_cast<std::int64_t>(intervals.size())) {
        intervals.push_back({(step * i).seconds(), (step * (i + 1)).seconds(), {}});
      }
      auto& figures = intervals[i].figures;
      const double bytes = transfer.receiver.interval_bytes[(i + 1) * reads - 1];
      const SenderSample& sample = transfer.sender.samples[(i + 1) * sends - 1];
      figures["goodput"] += (bytes - bytes_before) * 8 / step.seconds();
      figures["retransmits"] += sample.retransmits - earlier.retransmits;
      figures["delivery_rate"] += sample.delivery_rate;
      figures["cwnd"] += sample.cwnd / transfers;
      figures["srtt"] += sample.srtt / transfers;
      const double share = 1 / (step.seconds() * transfers);
      figures["busy"] += (sample.busy - earlier.busy) * share;
      figures["receive_window_limited"] +=
          (sample.receive_window_limited - earlier.receive_window_limited) * share;
      figures["send_buffer_limited"] +=
          (sample.send_buffer_limited - earlier.send_buffer_limited) * share;
      bytes_before = bytes;
      earlier = sample;
    }
  }
  return intervals;
}

/// How soon a repeat's traffic was back after something had happened to a link.
std::optional<Time> recovery_of(const Experiment& experiment, const Test& test,
                                const Repeat& repeat) {
  Time step;
  for (const auto& transfer : repeat.transfers) step = std::max(step, transfer.receiver.step);
  if (step == Time{}) return std::nullopt;
  std::vector<experiments::Progress> progress;
  for (const auto& transfer : repeat.transfers) {
    const ReceiverReport& receiver = transfer.receiver;
    if (receiver.step == Time{}) continue;
    // Steps are multiples of one another.
    const std::int64_t stride = step / receiver.step;
    for (std::int64_t i = 0; (i + 1) * stride <= receiver.intervals; ++i) {
      const Time from = test.start + step * i;
      if (i == static_cast<std::int64_t>(progress.size())) progress.push_back({from, from + step});
      progress[i].bytes += receiver.interval_bytes[(i + 1) * stride - 1];
    }
  }
  return progress.empty() ? std::nullopt
                          : recovery(experiment.events, progress, progress.back().to);
}

void add_recovery(const Experiment& experiment, const Test& test,
                  const std::vector<Repeat>& repeats, TestResult& result) {
  Samples samples;
  for (const Repeat& repeat : repeats) {
    if (const auto recovery = recovery_of(experiment, test, repeat))
      samples.add("recovery", "s", Better::lower, recovery->seconds());
  }
  result.figures.merge(samples.figures());
}

/// Shares of time the sender had data but could not send, and how full each link was.
std::vector<experiments::Limit> limits_of(const Experiment& experiment, const LabPlan& plan,
                                          const Repeat& repeat) {
  std::vector<experiments::Limit> limits;
  double total = 0, busy = 0, window = 0, buffer = 0;
  for (const auto& transfer : repeat.transfers) {
    total += (transfer.sender.closed - transfer.start).seconds();
    busy += transfer.sender.busy;
    window += transfer.sender.receive_window_limited;
    buffer += transfer.sender.send_buffer_limited;
  }
  const auto blocked = [&](const std::string& cause, double seconds, const char* field) {
    const double share = total > 0 ? std::clamp(seconds / total, 0.0, 1.0) : 0;
    limits.push_back({cause, share, share > 0.5,
                      fmt::format("{} {:.3f} s of {:.3f} s", field, seconds, total), "", ""});
  };
  blocked("receive window", window, "tcpi_rwnd_limited");
  blocked("send buffer", buffer, "tcpi_sndbuf_limited");
  // The kernel's third state: data in flight and nothing else in the way.
  blocked("congestion window or path", busy - window - buffer,
          "tcpi_busy_time - tcpi_rwnd_limited - tcpi_sndbuf_limited");
  double reading = 0, writing = 0;
  for (const auto& transfer : repeat.transfers) {
    reading += transfer.sender.file_seconds;
    writing += transfer.receiver.file_seconds;
  }
  if (writing > 0) {
    blocked("file that is read", reading, "in read()");
    blocked("file that is written", writing, "in write()");
  }
  add_link_limits(experiment, plan, repeat.use, limits);
  rank_limits(limits);
  return limits;
}

/// Where the bytes of a full frame go (RFC 9293, 791, 8200; IEEE 802.3). Payload and wire are
/// measured; the layers between follow from them.
std::vector<experiments::LayerRate> layers_of(const Test& test, const Repeat& repeat) {
  const SenderReport& sender = repeat.transfers.front().sender;
  if (sender.segment_size == 0) return {};
  const std::int64_t payload = sender.segment_size;
  const std::int64_t l4 = payload + 20 + (sender.timestamps ? 12 : 0);
  const std::int64_t l3 = l4 + (test.ip == 6 ? 40 : 20);
  const double goodput = goodput_of(test, repeat);
  const auto at = [&](const char* name, std::int64_t bytes) {
    const double share = static_cast<double>(bytes) / static_cast<double>(payload);
    return experiments::LayerRate{name, goodput * share, bytes};
  };
  return {at("payload", payload), at("l4", l4), at("l3", l3), at("l2", l3 + 18),
          at("wire", l3 + 38)};
}

/// The repeat whose goodput is the median (the lower middle one), for what is shown once.
const Repeat& typical(const Test& test, const std::vector<Repeat>& repeats) {
  std::vector<const Repeat*> order;
  for (const Repeat& repeat : repeats) order.push_back(&repeat);
  std::sort(order.begin(), order.end(), [&](const Repeat* a, const Repeat* b) {
    return goodput_of(test, *a) < goodput_of(test, *b);
  });
  return *order[(order.size() - 1) / 2];
}

void add_buffer_notes(const Test& test, const Repeat& repeat, TestResult& result) {
  // Linux stores twice what setsockopt was given.
  const auto check = [&](const char* name, std::optional<Bytes> asked, std::int64_t stored) {
    if (asked && stored < 2 * asked->count()) {
      result.notes.push_back(
          fmt::format("{} buffer: asked for {} B, the kernel keeps {} B (twice what it granted)",
                      name, asked->count(), stored));
    }
  };
  const auto& transfer = repeat.transfers.front();
  check("send", test.send_buffer, transfer.sender.send_buffer);
  check("receive", test.receive_buffer, transfer.receiver.receive_buffer);
  if (transfer.sender.copied > 0) {
    result.notes.push_back(fmt::format(
        "zero_copy: the kernel copied {} of {} writes all the same, as it does where the "
        "receiver is on this machine",
        transfer.sender.copied, transfer.sender.copied + transfer.sender.zero_copied));
  }
}

/// How long each of the flows of a repeat took, from its start until its receiver had everything.
void add_flow_times(const Repeat& repeat, int flows, Samples& samples) {
  const auto times = std::make_unique<LatencyHistogram>();
  for (const auto& transfer : repeat.transfers) {
    for (int flow = 0; flow < flows; ++flow)
      times->record(transfer.receiver.flow_ended[flow] - transfer.start);
  }
  add_spans("flow_elapsed", *times, samples);
}

/// CPU by core of the machine, and by end what its processes took.
void add_host_use(const Experiment& experiment, const Test& test, const Repeat& repeat,
                  TestResult& result) {
  const auto& cores = repeat.use.cores;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    auto& figures = result.hosts["machine"].figures;
    const std::string core = fmt::format("core{}.", i);
    figures[core + "user"] = cores[i].user;
    figures[core + "system"] = cores[i].system;
    figures[core + "softirq"] = cores[i].softirq;
    figures[core + "interrupt"] = cores[i].interrupt;
    figures[core + "idle"] = cores[i].idle;
  }
  for (const auto& transfer : repeat.transfers) {
    const auto& pair = test.pairs[transfer.pair];
    const auto add = [&](int host, const ProcessUse& use, std::int64_t calls) {
      auto& figures = result.hosts[experiment.hosts[host].name].figures;
      figures["process.user"] += use.user;
      figures["process.system"] += use.system;
      figures["process.waits"] += static_cast<double>(use.waits);
      figures["process.preemptions"] += static_cast<double>(use.preemptions);
      figures["process.calls"] += static_cast<double>(calls);
    };
    add(transfer.reverse ? pair.to_host : pair.from_host, transfer.sender.use,
        transfer.sender.calls);
    add(transfer.reverse ? pair.from_host : pair.to_host, transfer.receiver.use,
        transfer.receiver.calls);
  }
}

TestResult stream_result(const Experiment& experiment, const LabPlan& plan, const Test& test,
                         const std::vector<Repeat>& repeats, bool alone) {
  TestResult result;
  Samples samples;
  for (const Repeat& repeat : repeats) {
    add_goodput(test, repeat, samples);
    add_times(test, repeat, samples);
    add_costs(repeat, samples);
    if (test.sizes) add_flow_times(repeat, test.flows, samples);
    if (alone) add_throughput(experiment, plan, test, repeat, samples);
  }
  result.figures = samples.figures();
  const Repeat& shown = typical(test, repeats);
  result.intervals = intervals_of(shown);
  result.limits = limits_of(experiment, plan, shown);
  result.ports = shown.use.ports;
  if (!plan.links.empty()) result.layers = layers_of(test, shown);
  add_buffer_notes(test, shown, result);
  return result;
}

}  // namespace

void add_link_limits(const Experiment& experiment, const LabPlan& plan, const PortUse& use,
                     std::vector<experiments::Limit>& limits) {
  for (std::size_t i = 0; i < plan.links.size() && use.in_time; ++i) {
    for (const PlannedPort& port : plan.links[i].ends) {
      if (!use.ports.contains(port.label)) continue;  // nothing counts its frames
      const auto line = static_cast<double>(experiment.links[i].rate.bits_per_second());
      const double sent =
          static_cast<double>(use.ports.at(port.label).wire_bytes_sent) * 8 / use.seconds;
      const double share = std::clamp(sent / line, 0.0, 1.0);
      limits.push_back(
          {fmt::format("link {} from {}", plan.links[i].name, port.label), share, share > 0.98,
           fmt::format("{:.3f} Mbit/s on the wire of {:.3f} Mbit/s", sent / 1e6, line / 1e6),
           fmt::format("links.{}.rate", plan.links[i].name), ""});
    }
  }
}

void rank_limits(std::vector<experiments::Limit>& limits) {
  std::stable_sort(limits.begin(), limits.end(), [](const auto& a, const auto& b) {
    return std::pair(a.binds, a.utilisation) > std::pair(b.binds, b.utilisation);
  });
}

TestResult test_result(const Experiment& experiment, const LabPlan& plan, const Test& test,
                       const std::vector<Repeat>& repeats, bool alone) {
  TestResult result;
  if (!repeats.empty()) {
    switch (test.type) {
      case experiments::TestType::udp_stream:
      case experiments::TestType::raw_frames:
        result = datagram_result(experiment, plan, test, repeats);
        break;
      case experiments::TestType::request_response:
        result = request_result(experiment, plan, test, repeats);
        break;
      default:
        result = test.arrivals ? flows_result(experiment, plan, test, repeats)
                               : stream_result(experiment, plan, test, repeats, alone);
    }
    if (!experiment.events.empty()) add_recovery(experiment, test, repeats, result);
    add_host_use(experiment, test, repeats.front(), result);
  }
  result.name = test.name;
  result.type = name_of(test.type);
  return result;
}

}  // namespace linerate::realnet
