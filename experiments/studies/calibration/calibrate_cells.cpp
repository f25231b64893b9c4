#include "experiments/studies/calibration/calibrate_cells.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/definition/fields.hpp"

namespace linerate::experiments {

namespace {

std::optional<double> farthest_repeat(const Figure& figure) {
  const double median = figure.median();
  if (figure.samples.size() < 2 || median == 0) return std::nullopt;
  double farthest = 0;
  for (const double sample : figure.samples)
    farthest = std::max(farthest, std::abs(sample / median - 1));
  return farthest;
}

/// Oscillators of NICs and hosts may differ by 100 ppm each way (IEEE 802.3): no rate or time is
/// known better than this.
constexpr double kFloor = 2e-4;
/// Where nothing says how well a figure is known.
constexpr double kAssumed = 0.01;
/// Published CPU seconds come from a kernel that charges a whole tick to whoever runs: seconds c
/// are the sum of c / tick draws, so their standard error is sqrt(tick x c).
constexpr double kTick = 0.01;

bool is_cpu(const std::string& figure) { return figure.ends_with("cpu"); }

bool is_ratio(const std::string& unit, const std::string& figure) {
  return !is_cpu(figure) && (unit == "bit/s" || unit == "s" || unit == "1/s" || unit == "B/s");
}

/// The value of a note "use: fit"; "" if there is none.
std::string note_of(const TestResult& test, const std::string& key) {
  for (const std::string& note : test.notes)
    if (note.starts_with(key + ": ")) return note.substr(key.size() + 2);
  return {};
}

/// What says how long the work of a test took, most direct first; the first that the data have is
/// fitted. The time of a test that ends by the clock says nothing.
std::vector<std::string> default_figures(const TestResult& test, const Test& definition) {
  static constexpr std::array kTimes{"receiver.elapsed", "elapsed", "sender.elapsed"};
  static constexpr std::array kRates{"transaction_rate", "goodput", "frame_rate", "throughput",
                                     "latency.p50"};
  std::vector<std::string> candidates(kRates.begin(), kRates.end());
  if (!timed(definition)) candidates.insert(candidates.begin(), kTimes.begin(), kTimes.end());
  std::vector<std::string> names;
  for (const std::string& name : candidates) {
    if (!test.figures.contains(name)) continue;
    names.push_back(name);
    break;
  }
  for (const char* name : {"sender.cpu", "receiver.cpu"})
    if (test.figures.contains(name)) names.emplace_back(name);
  return names;
}

std::vector<std::string> chosen_figures(const TestResult& test, const Test& definition,
                                        const std::vector<std::string>& patterns) {
  if (patterns.empty()) return default_figures(test, definition);
  std::vector<std::string> names;
  for (const auto& [name, figure] : test.figures)
    if (std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
          return matches(pattern, name) || matches(pattern, test.name + "." + name);
        }))
      names.push_back(name);
  return names;
}

/// The square of the error that one rule gives a cell, in the cell's own scale.
double squared(const KnownError& rule, const CalibrationCell& cell) {
  double value = rule.quantum ? rule.value / std::sqrt(12.0) : rule.value;
  const double size = std::abs(cell.reference);
  if (cell.logarithmic && !rule.relative) value /= size;
  if (!cell.logarithmic && rule.relative) value *= size;
  return value * value;
}

void weigh(CalibrationCell& cell, const Figure& figure, Backend backend,
           const std::vector<KnownError>& errors) {
  const double size = std::abs(cell.reference);
  bool given = false;
  double variance = 0;
  for (const KnownError& rule : errors) {
    if (!matches(rule.pattern, cell.figure) && !matches(rule.pattern, cell.path())) continue;
    variance += squared(rule, cell);
    given = given || !rule.quantum;
  }
  const double sampled = sampling_error(figure);
  if (!given) variance += std::pow(cell.logarithmic ? sampled / size : sampled, 2);
  if (cell.logarithmic) variance += kFloor * kFloor;
  if (is_cpu(cell.figure) && backend == Backend::published && !given) {
    variance += kTick * std::max(size, kTick);
  } else if (!given && sampled == 0 && backend != Backend::published) {
    cell.assumed = true;
    variance += std::pow(cell.logarithmic ? kAssumed : kAssumed * std::max(size, 1e-9), 2);
  }
  cell.error = std::sqrt(variance);
  // A count of a single exact reading, such as calls, is as good as 1.
  if (!(cell.error > 0)) cell.error = cell.unit == "count" ? 1 : 1e-6 * std::max(size, 1.0);
}

CellUse use_of(const CalibrationCell& cell, const TestResult& test,
               const CalibrationOptions& options) {
  const bool held = std::any_of(
      options.hold_out.begin(), options.hold_out.end(), [&](const std::string& pattern) {
        return matches(pattern, cell.test) || matches(pattern, cell.path());
      });
  return held || note_of(test, "use") == "test" ? CellUse::test : CellUse::fit;
}

