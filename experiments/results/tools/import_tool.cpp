#include "experiments/results/tools/import_tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "experiments/results/tools/run_figures.hpp"

namespace linerate::experiments {
namespace {

struct ToolFormat {
  std::string_view name;
  std::vector<ToolRun> (*read)(const ToolOutput&, const ToolOptions&);
};

constexpr std::array kToolFormats{
    ToolFormat{"iperf3", read_iperf3}, ToolFormat{"netperf", read_netperf},
    ToolFormat{"nuttcp", read_nuttcp}, ToolFormat{"nttcp", read_nttcp},
    ToolFormat{"moongen", read_moongen}};

/// Takes colours and cursor movements off ("ESC [ … letter", ECMA-48).
std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
      continue;
    }
    if (text[i] != '\r') plain += text[i];
  }
  return plain;
}

TestResult test_of(const std::vector<ToolRun>& runs) {
  TestResult test;
  test.type = runs.front().type;
  std::map<std::string, std::vector<double>> samples;
  for (const ToolRun& run : runs) {
    for (const auto& [name, figure] : run.figures) samples[name].push_back(figure.second);
    for (const std::string& note : run.notes) {
      if (std::find(test.notes.begin(), test.notes.end(), note) == test.notes.end())
        test.notes.push_back(note);
    }
  }
  for (auto& [name, values] : samples) {
    std::string unit;
    for (const ToolRun& run : runs)
      if (const auto found = run.figures.find(name); found != run.figures.end())
        unit = found->second.first;
    test.figures[name] = make_figure(unit, usual_direction(name), std::move(values));
  }
  test.intervals = runs.front().intervals;
  return test;
}

}  // namespace

std::vector<std::string_view> tool_formats() {
  std::vector<std::string_view> names;
  for (const ToolFormat& format : kToolFormats) names.push_back(format.name);
  return names;
}

Result import_tool(std::string_view format, const std::vector<ToolOutput>& outputs,
                   const ToolOptions& options) {
  std::vector<ToolRun> runs;
  for (const ToolFormat& known : kToolFormats) {
    if (known.name != format) continue;
    for (const ToolOutput& output : outputs) {
      for (ToolRun& run : known.read(output, options)) {
        if (!runs.empty() && run.type != runs.front().type) {
          import_error(
              output, 0,
              fmt::format("a run of type {} among runs of type {}", run.type, runs.front().type));
        }
        runs.push_back(std::move(run));
      }
    }
  }
  if (runs.empty()) throw ImportError(fmt::format("no format is called `{}`", format));
  Result result;
  result.backend = Backend::measured;
  result.tests.push_back(test_of(runs));
  result.tests.back().name = options.test.empty() ? std::string(format) : options.test;
  return result;
}

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ++number;
    std::string line = without_colours(text.substr(0, end));
    if (line.find_first_not_of(" \t") != std::string::npos) lines.push_back({number, line});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  constexpr std::string_view kBlank = " \t";
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

bool is_plain_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

double number_in(const ToolOutput& output, int line, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    import_error(output, line, fmt::format("`{}` is not a number", text.substr(0, 40)));
  if (value < 0) import_error(output, line, fmt::format("{} is negative", text));
  return value;
}

void import_error(const ToolOutput& output, int line, const std::string& message) {
  throw ImportError(line > 0 ? fmt::format("{}: line {}: {}", output.name, line, message)
                             : fmt::format("{}: {}", output.name, message));
}

}  // namespace linerate::experiments
