#include "experiments/results/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "experiments/results/grid.hpp"
#include "experiments/results/search_table.hpp"

namespace linerate::experiments {
namespace {

constexpr std::size_t terminal_width = 100;
constexpr std::size_t indent = 2;

std::string backend_words(Backend backend) {
  if (backend == Backend::simulated) return "simulated";
  return backend == Backend::measured ? "measured" : "published";
}

Paint paint_of(Verdict verdict) {
  if (verdict == Verdict::within) return Paint::good;
  if (verdict == Verdict::outside) return Paint::bad;
  return verdict == Verdict::inconclusive ? Paint::doubtful : Paint::none;
}

std::string range(const std::pair<double, double>& bounds, const std::string& unit) {
  return format_quantity(bounds.first, unit) + " .. " + format_quantity(bounds.second, unit);
}

std::string heading(const Result& result) {
  std::string line = backend_words(result.backend) + " result";
  if (result.backend != Backend::published)
    line +=
        fmt::format(", linerate {}, seed {}", result.provenance.version, result.provenance.seed);
  if (!result.complete) line += ", INCOMPLETE";
  line += "\n";
  for (const std::string& setting : result.provenance.set)
    line += wrapped("set " + setting, indent);
  for (const auto& [name, fact] : result.environment) line += wrapped(name + ": " + fact, indent);
  for (const Realisation& entry : result.realisation)
    line += wrapped(
        "lab: " + entry.element + " is " + entry.how + (entry.why.empty() ? "" : ", " + entry.why),
        indent);
  for (const std::string& note : result.notes) line += wrapped("note: " + note, indent);
  return line;
}

std::string figures_table(const TestResult& test, bool colour) {
  Grid grid({"figure", ">median", "95 % of the median", "95 % of the model", ">n"});
  for (const auto& [name, figure] : test.figures) {
    const std::string n = figure.samples.size() > 1 ? std::to_string(figure.samples.size()) : "";
    grid.add({{name},
              {format_quantity(figure.median(), figure.unit)},
              {figure.ci95 ? range(*figure.ci95, figure.unit) : ""},
              {figure.model95 ? range(*figure.model95, figure.unit) : ""},
              {n}});
  }
  return grid.empty() ? "" : grid.text(indent, colour);
}

/// The byte ledger: what each layer adds to a full frame, and its rate.
std::string layers_table(const TestResult& test, bool colour) {
  Grid grid({"layer", ">rate", ">bytes of a full frame", ">share"});
  std::int64_t whole = 0;
  for (const LayerRate& layer : test.layers) whole = std::max(whole, layer.bytes_per_frame);
  for (const LayerRate& layer : test.layers) {
    const double share =
        whole > 0 ? static_cast<double>(layer.bytes_per_frame) / static_cast<double>(whole) : 0;
    grid.add({{layer.name},
              {format_quantity(layer.rate, "bit/s")},
              {std::to_string(layer.bytes_per_frame)},
              {format_quantity(share, "fraction")}});
  }
  return grid.empty() ? "" : grid.text(indent, colour);
}

/// Causes that keep a sender waiting; every other entry of `limits` is a resource in use.
bool is_waiting(const Limit& limit) {
  static constexpr std::array<const char*, 6> causes{
      "receive window", "congestion window", "send buffer", "nagle", "pacing", "device"};
  return std::any_of(causes.begin(), causes.end(),
                     [&](const char* cause) { return limit.resource.starts_with(cause); });
}

std::string limits_table(const TestResult& test, bool waiting, bool colour) {
  Grid grid({waiting ? "blocked on" : "limit", waiting ? ">of the time" : ">used", "", "why",
             "parameter"});
  std::string long_reasons;
  for (const Limit& limit : test.limits) {
    if (is_waiting(limit) != waiting) continue;
    const bool fits = limit.formula.size() <= 40;
    grid.add({{limit.resource, limit.binds ? Paint::bold : Paint::none},
              {format_quantity(std::round(limit.utilisation * 1e4) / 1e4, "fraction")},
              {limit.binds ? "binds" : "", Paint::bold},
              {fits ? limit.formula : ""},
              {limit.origin.empty() ? limit.parameter
                                    : fmt::format("{} ({})", limit.parameter, limit.origin)}});
    if (!fits)
      long_reasons += wrapped(fmt::format("{}: {}", limit.resource, limit.formula), indent + 2);
  }
  return grid.empty() ? "" : grid.text(indent, colour) + long_reasons;
}

std::string hosts_list(const TestResult& test) {
  std::string out;
  for (const auto& [host, use] : test.hosts) {
    std::string line = "host " + host + ":";
    for (const auto& [name, value] : use.figures)
      line += (line.back() == ':' ? " " : ", ") + name + " " +
              format_quantity(value, value == std::floor(value) ? "count" : "");
    out += wrapped(line, indent);
  }
  return out;
}

std::string ports_table(const TestResult& test, bool colour) {
  Grid grid({"port", ">frames sent", ">wire bytes", ">peak queue", "dropped", "also counted"});
  const auto add = [&](const std::string& name, const QueueUse& use) {
    std::string drops;
    for (const auto& [cause, count] : use.drops)
      if (count != 0) drops += fmt::format("{}{} {}", drops.empty() ? "" : ", ", count, cause);
    std::string figures;
    for (const auto& [figure, value] : use.figures) {
      if (value == 0) continue;
      const bool time = figure.starts_with("queue_delay");
      figures += fmt::format("{}{} {}", figures.empty() ? "" : ", ", figure,
                             format_quantity(value, time                         ? "s"
                                                    : value == std::floor(value) ? "count"
                                                                                 : ""));
    }
    grid.add({{name},
              {std::to_string(use.frames_sent)},
              {format_quantity(static_cast<double>(use.wire_bytes_sent), "B")},
              {format_quantity(static_cast<double>(use.peak_queue), "B")},
              {drops, Paint::bad},
              {figures}});
  };
  for (const auto& [name, port] : test.ports) {
    add(name, port);
    for (const auto& [class_name, use] : port.classes) add("  " + class_name, use);
  }
  return grid.empty() ? "" : grid.text(indent, colour);
}

std::string remarks(const TestResult& test) {
  std::string out;
  if (!test.intervals.empty())
    out += wrapped(fmt::format("{} intervals from {} to {} are in the file", test.intervals.size(),
                               format_quantity(test.intervals.front().from, "s"),
                               format_quantity(test.intervals.back().to, "s")),
                   indent);
  for (const std::string& note : test.notes) out += wrapped("note: " + note, indent);
  return out;
}

std::string format_test(const TestResult& test, bool colour) {
  std::string out = fmt::format("\n{} ({})\n", painted(test.name, Paint::bold, colour), test.type);
  bool first = true;
  for (const std::string& section :
       {figures_table(test, colour), layers_table(test, colour), limits_table(test, false, colour),
        limits_table(test, true, colour), hosts_list(test), ports_table(test, colour),
        remarks(test)}) {
    if (section.empty()) continue;
    if (!first) out += '\n';
    first = false;
    out += section;
  }
  return out;
}

std::string list(const std::string& words, const std::vector<std::string>& paths) {
  if (paths.empty()) return "";
  return wrapped(fmt::format("{}: {}", words, fmt::join(paths, ", ")), 0);
}

/// "-0.02", "-0.02 .. +0.02": the heading says that it is per cent.
std::string percent(double error) {
  const std::string text = format_error(error);
  return text.substr(0, text.size() - 2);
}

std::string percent(const std::optional<double>& error) { return error ? percent(*error) : ""; }

/// What a comparison's table leaves out to stay on the screen.
struct Layout {
  bool test_column = true;
  bool wire_column = true;
};

Grid comparison_grid(const ResultComparison& comparison, Layout layout) {
  Grid grid({"test", "figure", ">predicted", ">reference", ">error %", "90 % interval", ">wire %",
             ">allowed", "verdict"});
  std::string test;
  for (const FigureComparison& figure : comparison.figures) {
    if (!layout.test_column && figure.test != test) grid.add_title(figure.test, Paint::bold);
    test = figure.test;
    std::string interval;
    if (figure.error90)
      interval =
          fmt::format("{} .. {}", percent(figure.error90->first), percent(figure.error90->second));
    grid.add({{layout.test_column ? figure.test : ""},
              {layout.test_column ? figure.figure : fmt::format("  {}", figure.figure)},
              {format_quantity(figure.predicted, figure.unit)},
              {format_quantity(figure.reference, figure.unit)},
              {percent(figure.error)},
              {interval},
              {layout.wire_column ? percent(figure.null_error) : ""},
              {figure.tolerance ? format_quantity(*figure.tolerance, "fraction") : ""},
              {verdict_words(figure.verdict), paint_of(figure.verdict)}});
  }
  return grid;
}

/// One grid with the test on every line, for grep, while that fits; else the test heads its lines;
/// else the errors of the wire alone follow as a sentence.
std::string comparison_lines(const ResultComparison& comparison, bool colour) {
  if (comparison.figures.empty()) return "";
  for (const Layout layout : {Layout{}, Layout{false, true}}) {
    const Grid grid = comparison_grid(comparison, layout);
    if (grid.width() <= terminal_width) return fmt::format("\n{}\n", grid.text(0, colour));
  }
  std::vector<std::string> alone;
  for (const FigureComparison& figure : comparison.figures)
    if (figure.null_error)
      alone.push_back(
          fmt::format("{}.{} {}", figure.test, figure.figure, format_error(*figure.null_error)));
  return fmt::format("\n{}\n{}", comparison_grid(comparison, {false, false}).text(0, colour),
                     list("error of the wire alone", alone));
}

std::string side_words(const std::string& source, Backend backend) {
  return source.empty() ? backend_words(backend) : source + " (" + backend_words(backend) + ")";
}

std::string summary(const ResultComparison& comparison) {
  std::array<int, 4> counts{};
  for (const FigureComparison& figure : comparison.figures)
    ++counts[static_cast<std::size_t>(figure.verdict)];
  std::string text;
  for (const Verdict verdict :
       {Verdict::within, Verdict::outside, Verdict::inconclusive, Verdict::not_judged})
    if (const int count = counts[static_cast<std::size_t>(verdict)])
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict_words(verdict));
  return text.empty() ? "no common figure" : text;
}

}  // namespace

