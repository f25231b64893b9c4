// MoonGen and libmoon: the counters of their devices, plain or CSV.
#include <fmt/format.h>

#include <map>

#include "experiments/results/csv.hpp"
#include "experiments/results/tools/run_figures.hpp"

namespace linerate::experiments {
namespace {

/// What a counter of one device and direction says at the end.
struct MoongenCounter {
  double frame_rate = 0, wire_rate = 0, frames = 0;
};
using MoongenCounters = std::map<std::pair<std::string, std::string>, MoongenCounter>;

/// Counters by device and direction; those of the receiving side decide.
ToolRun run_of(const ToolOutput& output, const MoongenCounters& counters) {
  MoongenCounter sent, received;
  bool any_sent = false, any_received = false;
  for (const auto& [key, counter] : counters) {
    const bool receives = key.second == "RX";
    MoongenCounter& sum = receives ? received : sent;
    (receives ? any_received : any_sent) = true;
    sum.frame_rate += counter.frame_rate;
    sum.wire_rate += counter.wire_rate;
    sum.frames += counter.frames;
  }
  if (counters.empty())
    import_error(
        output, 0,
        "no counter's last line (\"[Device: id=0] TX: … (StdDev …) Mpps, …\"): not the output "
        "of MoonGen, or cut off before its end");
  ToolRun run;
  run.type = "raw-frames";
  // A device that both sends and receives counts idle directions too.
  const bool use_received = any_received && received.frames > 0;
  const MoongenCounter& shown = use_received ? received : sent;
  run.add("frame_rate", "1/s", shown.frame_rate);
  run.add("throughput", "bit/s", shown.wire_rate);
  if (any_sent) run.add("sender.frame_rate", "1/s", sent.frame_rate);
  if (use_received && sent.frames > 0)
    run.add("loss", "fraction", std::max(0.0, 1 - received.frames / sent.frames));
  if (!use_received) run.notes.push_back("counted where it was sent, not where it arrived");
  return run;
}

std::string first_word(const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  return words.empty() ? "" : words.front();
}

/// "[Device: id=0] TX: 14.88 (StdDev 0.01) Mpps, 7619 (StdDev 3) Mbit/s (10000 Mbit/s with
/// framing), total 148800000 packets with 9523200000 bytes (incl. CRC)"
void take_plain(const ToolOutput& output, const TextLine& line, MoongenCounters& counters) {
  const std::size_t open = line.text.find('['), close = line.text.rfind(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return;
  const std::string rest = line.text.substr(close + 1);
  const std::size_t colon = rest.find("X: ");
  if (colon == std::string::npos || colon == 0) return;
  const std::string device = line.text.substr(open + 1, close - open - 1);
  const std::string direction = rest.substr(colon - 1, 2);
  const auto before = [&](const std::string& label) {
    const std::size_t end = line.text.find(label);
    if (end == std::string::npos)
      import_error(output, line.number, "the line is cut off before `" + label + "`");
    const std::size_t begin = line.text.find_last_of(" (", end - 1) + 1;
    return number_in(output, line.number, line.text.substr(begin, end - begin));
  };
  MoongenCounter counter;
  counter.frame_rate = number_in(output, line.number, first_word(rest.substr(colon + 2))) * 1e6;
  counter.wire_rate = before(" Mbit/s with framing") * 1e6;
  counter.frames = before(" packets with");
  counters[{device, direction}] = counter;
}

MoongenCounters counters_of_csv(const ToolOutput& output, const std::string& text) {
  CsvTable table;
  try {
    table = read_csv(text, output.name);
  } catch (const CsvError& error) {
    throw ImportError(error.what());
  }
  // Time,Device,Direction,PacketRate,Mbit,MbitWithFraming,TotalPackets,TotalBytes; the last row of
  // a counter holds its averages.
  if (table.header.size() != 8) import_error(output, 1, "not the eight columns of MoonGen");
  MoongenCounters counters;
  for (const CsvRow& row : table.rows) {
    const auto number = [&](std::size_t column) {
      return number_in(output, row.line, row.cells[column]);
    };
    counters[{row.cells[1], row.cells[2]}] = {number(3) * 1e6, number(5) * 1e6, number(6)};
  }
  return counters;
}

}  // namespace

std::vector<ToolRun> read_moongen(const ToolOutput& output, const ToolOptions&) {
  const std::size_t header = output.text.find("Time,Device,Direction,PacketRate");
  if (header != std::string::npos)
    return {run_of(output, counters_of_csv(output, output.text.substr(header)))};
  MoongenCounters counters;
  for (const TextLine& line : lines_of(output.text))
    if (line.text.find("StdDev") != std::string::npos) take_plain(output, line, counters);
  return {run_of(output, counters)};
}

}  // namespace linerate::experiments
