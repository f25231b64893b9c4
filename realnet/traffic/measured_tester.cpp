#include "realnet/traffic/measured_tester.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "realnet/traffic/latency_histogram.hpp"

namespace linerate::realnet {
namespace {

using experiments::Test;
using experiments::TrialOutcome;
using experiments::TrialRequest;

/// A generator that handed over less than this share of what was due fell short.
constexpr double kOffered = 0.995;
/// A generator that was late by more sends a burst afterwards, which RFC 2544 does not ask a device
/// to bear: if frames were lost then, the trial says nothing and is run again, so many times.
constexpr Time kLate = Time::milliseconds(1);
constexpr int kAttempts = 4;

/// Preamble 8 and gap 12 around each frame (IEEE 802.3).
double frames_per_second(BitRate line, Bytes frame) {
  return static_cast<double>(line.bits_per_second()) /
         static_cast<double>((frame + Bytes(20)).bits());
}

}  // namespace

MeasuredTester::MeasuredTester(const experiments::Experiment& experiment, const Lab& lab,
                               const Test& test, const std::atomic<bool>* stop)
    : experiment_(experiment), lab_(lab), test_(test), stop_(stop) {
  for (const experiments::SendingPort& sender : experiments::sending_ports(test)) {
    Stream stream{sender.ends, {}, sender.sharing};
    const experiments::PortRef port{experiments::NodeKind::host, sender.ends.from_host,
                                    sender.ends.from_nic};
    for (const auto& link : experiment.links) {
      if (link.ends[0] == port || link.ends[1] == port) stream.line = link.rate;
    }
    streams_.push_back(stream);
  }
}

double MeasuredTester::port_rate(Bytes frame_size) const {
  return frames_per_second(streams_.front().line, frame_size);
}

double MeasuredTester::line_rate(Bytes frame_size) const {
  double sum = 0;
  for (const Stream& stream : streams_)
    sum += frames_per_second(stream.line, frame_size) * test_.flows / stream.sharing;
  return sum;
}

std::vector<Test> MeasuredTester::traffic(const TrialRequest& request) const {
  std::vector<Test> tests;
  for (const Stream& stream : streams_) {
    Test test = test_;
    test.type = experiments::TestType::raw_frames;
    test.direction = experiments::Direction::forward;
    test.pairs = {stream.ends};
    test.frame_sizes = {request.frame_size};
    test.duration = request.duration;
    if (request.burst > 0) {
      test.bytes = request.frame_size * request.burst;
    } else {
      // A quarter of a trial finds the device as the rest will.
      test.omit = request.duration / 4;
    }
    if (request.load < 1 || stream.sharing > 1) {
      test.frame_rate =
          frames_per_second(stream.line, request.frame_size) * request.load / stream.sharing;
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

TrialOutcome MeasuredTester::outcome_of(const TrialRequest& request, const RunOutcome& run) {
  TrialOutcome outcome;
  std::int64_t due = 0;
  double held = 0;
  const auto latency = std::make_unique<LatencyHistogram>();
  for (const auto& transfers : run.transfers) {
    for (const TransferOutcome& transfer : transfers) {
      const DatagramsSent& sent = transfer.sender.datagrams;
      const DatagramsReceived& received = transfer.receiver.datagrams;
      due += sent.due;
      outcome.sent += sent.sent;
      // What reached the tester and found no room there has passed the device.
      outcome.received += received.received + received.overflows;
      latency->add(received.latency);
      const double took = request.burst > 0 ? (transfer.sender.ended - transfer.start).seconds()
                                            : request.duration.seconds();
      outcome.seconds = std::max(outcome.seconds, took);
      if (request.burst == 0 && took > 0) {
        held += received.growth.seconds() * static_cast<double>(received.received) / took;
      }
      method_ = fmt::format("{} to {}", sent.method.data(), received.method.data());
    }
  }
  outcome.received -= std::min(outcome.received, static_cast<std::int64_t>(std::llround(held)));
  outcome.generator_limited =
      static_cast<double>(outcome.sent) < kOffered * static_cast<double>(due);
  if (request.burst > 0) {
    const double back_to_back = static_cast<double>(request.burst) / port_rate(request.frame_size);
    outcome.generator_limited = outcome.seconds * kOffered > back_to_back + 1e-3;
  }
  if (latency->count() > 0) {
    outcome.latency = experiments::Latencies{.mean = latency->mean(),
                                             .maximum = latency->largest(),
                                             .minimum = latency->least(),
                                             .p50 = latency->percentile(0.5),
                                             .p99 = latency->percentile(0.99),
                                             .p999 = latency->percentile(0.999)};
  }
  if (outcome.lost() > 0) outcome.limited_by = experiments::worst_drop(run.use.ports);
  return outcome;
}

bool MeasuredTester::late(const RunOutcome& run) {
  for (const auto& transfers : run.transfers) {
    for (const TransferOutcome& transfer : transfers) {
      const LatencyHistogram& lateness = transfer.sender.datagrams.lateness;
      if (lateness.count() > 0 && lateness.largest() > kLate) return true;
    }
  }
  return false;
}

TrialOutcome MeasuredTester::run(const TrialRequest& request) {
  std::optional<TrialOutcome> best;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    bool disturbed = false;
    const TrialOutcome outcome = run_once(request, disturbed);
    if (!best || outcome.lost() < best->lost()) best = outcome;
    if (outcome.lost() == 0 || !disturbed) return outcome;
    // Far too much is lost for that to be the generator's doing.
    if (outcome.loss() > 0.1) return outcome;
    ++repeated_;
  }
  return *best;
}

TrialOutcome MeasuredTester::run_once(const TrialRequest& request, bool& disturbed) {
  const std::vector<Test> tests = traffic(request);
  std::vector<const Test*> together;
  for (const Test& test : tests) together.push_back(&test);
  const auto run = run_together(experiment_, lab_, together, trials_++, stop_);
  if (!run) throw experiments::Interrupted{};
  disturbed = late(*run);
  return outcome_of(request, *run);
}

}  // namespace linerate::realnet
