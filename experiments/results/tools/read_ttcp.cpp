// nuttcp and nttcp: the line a run, and the line an end, of the family of ttcp.
#include <fmt/format.h>

#include <map>

#include "experiments/results/tools/run_figures.hpp"

namespace linerate::experiments {
namespace {

constexpr double kMebibits = 8.0 * 1048576;

/// "470.4375 MB / 1.00 sec = 3934.6299 Mbps 14 %TX 13 %RX 0 retrans 0.12 msRTT", by what follows
/// each number. "/" and "=" stand between.
std::map<std::string, double> labelled_numbers(const ToolOutput& output, const TextLine& line) {
  std::map<std::string, double> values;
  std::vector<std::string> words = words_of(line.text);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!is_plain_number(words[i]) || is_plain_number(words[i + 1])) continue;
    // "0 / 11839 drop/pkt": the first number of a pair stands before a lone stroke.
    const bool of_pair = words[i + 1] == "/" && i + 3 < words.size() && words[i + 3] == "drop/pkt";
    values[of_pair ? "drop" : words[i + 1]] = number_in(output, line.number, words[i]);
  }
  return values;
}

/// "rate_Mbps=941.2" of -fparse, by its name.
std::map<std::string, double> named_numbers(const ToolOutput& output, const TextLine& line) {
  std::map<std::string, double> values;
  for (const std::string& word : words_of(line.text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || !is_plain_number(word.substr(equals + 1))) continue;
    values[word.substr(0, equals)] = number_in(output, line.number, word.substr(equals + 1));
  }
  return values;
}

/// What a line says under any of the names by which the two formats call it.
std::optional<double> first_of(const std::map<std::string, double>& values,
                               std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = values.find(name); found != values.end()) return found->second;
  return std::nullopt;
}

void add_nuttcp_line(const ToolOutput& output, const TextLine& line,
                     const std::map<std::string, double>& values, ToolRun& run) {
  const auto rate = first_of(values, {"Mbps", "rate_Mbps"});
  const auto seconds = first_of(values, {"sec", "real_seconds"});
  if (!rate || !seconds) import_error(output, line.number, "no rate in Mbps and no seconds");
  run.add("goodput", "bit/s", *rate * 1e6);
  run.add("elapsed", "s", *seconds);
  // Whole percents of one core.
  if (const auto share = first_of(values, {"%TX", "tx_cpu"}))
    run.add("sender.cpu", "s", *share / 100 * *seconds);
  if (const auto share = first_of(values, {"%RX", "rx_cpu"}))
    run.add("receiver.cpu", "s", *share / 100 * *seconds);
  if (const auto again = first_of(values, {"retrans"})) run.add("retransmits", "count", *again);
  const auto dropped = first_of(values, {"drop"});
  const auto packets = first_of(values, {"drop/pkt", "pkt"});
  run.type = packets ? "udp-stream" : "tcp-stream";
  if (dropped && packets && *packets > 0) run.add("loss", "fraction", *dropped / *packets);
  // The rate times the time is known finer than the printed time.
  if (const auto volume = first_of(values, {"MB", "megabytes"}); volume && *rate > 0)
    run.add("elapsed", "s", *volume * kMebibits / (*rate * 1e6));
}

/// Whether a line is of an interval or of an end, not of the run.
bool of_interval(const std::map<std::string, double>& values) {
  return !first_of(values, {"%TX", "tx_cpu", "%RX", "rx_cpu"});
}

}  // namespace

std::vector<ToolRun> read_nuttcp(const ToolOutput& output, const ToolOptions&) {
  std::vector<ToolRun> runs;
  std::vector<Interval> intervals;
  double at = 0;
  int last = 0;
  for (const TextLine& line : lines_of(output.text)) {
    last = line.number;
    const bool labelled = line.text.find(" Mbps") != std::string::npos;
    const bool named = line.text.find("rate_Mbps=") != std::string::npos;
    if (!labelled && !named) {
      if (line.text.find("Error") != std::string::npos ||
          line.text.find("error") != std::string::npos)
        import_error(output, line.number, "the run failed: " + line.text.substr(0, 200));
      continue;
    }
    const auto values = named ? named_numbers(output, line) : labelled_numbers(output, line);
    if (of_interval(values)) {
      const double seconds = first_of(values, {"sec", "real_seconds"}).value_or(0);
      const double rate = first_of(values, {"Mbps", "rate_Mbps"}).value_or(0) * 1e6;
      intervals.push_back({at, at + seconds, {{"goodput", rate}}});
      at += seconds;
      continue;
    }
    ToolRun run;
    add_nuttcp_line(output, line, values, run);
    run.intervals = std::move(intervals);
    intervals.clear();
    at = 0;
    runs.push_back(std::move(run));
  }
  if (runs.empty())
    import_error(output, last,
                 "no line of a whole run (\"… Mbps 14 %TX 13 %RX …\"): not the output of "
                 "nuttcp, or cut off before the end");
  return runs;
}

namespace {

/// A row of nttcp's default format, "%9b%8.2rt%8.2ct%12.4rbr%12.4cbr%8c%10.2rcr%10.1ccr".
struct NttcpRow {
  int line = 0;
  double bytes = 0, real = 0, cpu = 0, rate = 0, calls = 0;
};

void add_nttcp_end(const NttcpRow& row, const std::string& end, ToolRun& run) {
  // The rate is printed finer than the time.
  const double seconds = row.rate > 0 ? row.bytes * 8 / (row.rate * 1e6) : row.real;
  run.add(end + ".elapsed", "s", seconds);
  run.add(end + ".cpu", "s", row.cpu);
  run.add(end + ".calls", "count", row.calls);
}

}  // namespace

std::vector<ToolRun> read_nttcp(const ToolOutput& output, const ToolOptions& options) {
  std::vector<ToolRun> runs;
  std::optional<NttcpRow> local;
  int last = 0;
  for (const TextLine& line : lines_of(output.text)) {
    last = line.number;
    const std::vector<std::string> words = words_of(line.text);
    const bool is_local = words[0] == "l";
    const bool is_remote = words[0].find_first_not_of("0123456789") == std::string::npos;
    // Titles and what -v adds.
    if ((!is_local && !is_remote) || words.size() < 2 || !is_plain_number(words[1])) continue;
    if (words.size() != 9)
      import_error(output, line.number,
                   fmt::format("a row of {} columns, not 9: cut off, or of another format (-f)",
                               words.size()));
    const auto number = [&](std::size_t column) {
      return number_in(output, line.number, words[column]);
    };
    const NttcpRow row{line.number, number(1), number(2), number(3), number(4), number(6)};
    if (is_local) {
      if (local) import_error(output, line.number, "the remote end of the run before is missing");
      local = row;
      continue;
    }
    if (!local) import_error(output, line.number, "a remote end without a local one (\"l …\")");
    const NttcpRow& receiver = options.reverse ? *local : row;
    ToolRun run;
    run.type = "tcp-stream";
    run.add("goodput", "bit/s", receiver.rate * 1e6);
    add_nttcp_end(options.reverse ? row : *local, "sender", run);
    add_nttcp_end(receiver, "receiver", run);
    run.figures["elapsed"] = run.figures["receiver.elapsed"];
    runs.push_back(std::move(run));
    local.reset();
  }
  if (local) import_error(output, last, "the remote end of the last run is missing");
  if (runs.empty())
    import_error(output, last, "no rows \"l …\" and \"1 …\": not the output of nttcp");
  return runs;
}

}  // namespace linerate::experiments
