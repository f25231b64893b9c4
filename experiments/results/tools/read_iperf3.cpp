// iperf3 --json, as versions 3.1 to 3.17 write it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/results/tools/run_figures.hpp"

namespace linerate::experiments {
namespace {

using nlohmann::json;

/// A document whose missing or wrong parts are errors that name their path.
class IperfDocument {
 public:
  explicit IperfDocument(const ToolOutput& output) : output_(output) {
    try {
      root_ = json::parse(output.text);
    } catch (const json::parse_error& error) {
      // The library's message holds line and column; what precedes them is its own.
      const std::string text = error.what();
      const std::size_t place = text.find("line ");
      import_error(output, 0,
                   "not JSON: " + (place == std::string::npos ? text : text.substr(place)));
    }
    if (root_.is_object() && root_.contains("error") && root_["error"].is_string())
      import_error(output, 0, "the run failed: " + root_["error"].get<std::string>());
    if (find(root_, "start") == nullptr || find(root_, "end") == nullptr)
      import_error(output, 0, "not the output of iperf3 --json: it has no `start` and `end`");
  }

  const json& root() const { return root_; }
  static const json* find(const json& parent, const char* key) {
    if (!parent.is_object()) return nullptr;
    const auto found = parent.find(key);
    return found == parent.end() ? nullptr : &*found;
  }
  /// A number that is not negative, or an error that names it.
  double number(const json& parent, const char* path, const char* key) const {
    const json* value = find(parent, key);
    if (!value || !value->is_number() || !std::isfinite(value->get<double>()) ||
        value->get<double>() < 0) {
      import_error(
          output_, 0,
          fmt::format("{}.{} is {}", path, key, value ? "no number or negative" : "missing"));
    }
    return value->get<double>();
  }
  /// The same, or nothing where there is none.
  std::optional<double> optional_number(const json& parent, const char* path,
                                        const char* key) const {
    if (!find(parent, key)) return std::nullopt;
    return number(parent, path, key);
  }

 private:
  const ToolOutput& output_;
  json root_;
};

class IperfReader {
 public:
  explicit IperfReader(const ToolOutput& output) : document_(output) {}

  ToolRun read() {
    const json& start = document_.root()["start"];
    const json& end = document_.root()["end"];
    const json empty = json::object();
    const json* setup = IperfDocument::find(start, "test_start");
    if (!setup) setup = &empty;
    const std::string protocol = setup->value("protocol", "TCP");
    udp_ = protocol == "UDP";
    reverse_ = setup->value("reverse", 0) != 0;
    run_.type = udp_ ? "udp-stream" : "tcp-stream";
    if (const json* version = IperfDocument::find(start, "version");
        version && version->is_string())
      run_.notes.push_back("made by " + version->get<std::string>());
    add_rates(end);
    add_streams(end);
    add_processors(end);
    add_intervals();
    return std::move(run_);
  }

 private:
  const json& section(const json& end, const char* name, const char* older) const {
    if (const json* found = IperfDocument::find(end, name)) return *found;
    if (const json* found = IperfDocument::find(end, older)) return *found;
    return end;
  }

  void add_rates(const json& end) {
    const json& received = section(end, "sum_received", "sum");
    const json& sent = section(end, "sum_sent", "sum");
    double goodput = document_.number(received, "end.sum_received", "bits_per_second");
    if (const json* back = IperfDocument::find(end, "sum_received_bidir_reverse")) {
      const double reverse =
          document_.number(*back, "end.sum_received_bidir_reverse", "bits_per_second");
      run_.add("goodput.forward", "bit/s", goodput);
      run_.add("goodput.reverse", "bit/s", reverse);
      goodput += reverse;
    }
    run_.add("goodput", "bit/s", goodput);
    run_.add("sender.goodput", "bit/s", document_.number(sent, "end.sum_sent", "bits_per_second"));
    const double seconds = document_.number(sent, "end.sum_sent", "seconds");
    sender_seconds_ = seconds;
    run_.add("sender.elapsed", "s", seconds);
    run_.add("receiver.elapsed", "s", document_.number(received, "end.sum_received", "seconds"));
    if (const auto again = document_.optional_number(sent, "end.sum_sent", "retransmits"))
      run_.add("retransmits", "count", *again);
    if (!udp_) return;
    const json& sum = section(end, "sum_received", "sum");
    if (const auto jitter = document_.optional_number(sum, "end.sum", "jitter_ms"))
      run_.add("jitter", "s", *jitter * 1e-3);
    const auto lost = document_.optional_number(sum, "end.sum", "lost_packets");
    const auto packets = document_.optional_number(sum, "end.sum", "packets");
    if (lost && packets && *packets > 0) run_.add("loss", "fraction", *lost / *packets);
  }

