// The flows of a test: when each begins, how much it carries and which applications it runs
// between.
#include <algorithm>

#include "models/network/network.hpp"

namespace linerate::models {

namespace {

using experiments::Direction;
using experiments::Test;
using experiments::TestType;

Test::Pair turned(const Test::Pair& pair) {
  return {pair.to_host, pair.to_nic, pair.from_host, pair.from_nic};
}

bool is_datagram(TestType type) {
  return type == TestType::udp_stream || type == TestType::raw_frames;
}

bool is_stream(TestType type) {
  return type == TestType::tcp_stream || type == TestType::file_transfer;
}

}  // namespace

sim::RandomStream Network::stream_of(std::uint32_t test, const FlowPlan& plan,
                                     std::string_view purpose) const {
  const std::uint64_t flow = plan.ordinal << 1 | (plan.reverse ? 1 : 0);
  return sim::RandomStream(
      {.seed = config_.seed, .entity = std::uint64_t{test} << 48 ^ flow, .name = purpose});
}

std::optional<Bytes> Network::volume_of(std::uint32_t index, const FlowPlan& plan) {
  const Test& test = *config_.tests[index];
  if (!test.sizes) return test.bytes;
  return SizeSource(*test.sizes, {}, stream_of(index, plan, "sizes")).next();
}

// Every arrival is a flow of its own: one connection for each.
void Network::build_arriving(std::uint32_t index, const FlowPlan& source, std::uint64_t& ordinal) {
  const Test& test = *config_.tests[index];
  ArrivalProcess arrivals(*test.arrivals, stream_of(index, source, "arrivals"));
  const Time end = source.start + test.duration;
  std::optional<SizeSource> sizes;
  if (test.sizes)
    sizes.emplace(*test.sizes, SizeSource::Range{}, stream_of(index, source, "sizes"));
  for (arrivals.start(source.start); arrivals.due() < end; arrivals.step()) {
    FlowPlan plan = source;
    plan.ordinal = ordinal++;
    plan.start = arrivals.due();
    plan.volume = sizes ? sizes->next() : test.bytes;
    build_tcp(index, plan);
  }
}

void Network::build_flows(std::uint32_t index) {
  const Test& test = *config_.tests[index];
  const auto members = static_cast<std::int64_t>(test.pairs.size()) * test.flows;
  if (test.barrier) barriers_[index] = std::make_unique<Barrier>(test, members, latencies_[index]);
  random_ = random_ || test.sizes || test.start_spread > Time{} ||
            (test.arrivals && test.arrivals->poisson);
  std::uint64_t ordinal = 0, arrival = static_cast<std::uint64_t>(members);
  auto build = [&](FlowPlan plan) {
    if (test.start_spread > Time{})
      plan.start += test.start_spread.scaled(stream_of(index, plan, "start").uniform01());
    if (is_datagram(test.type)) return build_datagrams(index, plan);
    if (test.type == TestType::tcp_stream && test.arrivals)
      return build_arriving(index, plan, arrival);
    if (is_stream(test.type)) plan.volume = volume_of(index, plan);
    build_tcp(index, plan);
  };
  for (const Test::Pair& pair : test.pairs) {
    for (int flow = 0; flow < test.flows; ++flow, ++ordinal) {
      FlowPlan plan{.pair = pair, .ordinal = ordinal, .reverse = false, .start = test.start};
      if (test.direction != Direction::reverse) build(plan);
      if (test.direction == Direction::forward) continue;
      // A stream is connected by its client whichever way data flows; requests and datagrams start
      // at the other end.
      if (!is_stream(test.type)) plan.pair = turned(pair);
      plan.reverse = true;
      build(plan);
    }
  }
}

Application Network::application_of(std::uint32_t index, const FlowPlan& plan, bool client,
                                    const LocalClock& clock) {
  const Test& test = *config_.tests[index];
  if (test.type != TestType::request_response) {
    if (client == plan.reverse) return StreamReader(test);
    return StreamWriter(test, clock, plan.volume);
  }
  std::optional<SizeSource> responses;  // drawn at both ends, the same
  if (test.sizes)
    responses.emplace(*test.sizes, SizeSource::Range{}, stream_of(index, plan, "sizes"));
  if (!client) return Responder(test, std::move(responses));
  std::unique_ptr<RequestLoad> load;
  if (test.arrivals || test.sizes || test.barrier) {
    load = std::make_unique<RequestLoad>();
    load->responses = std::move(responses);
    load->barrier = barriers_[index].get();
    if (test.arrivals) load->arrivals.emplace(*test.arrivals, stream_of(index, plan, "arrivals"));
  }
  return Requester(test, latencies_[index], std::move(load));
}

std::unique_ptr<DatagramPattern> Network::pattern_of(std::uint32_t index, const FlowPlan& plan,
                                                     BitRate line, const Framing& framing) {
  const Test& test = *config_.tests[index];
  if (!test.imix && !test.sizes && !test.arrivals) return nullptr;
  const bool raw = test.type == TestType::raw_frames;
  DatagramPattern::Parts parts;
  parts.rate = test.rate.value_or(line);
  parts.rate_on_wire = raw || !test.rate;
  if (test.arrivals) parts.arrivals.emplace(*test.arrivals, stream_of(index, plan, "arrivals"));
  if (test.frame_rate)
    parts.arrivals.emplace(experiments::Arrivals{.poisson = {}, .periodic = test.frame_rate},
                           stream_of(index, plan, "arrivals"));
  if (test.sizes) {
    const SizeSource::Range range{Bytes(raw ? 64 : 1), room_of(test, experiment_)};
    parts.sizes.emplace(*test.sizes, range, stream_of(index, plan, "sizes"));
  } else if (test.imix) {
    // A datagram is what a frame of that size carries.
    const Bytes around = framing.frame_size(Bytes(1000)) - Bytes(1000);
    for (const Bytes frame : imix_round())
      parts.round.push_back(std::max(Bytes(1), frame - around));
  } else {
    parts.round.push_back(raw ? test.frame_sizes.front() : test.datagram);
  }
  return std::make_unique<DatagramPattern>(std::move(parts), framing);
}

}  // namespace linerate::models
