#include "experiments/results/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "experiments/results/interval.hpp"

namespace linerate::experiments {
namespace {

std::vector<std::string> levels_of(const std::string& path) {
  std::vector<std::string> levels(1);
  for (const char c : path) {
    if (c == '.')
      levels.emplace_back();
    else
      levels.back() += c;
  }
  return levels;
}

/// How closely a pattern names a figure: more literal levels, then the test's own name, then a test
/// named with its frame size. Absent when it does not match.
using Specificity = std::tuple<int, bool, bool>;

std::optional<Specificity> match(const std::string& pattern, const std::string& test,
                                 const std::string& figure) {
  const std::vector<std::string> wanted = levels_of(pattern);
  const std::vector<std::string> levels = levels_of(figure);
  if (wanted.size() != levels.size() + 1) return std::nullopt;
  int literal = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (wanted[i + 1] == levels[i])
      ++literal;
    else if (wanted[i + 1] != "*")
      return std::nullopt;
  }
  if (wanted[0] == "*") return Specificity{literal, false, false};
  const bool whole = wanted[0] == test;
  if (!whole && wanted[0] != test.substr(0, test.find('['))) return std::nullopt;
  return Specificity{literal + 1, true, whole};
}

const TestResult* find_test(const Result& result, const std::string& name) {
  for (const TestResult& test : result.tests)
    if (test.name == name) return &test;
  return nullptr;
}

Verdict judge_interval(const std::pair<double, double>& error, double tolerance) {
  if (error.first >= -tolerance && error.second <= tolerance) return Verdict::within;
  if (error.first > tolerance || error.second < -tolerance) return Verdict::outside;
  return Verdict::inconclusive;
}

/// The reason a test's figures cannot be judged, from its notes; "" if there is none.
std::string reason_inconclusive(const TestResult& test) {
  for (const std::string& note : test.notes)
    if (note.starts_with("inconclusive:")) return note;
  return "";
}

void add_note(FigureComparison& comparison, const std::string& note) {
  comparison.note += (comparison.note.empty() ? "" : "; ") + note;
}

void judge(FigureComparison& comparison, bool repeated, const std::string& obstacle) {
  if (!comparison.tolerance) return;
  const double tolerance = *comparison.tolerance;
  if (!obstacle.empty()) {
    comparison.verdict = Verdict::inconclusive;
    add_note(comparison, obstacle);
  } else if (!comparison.error) {
    comparison.verdict = Verdict::outside;
  } else if (comparison.error90) {
    comparison.verdict = judge_interval(*comparison.error90, tolerance);
  } else if (repeated && comparison.reference != 0) {
    comparison.verdict = Verdict::inconclusive;
    add_note(comparison, "a sample is not positive, so the ratio has no interval");
  } else {
    comparison.verdict =
        std::abs(*comparison.error) <= tolerance ? Verdict::within : Verdict::outside;
  }
}

/// value / reference - 1, if that is a number.
std::optional<double> relative_error(double value, double reference) {
  const double error = value / reference - 1;
  return std::isfinite(error) ? std::optional(error) : std::nullopt;
}

FigureComparison compare_figure(const Figure& predicted, const Figure& reference) {
  FigureComparison comparison;
  comparison.unit = reference.unit;
  comparison.better = reference.better;
  comparison.predicted = predicted.median();
  comparison.reference = reference.median();
  if (comparison.reference != 0)
    comparison.error = relative_error(comparison.predicted, comparison.reference);
  else if (comparison.predicted == 0)
    comparison.error = 0;
  if (!comparison.error)
    add_note(comparison, comparison.reference == 0
                             ? "the reference is 0, so there is no relative error"
                             : "the two are too far apart for a relative error");
  const auto ratio = ratio_interval90(predicted.samples, reference.samples);
  if (ratio && std::isfinite(ratio->first) && std::isfinite(ratio->second))
    comparison.error90 = std::pair{ratio->first - 1, ratio->second - 1};
  comparison.model95 = predicted.model95;
  if (predicted.model95) {
    const auto& [low, high] = *predicted.model95;
    const bool inside = comparison.reference >= low && comparison.reference <= high;
    add_note(comparison, inside ? "the reference lies inside the model's own 95 % interval"
                                : "the reference lies outside the model's own 95 % interval");
  }
  return comparison;
}

void compare_test(const TestResult& predicted, const TestResult& reference,
                  const std::vector<Tolerance>& tolerances, ResultComparison& result) {
  std::string obstacle = reason_inconclusive(predicted);
  if (obstacle.empty()) obstacle = reason_inconclusive(reference);
  if (!obstacle.empty() && (predicted.figures.empty() || reference.figures.empty()))
    result.notes.push_back(predicted.name + ": " + obstacle);
  for (const auto& [name, figure] : predicted.figures) {
    const std::string path = predicted.name + "." + name;
    const auto other = reference.figures.find(name);
    if (other == reference.figures.end()) {
      result.only_in_predicted.push_back(path);
      continue;
    }
    if (other->second.unit != figure.unit) {
      result.notes.push_back(path + " is not compared: predicted in " + figure.unit +
                             ", reference in " + other->second.unit);
      continue;
    }
    FigureComparison comparison = compare_figure(figure, other->second);
    comparison.test = predicted.name;
    comparison.figure = name;
    comparison.tolerance = tolerance_for(predicted.name, name, tolerances);
    auto ceiling = payload_ceiling(predicted);
    if (!ceiling) ceiling = payload_ceiling(reference);
    if (name == "goodput" && ceiling && comparison.reference != 0)
      comparison.null_error = relative_error(*ceiling, comparison.reference);
    const bool repeated = figure.samples.size() > 1 || other->second.samples.size() > 1;
    judge(comparison, repeated, obstacle);
    result.figures.push_back(std::move(comparison));
  }
  for (const auto& [name, figure] : reference.figures)
    if (!predicted.figures.contains(name))
      result.only_in_reference.push_back(reference.name + "." + name);
}

/// A tolerance that reaches nothing is most likely misspelt, and must not pass for a success.
void note_unused_tolerances(const std::vector<Tolerance>& tolerances, ResultComparison& result) {
  for (const Tolerance& tolerance : tolerances) {
    const bool used = std::any_of(
        result.figures.begin(), result.figures.end(), [&](const FigureComparison& figure) {
          return match(tolerance.pattern, figure.test, figure.figure).has_value();
        });
    if (!used)
      result.notes.push_back("the tolerance \"" + tolerance.pattern +
                             "\" reaches no common figure");
  }
}

}  // namespace

