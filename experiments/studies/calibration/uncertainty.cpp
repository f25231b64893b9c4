#include "experiments/studies/calibration/uncertainty.hpp"

#include <fmt/format.h>

// As in interval.cpp: doubles do, and valgrind has no long ones.
#define BOOST_MATH_NO_LONG_DOUBLE_MATH_FUNCTIONS
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/random/sobol.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "experiments/definition/parse.hpp"

namespace linerate::experiments {

namespace {

using ResolvedNode = nlohmann::ordered_json;

std::string text_of(const ResolvedNode& node) {
  return node.is_string() ? node.get<std::string>() : node.dump();
}

/// Whether a bare number may have a fraction, which only the field itself can say.
bool takes_fractions(const Experiment& experiment, const FitParameter& range) {
  const double inside = (range.low + range.high) / 2;
  try {
    varied(experiment, {fmt::format("{}={:.2f}", range.path, std::floor(inside) + 0.25)});
    return true;
  } catch (const DefinitionError&) {
    return false;
  }
}

UncertainParameter read_parameter(const Experiment& experiment, const std::string& path,
                                  const ResolvedNode& node) {
  UncertainParameter parameter;
  parameter.paths = {path};
  FitParameter& range = parameter.range;
  range.path = path;
  // "0s" beside "5us": 0 has any unit, so the upper bound says the kind.
  range.high = parse_quantity(text_of(node["within"][1]), range.kind);
  Kind kind{};
  range.low = parse_quantity(text_of(node["within"][0]), kind);
  parameter.value = parse_quantity(text_of(node["value"]), kind);
  if (range.kind == Kind::count && takes_fractions(experiment, range)) range.kind = Kind::number;
  return parameter;
}

/// Visits every {value, within} of the resolved experiment that --set can reach.
template <class Visit>
void visit_intervals(const ResolvedNode& node, const std::string& path, Visit&& visit) {
  if (node.is_object() && node.contains("value") && node.contains("within"))
    return visit(path, node);
  if (!node.is_structured()) return;
  for (const auto& [key, child] : node.items()) {
    std::string step = key;
    if (node.is_array()) {
      if (!child.is_object() || !child.contains("name")) continue;
      step = text_of(child["name"]);
    }
    visit_intervals(child, path.empty() ? step : path + "." + step, visit);
  }
}

/// Where one number is written; two hosts of one profile share it.
std::tuple<std::string, int, int> source_of(const Experiment& experiment, const std::string& path) {
  const auto found = experiment.origins.find(path);
  if (found == experiment.origins.end() || found->second.line == 0) return {path, 0, 0};
  return {found->second.source, found->second.line, found->second.column};
}

double standard_normal(double share) { return boost::math::quantile(boost::math::normal(), share); }

/// Of one point: every path's setting.
std::vector<std::string> settings_at(const std::vector<UncertainParameter>& parameters,
                                     const std::vector<double>& shares) {
  std::vector<std::string> set;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    for (const std::string& path : parameters[i].paths)
      set.push_back(path + "=" + parameters[i].range.text(parameters[i].quantile(shares[i])));
  return set;
}

/// The range of one figure over the samples and the prediction itself; nothing if a sample lacks
/// it.
std::optional<std::pair<double, double>> range_of(const std::vector<Result>& samples,
                                                  const std::string& test,
                                                  const std::string& figure, double nominal) {
  std::pair range{nominal, nominal};
  for (const Result& sample : samples) {
    const auto same = [&](const TestResult& entry) { return entry.name == test; };
    const auto entry = std::find_if(sample.tests.begin(), sample.tests.end(), same);
    if (entry == sample.tests.end()) return std::nullopt;
    const auto found = entry->figures.find(figure);
    if (found == entry->figures.end()) return std::nullopt;
    range.first = std::min(range.first, found->second.median());
    range.second = std::max(range.second, found->second.median());
  }
  return range;
}

}  // namespace

double UncertainParameter::quantile(double share) const {
  const double bound = standard_normal(0.975);
  const double z = std::clamp(standard_normal(share) / bound, -1.0, 1.0);
  const double end = z < 0 ? range.low : range.high;
  if (range.logarithmic()) return value * std::pow(end / value, std::abs(z));
  return value + (end - value) * std::abs(z);
}

std::vector<UncertainParameter> uncertain_parameters(const Experiment& experiment) {
  std::vector<UncertainParameter> parameters;
  std::map<std::tuple<std::string, int, int>, std::size_t> places;
  visit_intervals(ResolvedNode::parse(experiment.resolved), "",
                  [&](const std::string& path, const ResolvedNode& node) {
                    const auto [place, fresh] =
                        places.try_emplace(source_of(experiment, path), parameters.size());
                    if (!fresh) {
                      parameters[place->second].paths.push_back(path);
                      return;
                    }
                    parameters.push_back(read_parameter(experiment, path, node));
                  });
  return parameters;
}

bool states_intervals(const Experiment& experiment) {
  bool stated = false;
  visit_intervals(ResolvedNode::parse(experiment.resolved), "",
                  [&](const std::string& path, const ResolvedNode&) {
                    const auto origin = experiment.origins.find(path);
                    stated = stated || (origin != experiment.origins.end() &&
                                        !origin->second.source.starts_with("catalog "));
                  });
  return stated;
}

void add_model_intervals(const Experiment& experiment, Result& result, const Runner& runner,
                         int runs, unsigned threads) {
  const std::vector<UncertainParameter> parameters = uncertain_parameters(experiment);
  if (parameters.empty() || runs < 1) return;
  boost::random::sobol sequence(parameters.size());
  const double width = static_cast<double>(boost::random::sobol::max()) + 1;
  std::vector<std::vector<double>> points(static_cast<std::size_t>(runs));
  for (std::vector<double>& point : points)
    for (std::size_t i = 0; i < parameters.size(); ++i)
      point.push_back(std::max(static_cast<double>(sequence()) / width, 1e-9));
  std::vector<Result> samples(points.size());
  in_parallel(points.size(), threads, [&](std::size_t i) {
    samples[i] = runner(varied(experiment, settings_at(parameters, points[i])));
  });
  for (TestResult& test : result.tests)
    for (auto& [name, figure] : test.figures)
      figure.model95 = range_of(samples, test.name, name, figure.median());
  std::string paths;
  for (const UncertainParameter& parameter : parameters)
    paths += (paths.empty() ? "" : ", ") + parameter.paths.front();
  result.notes.push_back(fmt::format(
      "model95: range of {} runs at values drawn from the intervals of {}", runs, paths));
}

}  // namespace linerate::experiments
