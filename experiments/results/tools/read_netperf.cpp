// netperf: the tables of its classic tests, and the lists of its omni tests (-k, -o).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "experiments/results/tools/run_figures.hpp"

namespace linerate::experiments {
namespace {

/// Bit/s in one of what a table or list is in.
std::optional<double> unit_factor(const std::string& text) {
  static const std::vector<std::pair<const char*, double>> units{{"10^0bits", 1},
                                                                 {"10^3bits", 1e3},
                                                                 {"10^6bits", 1e6},
                                                                 {"10^9bits", 1e9},
                                                                 {"KBytes", 8.0 * 1024},
                                                                 {"MBytes", 8.0 * 1048576},
                                                                 {"GBytes", 8.0 * 1073741824}};
  for (const auto& [name, factor] : units)
    if (text.find(name) != std::string::npos) return factor;
  return std::nullopt;
}

enum class NetperfKind { none, stream, datagrams, requests };

/// "MIGRATED UDP STREAM TEST from …"
NetperfKind kind_of(const std::string& banner) {
  const auto has = [&](const char* words) { return banner.find(words) != std::string::npos; };
  if (!has(" TEST")) return NetperfKind::none;
  if (has("REQUEST/RESPONSE") || has("CONNECT/CLOSE") || has("Connect/Request/Response"))
    return NetperfKind::requests;
  if (has("UDP STREAM") || has("UDP UNIDIRECTIONAL")) return NetperfKind::datagrams;
  if (has("STREAM") || has("MAERTS") || has("SENDFILE") || has("OMNI")) return NetperfKind::stream;
  return NetperfKind::none;
}

class NetperfReader {
 public:
  explicit NetperfReader(const ToolOutput& output)
      : output_(output), lines_(lines_of(output.text)) {}

  std::vector<ToolRun> read() {
    for (next_ = 0; next_ < lines_.size(); ++next_) take(lines_[next_]);
    finish_list();
    const int last = lines_.empty() ? 0 : lines_.back().number;
    if (datagrams_) import_error(output_, last, "the row of the receiving end is missing");
    if (runs_.empty())
      import_error(
          output_, last,
          kind_ == NetperfKind::none
              ? "not the output of netperf: no line \"… TEST from …\" (is it made with -P 0?)"
              : "cut off before its figures");
    return std::move(runs_);
  }

 private:
  void take(const TextLine& line) {
    if (const NetperfKind kind = kind_of(line.text); kind != NetperfKind::none) {
      finish_list();
      kind_ = kind;
      factor_ = 1e6;  // what -f m, the default, prints
      return;
    }
    const std::size_t equals = line.text.find('=');
    if (equals != std::string::npos && line.text.find(' ') > equals) {
      list_[line.text.substr(0, equals)] = line.text.substr(equals + 1);
      list_line_ = line.number;
      return;
    }
    if (line.text.find(',') != std::string::npos &&
        line.text.find("Throughput") != std::string::npos)
      return take_csv(line);
    if (const auto factor = unit_factor(line.text)) factor_ = *factor;
    const std::vector<std::string> words = words_of(line.text);
    if (!std::all_of(words.begin(), words.end(), [](const auto& w) { return is_plain_number(w); }))
      return;
    std::vector<double> values;
    for (const std::string& word : words) values.push_back(number_in(output_, line.number, word));
    take_row(line, values);
  }

  void take_row(const TextLine& line, const std::vector<double>& values) {
    switch (kind_) {
      case NetperfKind::none:
        return;
      case NetperfKind::stream:
        // Receive and send socket size, message size, time, rate[, CPU shares and demands].
        if (values.size() < 5) import_error(output_, line.number, "a row that is cut off");
        return add_stream(values[3], values[4] * factor_);
      case NetperfKind::requests:
        // Socket sizes, request, response, time, rate[, …]; then the remote socket sizes alone.
        if (values.size() == 2) return;
        if (values.size() < 6) import_error(output_, line.number, "a row that is cut off");
        return add_requests(values[4], values[5]);
      case NetperfKind::datagrams:
        return add_datagrams(line, values);
    }
  }

  void add_stream(double seconds, double rate) {
    ToolRun run;
    run.type = "tcp-stream";
    run.add("goodput", "bit/s", rate);
    run.add("elapsed", "s", seconds);
    runs_.push_back(std::move(run));
  }

  void add_requests(double seconds, double rate) {
    ToolRun run;
    run.type = "request-response";
    run.add("transaction_rate", "1/s", rate);
    run.add("elapsed", "s", seconds);
    runs_.push_back(std::move(run));
  }

