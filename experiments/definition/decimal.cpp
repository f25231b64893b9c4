#include "experiments/definition/decimal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace linerate::experiments {

namespace {

__extension__ using Wide = __int128;

/// "e-3" at `text`: its length, 0 if it is no exponent ("EUR" is none).
std::size_t read_exponent(std::string_view text, int& exponent) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
  std::size_t i = 1;
  const bool negative = i < text.size() && text[i] == '-';
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const std::size_t first = i;
  int value = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) {
    value = std::min(value * 10 + (text[i] - '0'), 100'000);
  }
  if (i == first) return 0;
  exponent += negative ? -value : value;
  return i;
}

}  // namespace

std::size_t read_decimal(std::string_view text, Decimal& number) {
  number = {};
  std::size_t i = 0;
  while (i < text.size() && is_digit(text[i])) number.digits += text[i++];
  if (i == 0) return 0;
  if (i + 1 < text.size() && text[i] == '.' && is_digit(text[i + 1])) {
    for (++i; i < text.size() && is_digit(text[i]); ++i) {
      number.digits += text[i];
      --number.exponent;
    }
  }
  return i + read_exponent(text.substr(i), number.exponent);
}

Whole to_whole(const Decimal& number, std::int64_t factor, std::int64_t most) {
  if (number.zero()) return {};
  const std::size_t first = number.digits.find_first_not_of('0');
  const std::size_t last = number.digits.find_last_not_of('0');
  const std::string digits = number.digits.substr(first, last - first + 1);
  int exponent = number.exponent + static_cast<int>(number.digits.size() - 1 - last);
  if (static_cast<int>(digits.size()) + exponent > 19) return {.overflow = true};
  // Factors are below 2^52 and there are at most 22 digits, so the product fits 127 bits.
  if (digits.size() > 22) return {.inexact = true};
  Wide value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  value *= factor;
  for (; exponent > 0; --exponent) {
    value *= 10;
    if (value > most) return {.overflow = true};
  }
  for (; exponent < 0; ++exponent) {
    if (value % 10 != 0) return {.inexact = true};
    value /= 10;
  }
  if (value > most) return {.overflow = true};
  return {.value = static_cast<std::int64_t>(value)};
}

double to_real(const Decimal& number, int shift) {
  const std::string text = fmt::format("{}e{}", number.digits, number.exponent + shift);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && number.exponent + shift > 0) return HUGE_VAL;
  return value;
}

/// A finite real x 10^shift without an exponent where that is readable.
std::string decimal_text(double value, int shift) {
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  int exponent = shift;
  int shown = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), end, shown);
  exponent += shown;
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (is_digit(c)) digits += c;
  }
  if (value == 0) return "0";
  const int count = static_cast<int>(digits.size());
  if (exponent > 20 || exponent < -20) {
    std::string mantissa = digits.substr(0, 1);
    if (count > 1) mantissa += "." + digits.substr(1);
    return fmt::format("{}e{}", mantissa, exponent);
  }
  if (exponent < 0)
    return "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (exponent >= count - 1) {
    return digits + std::string(static_cast<std::size_t>(exponent - count + 1), '0');
  }
  digits.insert(static_cast<std::size_t>(exponent) + 1, ".");
  return digits;
}

}  // namespace linerate::experiments
