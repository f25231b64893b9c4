// Open arrivals against queueing theory: what queues at a plain wire, at both ends of requests, and
// Little's law for closed loops. Laws hold when they lie in the 99 % interval of twenty independent
// repeats.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;

namespace {

constexpr double kByte = 8e-9;  // on a wire of 1 Gbit/s

experiments::Result predict(const std::string& test) {
  return models::simulate(experiments::parse_experiment(R"(schema_version: 1
name: law
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal, mtu: 65535B}}}
  b: {like: a}
links:
  - {endpoints: ["a:eth0", "b:eth0"], rate: 1Gbit/s}
tests:
  - {name: t, from: a, to: b, )" + test + "}\n",
                                                        "test.yaml"));
}

const std::vector<double>& samples(const experiments::Result& result, const char* figure) {
  return result.tests.front().figures.at(figure).samples;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Whether `law` lies in the 99 % interval of the mean of twenty repeats (Student, 19 degrees of
// freedom), which must be narrow enough to say something.
void check_law(const experiments::Result& result, const char* figure, double law) {
  const std::vector<double>& values = samples(result, figure);
  REQUIRE(values.size() == 20);
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = 2.861 * std::sqrt(squares / 19 / 20);
  INFO(figure << ": " << mean << " +- " << half << " against " << law);
  CHECK(half < 0.05 * law);
  CHECK(std::abs(mean - law) < half);
}

// M/D/1: share of customers that wait at most `t` (Erlang 1909): `service` seconds each.
double waits_at_most(double t, double service, double load) {
  const double rate = load / service;
  double sum = 0, factorial = 1;
  for (int k = 0; k * service <= t; ++k) {
    if (k > 0) factorial *= k;
    const double x = rate * (k * service - t);
    sum += std::exp(-x) * std::pow(x, k) / factorial;
  }
  return (1 - load) * sum;
}

double wait_exceeded_by(double share, double service, double load) {
  double low = 0, high = 30 * service;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (waits_at_most(middle, service, load) < 1 - share ? low : high) = middle;
  }
  return low;
}

// Pollaczek-Khinchine for one length of service.
double mean_wait(double service, double load) { return load * service / (2 * (1 - load)); }

}  // namespace

TEST_CASE("frames of one size with Poisson arrivals wait at a wire as in M/D/1") {
  // 1230 B and 20 B of preamble and gap last 10 us; at 70000 a second the wire is busy for 70 %. A
  // frame is there when its last bit is: without the gap.
  const double service = 1250 * kByte, load = 0.7, sent = (1230 + 8) * kByte;
  const auto result = predict(
      "type: raw-frames, frame_size: 1230B, arrivals: {poisson: 70000/s}, duration: 600ms, "
      "omit: 50ms, repeats: 20");
  check_law(result, "latency.mean", mean_wait(service, load) + sent);
  check_law(result, "latency.p50", wait_exceeded_by(0.5, service, load) + sent);
  check_law(result, "latency.p99", wait_exceeded_by(0.01, service, load) + sent);
}

TEST_CASE("datagrams of exponential sizes with Poisson arrivals wait at a wire as in M/M/1") {
  // Preamble, gap and the smallest frame make the sizes of frames just not exponential: a third of
  // a percent, less than the interval.
  const double service = (6000 + 20) * kByte, arrivals = 12'500, load = arrivals * service;
  const auto result = predict(
      "type: raw-frames, sizes: {exponential: 6000B}, arrivals: {poisson: 12500/s}, "
      "duration: 2s, omit: 100ms, repeats: 20");
  const double mean = service / (1 - load);  // waiting and service
  check_law(result, "latency.mean", mean);
  check_law(result, "latency.p50", mean * std::log(2));
  check_law(result, "latency.p99", mean * std::log(100));
}

TEST_CASE("evenly spaced arrivals never wait") {
  const auto result =
      predict("type: udp-stream, datagram: 1000B, arrivals: {periodic: 100000/s}, duration: 100ms");
  CHECK(samples(result, "frame_rate").front() == Approx(100'000).epsilon(1e-3));
  // 1000 B in IP, UDP, Ethernet and preamble.
  CHECK(samples(result, "latency.max").front() == Approx(1054 * kByte).epsilon(1e-9));
  CHECK(samples(result, "jitter").front() == 0);
}

TEST_CASE("requests that come at random wait for the longer of two wires as in M/D/1") {
  // Of two stations in a row with constant services the longer one alone decides the sum of the
  // waits (Friedman 1965): responses of one full segment, 1448 of 1538 B.
  const double service = 1538 * kByte, arrivals = 50'000, load = arrivals * service;
  const auto result = predict(
      "type: request-response, max_segment: 1460B, no_delay: on, request: 100B, response: 1448B, "
      "arrivals: {poisson: 50000/s}, duration: 500ms, omit: 50ms, repeats: 20");
  const double unloaded = (100 + 78 + (1538 - 12)) * kByte;
  CHECK(mean_of(samples(result, "transaction_rate")) == Approx(arrivals).epsilon(0.01));
  // Acknowledgments and full windows add a little that the law does not know.
  CHECK(mean_of(samples(result, "latency.mean")) ==
        Approx(mean_wait(service, load) + unloaded).epsilon(0.02));
  CHECK(mean_of(samples(result, "latency.p99")) ==
        Approx(wait_exceeded_by(0.01, service, load) + unloaded).epsilon(0.04));
}

TEST_CASE("requests under way are their rate times their latency (Little's law)") {
  const int outstanding = GENERATE(1, 4, 16);
  const auto result = predict(
      "type: request-response, no_delay: on, request: 64B, response: 512B, "
      "transactions: 20000, outstanding: " +
      std::to_string(outstanding));
  const double under_way =
      samples(result, "transaction_rate").front() * samples(result, "latency.mean").front();
  CHECK(under_way == Approx(outstanding).epsilon(0.01));
}
