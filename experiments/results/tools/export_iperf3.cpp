#include "experiments/results/tools/export_iperf3.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

namespace linerate::experiments {
namespace {

using nlohmann::ordered_json;

const TestResult& named(const Result& result, const std::string& name) {
  std::string names;
  for (const TestResult& test : result.tests) {
    if (test.name == name || (name.empty() && result.tests.size() == 1)) return test;
    names += (names.empty() ? "" : ", ") + test.name;
  }
  throw ExportError(name.empty()
                        ? fmt::format("iperf3 writes one test a file: choose one of {}", names)
                        : fmt::format("there is no test `{}`, only {}", name, names));
}

std::optional<double> median_of(const TestResult& test, const char* figure) {
  const auto found = test.figures.find(figure);
  if (found == test.figures.end() || found->second.samples.empty()) return std::nullopt;
  return found->second.median();
}

/// "start", "end", "seconds", "bytes", "bits_per_second".
ordered_json span_of(double from, double to, double rate) {
  return {{"start", from},
          {"end", to},
          {"seconds", to - from},
          {"bytes", static_cast<std::int64_t>(rate * (to - from) / 8)},
          {"bits_per_second", rate}};
}

ordered_json interval_of(const Interval& interval) {
  const auto figure = [&](const char* name) -> std::optional<double> {
    const auto found = interval.figures.find(name);
    if (found == interval.figures.end()) return std::nullopt;
    return found->second;
  };
  ordered_json sum = span_of(interval.from, interval.to, figure("goodput").value_or(0));
  if (const auto again = figure("retransmits"))
    sum["retransmits"] = static_cast<std::int64_t>(*again);
  if (const auto round_trip = figure("srtt"))
    sum["rtt"] = static_cast<std::int64_t>(*round_trip * 1e6);
  sum["omitted"] = false;
  sum["sender"] = true;
  return {{"sum", std::move(sum)}};
}

}  // namespace

std::string to_iperf3(const Result& result, const std::string& name) {
  const TestResult& test = named(result, name);
  const bool udp = test.type == "udp-stream";
  const auto goodput = median_of(test, "goodput");
  if ((!udp && test.type != "tcp-stream") || !goodput)
    throw ExportError(fmt::format("{} is a {} test{}; iperf3 runs TCP and UDP streams", test.name,
                                  test.type, goodput ? "" : " without a goodput"));
  const double last = test.intervals.empty() ? 0 : test.intervals.back().to;
  const double seconds =
      median_of(test, "receiver.elapsed").value_or(median_of(test, "elapsed").value_or(last));
  ordered_json sent = span_of(0, seconds, median_of(test, "sender.goodput").value_or(*goodput));
  if (const auto again = median_of(test, "retransmits"))
    sent["retransmits"] = static_cast<std::int64_t>(*again);
  sent["sender"] = true;
  ordered_json received = span_of(0, seconds, *goodput);
  if (const auto jitter = median_of(test, "jitter"); jitter && udp)
    received["jitter_ms"] = *jitter * 1e3;
  if (const auto loss = median_of(test, "loss"); loss && udp)
    received["lost_percent"] = *loss * 100;
  received["sender"] = false;
  ordered_json end{{"sum_sent", std::move(sent)}, {"sum_received", std::move(received)}};
  const auto sender = median_of(test, "sender.cpu"), receiver = median_of(test, "receiver.cpu");
  if (sender && receiver && seconds > 0)
    end["cpu_utilization_percent"] = {{"host_total", *sender / seconds * 100},
                                      {"remote_total", *receiver / seconds * 100}};
  ordered_json intervals = ordered_json::array();
  for (const Interval& interval : test.intervals) intervals.push_back(interval_of(interval));
  const ordered_json document{
      {"start",
       {{"version", "linerate " + result.provenance.version},
        {"test_start",
         {{"protocol", udp ? "UDP" : "TCP"}, {"duration", seconds}, {"reverse", 0}}}}},
      {"intervals", std::move(intervals)},
      {"end", std::move(end)}};
  return document.dump(2) + "\n";
}

}  // namespace linerate::experiments