void check_patterns(const std::vector<std::string>& patterns, const char* option,
                    const std::vector<CalibrationCell>& cells) {
  for (const std::string& pattern : patterns) {
    const bool used = std::any_of(cells.begin(), cells.end(), [&](const CalibrationCell& cell) {
      return matches(pattern, cell.test) || matches(pattern, cell.figure) ||
             matches(pattern, cell.path());
    });
    if (used) continue;
    std::string remedy = "name a test or test.figure, * for any letters";
    if (!cells.empty()) remedy += fmt::format(", such as '{}'", cells.front().path());
    throw StudyError(
        fmt::format("{} {} matches no figure of the data that is predicted too", option, pattern),
        remedy);
  }
}

void add_cells(const CalibrationData& set, std::size_t index, const CalibrationOptions& options,
               std::vector<CalibrationCell>& cells, std::vector<std::string>& notes) {
  for (const TestResult& test : set.result.tests) {
    const Test* definition = definition_of(set.experiment, test.name);
    if (definition == nullptr) {
      notes.push_back(fmt::format("{}: the experiment has no test {}", set.source, test.name));
      continue;
    }
    const std::string use = note_of(test, "use");
    if (!use.empty() && use != "fit" && use != "test") {
      notes.push_back(
          fmt::format("{}: {} is left out: its use is `{}`", set.source, test.name, use));
      continue;
    }
    for (const std::string& name : chosen_figures(test, *definition, options.figures)) {
      const Figure& figure = test.figures.at(name);
      CalibrationCell cell;
      cell.data = index;
      cell.test = test.name;
      cell.figure = name;
      cell.unit = figure.unit;
      cell.reference = figure.median();
      cell.noise = farthest_repeat(figure);
      cell.logarithmic = is_ratio(figure.unit, name) && cell.reference > 0;
      cell.use = use_of(cell, test, options);
      if (!options.block.empty()) cell.block = note_of(test, options.block);
      weigh(cell, figure, set.result.backend, options.errors);
      cells.push_back(std::move(cell));
    }
  }
}

}  // namespace

bool matches(const std::string& pattern, const std::string& name) {
  // "fwd[64B]" is a test of that name before it is a set of letters.
  return pattern == name || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

const Test* definition_of(const Experiment& experiment, const std::string& name) {
  const std::string base = name.substr(0, name.find('['));
  for (const Test& test : experiment.tests)
    if (test.name == name || test.name == base) return &test;
  return nullptr;
}

double sampling_error(const Figure& figure) {
  const std::size_t n = figure.samples.size();
  if (figure.ci95) return (figure.ci95->second - figure.ci95->first) / (2 * 1.96);
  if (n < 2) return 0;
  double mean = 0, squares = 0;
  for (const double sample : figure.samples) mean += sample / static_cast<double>(n);
  for (const double sample : figure.samples) squares += (sample - mean) * (sample - mean);
  return std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
}

double residual(const CalibrationCell& cell, double predicted) {
  constexpr double kWrong = 1000;
  if (cell.logarithmic) {
    const double ratio = predicted > 0 ? predicted / cell.reference : 1 / kWrong;
    return std::log(ratio) / cell.error;
  }
  if (!std::isfinite(predicted))
    return std::max(kWrong * std::abs(cell.reference) / cell.error, kWrong);
  return (predicted - cell.reference) / cell.error;
}

std::vector<CalibrationCell> all_cells(const std::vector<CalibrationData>& data,
                                       const CalibrationOptions& options,
                                       std::vector<std::string>& notes) {
  std::vector<CalibrationCell> cells;
  for (std::size_t i = 0; i < data.size(); ++i) add_cells(data[i], i, options, cells, notes);
  return cells;
}

std::vector<CalibrationCell> calibration_cells(const std::vector<CalibrationData>& data,
                                               const CalibrationOptions& options,
                                               std::vector<std::string>& notes) {
  std::vector<CalibrationCell> cells = all_cells(data, options, notes);
  check_patterns(options.figures, "--figures", cells);
  check_patterns(options.hold_out, "--hold-out", cells);
  std::vector<std::string> error_patterns;
  for (const KnownError& rule : options.errors) error_patterns.push_back(rule.pattern);
  check_patterns(error_patterns, "--error", cells);
  if (!options.block.empty() &&
      std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.block.empty(); }))
    throw StudyError(fmt::format("--block {}: no test of the data has a note `{}: …`",
                                 options.block, options.block),
                     "name a column of the imported table that became a note");
  if (std::none_of(cells.begin(), cells.end(),
                   [](const auto& cell) { return cell.use == CellUse::fit; }))
    throw StudyError("the data leave no figure to fit",
                     "every test is held out, or none of them is in the experiment");
  return cells;
}

}  // namespace linerate::experiments
