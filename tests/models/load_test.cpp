// Applications beyond one endless flow: drawn sizes, mixes, finite flows, barriers, spread starts,
// and the parts they are made of.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "experiments/definition/parse.hpp"
#include "models/apps/datagram.hpp"
#include "models/apps/datagram_pattern.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using namespace linerate::models;

namespace {

experiments::Experiment pair_of_hosts(const std::string& test, const std::string& link = "") {
  return experiments::parse_experiment(R"(schema_version: 1
name: pair
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  b: {like: a}
links:
  - {endpoints: ["a:eth0", "b:eth0"], medium: 1000BASE-T)" +
                                           link + R"(}
tests:
  - {name: t, from: a, to: b, )" + test + "}\n",
                                       "test.yaml");
}

// Servers n1 to n32 and a client behind one switch of so much memory a port.
experiments::Experiment star(const std::string& memory, const std::string& test,
                             const std::string& stack = "linux-6") {
  return experiments::parse_experiment(R"(schema_version: 1
name: star
hosts:
  client: {profile: ideal, stack: )" + stack +
                                           R"(, nics: {eth0: {profile: ideal}}}
  "n[1-32]": {like: client}
switches:
  s1: {ports: 33, rate: 1Gbit/s, buffer: {total: )" +
                                           memory + R"(, policy: per-port}}
links:
  - {endpoints: ["n[1-32]:eth0", "s1:{i}"], medium: 1000BASE-T}
  - {endpoints: ["client:eth0", "s1:33"], medium: 1000BASE-T}
tests:
  - {name: t, )" + test + "}\n",
                                       "test.yaml");
}

double figure(const experiments::Experiment& experiment, const char* name) {
  const experiments::Result result = simulate(experiment);
  return result.tests.front().figures.at(name).median();
}

SizeSource source_of(const experiments::Sizes& sizes) {
  return SizeSource(sizes, {}, sim::RandomStream({.seed = 1, .entity = 2, .name = "sizes"}));
}

experiments::Sizes sizes_of(const std::string& text) {
  return *pair_of_hosts("type: tcp-stream, sizes: " + text).tests.front().sizes;
}

}  // namespace