std::optional<double> payload_ceiling(const TestResult& test) {
  std::optional<double> narrowest;
  for (const Limit& limit : test.limits)
    if (limit.capacity) narrowest = std::min(narrowest.value_or(*limit.capacity), *limit.capacity);
  const LayerRate* payload = nullptr;
  const LayerRate* wire = nullptr;
  for (const LayerRate& layer : test.layers) {
    if (layer.name == "payload") payload = &layer;
    if (layer.name == "wire") wire = &layer;
  }
  if (!narrowest || payload == nullptr || wire == nullptr || wire->bytes_per_frame <= 0)
    return std::nullopt;
  return *narrowest * static_cast<double>(payload->bytes_per_frame) /
         static_cast<double>(wire->bytes_per_frame);
}

ModelCoverage model_coverage(const ResultComparison& comparison) {
  ModelCoverage coverage;
  std::vector<double> widths;
  for (const FigureComparison& figure : comparison.figures) {
    if (!figure.model95) continue;
    const auto [low, high] = *figure.model95;
    ++coverage.figures;
    if (figure.reference >= low && figure.reference <= high) ++coverage.inside;
    if (figure.predicted != 0) widths.push_back((high - low) / std::abs(figure.predicted));
  }
  std::sort(widths.begin(), widths.end());
  if (!widths.empty()) coverage.median_width = widths[widths.size() / 2];
  return coverage;
}

Verdict overall(const ResultComparison& comparison) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(comparison.figures.begin(), comparison.figures.end(),
                       [&](const FigureComparison& figure) { return figure.verdict == verdict; });
  };
  for (const Verdict verdict : {Verdict::outside, Verdict::inconclusive, Verdict::within})
    if (any(verdict)) return verdict;
  return Verdict::not_judged;
}

bool first_is_reference(Backend first, Backend second) {
  return first != Backend::simulated || second == Backend::simulated;
}

std::optional<double> tolerance_for(const std::string& test, const std::string& figure,
                                    const std::vector<Tolerance>& tolerances) {
  std::optional<Specificity> best;
  std::optional<double> result;
  for (const Tolerance& tolerance : tolerances) {
    const auto specificity = match(tolerance.pattern, test, figure);
    if (!specificity || (best && *specificity < *best)) continue;
    best = specificity;
    result = tolerance.relative;
  }
  return result;
}

ResultComparison compare(const Result& predicted, const Result& reference,
                         const std::vector<Tolerance>& tolerances) {
  ResultComparison result;
  result.predicted_backend = predicted.backend;
  result.reference_backend = reference.backend;
  if (!predicted.complete) result.notes.push_back("the prediction is incomplete");
  if (!reference.complete) result.notes.push_back("the reference is incomplete");
  for (const Result* side : {&predicted, &reference})
    for (const Realisation& entry : side->realisation)
      if (entry.how != "realised")
        result.notes.push_back("the lab " + entry.how + " " + entry.element +
                               (entry.why.empty() ? "" : ": " + entry.why));
  for (const TestResult& test : predicted.tests) {
    if (const TestResult* other = find_test(reference, test.name))
      compare_test(test, *other, tolerances, result);
    else
      result.only_in_predicted.push_back(test.name + ".*");
  }
  for (const TestResult& test : reference.tests)
    if (find_test(predicted, test.name) == nullptr)
      result.only_in_reference.push_back(test.name + ".*");
  note_unused_tolerances(tolerances, result);
  return result;
}

}  // namespace linerate::experiments
