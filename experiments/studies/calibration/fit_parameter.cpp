#include "experiments/studies/calibration/fit_parameter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace linerate::experiments {

namespace {

constexpr std::array kKinds{Kind::count, Kind::time,      Kind::size,     Kind::rate,
                            Kind::hertz, Kind::number,    Kind::fraction, Kind::length,
                            Kind::money, Kind::per_second};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

double number_of(Kind kind, const Value& value) {
  return holds_real(kind) ? value.real : static_cast<double>(value.integer);
}

/// What a text says if it is of this kind.
bool reads_as(Kind kind, const std::string& text, double& number) {
  const auto parsed = parse_value({.kind = kind}, text);
  const Value* value = std::get_if<Value>(&parsed);
  if (value) number = number_of(kind, *value);
  return value != nullptr;
}

/// Units of which people read decimals, the largest first. Others are written as they are held.
std::vector<std::pair<double, const char*>> decimal_units(Kind kind) {
  switch (kind) {
    case Kind::time:
      return {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}};
    case Kind::rate:
      return {{1e12, "Tbit/s"}, {1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}};
    case Kind::hertz:
      return {{1e9, "GHz"}, {1e6, "MHz"}, {1e3, "kHz"}};
    default:
      return {};
  }
}

std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

constexpr const char* kExample = "such as --fit hosts.b.cpu.costs.segment_received=[0.5us,50us]";

}  // namespace

double FitParameter::value_at(double share) const {
  if (logarithmic()) return low * std::pow(high / low, share);
  return low + (high - low) * share;
}

double FitParameter::share_of(double value) const {
  double share = 0;
  if (logarithmic())
    share = value > 0 ? std::log(value / low) / std::log(high / low) : 0;
  else
    share = (value - low) / (high - low);
  return std::clamp(share, 0.0, 1.0);
}

double FitParameter::slope_at(double share) const {
  return logarithmic() ? value_at(share) * std::log(high / low) : high - low;
}

double FitParameter::quantum() const { return holds_real(kind) ? 0 : 1; }

std::string FitParameter::text(double value) const {
  Value held;
  if (holds_real(kind))
    held.real = value;
  else
    held.integer = std::llround(value);
  return format_value({.kind = kind}, held);
}

std::string FitParameter::rounded_text(double value, double spread) const {
  if (!(spread > 0)) return text(value);
  const double last = std::max(quantum(), std::pow(10, std::floor(std::log10(spread)) - 1));
  const double rounded = std::round(value / last) * last;
  for (const auto& [factor, unit] : decimal_units(kind)) {
    if (rounded < factor) continue;
    const int decimals = std::max(0, static_cast<int>(std::lround(std::log10(factor / last))));
    return without_zeros(fmt::format("{:.{}f}", rounded / factor, decimals)) + unit;
  }
  return text(rounded);
}

double parse_quantity(const std::string& text, Kind& kind) {
  double number = 0;
  for (const Kind candidate : kKinds) {
    if (!reads_as(candidate, text, number)) continue;
    kind = candidate;
    return number;
  }
  throw StudyError(fmt::format("`{}` is no quantity", text),
                   "a number with its unit, 0.5us, 64KiB, 25Gbit/s or 0.1%; bare if it has none");
}

std::optional<double> FitParameter::nominal(const Experiment& experiment) const {
  const nlohmann::json root = nlohmann::json::parse(experiment.resolved);
  const nlohmann::json* node = &root;
  std::string rest = path;
  while (!rest.empty()) {
    const std::size_t dot = rest.find('.');
    const std::string key = rest.substr(0, dot);
    rest = dot == std::string::npos ? "" : rest.substr(dot + 1);
    const nlohmann::json* child = nullptr;
    if (key == "*" && node->is_structured() && !node->empty()) child = &*node->begin();
    if (node->is_object() && node->contains(key)) child = &(*node)[key];
    if (node->is_array())
      for (const auto& item : *node)
        if (item.is_object() && item.value("name", "") == key) child = &item;
    if (child == nullptr) return std::nullopt;
    node = child;
  }
  if (node->is_object() && node->contains("value")) node = &(*node)["value"];
  if (!node->is_string() && !node->is_number()) return std::nullopt;
  const std::string said = node->is_string() ? node->get<std::string>() : node->dump();
  const auto parsed = parse_value({.kind = kind}, said);
  const Value* value = std::get_if<Value>(&parsed);
  if (value == nullptr) return std::nullopt;
  return number_of(kind, *value);
}

FitParameter parse_fit_parameter(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t open = text.find('[', equals == std::string::npos ? 0 : equals);
  const std::size_t comma = text.find(',', open == std::string::npos ? 0 : open);
  if (equals == std::string::npos || equals == 0 || open != equals + 1 || !text.ends_with(']') ||
      comma == std::string::npos)
    throw StudyError(fmt::format("--fit needs PATH=[LOWEST,HIGHEST], not `{}`", text), kExample);
  FitParameter parameter;
  parameter.path = text.substr(0, equals);
  const std::string low = trimmed(text.substr(open + 1, comma - open - 1));
  const std::string high = trimmed(text.substr(comma + 1, text.size() - comma - 2));
  parameter.high = parse_quantity(high, parameter.kind);
  if (!reads_as(parameter.kind, low, parameter.low)) {
    // [1,2.5]: a count beside a number.
    Kind other = Kind::number;
    parameter.low = parse_quantity(low, other);
    if (parameter.kind != Kind::count || other != Kind::number)
      throw StudyError(fmt::format("--fit {}: the bounds `{}` and `{}` differ in kind",
                                   parameter.path, low, high),
                       "give both the same unit");
    parameter.kind = other;
  }
  if (!(parameter.low < parameter.high))
    throw StudyError(fmt::format("--fit {}: the bounds leave nothing to fit", parameter.path),
                     "write [LOWEST,HIGHEST], lowest first");
  return parameter;
}

}  // namespace linerate::experiments
