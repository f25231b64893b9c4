#include "experiments/studies/rfc2544.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "experiments/studies/multiple_loss.hpp"
#include "experiments/studies/search.hpp"

namespace linerate::experiments {
namespace {

/// Preamble 8 and gap 12 around each frame (IEEE 802.3).
constexpr std::int64_t kWireOverhead = 20;

double wire_bits(Bytes frame) { return static_cast<double>(frame.bits() + kWireOverhead * 8); }

/// The samples of one frame size, one of each search.
class SizeResult {
 public:
  SizeResult(const Test& test, Bytes size) : size_(size) {
    result_.name =
        test.frame_sizes.size() < 2 ? test.name : fmt::format("{}[{}B]", test.name, size.count());
    result_.type = name_of(test.type);
  }

  void add(const std::string& name, const char* unit, Better better, double value) {
    Figure& figure = result_.figures[name];
    figure.unit = unit;
    figure.better = better;
    figure.samples.push_back(value);
  }
  void add_rate(const std::string& prefix, double frame_rate) {
    add(prefix + "frame_rate", "1/s", Better::higher, frame_rate);
    add(prefix + "throughput", "bit/s", Better::higher, frame_rate * wire_bits(size_));
  }
  void add_latency(const Latencies& latency) {
    const std::pair<const char*, std::optional<Time>> values[] = {
        {"min", latency.minimum},  {"mean", latency.mean}, {"p50", latency.p50},
        {"p99", latency.p99},      {"p999", latency.p999}, {"max", latency.maximum},
        {"device", latency.device}};
    for (const auto& [name, value] : values)
      if (value) add(std::string("latency.") + name, "s", Better::lower, value->seconds());
  }
  void note(const std::string& text) {
    for (const std::string& known : result_.notes)
      if (known == text) return;
    result_.notes.push_back(text);
  }

  TestResult finished() {
    for (auto& [name, figure] : result_.figures)
      figure = make_figure(figure.unit, figure.better, std::move(figure.samples));
    return std::move(result_);
  }

 private:
  Bytes size_;
  TestResult result_;
};

// With two loss goals (NDR and PDR) their trials are shared; with one, bisection.
SearchResult search(const Test& test, Tester& tester, Bytes size, SizeResult& out) {
  if (!test.partial_loss)
    return find_throughput(tester, size,
                           {.allowed_loss = test.allowed_loss, .resolution = test.resolution});
  const LossSearch both = find_loads(
      tester, size,
      {.allowed = {test.allowed_loss, *test.partial_loss}, .resolution = test.resolution});
  const SearchResult& partial = both.goals[1];
  out.add_rate("pdr.", partial.load * tester.line_rate(size));
  if (partial.best) out.add("pdr.loss", "fraction", Better::lower, partial.best->loss());
  return both.goals[0];
}

SearchResult throughput_of(const Test& test, Tester& tester, Bytes size, SizeResult& out) {
  const SearchResult found = search(test, tester, size, out);
  out.add_rate("", found.load * tester.line_rate(size));
  out.add("trials", "count", Better::neither, found.trials);
  if (found.load <= 0) out.note("every load lost more than is allowed");
  if (found.generator_limited)
    out.note("inconclusive: the tester could not offer more; the device may be faster");
  if (found.failure && !found.failure->limited_by.empty())
    out.note("limited by " + found.failure->limited_by);
  return found;
}

void run_throughput(const Test& test, Tester& tester, Bytes size, SizeResult& out) {
  const SearchResult found = throughput_of(test, tester, size, out);
  if (!found.best) return;
  out.add("loss", "fraction", Better::lower, found.best->loss());
  if (found.best->latency) out.add_latency(*found.best->latency);
}

// RFC 2544 26.2: at the rate of 26.1.
void run_latency(const Test& test, Tester& tester, Bytes size, SizeResult& out) {
  const SearchResult found = throughput_of(test, tester, size, out);
  if (!found.best) return;
  const TrialOutcome outcome = tester.run({.frame_size = size,
                                           .load = found.load,
                                           .duration = tester.trial_duration(),
                                           .frames_least = SearchGoal{}.frames_least()});
  out.add("loss", "fraction", Better::lower, outcome.loss());
  if (outcome.latency) out.add_latency(*outcome.latency);
}

void run_frame_loss(Tester& tester, Bytes size, SizeResult& out) {
  for (const LossPoint& point : loss_curve(tester, size)) {
    out.add(fmt::format("loss.{:.0f}%", point.load * 100), "fraction", Better::lower,
            point.outcome.loss());
    if (point.outcome.generator_limited)
      out.note(fmt::format("inconclusive: the tester could not offer {:.0f} % of the line rate",
                           point.load * 100));
  }
}

// RFC 9004 5.4: what of the burst time was forwarded meanwhile is no buffer.
void run_back_to_back(const Test& test, Tester& tester, Bytes size, SizeResult& out) {
  const SearchResult found = throughput_of(test, tester, size, out);
  const BurstResult burst = find_burst(tester, size, test.resolution);
  const double seconds = static_cast<double>(burst.frames) / tester.port_rate(size);
  out.add("burst", "count", Better::higher, static_cast<double>(burst.frames));
  out.add("burst_time", "s", Better::higher, seconds);
  if (burst.unbounded)
    out.note("the longest burst tried, a trial at line rate, loses nothing: no buffer fills");
  else
    out.add("buffer_time", "s", Better::higher, seconds * (1 - found.load));
}

}  // namespace

void run_rfc2544(const Test& test, Tester& tester, std::vector<TestResult>& done) {
  for (const Bytes size : test.frame_sizes) {
    SizeResult out(test, size);
    // Whether trials of one load can differ is known after the first.
    for (int repeat = 0; repeat == 0 || (tester.random() && repeat < test.repeats); ++repeat) {
      switch (test.type) {
        case TestType::rfc2544_throughput:
          run_throughput(test, tester, size, out);
          break;
        case TestType::rfc2544_latency:
          run_latency(test, tester, size, out);
          break;
        case TestType::rfc2544_frame_loss:
          run_frame_loss(tester, size, out);
          break;
        case TestType::rfc2544_back_to_back:
          run_back_to_back(test, tester, size, out);
          break;
        case TestType::tcp_stream:
        case TestType::udp_stream:
        case TestType::raw_frames:
        case TestType::request_response:
        case TestType::file_transfer:
          return;
      }
    }
    done.push_back(out.finished());
  }
}

}  // namespace linerate::experiments
