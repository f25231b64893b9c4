#include <algorithm>
#include <cmath>

#include "models/report/report.hpp"

namespace linerate::models {

namespace {

using experiments::Better;
using experiments::Clock;
using experiments::Test;
using experiments::TestType;

struct StreamView {
  const StreamWriter& writer;
  const StreamReader& reader;
  const TcpEnd& sender;
  const TcpEnd& receiver;
  const TcpFlow& flow;
};

StreamView view(const Network& network, const TcpFlow& flow) {
  const TcpEnd& sender = network.end(flow.data_from_client ? flow.client : flow.server);
  const TcpEnd& receiver = network.end(flow.data_from_client ? flow.server : flow.client);
  return {std::get<StreamWriter>(sender.application), std::get<StreamReader>(receiver.application),
          sender, receiver, flow};
}

// CPU time of the programs at the senders and receivers of a test, as their hosts measure it, and
// how busy the busiest core there was; absent where cores cost nothing.
void cpu_figures(const Subject& s, FigureValues& out) {
  const double span = active_span(s).span().seconds();
  for (const TcpFlow& flow : s.network.tcp_flows()) {
    if (flow.test != s.index) continue;
    for (const std::uint32_t index : {flow.client, flow.server}) {
      const TcpEnd& end = s.network.end(index);
      if (!end.on_core) continue;
      const bool sends = (index == flow.client) == flow.data_from_client;
      const std::string side = sends ? "sender" : "receiver";
      const Process& program = s.network.process(index);
      const bool sampled =
          s.experiment.hosts[end.host].cpu.accounting == experiments::CpuAccounting::tick;
      out[side + ".cpu"] += (sampled ? program.current : program.work).seconds();
      double& busiest = out[side + ".busiest_core"];
      for (const CoreWork& core : s.network.cores(end.host))
        if (span > 0) busiest = std::max(busiest, std::min(1.0, core.core.busy().seconds() / span));
    }
  }
}

double bits_per_second(std::int64_t bytes, Time span) { return rate_over(Bytes(bytes), span); }

// What one flow reports, by the way of timing of the program that ran it.
struct FlowFigures {
  double goodput = 0, elapsed = 0, sender_elapsed = 0, receiver_elapsed = 0;
};

FlowFigures time_flow(const Subject& s, const StreamView& v) {
  const Test& test = s.test;
  FlowFigures f;
  const Time begun = v.writer.started();
  // netperf's sender shuts down and waits for the peer to close: everything has been read by then.
  const Time closed = v.sender.closed == Time::never() ? v.reader.last_read() : v.sender.closed;
  f.receiver_elapsed = (v.reader.end_of_stream() - v.reader.started()).seconds();
  switch (test.clock) {
    case Clock::netperf: {
      const Time span = v.writer.span(begun, closed);
      f.sender_elapsed = f.elapsed = span.seconds();
      f.goodput = bits_per_second(v.writer.bytes(), span);
      return f;
    }
    case Clock::nttcp:
      // Each end times its own calls: the sender until its last write() returns.
      f.sender_elapsed = (v.writer.last_return() - begun).seconds();
      f.elapsed = f.receiver_elapsed;
      f.goodput = f.receiver_elapsed > 0
                      ? 8.0 * static_cast<double>(v.reader.bytes()) / f.receiver_elapsed
                      : 0;
      return f;
    case Clock::lftp: {
      // The client's program: a put until its last write() returns, a get until its last read().
      const Time end = v.flow.data_from_client ? v.writer.last_return() : v.reader.last_read();
      const Time from = v.flow.data_from_client ? v.writer.started() : v.reader.started();
      f.sender_elapsed = (v.writer.last_return() - begun).seconds();
      f.elapsed = (end - from).seconds();
      f.goodput = bits_per_second(v.reader.bytes(), end - from);
      return f;
    }
    case Clock::standard:
      f.sender_elapsed = (v.writer.last_return() - begun).seconds();
      // From the first SYN to the acknowledgment of the last byte, as a capture would tell it.
      f.elapsed = (v.sender.last_acked - v.flow.start).seconds();
      f.goodput =
          counts_everything(test)
              ? bits_per_second(v.reader.bytes(), v.reader.last_read() - v.writer.first_call())
              : bits_per_second(v.reader.window_bytes(), window_of(s, v.reader.window_start()));
      return f;
  }
  return f;
}

// What the flows of one direction carried and the time they shared. They share the line too: the
// sum of their own rates would exceed it where some begin or end before others.
struct Volume {
  Time from = Time::never(), to{};
  std::int64_t bytes = 0;