TEST_CASE("latencies are exact while they are few, and within a 2048th when they are many") {
  const std::size_t count = GENERATE(std::size_t{1}, std::size_t{1000}, std::size_t{200'000});
  sim::RandomStream random({.seed = 7, .entity = 0, .name = "latency"});
  LatencyRecorder recorder;
  std::vector<Time> all;
  __extension__ __int128 sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // From nanoseconds to seconds, as evenly over the powers of two as over a small range.
    const Time latency =
        Time::picoseconds(static_cast<std::int64_t>(random.below(1000) + 1) << random.below(40));
    recorder.record(latency);
    all.push_back(latency);
    sum += latency.picoseconds();
  }
  std::sort(all.begin(), all.end());
  for (const double p : {0.0, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = std::max(1.0, std::ceil(p * static_cast<double>(count)));
    const double exact = all[static_cast<std::size_t>(rank) - 1].seconds();
    INFO(count << " of them, p " << p);
    CHECK(recorder.percentile(p).seconds() ==
          Approx(exact).epsilon(count > LatencyRecorder::kExact ? 1.0 / 2048 : 1e-15));
  }
  CHECK(recorder.max() == all.back());
  CHECK(recorder.mean().picoseconds() ==
        static_cast<std::int64_t>(sum / static_cast<std::int64_t>(count)));
}

TEST_CASE("jitter is RFC 3550's, reordering RFC 4737's") {
  LatencyRecorder latencies;
  DatagramSink sink(Time{}, Time::seconds(100), latencies);
  sink.start(Time{});
  const auto receive = [&](int number, Time at, Time delay) {
    sink.receive(at, {.sent = at - delay, .ordinal = number, .payload = 100, .wire = 166});
  };
  // Delays that change by 1 ms every time: the estimate goes to 1 ms by a sixteenth of what is
  // left.
  for (int i = 1; i <= 400; ++i)
    receive(i, Time::milliseconds(20 * i), Time::milliseconds(5 + i % 2));
  CHECK(sink.jitter().seconds() == Approx(1e-3).epsilon(1e-6));
  CHECK(sink.reordered() == 0);
  // Numbers 401 402 405 403 404 406: two are smaller than one that came before.
  for (const int i : {401, 402, 405, 403, 404, 406})
    receive(i, Time::milliseconds(20 * 410), Time::milliseconds(5));
  CHECK(sink.reordered() == 2);
}

TEST_CASE("a drawn size has the mean and the shares of its distribution") {
  const auto named =
      GENERATE(std::string("web-search"),
               std::string("{distribution: [[1KiB, 0.25], [1KiB, 0.25], [4KiB, 0.25], "
                           "[64KiB, 1]]}"),
               std::string("{exponential: 10kB}"));
  const experiments::Sizes sizes = sizes_of(named);
  SizeSource source = source_of(sizes);
  const int n = 200'000;
  double sum = 0, squares = 0;
  std::map<std::size_t, int> at_most;
  for (int i = 0; i < n; ++i) {
    const Bytes size = source.next();
    sum += static_cast<double>(size.count());
    squares += static_cast<double>(size.count()) * static_cast<double>(size.count());
    for (std::size_t p = 0; p < sizes.distribution.size(); ++p)
      if (size <= sizes.distribution[p].size) ++at_most[p];
  }
  const double mean = sum / n, sigma = std::sqrt((squares / n - mean * mean) / n);
  INFO(named << ": " << mean);
  CHECK(std::abs(mean - experiments::mean_size(sizes)) < 4 * sigma);
  for (std::size_t p = 0; p < sizes.distribution.size(); ++p) {
    const experiments::SizePoint& point = sizes.distribution[p];
    if (p + 1 < sizes.distribution.size() && sizes.distribution[p + 1].size == point.size) continue;
    CHECK(at_most[p] / double{n} ==
          Approx(point.share).margin(4 * std::sqrt(point.share * (1 - point.share) / n) + 1e-4));
  }
}

TEST_CASE("the published distributions have the means that their users know") {
  // Web search about 1.6 MB to 1.7 MB, data mining about 7 MB to 13 MB with half of the flows below
  // a segment (Alizadeh et al., pFabric, SIGCOMM 2013, and what followed it).
  CHECK(experiments::mean_size(sizes_of("web-search")) == Approx(1.71125e6));
  const experiments::Sizes mining = sizes_of("data-mining");
  CHECK(experiments::mean_size(mining) > 7e6);
  CHECK(experiments::mean_size(mining) < 13e6);
  SizeSource source = source_of(mining);
  int short_ones = 0;
  for (int i = 0; i < 10'000; ++i) short_ones += source.next() <= Bytes(1100) ? 1 : 0;
  CHECK(short_ones / 10'000.0 == Approx(0.5).margin(0.02));
}

TEST_CASE("the Internet mix is 7 to 4 to 1 and evenly spread") {
  const std::vector<Bytes> round = imix_round();
  CHECK(std::count(round.begin(), round.end(), Bytes(64)) == 7);
  CHECK(std::count(round.begin(), round.end(), Bytes(570)) == 4);
  CHECK(std::count(round.begin(), round.end(), Bytes(1518)) == 1);
  // At line rate 12 frames of 4486 B with 20 B of preamble and gap each.
  const double rate = 1e9 / 8 / ((7 * 84 + 4 * 590 + 1538) / 12.0);
  CHECK(figure(pair_of_hosts("type: raw-frames, frame_size: imix, duration: 100ms, omit: 10ms"),
               "frame_rate") == Approx(rate).epsilon(1e-3));
  // A stream of datagrams keeps its rate in payload: frames without the 46 B around it.
  CHECK(figure(pair_of_hosts("type: udp-stream, frame_size: imix, rate: 100Mbit/s, "
                             "duration: 100ms, omit: 10ms"),
               "goodput") == Approx(100e6).epsilon(5e-3));
}

TEST_CASE("a stream of datagrams by volume sends its bytes and ends") {
  const experiments::Result result =
      simulate(pair_of_hosts("type: udp-stream, datagram: 1000B, rate: 80Mbit/s, bytes: 1MB"));
  CHECK(result.tests.front().ports.at("a:eth0").frames_sent == 1000);
  CHECK(result.tests.front().figures.at("goodput").median() == Approx(80e6).epsilon(2e-3));
}

TEST_CASE("a flow that arrives alone takes what the unloaded network takes") {
  // Ten segments fit the initial window of RFC 6928, so nothing but handshake and line counts.
  const auto experiment =
      pair_of_hosts("type: tcp-stream, bytes: 14480B, arrivals: {periodic: 100/s}, duration: 1s",
                    ", length: 10m");
  const experiments::Result result = simulate(experiment);
  const auto& figures = result.tests.front().figures;
  CHECK(figures.at("slowdown.mean").median() == Approx(1).epsilon(0.01));
  // SYN, SYN-ACK with their options 94 B each with preamble, then ten frames back to back.
  const double frames = (2 * 86 + 10 * 1538 - 12) * 8e-9;
  CHECK(figures.at("flow_elapsed.small.p99").median() == Approx(frames).epsilon(0.01));
  CHECK_FALSE(figures.contains("flow_elapsed.large.p99"));
}

TEST_CASE("flows that arrive at random offer the load that their sizes and rate say") {
  const experiments::Result result = simulate(pair_of_hosts(
      "type: tcp-stream, sizes: {exponential: 20kB}, arrivals: {poisson: 2000/s}, duration: 2s, "
      "repeats: 1"));
  const double carried =
      static_cast<double>(result.tests.front().ports.at("a:eth0").wire_bytes_sent);
  // 4000 flows of 20 kB: four standard deviations of a sum of a random number of random sizes.
  const double expected = 4000 * 20e3, sigma = 20e3 * std::sqrt(2 * 4000.0);
  CHECK(carried > expected - 4 * sigma);
  CHECK(carried < (expected + 4 * sigma) * 1.15);  // headers, and small frames at the edges
  CHECK(result.tests.front().figures.at("slowdown.mean").median() >= 1);
}

TEST_CASE("one server behind a barrier is a plain conversation") {
  const std::string plain =
      "type: request-response, from: client, to: n1, request: 100B, response: 64KiB, "
      "transactions: 50";
  CHECK(figure(star("1MiB", plain), "elapsed") ==
        Approx(figure(star("1MiB", plain + ", barrier: on"), "elapsed")));
}

TEST_CASE("a round takes as long as all its answers take on the one line") {
  const int servers = GENERATE(2, 8, 32);
  const std::string test = "type: request-response, from: client, to: \"n[1-" +
                           std::to_string(servers) +
                           "]\", barrier: on, request: 100B, response: 64KiB, transactions: 40";
  const experiments::Result result = simulate(star("16MiB", test));
  const auto& figures = result.tests.front().figures;
  const double line = 1e9 * 1448 / 1538;
  const double goodput = figures.at("goodput").median();
  CHECK(goodput < line);
  if (servers > 2) CHECK(goodput > 0.9 * line);
  CHECK(figures.at("transaction_rate").median() * servers * 65536 * 8 == Approx(goodput));
  CHECK(figures.at("latency.mean").median() * figures.at("transaction_rate").median() ==
        Approx(1).epsilon(1e-3));
}

TEST_CASE("incast collapses with a minimum RTO of 200 ms and not with 1 ms") {
  // Phanishayee et al. (FAST 2008, figures 1 and 8) and Vasudevan et al. (SIGCOMM 2009): a small
  // port buffer, a fixed block per server, goodput an order of magnitude below the line.
  const std::string test =
      "type: request-response, from: client, to: \"n[1-32]\", barrier: on, request: 100B, "
      "response: 256KiB, transactions: 10";
  const double slow = figure(star("64KiB", test), "goodput");
  const double fast = figure(star("64KiB", test, "{preset: linux-6, rto_min: 1ms}"), "goodput");
  INFO(slow << " and " << fast);
  CHECK(slow < 0.25e9);
  CHECK(fast > 3 * slow);
}

TEST_CASE("bursts that begin together meet in a buffer, spread ones do not") {
  const std::string test =
      "type: udp-stream, from: \"n[1-32]\", to: client, datagram: 1472B, rate: 900Mbit/s, "
      "bytes: 14720B, repeats: 1";
  CHECK(figure(star("32KiB", test), "loss") > 0.1);
  CHECK(figure(star("32KiB", test + ", start_spread: 10s"), "loss") == 0);
}

TEST_CASE("drawn sizes and arrivals are the same for the same seed") {
  const std::string test =
      "type: request-response, sizes: {exponential: 5kB}, arrivals: {poisson: 2000/s}, "
      "duration: 200ms, repeats: 2";
  CHECK(simulate(pair_of_hosts(test)) == simulate(pair_of_hosts(test)));
}
