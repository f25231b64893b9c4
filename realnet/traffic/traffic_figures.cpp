#include "realnet/traffic/traffic_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "realnet/samples.hpp"
#include "realnet/transfer.hpp"

namespace linerate::realnet {
namespace {

using experiments::Better;
using experiments::Experiment;
using experiments::Test;
using experiments::TestResult;

/// A sender that handed over less than this share of what was due fell short.
constexpr double kInTime = 0.99;

void add_latencies(const LatencyHistogram& latencies, Samples& samples) {
  if (latencies.count() == 0) return;
  const auto add = [&](const char* name, Time value) {
    samples.add(std::string("latency.") + name, "s", Better::lower, value.seconds());
  };
  add("mean", latencies.mean());
  add("p50", latencies.percentile(0.5));
  add("p99", latencies.percentile(0.99));
  add("p999", latencies.percentile(0.999));
  add("max", latencies.largest());
}

/// How long a transfer's datagrams were counted, s.
double window_seconds(const Test& test, const TransferOutcome& transfer) {
  if (test.bytes) return (transfer.receiver.last_byte - transfer.start).seconds();
  if (test.background) return (transfer.sender.ended - transfer.start - test.omit).seconds();
  return (test.duration - test.omit).seconds();
}

/// Sums over the transfers of one repeat.
struct DatagramSums {
  double goodput = 0, wire = 0, frames = 0, jitter = 0, sender_cpu = 0, receiver_cpu = 0;
  std::int64_t due = 0, sent = 0, refused = 0, received = 0, reordered = 0, duplicates = 0,
               overflows = 0, sender_calls = 0, receiver_calls = 0;
  LatencyHistogram latency, lateness;
};

std::unique_ptr<DatagramSums> sums_of(const Test& test, const Repeat& repeat) {
  auto sums = std::make_unique<DatagramSums>();
  for (const TransferOutcome& transfer : repeat.transfers) {
    const DatagramsSent& sent = transfer.sender.datagrams;
    const DatagramsReceived& received = transfer.receiver.datagrams;
    const double seconds = window_seconds(test, transfer);
    if (seconds > 0) {
      sums->goodput += static_cast<double>(received.window_bytes) * 8 / seconds;
      sums->wire += static_cast<double>(received.window_wire_bytes) * 8 / seconds;
      sums->frames += static_cast<double>(received.window_frames) / seconds;
    }
    sums->jitter += received.jitter.seconds() / static_cast<double>(repeat.transfers.size());
    sums->due += sent.due;
    sums->sent += sent.sent;
    sums->refused += sent.refused;
    sums->received += received.received;
    sums->reordered += received.reordered;
    sums->duplicates += received.duplicates;
    sums->overflows += received.overflows;
    sums->sender_calls += transfer.sender.calls;
    sums->receiver_calls += transfer.receiver.calls;
    sums->sender_cpu += transfer.sender.cpu;
    sums->receiver_cpu += transfer.receiver.cpu;
    sums->latency.add(received.latency);
    sums->lateness.add(sent.lateness);
  }
  return sums;
}

void add_datagrams(const Test& test, const DatagramSums& sums, Samples& samples) {
  const auto count = [&](const char* name, std::int64_t value, Better better = Better::neither) {
    samples.add(name, "count", better, static_cast<double>(value));
  };
  if (test.type == experiments::TestType::udp_stream) {
    samples.add("goodput", "bit/s", Better::higher, sums.goodput);
  }
  samples.add("throughput", "bit/s", Better::higher, sums.wire);
  samples.add("frame_rate", "1/s", Better::higher, sums.frames);
  samples.add("jitter", "s", Better::lower, sums.jitter);
  if (sums.sent > 0) {
    samples.add("loss", "fraction", Better::lower,
                1 - static_cast<double>(sums.received) / static_cast<double>(sums.sent));
  }
  if (sums.received > 0) {
    samples.add("reordered.share", "fraction", Better::lower,
                static_cast<double>(sums.reordered) / static_cast<double>(sums.received));
  }
  count("reordered", sums.reordered, Better::lower);
  count("duplicates", sums.duplicates, Better::lower);
  count("sender.calls", sums.sender_calls);
  count("receiver.calls", sums.receiver_calls);
  samples.add("sender.cpu", "s", Better::lower, sums.sender_cpu);
  samples.add("receiver.cpu", "s", Better::lower, sums.receiver_cpu);
  add_latencies(sums.latency, samples);
  if (sums.lateness.count() > 0) {
    samples.add("sender.lateness.p50", "s", Better::lower, sums.lateness.percentile(0.5).seconds());
    samples.add("sender.lateness.p99", "s", Better::lower,
                sums.lateness.percentile(0.99).seconds());
  }
}

/// What says whose fault a loss is.
void add_datagram_notes(const Repeat& repeat, const DatagramSums& sums, TestResult& result) {
  const TransferOutcome& first = repeat.transfers.front();
  result.notes.push_back(fmt::format("sent by {}, received by {}",
                                     first.sender.datagrams.method.data(),
                                     first.receiver.datagrams.method.data()));
  if (static_cast<double>(sums.sent) < kInTime * static_cast<double>(sums.due)) {
    result.notes.push_back(fmt::format(
        "inconclusive: generator-limited: the sender handed over {} of {} that were due", sums.sent,
        sums.due));
  }
  if (sums.refused > 0) {
    result.notes.push_back(
        fmt::format("{} found the sender's own queue full and count as lost", sums.refused));
  }
  if (sums.overflows > 0) {
    result.notes.push_back(
        fmt::format("{} reached the receiving host and found its buffer full; they count as lost",
                    sums.overflows));
  }
}

/// What each interval brought.
std::vector<experiments::Interval> goodput_intervals(const Repeat& repeat) {
  std::vector<experiments::Interval> intervals;
  for (const TransferOutcome& transfer : repeat.transfers) {
    const ReceiverReport& receiver = transfer.receiver;
    if (receiver.step <= Time{}) continue;
    double before = 0;
    for (int i = 0; i < receiver.intervals; ++i) {
      if (i == static_cast<int>(intervals.size())) {
        intervals.push_back(
            {(receiver.step * i).seconds(), (receiver.step * (i + 1)).seconds(), {}});
      }
      const double bytes = receiver.interval_bytes[i];
      intervals[i].figures["goodput"] += (bytes - before) * 8 / receiver.step.seconds();
      before = bytes;
    }
  }
  return intervals;
}

}  // namespace

void add_spans(const std::string& name, const LatencyHistogram& spans, Samples& samples) {
  if (spans.count() == 0) return;
  samples.add(name + ".mean", "s", Better::lower, spans.mean().seconds());
  samples.add(name + ".p50", "s", Better::lower, spans.percentile(0.5).seconds());
  samples.add(name + ".p99", "s", Better::lower, spans.percentile(0.99).seconds());
}

TestResult flows_result(const Experiment& experiment, const LabPlan& plan, const Test&,
                        const std::vector<Repeat>& repeats) {
  TestResult result;
  Samples samples;
  for (const Repeat& repeat : repeats) {
    double goodput = 0, flows = 0, sender = 0, receiver = 0;
    const auto all = std::make_unique<FlowsCompleted>();
    for (const TransferOutcome& transfer : repeat.transfers) {
      const FlowsCompleted& done = transfer.sender.flows;
      const double seconds = (done.last_read - transfer.start).seconds();
      if (done.flows > 0 && seconds > 0) goodput += static_cast<double>(done.bytes) * 8 / seconds;
      flows += static_cast<double>(done.flows);
      sender += transfer.sender.cpu;
      receiver += transfer.receiver.cpu;
      all->elapsed.add(done.elapsed);
      all->small.add(done.small);
      all->medium.add(done.medium);
      all->large.add(done.large);
      all->lateness.add(done.lateness);
    }
    samples.add("goodput", "bit/s", Better::higher, goodput);
    samples.add("flows", "count", Better::neither, flows);
    samples.add("sender.cpu", "s", Better::lower, sender);
    samples.add("receiver.cpu", "s", Better::lower, receiver);
    add_spans("flow_elapsed", all->elapsed, samples);
    add_spans("flow_elapsed.small", all->small, samples);
    add_spans("flow_elapsed.medium", all->medium, samples);
    add_spans("flow_elapsed.large", all->large, samples);
    if (all->lateness.count() > 0) {
      samples.add("sender.lateness.p99", "s", Better::lower,
                  all->lateness.percentile(0.99).seconds());
    }
  }
  result.figures = samples.figures();
  result.ports = repeats.front().use.ports;
  add_link_limits(experiment, plan, repeats.front().use, result.limits);
  rank_limits(result.limits);
  return result;
}

TestResult datagram_result(const Experiment& experiment, const LabPlan& plan, const Test& test,
                           const std::vector<Repeat>& repeats) {
  TestResult result;
  Samples samples;
  for (const Repeat& repeat : repeats) add_datagrams(test, *sums_of(test, repeat), samples);
  result.figures = samples.figures();
  const Repeat& shown = repeats.front();
  result.ports = shown.use.ports;
  result.intervals = goodput_intervals(shown);
  add_link_limits(experiment, plan, shown.use, result.limits);
  rank_limits(result.limits);
  add_datagram_notes(shown, *sums_of(test, shown), result);
  return result;
}

TestResult request_result(const Experiment& experiment, const LabPlan& plan, const Test& test,
                          const std::vector<Repeat>& repeats) {
  TestResult result;
  Samples samples;
  for (const Repeat& repeat : repeats) {
    double rate = 0, calls = 0, served = 0, retransmits = 0, elapsed = 0, client = 0, server = 0;
    const auto latency = std::make_unique<LatencyHistogram>();
    for (const TransferOutcome& transfer : repeat.transfers) {
      const SenderReport& sender = transfer.sender;
      rate += sender.requests.rate;
      calls += static_cast<double>(sender.calls);
      served += static_cast<double>(transfer.receiver.calls);
      retransmits += static_cast<double>(sender.retransmits);
      elapsed = std::max(
          elapsed, (sender.connecting + sender.requests.last_response - transfer.start).seconds());
      client += sender.cpu;
      server += transfer.receiver.cpu;
      latency->add(sender.requests.latency);
    }
    // With a barrier a round is one transaction, and what it is for is the answers.
    const auto members = static_cast<double>(test.pairs.size()) * test.flows;
    samples.add("transaction_rate", "1/s", Better::higher, test.barrier ? rate / members : rate);
    if (!test.barrier || !test.sizes) {
      const Bytes counted = test.barrier ? test.response : test.request;
      samples.add("goodput", "bit/s", Better::higher, rate * static_cast<double>(counted.bits()));
    }
    samples.add("sender.calls", "count", Better::neither, calls);
    samples.add("receiver.calls", "count", Better::neither, served);
    samples.add("retransmits", "count", Better::lower, retransmits);
    samples.add("elapsed", "s", Better::lower, elapsed);
    samples.add("sender.cpu", "s", Better::lower, client);
    samples.add("receiver.cpu", "s", Better::lower, server);
    add_latencies(*latency, samples);
  }
  result.figures = samples.figures();
  result.ports = repeats.front().use.ports;
  add_link_limits(experiment, plan, repeats.front().use, result.limits);
  rank_limits(result.limits);
  return result;
}

}  // namespace linerate::realnet
