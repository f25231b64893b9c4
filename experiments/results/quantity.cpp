#include "experiments/results/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace linerate::experiments {
namespace {

/// Digits after the point that leave four significant ones, five after a leading 1.
int decimals_for(double magnitude) {
  if (magnitude == 0 || !std::isfinite(magnitude)) return 0;
  const int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
  const int significant = magnitude / std::pow(10.0, exponent) < 2 ? 5 : 4;
  return std::max(0, significant - 1 - exponent);
}

/// The value to its significant digits; "10" rather than "10.000".
std::string digits(double value) {
  std::string text = fmt::format("{:.{}f}", value, decimals_for(std::abs(value)));
  const std::size_t point = text.find('.');
  if (point != std::string::npos && text.find_first_not_of('0', point + 1) == std::string::npos)
    text.resize(point);
  return text;
}

/// Without the zeros that end a fraction: settings are often round, "0.1 %", "0.125".
std::string short_digits(double value) {
  std::string text = digits(value);
  if (text.find('.') != std::string::npos) text.resize(text.find_last_not_of('0') + 1);
  return text;
}

struct Prefix {
  double factor;
  const char* name;
};

/// With the largest prefix that leaves at least 1; without any for 0.
std::string with_prefix(double value, const std::string& unit, bool small) {
  static constexpr std::array<Prefix, 8> prefixes{{{1e12, "T"},
                                                   {1e9, "G"},
                                                   {1e6, "M"},
                                                   {1e3, "k"},
                                                   {1, ""},
                                                   {1e-3, "m"},
                                                   {1e-6, "u"},
                                                   {1e-9, "n"}}};
  for (const Prefix& prefix : prefixes) {
    const bool last = prefix.factor == (small ? 1e-9 : 1);
    // 999.96e3 would be printed as "1000 k": the next prefix takes over where rounding does.
    if (std::abs(value) >= prefix.factor * 0.99995 || last) {
      if (value == 0) return "0 " + unit;
      const std::string name = prefix.name;
      return digits(value / prefix.factor) + " " + name + unit;
    }
  }
  return digits(value) + " " + unit;
}

/// Powers of two where the size is a whole number of them, as buffers are; else powers of ten.
std::string bytes(double value) {
  static constexpr std::array<Prefix, 3> binary{
      {{1024.0 * 1024 * 1024, "GiB"}, {1024.0 * 1024, "MiB"}, {1024.0, "KiB"}}};
  for (const Prefix& prefix : binary) {
    const double whole = value / prefix.factor;
    if (whole >= 1 && whole < 10'000 && whole == std::floor(whole))
      return fmt::format("{:.0f} {}", whole, prefix.name);
  }
  if (std::abs(value) < 100'000) return digits(value) + " B";
  return with_prefix(value, "B", false);
}

}  // namespace

std::string format_quantity(double value, const std::string& unit) {
  if (unit == "bit/s") return with_prefix(value, unit, false);
  // Seconds have no "ks" in this field.
  if (unit == "s")
    return std::abs(value) >= 1 ? digits(value) + " s" : with_prefix(value, "s", true);
  if (unit == "B") return bytes(value);
  if (unit == "1/s") return with_prefix(value, "/s", false);
  if (unit == "fraction" || unit == "%") return short_digits(value * 100) + " %";
  if (unit == "count" || unit.empty())
    return value == std::floor(value) ? fmt::format("{:.0f}", value) : short_digits(value);
  if (unit == "EUR") return fmt::format("{:.2f} EUR", value);
  return digits(value) + " " + unit;
}

std::string format_error(double error) {
  const double percent = error * 100;
  const double magnitude = std::abs(percent);
  if (magnitude < 10) return fmt::format("{:+.2f} %", magnitude < 0.005 ? 0.0 : percent);
  return fmt::format("{:+.{}f} %", percent, magnitude < 100 ? 1 : 0);
}

}  // namespace linerate::experiments
