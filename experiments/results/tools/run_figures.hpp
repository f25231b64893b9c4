// What the readers of other programs' outputs share.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/results/tools/import_tool.hpp"

namespace linerate::experiments {

/// One run of a program.
struct ToolRun {
  std::string type;                                               ///< of the test: "tcp-stream"
  std::map<std::string, std::pair<std::string, double>> figures;  ///< unit and value by name
  std::vector<Interval> intervals;
  std::vector<std::string> notes;

  void add(const std::string& figure, const char* unit, double value) {
    figures[figure] = {unit, value};
  }
};

/// A line of an output, without its end and colours.
struct TextLine {
  int number = 0;  ///< from 1
  std::string text;
};

/// Lines that are not blank; CRLF and terminal colours are taken off.
std::vector<TextLine> lines_of(std::string_view text);
/// What stands between blanks.
std::vector<std::string> words_of(std::string_view text);
/// Whether the whole of `text` is a number, and finite.
bool is_plain_number(std::string_view text);
/// `text` as a number that is not negative. Throws ImportError with the place.
double number_in(const ToolOutput& output, int line, std::string_view text);

[[noreturn]] void import_error(const ToolOutput& output, int line, const std::string& message);

/// The readers, by program. Each returns one run at least or throws ImportError.
std::vector<ToolRun> read_iperf3(const ToolOutput& output, const ToolOptions& options);
std::vector<ToolRun> read_netperf(const ToolOutput& output, const ToolOptions& options);
std::vector<ToolRun> read_nuttcp(const ToolOutput& output, const ToolOptions& options);
std::vector<ToolRun> read_nttcp(const ToolOutput& output, const ToolOptions& options);
std::vector<ToolRun> read_moongen(const ToolOutput& output, const ToolOptions& options);

}  // namespace linerate::experiments