  void add_streams(const json& end) {
    const json* streams = IperfDocument::find(end, "streams");
    if (!streams || !streams->is_array()) return;
    std::vector<double> rates;
    double reordered = 0;
    for (const json& stream : *streams) {
      if (const json* receiver = IperfDocument::find(stream, "receiver"))
        rates.push_back(document_.number(*receiver, "end.streams[].receiver", "bits_per_second"));
      if (const json* udp = IperfDocument::find(stream, "udp"))
        reordered +=
            document_.optional_number(*udp, "end.streams[].udp", "out_of_order").value_or(0);
    }
    if (udp_) run_.add("reordered", "count", reordered);
    if (rates.size() < 2) return;
    run_.add("goodput.min", "bit/s", *std::min_element(rates.begin(), rates.end()));
    if (const auto fairness = jains_index(rates)) run_.add("fairness", "fraction", *fairness);
  }

  /// Shares of one core. The host that ran the client sends unless it asked for the reverse.
  void add_processors(const json& end) {
    const json* shares = IperfDocument::find(end, "cpu_utilization_percent");
    if (!shares) return;
    const auto seconds = [&](const char* key) {
      const auto share = document_.optional_number(*shares, "end.cpu_utilization_percent", key);
      return share.value_or(0) / 100 * sender_seconds_;
    };
    run_.add(reverse_ ? "receiver.cpu" : "sender.cpu", "s", seconds("host_total"));
    run_.add(reverse_ ? "sender.cpu" : "receiver.cpu", "s", seconds("remote_total"));
  }

  void add_intervals() {
    const json* intervals = IperfDocument::find(document_.root(), "intervals");
    if (!intervals || !intervals->is_array()) return;
    for (const json& entry : *intervals) {
      const json* sum = IperfDocument::find(entry, "sum");
      if (!sum || sum->value("omitted", false)) continue;
      Interval interval;
      interval.from = document_.number(*sum, "intervals[].sum", "start");
      interval.to = document_.number(*sum, "intervals[].sum", "end");
      interval.figures["goodput"] = document_.number(*sum, "intervals[].sum", "bits_per_second");
      if (const auto again = document_.optional_number(*sum, "intervals[].sum", "retransmits"))
        interval.figures["retransmits"] = *again;
      add_round_trips(entry, interval);
      run_.intervals.push_back(std::move(interval));
    }
  }

  void add_round_trips(const json& entry, Interval& interval) {
    const json* streams = IperfDocument::find(entry, "streams");
    if (!streams || !streams->is_array() || streams->empty()) return;
    double sum = 0;
    for (const json& stream : *streams) {
      const auto microseconds = document_.optional_number(stream, "intervals[].streams[]", "rtt");
      if (!microseconds) return;
      sum += *microseconds * 1e-6;
    }
    interval.figures["srtt"] = sum / static_cast<double>(streams->size());
  }

  IperfDocument document_;
  ToolRun run_;
  bool udp_ = false, reverse_ = false;
  double sender_seconds_ = 0;
};

}  // namespace

std::vector<ToolRun> read_iperf3(const ToolOutput& output, const ToolOptions&) {
  try {
    return {IperfReader(output).read()};
  } catch (const json::exception& error) {
    // A value of another kind than iperf3 writes there.
    import_error(output, 0, std::string("not as iperf3 writes it: ") + error.what());
  }
}

}  // namespace linerate::experiments