  /// The row of the sending end (socket, message, time, okay, errors, rate[, …]), then that of the
  /// receiving end without message size and errors.
  void add_datagrams(const TextLine& line, const std::vector<double>& values) {
    if (!datagrams_) {
      if (values.size() < 6) import_error(output_, line.number, "a row that is cut off");
      datagrams_.emplace();
      datagrams_->type = "udp-stream";
      datagrams_->add("elapsed", "s", values[2]);
      datagrams_->add("sender.goodput", "bit/s", values[5] * factor_);
      messages_ = values[3];
      return;
    }
    if (values.size() < 4) import_error(output_, line.number, "a row that is cut off");
    datagrams_->add("goodput", "bit/s", values[3] * factor_);
    if (messages_ > 0)
      datagrams_->add("loss", "fraction", std::max(0.0, 1 - values[2] / messages_));
    runs_.push_back(std::move(*datagrams_));
    datagrams_.reset();
  }

  /// A line of names, then one of values.
  void take_csv(const TextLine& names) {
    if (next_ + 1 >= lines_.size()) import_error(output_, names.number, "the values are missing");
    const TextLine& values = lines_[++next_];
    const auto cells = [](const std::string& text) {
      std::vector<std::string> parts{""};
      for (const char c : text) {
        if (c == ',') {
          parts.emplace_back();
        } else {
          parts.back() += c;
        }
      }
      return parts;
    };
    const auto keys = cells(names.text), numbers = cells(values.text);
    if (keys.size() != numbers.size())
      import_error(output_, values.number,
                   fmt::format("{} values for {} names", numbers.size(), keys.size()));
    static const std::map<std::string, std::string> kKeys{
        {"Throughput", "THROUGHPUT"},
        {"Throughput Units", "THROUGHPUT_UNITS"},
        {"Elapsed Time (sec)", "ELAPSED_TIME"},
        {"Mean Latency Microseconds", "MEAN_LATENCY"},
        {"50th Percentile Latency Microseconds", "P50_LATENCY"},
        {"99th Percentile Latency Microseconds", "P99_LATENCY"},
        {"Maximum Latency Microseconds", "MAX_LATENCY"}};
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (const auto found = kKeys.find(keys[i]); found != kKeys.end())
        list_[found->second] = numbers[i];
    list_line_ = values.number;
    finish_list();
  }

  /// The figures of a list that has ended.
  void finish_list() {
    if (list_.empty()) return;
    const auto take_number = [&](const char* key) -> std::optional<double> {
      const auto found = list_.find(key);
      if (found == list_.end()) return std::nullopt;
      return number_in(output_, list_line_, found->second);
    };
    const auto rate = take_number("THROUGHPUT");
    if (!rate) import_error(output_, list_line_, "the list has no THROUGHPUT");
    const std::string unit = list_.contains("THROUGHPUT_UNITS") ? list_["THROUGHPUT_UNITS"] : "";
    ToolRun run;
    const bool requests =
        unit.find("Trans") != std::string::npos || (unit.empty() && kind_ == NetperfKind::requests);
    if (requests) {
      run.type = "request-response";
      run.add("transaction_rate", "1/s", *rate);
    } else {
      run.type = kind_ == NetperfKind::datagrams ? "udp-stream" : "tcp-stream";
      const auto factor = unit.empty() ? std::optional(1e6) : unit_factor(unit);
      if (!factor) import_error(output_, list_line_, "the unit `" + unit + "` is unknown");
      run.add("goodput", "bit/s", *rate * *factor);
    }
    if (const auto seconds = take_number("ELAPSED_TIME")) run.add("elapsed", "s", *seconds);
    const std::pair<const char*, const char*> latencies[] = {{"MEAN_LATENCY", "latency.mean"},
                                                             {"P50_LATENCY", "latency.p50"},
                                                             {"P99_LATENCY", "latency.p99"},
                                                             {"MAX_LATENCY", "latency.max"}};
    for (const auto& [key, figure] : latencies)
      if (const auto microseconds = take_number(key)) run.add(figure, "s", *microseconds * 1e-6);
    runs_.push_back(std::move(run));
    list_.clear();
  }

  const ToolOutput& output_;
  std::vector<TextLine> lines_;
  std::size_t next_ = 0;
  NetperfKind kind_ = NetperfKind::none;
  double factor_ = 1e6, messages_ = 0;
  std::optional<ToolRun> datagrams_;
  std::map<std::string, std::string> list_;
  int list_line_ = 0;
  std::vector<ToolRun> runs_;
};

}  // namespace

std::vector<ToolRun> read_netperf(const ToolOutput& output, const ToolOptions&) {
  return NetperfReader(output).read();
}

}  // namespace linerate::experiments
