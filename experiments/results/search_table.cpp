#include "experiments/results/search_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "experiments/results/grid.hpp"
#include "experiments/results/quantity.hpp"

namespace linerate::experiments {
namespace {

constexpr std::size_t kIndent = 2;
constexpr const char* kLossAt = "loss.";

// In the order in which they are read, in two tables so that neither is wider than a terminal;
// latency.mean and latency.p999 are in the file.
constexpr const char* kRates[] = {"frame_rate",     "throughput",  "pdr.frame_rate",
                                  "pdr.throughput", "loss",        "burst",
                                  "burst_time",     "buffer_time", "trials"};
constexpr const char* kLatencies[] = {"latency.min", "latency.p50", "latency.p99", "latency.max",
                                      "latency.device"};

// "64B" of "fwd[64B]"; of a test with one size its name says nothing.
std::string size_words(const TestResult& test) {
  const std::size_t bracket = test.name.find('[');
  return bracket == std::string::npos
             ? ""
             : test.name.substr(bracket + 1, test.name.size() - bracket - 2);
}

std::string value_words(const TestResult& test, const std::string& name) {
  const auto found = test.figures.find(name);
  return found == test.figures.end() ? ""
                                     : format_quantity(found->second.median(), found->second.unit);
}

std::string curve_table(std::span<const TestResult> sizes, bool colour) {
  std::vector<std::string> headings{">load"};
  std::vector<int> loads;  // per cent
  for (const TestResult& test : sizes) {
    headings.push_back(">loss " + size_words(test));
    for (const auto& [name, figure] : test.figures)
      if (name.starts_with(kLossAt)) loads.push_back(std::stoi(name.substr(5)));
  }
  std::sort(loads.rbegin(), loads.rend());
  loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
  Grid grid(headings);
  for (const int load : loads) {
    std::vector<Cell> row{{fmt::format("{} %", load)}};
    for (const TestResult& test : sizes)
      row.push_back({value_words(test, fmt::format("{}{}%", kLossAt, load))});
    grid.add(std::move(row));
  }
  return grid.text(kIndent, colour);
}

// Empty if no size has any of the figures.
std::string size_table(std::span<const TestResult> sizes, std::span<const char* const> figures,
                       bool colour) {
  std::vector<std::string> headings{">frame size"};
  for (const char* name : figures) headings.push_back(std::string(">") + name);
  Grid grid(headings);
  for (const TestResult& test : sizes) {
    std::vector<Cell> row{{size_words(test)}};
    bool any = false;
    for (const char* name : figures) {
      row.push_back({value_words(test, name)});
      any = any || !row.back().text.empty();
    }
    if (any) grid.add(std::move(row));
  }
  return grid.empty() ? "" : grid.text(kIndent, colour);
}

}  // namespace

bool is_search_result(const TestResult& test) { return test.type.starts_with("rfc2544-"); }

std::string base_name(const TestResult& test) { return test.name.substr(0, test.name.find('[')); }

std::string format_search(std::span<const TestResult> sizes, bool colour) {
  const TestResult& first = sizes.front();
  const bool curve =
      std::any_of(first.figures.begin(), first.figures.end(),
                  [](const auto& figure) { return figure.first.starts_with(kLossAt); });
  std::string text =
      fmt::format("\n{} ({})\n", painted(base_name(first), Paint::bold, colour), first.type);
  if (curve) {
    text += curve_table(sizes, colour);
  } else {
    text += size_table(sizes, kRates, colour);
    if (const std::string latencies = size_table(sizes, kLatencies, colour); !latencies.empty())
      text += "\n" + latencies;
  }
  for (const TestResult& test : sizes) {
    const std::string size = size_words(test);
    for (const std::string& note : test.notes)
      text += wrapped((size.empty() ? "note: " : size + ": ") + note, kIndent);
  }
  return text;
}

}  // namespace linerate::experiments
