#include "models/simulated_tester.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "models/framing/framing.hpp"
#include "models/progress_clock.hpp"
#include "models/report/report.hpp"

namespace linerate::models {

namespace {

using experiments::Test;
using experiments::TrialOutcome;
using experiments::TrialRequest;

double frames_per_second(BitRate line, Bytes frame) {
  return static_cast<double>(line.bits_per_second()) /
         static_cast<double>(wire_size_of_frame(frame).bits());
}

// What the counting window saw: frames due in it, and frames received in it. They differ by what
// was lost and by how much the queues have grown.
struct Counts {
  std::int64_t due = 0, window = 0;                  // in the counting window
  std::int64_t sent = 0, received = 0, refused = 0;  // in the whole trial
};

Counts counts_of(const Network& network, Time from, Time to) {
  Counts counts;
  for (const DatagramFlow& flow : network.datagram_flows()) {
    counts.due += flow.source.due_before(to) - flow.source.due_before(from);
    counts.window += flow.sink.window_frames();
    counts.sent += flow.source.sent();
    counts.received += flow.sink.received();
    counts.refused += flow.refused;
  }
  return counts;
}

// What is full, or else where most frames were lost: "link s1-b", "s1:2 (queue)".
std::string limit_of(const Subject& subject) {
  const std::vector<experiments::Limit> limits = limits_of(subject, 0);
  constexpr double kBusy = 0.97;
  for (const experiments::Limit& limit : limits)
    if (limit.binds && limit.utilisation >= kBusy &&
        (limit.resource.starts_with("link ") || limit.resource.starts_with("switch ") ||
         limit.resource.starts_with("bus ") || limit.resource.starts_with("nic ") ||
         limit.resource.starts_with("cpu ")))
      return limit.resource;
  return experiments::worst_drop(ports_of(subject));
}

}  // namespace

SimulatedTester::SimulatedTester(const experiments::Experiment& experiment,
                                 const experiments::Topology& topology, const Test& test,
                                 const SimulationOptions& options)
    : experiment_(experiment), topology_(topology), test_(test), options_(options) {
  for (const experiments::SendingPort& sender : experiments::sending_ports(test)) {
    const Test::Pair& ends = sender.ends;
    Stream stream{.ends = ends, .line = {}, .sharing = sender.sharing, .unloaded = {}};
    const std::vector<experiments::Hop> way =
        topology.path(ends.from_host, ends.from_nic, ends.to_host, ends.to_nic);
    const std::optional<Surroundings> around = surroundings_of(way);
    surroundings_ = streams_.empty() || surroundings_ == around ? around : std::nullopt;
    for (const experiments::Hop& hop : way) {
      const experiments::Link& link = experiment.links[static_cast<std::size_t>(hop.link)];
      if (stream.line == BitRate{}) stream.line = link.rate;
      stream.unloaded += link.propagation + link.delay + link.jitter;
      const experiments::PortRef& to = link.ends[1 - hop.from_end];
      if (to.kind == experiments::NodeKind::switch_)
        stream.unloaded += experiment.switches[static_cast<std::size_t>(to.node)].latency;
    }
    streams_.push_back(stream);
  }
}

std::optional<SimulatedTester::Surroundings> SimulatedTester::surroundings_of(
    const std::vector<experiments::Hop>& way) const {
  if (test_.device.empty() || way.size() != 2) return std::nullopt;
  const experiments::Link& in = experiment_.links[static_cast<std::size_t>(way[0].link)];
  const experiments::Link& out = experiment_.links[static_cast<std::size_t>(way[1].link)];
  const experiments::PortRef& device = in.ends[1 - way[0].from_end];
  return Surroundings{
      .in = in.rate,
      .out = out.rate,
      .cables = in.propagation + in.delay + out.propagation + out.delay,
      .cuts_through = device.kind == experiments::NodeKind::switch_ &&
                      experiment_.switches[static_cast<std::size_t>(device.node)].forwarding ==
                          experiments::SwitchForwarding::cut_through};
}

Time SimulatedTester::Surroundings::latency(Bytes frame_size) const {
  const Bytes bits = frame_size + kPreamble;
  return cables + serialization_time(bits, out) +
         (cuts_through ? Time{} : serialization_time(bits, in));
}

std::optional<experiments::Latencies> SimulatedTester::latencies_of(const Network& network,
                                                                    Bytes frame_size) const {
  LatencyRecorder all;
  for (std::uint32_t i = 0; i < streams_.size(); ++i) all.add(network.latencies(i));
  if (all.count() == 0) return std::nullopt;
  experiments::Latencies latencies{.mean = all.mean(),
                                   .maximum = all.max(),
                                   .minimum = all.percentile(0),
                                   .p50 = all.percentile(0.5),
                                   .p99 = all.percentile(0.99),
                                   .p999 = all.percentile(0.999)};
  if (surroundings_) latencies.device = latencies.mean - surroundings_->latency(frame_size);
  return latencies;
}

double SimulatedTester::port_rate(Bytes frame_size) const {
  return frames_per_second(streams_.front().line, frame_size);
}

double SimulatedTester::line_rate(Bytes frame_size) const {
  double sum = 0;
  for (const Stream& stream : streams_)
    sum += frames_per_second(stream.line, frame_size) * test_.flows / stream.sharing;
  return sum;
}

// One raw-frames test a stream, so that every port sends at its own rate.
std::vector<Test> SimulatedTester::traffic(const TrialRequest& request, Time warm_up,
                                           Time duration) const {
  std::vector<Test> tests;
  for (const Stream& stream : streams_) {
    Test test = test_;
    test.type = experiments::TestType::raw_frames;
    test.direction = experiments::Direction::forward;
    test.pairs = {stream.ends};
    test.frame_sizes = {request.frame_size};
    test.omit = warm_up;
    test.duration = duration;
    // A port alone at full load keeps its exact line rate, which as a number of frames would be
    // rounded.
    if (request.load < 1 || stream.sharing > 1)
      test.frame_rate =
          frames_per_second(stream.line, request.frame_size) * request.load / stream.sharing;
    tests.push_back(std::move(test));
  }
  return tests;
}

TrialOutcome SimulatedTester::run(const TrialRequest& request) {
  const double rate = line_rate(request.frame_size) * request.load;
  Time warm_up{}, counted = request.duration;
  if (request.burst > 0) {
    // Frame n of a burst is due at n intervals: the last one just before the end.
    counted = Time::from_seconds((static_cast<double>(request.burst) - 0.5) /
                                 port_rate(request.frame_size));
  } else {
    counted =
        std::max(counted, Time::from_seconds(static_cast<double>(request.frames_least) / rate));
    // Counting begins when the pipeline has long been full.
    Time longest{};
    for (const Stream& stream : streams_) longest = std::max(longest, stream.unloaded);
    warm_up = counted / 4 + longest * 2;
  }
  const std::vector<Test> tests = traffic(request, warm_up, warm_up + counted);

  NetworkConfig config;
  config.experiment = &experiment_;
  config.topology = &topology_;
  for (const Test& test : tests) config.tests.push_back(&test);
  config.seed =
      sim::RandomStream({.seed = experiment_.seed, .entity = trials_++, .name = "trial"}).bits();
  const auto progress = std::make_shared<ProgressClock>(
      options_, test_.name + " trial " + std::to_string(trials_), warm_up + counted);
  config.progress = [progress](Time now, std::uint64_t events) { (*progress)(now, events); };
  config.stop = options_.stop;
  config.drain = test_.trial.settle;
  Network network(config);
  random_ = random_ || network.random();
  if (!network.run()) throw experiments::Interrupted{};

  const Counts counts = counts_of(network, warm_up, warm_up + counted);
  const std::int64_t lost = counts.sent - counts.received;
  TrialOutcome outcome;
  outcome.seconds = counted.seconds();
  outcome.generator_limited = counts.refused > 0;
  outcome.latency = latencies_of(network, request.frame_size);
  if (request.burst > 0) {
    outcome.sent = counts.sent;
    outcome.received = counts.received;
  } else {
    outcome.sent = counts.due;
    outcome.received = std::min(counts.window, counts.due);
    // Both ends of the window cut through the frames under way, one more or less of each flow.
    const auto uncertain = static_cast<std::int64_t>(2 * network.datagram_flows().size());
    if (lost == 0 && counts.due - counts.window <= uncertain) outcome.received = outcome.sent;
  }
  if (outcome.lost() > 0) outcome.limited_by = limit_of({experiment_, tests.front(), 0, network});
  return outcome;
}

}  // namespace linerate::models