std::string verdict_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::within:
      return "within";
    case Verdict::outside:
      return "outside";
    case Verdict::inconclusive:
      return "inconclusive";
    case Verdict::not_judged:
      return "not judged";
  }
  return "";
}

std::string format_table(const Result& result, bool colour) {
  std::string out = heading(result);
  const std::span<const TestResult> tests(result.tests);
  for (std::size_t i = 0; i < tests.size();) {
    std::size_t end = i + 1;
    if (is_search_result(tests[i])) {
      while (end < tests.size() && is_search_result(tests[end]) &&
             base_name(tests[end]) == base_name(tests[i]))
        ++end;
      out += format_search(tests.subspan(i, end - i), colour);
    } else {
      out += format_test(tests[i], colour);
    }
    i = end;
  }
  return out;
}

std::string format_table(const ResultComparison& comparison, bool colour) {
  std::string out =
      list("predicted", {side_words(comparison.predicted_source, comparison.predicted_backend)}) +
      list("reference", {side_words(comparison.reference_source, comparison.reference_backend)});
  out += comparison_lines(comparison, colour);
  for (const FigureComparison& figure : comparison.figures)
    if (!figure.note.empty())
      out += wrapped(fmt::format("{}.{}: {}", figure.test, figure.figure, figure.note), 0);
  out += list("only in the prediction", comparison.only_in_predicted);
  out += list("only in the reference", comparison.only_in_reference);
  for (const std::string& note : comparison.notes) out += wrapped("note: " + note, 0);
  if (const ModelCoverage coverage = model_coverage(comparison); coverage.figures > 0)
    out += wrapped(
        fmt::format("of {} figures with a model interval, {} {} inside it; median width {:.1f} %",
                    coverage.figures, coverage.inside, coverage.inside == 1 ? "lies" : "lie",
                    100 * coverage.median_width),
        0);
  const Verdict verdict = overall(comparison);
  return out + fmt::format("overall: {} ({})\n",
                           painted(verdict_words(verdict), paint_of(verdict), colour),
                           summary(comparison));
}

}  // namespace linerate::experiments