  void add(const Subject& s, const StreamView& v) {
    if (counts_everything(s.test)) {
      from = std::min(from, v.writer.first_call());
      to = std::max(to, v.reader.last_read());
      bytes += v.reader.bytes();
    } else {
      const Time opened = v.reader.window_start() + s.test.omit;
      from = std::min(from, opened);
      to = std::max(to, opened + window_of(s, v.reader.window_start()));
      bytes += v.reader.window_bytes();
    }
  }
  double rate() const { return bytes > 0 ? bits_per_second(bytes, to - from) : 0; }
};

void stream_figures(const Subject& s, FigureValues& out) {
  std::vector<double> rates;
  std::int64_t wire_bytes = 0;
  Volume volumes[2];  // by direction
  bool finished = true;
  Active active{Time::never(), Time{}};  // first SYN to the last FIN
  for (const TcpFlow& flow : s.network.tcp_flows()) {
    if (flow.test != s.index) continue;
    const StreamView v = view(s.network, flow);
    if (v.writer.started() == Time::never() || v.reader.started() == Time::never()) {
      rates.push_back(0);  // never connected
      finished = false;
      continue;
    }
    const FlowFigures f = time_flow(s, v);
    rates.push_back(f.goodput);
    volumes[flow.data_from_client ? 0 : 1].add(s, v);
    finished = finished && flow.finished;
    active.from = std::min(active.from, flow.start);
    for (const TcpEnd* end : {&v.sender, &v.receiver})
      active.to = std::max({active.to, end->last_acked, end->closed});
    out["elapsed"] = std::max(out["elapsed"], f.elapsed);
    out["sender.elapsed"] = std::max(out["sender.elapsed"], f.sender_elapsed);
    if (v.reader.finished())
      out["receiver.elapsed"] = std::max(out["receiver.elapsed"], f.receiver_elapsed);
    out["sender.calls"] += static_cast<double>(v.writer.calls());
    out["receiver.calls"] += static_cast<double>(v.reader.calls());
    out["retransmits"] += static_cast<double>(v.sender.endpoint.info().retransmits);
    wire_bytes += v.sender.wire_bytes_sent;
  }
  if (finished && active.span() > Time{}) {
    out["throughput"] = bits_per_second(wire_bytes, active.span());
  } else {  // how long a transfer takes is not known before its end
    out.erase("elapsed");
    out.erase("sender.elapsed");
  }
  double sum = 0;
  for (const double rate : rates) sum += rate;
  out["goodput"] = s.test.clock == Clock::standard ? volumes[0].rate() + volumes[1].rate() : sum;
  if (rates.size() > 1 && !s.test.arrivals && !s.test.sizes) {  // of like flows
    out["goodput.min"] = *std::min_element(rates.begin(), rates.end());
    if (const auto fairness = experiments::jains_index(rates)) out["fairness"] = *fairness;
  }
}

void latency_figures(const LatencyRecorder& latencies, FigureValues& out) {
  if (latencies.count() == 0) return;
  out["latency.mean"] = latencies.mean().seconds();
  out["latency.p50"] = latencies.percentile(0.50).seconds();
  out["latency.p99"] = latencies.percentile(0.99).seconds();
  out["latency.p999"] = latencies.percentile(0.999).seconds();
  out["latency.max"] = latencies.max().seconds();
}

void request_figures(const Subject& s, FigureValues& out) {
  double rate = 0;
  std::int64_t answered = 0;  // bytes
  for (const TcpFlow& flow : s.network.tcp_flows()) {
    if (flow.test != s.index) continue;
    const TcpEnd& client = s.network.end(flow.client);
    const auto& requester = std::get<Requester>(client.application);
    const auto& responder = std::get<Responder>(s.network.end(flow.server).application);
    answered += responder.bytes();
    out["sender.calls"] += static_cast<double>(requester.calls());
    out["receiver.calls"] += static_cast<double>(responder.calls());
    out["retransmits"] +=
        static_cast<double>(client.endpoint.info().retransmits +
                            s.network.end(flow.server).endpoint.info().retransmits);
    if (requester.transactions() == 0) continue;
    const Time span = requester.last_response() - requester.started();
    rate += static_cast<double>(requester.transactions()) / span.seconds();
    // From the first SYN to the last response, which acknowledges the last request.
    const Time end = requester.last_response();
    out["elapsed"] = std::max(out["elapsed"], (end - flow.start).seconds());
  }
  out["transaction_rate"] = rate;
  out["goodput"] = rate * 8 * static_cast<double>(s.test.request.count());
  if (const Barrier* barrier = s.network.barrier(s.index)) {
    // A round is one transaction, and what it is for is the answers.
    const Time span = barrier->last() - barrier->began();
    const bool any = span > Time{};
    out["transaction_rate"] = any ? static_cast<double>(barrier->completed()) / span.seconds() : 0;
    out["goodput"] = any ? bits_per_second(answered, span) : 0;
  }
  latency_figures(s.network.latencies(s.index), out);
}

void datagram_figures(const Subject& s, FigureValues& out) {
  std::int64_t sent = 0, received = 0, flows = 0;
  double jitter = 0;
  for (const DatagramFlow& flow : s.network.datagram_flows()) {
    if (flow.test != s.index) continue;
    // By volume the window is as long as it takes.
    const Time span = s.test.bytes ? flow.sink.last() - flow.start : window_of(s, flow.start);
    const double window = span.seconds();
    sent += flow.source.sent() - flow.in_flight;  // whose fate is known
    received += flow.sink.received();
    if (window <= 0) continue;
    ++flows;
    out["frame_rate"] +=
        static_cast<double>(flow.sink.window_frames() * flow.fragments.count) / window;
    out["throughput"] += 8 * static_cast<double>(flow.sink.window_wire_bytes()) / window;
    if (!flow.raw) out["goodput"] += 8 * static_cast<double>(flow.sink.window_bytes()) / window;
    out["reordered"] += static_cast<double>(flow.sink.reordered());
    jitter += flow.sink.jitter().seconds();
  }
  if (flows == 0) return;
  out["jitter"] = jitter / static_cast<double>(flows);
  if (received > 0) out["reordered.share"] = out["reordered"] / static_cast<double>(received);
  if (sent > 0) out["loss"] = 1 - static_cast<double>(received) / static_cast<double>(sent);
  latency_figures(s.network.latencies(s.index), out);
}

}  // namespace

Time window_of(const Subject& s, Time begun) {
  const Time whole = s.test.duration - s.test.omit;
  if (s.network.complete() && !s.test.background) return whole;
  return std::clamp(s.network.now() - begun - s.test.omit, Time{}, whole);
}

Active active_span(const Subject& s) {
  Active active{Time::never(), Time{}};
  for (const TcpFlow& flow : s.network.tcp_flows()) {
    if (flow.test != s.index) continue;
    active.from = std::min(active.from, flow.start);
    for (const std::uint32_t end : {flow.client, flow.server})
      active.to = std::max(active.to, s.network.end(end).last_acked);
  }
  for (const DatagramFlow& flow : s.network.datagram_flows()) {
    if (flow.test != s.index) continue;
    active.from = std::min(active.from, flow.start);
    active.to = std::max(active.to, flow.sink.last());
  }
  if (active.to < active.from) active.to = active.from;
  return active;
}

FigureValues figures_of(const Subject& s) {
  FigureValues out;
  if (s.test.start > s.network.now()) return out;  // background that never came to run
  switch (s.test.type) {
    case TestType::tcp_stream:
    case TestType::file_transfer:
      stream_figures(s, out);
      flow_figures(s, out);
      break;
    case TestType::request_response:
      request_figures(s, out);
      break;
    case TestType::udp_stream:
    case TestType::raw_frames:
      datagram_figures(s, out);
      break;
    default:  // a search is made of other tests
      break;
  }
  cpu_figures(s, out);
  if (const auto recovery = recovery_of(s)) out["recovery"] = *recovery;
  queue_figures(s, out);
  return out;
}

experiments::Figure figure_from(const std::string& name, std::vector<double> samples) {
  struct Kind {
    const char* unit;
    Better better;
  };
  static const std::map<std::string, Kind> kinds{
      {"goodput", {"bit/s", Better::higher}},
      {"goodput.min", {"bit/s", Better::higher}},
      {"throughput", {"bit/s", Better::higher}},
      {"fairness", {"fraction", Better::higher}},
      {"elapsed", {"s", Better::lower}},
      {"sender.elapsed", {"s", Better::lower}},
      {"receiver.elapsed", {"s", Better::lower}},
      {"sender.calls", {"count", Better::neither}},
      {"receiver.calls", {"count", Better::neither}},
      {"sender.cpu", {"s", Better::lower}},
      {"receiver.cpu", {"s", Better::lower}},
      {"sender.busiest_core", {"fraction", Better::lower}},
      {"receiver.busiest_core", {"fraction", Better::lower}},
      {"retransmits", {"count", Better::lower}},
      {"transaction_rate", {"1/s", Better::higher}},
      {"frame_rate", {"1/s", Better::higher}},
      {"loss", {"fraction", Better::lower}},
      {"recovery", {"s", Better::lower}},
      {"queue_delay.mean", {"s", Better::lower}},
      {"queue_delay.p99", {"s", Better::lower}},
      {"reordered", {"count", Better::lower}},
      {"reordered.share", {"fraction", Better::lower}},
      {"jitter", {"s", Better::lower}},
      {"latency.mean", {"s", Better::lower}},
      {"latency.max", {"s", Better::lower}},
      {"latency.p50", {"s", Better::lower}},
      {"latency.p99", {"s", Better::lower}},
      {"latency.p999", {"s", Better::lower}},
  };
  const bool of_flows = name.starts_with("flow_elapsed") || name.starts_with("slowdown");
  const Kind kind = !of_flows                      ? kinds.at(name)
                    : name.starts_with("slowdown") ? Kind{"count", Better::lower}
                                                   : Kind{"s", Better::lower};
  return experiments::make_figure(kind.unit, kind.better, std::move(samples));
}

namespace {

// What the cores of the hosts that took part did, whichever test of the group it was for: seconds
// by cause, and the busy share of each core.
void add_cores(const Subject& s, std::map<std::string, experiments::HostUse>& hosts) {
  const double span = active_span(s).span().seconds();
  for (std::uint32_t h = 0; h < s.experiment.hosts.size(); ++h) {
    const auto found = hosts.find(s.experiment.hosts[h].name);
    if (found == hosts.end()) continue;
    auto& use = found->second.figures;
    std::size_t number = 0;
    for (const CoreWork& core : s.network.cores(h)) {
      for (std::size_t cause = 0; cause < kCauses; ++cause)
        if (core.spent[cause] > Time{})
          use[std::string("cpu.") + kCauseNames[cause]] += core.spent[cause].seconds();
      use["interrupts"] += static_cast<double>(core.interrupts);
      if (core.backlog_drops > 0) use["backlog_drops"] += static_cast<double>(core.backlog_drops);
      if (span > 0 && core.core.busy() > Time{})
        use["core." + std::to_string(number)] = std::min(1.0, core.core.busy().seconds() / span);
      ++number;
    }
  }
}

}  // namespace

std::map<std::string, experiments::HostUse> hosts_of(const Subject& s) {
  std::map<std::string, experiments::HostUse> hosts;
  for (const TcpFlow& flow : s.network.tcp_flows()) {
    if (flow.test != s.index) continue;
    for (const std::uint32_t index : {flow.client, flow.server}) {
      const TcpEnd& end = s.network.end(index);
      const tcp::Info info = end.endpoint.info();
      auto& use = hosts[s.experiment.hosts[s.network.route(end.route).from_host].name].figures;
      use["segments_sent"] += static_cast<double>(info.segments_out);
      use["data_segments_sent"] += static_cast<double>(info.data_segments_out);
      if (end.on_core) use["data_segments_received"] += static_cast<double>(info.data_segments_in);
      use["acks_sent"] += static_cast<double>(info.acks_out);
      use["segments_received"] += static_cast<double>(info.segments_in);
      use["retransmits"] += static_cast<double>(info.retransmits);
      use["timeouts"] += static_cast<double>(info.timeouts);
      use["tail_probes"] += static_cast<double>(info.tail_probes);
      use["recoveries"] += static_cast<double>(info.recoveries);
      use["undos"] += static_cast<double>(info.undos);
      use["mark_reductions"] += static_cast<double>(info.mark_reductions);
      use["persist_probes"] += static_cast<double>(info.persist_probes);
      if (end.on_core) {
        const Process& program = s.network.process(index);
        use["calls"] +=
            static_cast<double>(end.endpoint.calls().writes + end.endpoint.calls().reads);
        use["program.cpu"] += program.work.seconds();
        use["program.current"] += program.current.seconds();
        use["blocks"] += static_cast<double>(program.blocks);
      }
    }
  }
  for (const DatagramFlow& flow : s.network.datagram_flows()) {
    if (flow.test != s.index) continue;
    const auto use = [&](std::uint32_t host) -> std::map<std::string, double>& {
      return hosts[s.experiment.hosts[host].name].figures;
    };
    if (flow.programs.sender != DatagramPrograms::kFree)
      use(flow.from_host)["datagrams_sent"] += static_cast<double>(flow.source.sent());
    if (flow.programs.receiver != DatagramPrograms::kFree)
      use(flow.to_host)["datagrams_read"] += static_cast<double>(flow.sink.received());
  }
  add_cores(s, hosts);
  return hosts;
}

std::vector<experiments::Interval> intervals_of(const Subject& s) {
  std::vector<experiments::Interval> intervals;
  Sample previous;
  const double start = s.test.start.seconds();
  for (const Sample& sample : s.network.samples(s.index)) {
    experiments::Interval interval;
    interval.from = sample.from.seconds() - start;
    interval.to = sample.to.seconds() - start;
    interval.figures["goodput"] =
        bits_per_second(sample.bytes - previous.bytes, sample.to - sample.from);
    if (s.test.type == TestType::tcp_stream || s.test.type == TestType::file_transfer ||
        s.test.type == TestType::request_response) {
      interval.figures["retransmits"] =
          static_cast<double>(sample.retransmits - previous.retransmits);
      interval.figures["cwnd"] = sample.cwnd;
      interval.figures["srtt"] = sample.srtt.seconds();
    }
    intervals.push_back(std::move(interval));
    previous = sample;
  }
  return intervals;
}

}  // namespace linerate::models
