#include "experiments/definition/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "experiments/definition/decimal.hpp"
#include "experiments/definition/nearest.hpp"

namespace linerate::experiments {

namespace {

struct Unit {
  const char* name;
  std::int64_t factor;  ///< base units in one of these
  int exponent = 0;     ///< times a power of ten, for units smaller than the base
};

constexpr std::int64_t kKilo = 1'000, kMega = 1'000'000, kGiga = 1'000'000'000;
constexpr std::int64_t kTera = 1'000'000'000'000;
constexpr std::int64_t kKibi = 1 << 10, kMebi = 1 << 20, kGibi = 1 << 30;

// Each list is ordered as people meet the units; kUsual.front() is the base.
constexpr Unit kTimes[] = {{"s", kTera},        {"ms", kGiga},       {"us", kMega},
                           {"ns", kKilo},       {"ps", 1},           {"min", 60 * kTera},
                           {"h", 3600 * kTera}, {"\xC2\xB5s", kMega}};
constexpr Unit kSizes[] = {{"B", 1},       {"KiB", kKibi}, {"MiB", kMebi},
                           {"GiB", kGibi}, {"kB", kKilo},  {"MB", kMega},
                           {"GB", kGiga},  {"TB", kTera},  {"TiB", kGibi * 1024}};
constexpr Unit kRates[] = {{"bit/s", 1},         {"kbit/s", kKilo},    {"Mbit/s", kMega},
                           {"Gbit/s", kGiga},    {"Tbit/s", kTera},    {"B/s", 8},
                           {"kB/s", 8 * kKilo},  {"MB/s", 8 * kMega},  {"GB/s", 8 * kGiga},
                           {"KiB/s", 8 * kKibi}, {"MiB/s", 8 * kMebi}, {"GiB/s", 8 * kGibi},
                           {"Kibit/s", kKibi},   {"Mibit/s", kMebi},   {"Gibit/s", kGibi}};
constexpr Unit kHertz[] = {{"Hz", 1}, {"kHz", kKilo}, {"MHz", kMega}, {"GHz", kGiga}};
constexpr Unit kFractions[] = {{"%", 1, -2}, {"ppm", 1, -6}};
constexpr Unit kLengths[] = {{"m", 1}, {"km", 1, 3}, {"cm", 1, -2}};
constexpr Unit kMoneyUnits[] = {{"EUR", 1}};
constexpr Unit kFrequencies[] = {{"/s", 1},      {"k/s", 1, 3},  {"M/s", 1, 6}, {"pps", 1},
                                 {"kpps", 1, 3}, {"Mpps", 1, 6}, {"Gpps", 1, 9}};

std::span<const Unit> units(Kind kind) {
  switch (kind) {
    case Kind::time:
      return kTimes;
    case Kind::size:
      return kSizes;
    case Kind::rate:
      return kRates;
    case Kind::hertz:
      return kHertz;
    case Kind::fraction:
      return kFractions;
    case Kind::length:
      return kLengths;
    case Kind::money:
      return kMoneyUnits;
    case Kind::per_second:
      return kFrequencies;
    default:
      return {};
  }
}

/// So large that sums and products of a few such values still fit 64 bits: 30 days, 4 PiB,
/// 1 Pbit/s, 1 THz.
std::int64_t ceiling(Kind kind) {
  switch (kind) {
    case Kind::time:
      return 30 * 24 * 3600 * kTera;
    case Kind::size:
      return std::int64_t{1} << 52;
    case Kind::rate:
      return 1000 * kTera;
    case Kind::hertz:
      return kTera;
    default:
      return std::int64_t{1} << 53;
  }
}

bool may_stand_alone_as_zero(Kind kind) {
  return kind == Kind::time || kind == Kind::size || kind == Kind::fraction || kind == Kind::length;
}

struct NumberAndUnit {
  Decimal number;
  std::string number_text;
  std::string unit;
};

std::optional<NumberAndUnit> split(std::string_view text) {
  const std::size_t sign = text.starts_with('+') ? 1 : 0;
  NumberAndUnit result;
  const std::size_t length = read_decimal(text.substr(sign), result.number);
  if (length == 0) return std::nullopt;
  result.number_text = text.substr(sign, length);
  const std::string_view rest = text.substr(sign + length);
  result.unit = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  return result;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// The spelling that was probably meant, from what people write elsewhere.
std::string probable_unit(Kind kind, const std::string& unit) {
  static constexpr std::array<std::array<const char*, 2>, 18> kRateSlips{{{"", "bit/s"},
                                                                          {"k", "kbit/s"},
                                                                          {"m", "Mbit/s"},
                                                                          {"g", "Gbit/s"},
                                                                          {"t", "Tbit/s"},
                                                                          {"bps", "bit/s"},
                                                                          {"kbps", "kbit/s"},
                                                                          {"mbps", "Mbit/s"},
                                                                          {"gbps", "Gbit/s"},
                                                                          {"b/s", "bit/s"},
                                                                          {"kb/s", "kbit/s"},
                                                                          {"mb/s", "Mbit/s"},
                                                                          {"gb/s", "Gbit/s"},
                                                                          {"mbit", "Mbit/s"},
                                                                          {"gbit", "Gbit/s"},
                                                                          {"kbit", "kbit/s"},
                                                                          {"mb", "Mbit/s"},
                                                                          {"gb", "Gbit/s"}}};
  static constexpr std::array<std::array<const char*, 2>, 9> kSizeSlips{{{"", "B"},
                                                                         {"k", "KiB"},
                                                                         {"m", "MiB"},
                                                                         {"g", "GiB"},
                                                                         {"ki", "KiB"},
                                                                         {"mi", "MiB"},
                                                                         {"gi", "GiB"},
                                                                         {"bytes", "B"},
                                                                         {"byte", "B"}}};
  static constexpr std::array<std::array<const char*, 2>, 6> kTimeSlips{{{"sec", "s"},
                                                                         {"secs", "s"},
                                                                         {"seconds", "s"},
                                                                         {"msec", "ms"},
                                                                         {"usec", "us"},
                                                                         {"nsec", "ns"}}};
  static constexpr std::array<std::array<const char*, 2>, 4> kFrequencySlips{
      {{"", "/s"}, {"k", "k/s"}, {"m", "M/s"}, {"hz", "/s"}}};
  const std::string folded = lower(unit);
  const auto in = [&](const auto& slips) -> std::string {
    for (const auto& [wrong, right] : slips) {
      if (folded == wrong) return right;
    }
    return {};
  };
  std::string found;
  if (kind == Kind::rate) found = in(kRateSlips);
  if (kind == Kind::size) found = in(kSizeSlips);
  if (kind == Kind::time) found = in(kTimeSlips);
  if (kind == Kind::per_second) found = in(kFrequencySlips);
  if (!found.empty()) return found;
  if (unit.empty()) return kind == Kind::time ? "" : units(kind).front().name;
  for (const Unit& known : units(kind)) {
    if (lower(known.name) == folded) return known.name;
  }
  return {};
}

/// An example of a kind for remedies, with the number the user wrote.
std::string spelling(Kind kind, const NumberAndUnit& written) {
  std::string number = written.number_text;
  if (kind == Kind::fraction && written.unit.empty()) {
    // 0.01 as a fraction is 1 %; say so rather than 0.01 %.
    const double percent = to_real(written.number, 2);
    if (percent <= 100) number = fmt::format("{}", percent);
  }
  const std::string unit = probable_unit(kind, written.unit);
  if (!unit.empty()) return fmt::format("write {}{}", number, unit);
  if (kind == Kind::time && written.unit.empty()) {
    return fmt::format("write {0}us, {0}ms or {0}s, whichever is meant", number);
  }
  return fmt::format("units: {}", fmt::join(unit_names(kind), ", "));
}

std::string range_text(const ScalarRule& rule) {
  const auto show = [&](double limit) {
    return format_value(rule, {static_cast<std::int64_t>(limit), limit, {}});
  };
  if (rule.low == rule.high) return show(rule.low);
  if (std::isinf(rule.high)) return fmt::format("at least {}", show(rule.low));
  return fmt::format("between {} and {}", show(rule.low), show(rule.high));
}

Trouble outside(const ScalarRule& rule, std::string_view text) {
  return {fmt::format("`{}` is out of range", text), "it must be " + range_text(rule)};
}

std::variant<Value, Trouble> parse_number(const ScalarRule& rule, std::string_view text) {
  const Kind kind = rule.kind;
  const std::string folded = lower(text);
  if (folded == "nan" || folded == ".nan" || folded.ends_with("inf") || folded == "infinity") {
    return Trouble{fmt::format("`{}` is not a finite number", text), {}};
  }
  if (!text.empty() && text.front() == '-') {
    return Trouble{fmt::format("`{}` is negative", text), "it must be " + range_text(rule)};
  }
  const std::optional<NumberAndUnit> written = split(text);
  const std::vector<std::string> names = unit_names(kind);
  if (!written) {
    std::string remedy;
    if (!names.empty()) remedy = fmt::format("write a number and a unit, such as 10{}", names[0]);
    return Trouble{fmt::format("`{}` is not {}", text, kind_name(kind)), remedy};
  }
  Unit unit{"", 1};
  if (names.empty()) {
    if (!written->unit.empty()) {
      return Trouble{fmt::format("`{}` is not {}", text, kind_name(kind)),
                     "write " + written->number_text + " without a unit"};
    }
  } else if (!(written->unit.empty() && written->number.zero() && may_stand_alone_as_zero(kind))) {
    const auto known = std::find_if(units(kind).begin(), units(kind).end(),
                                    [&](const Unit& u) { return written->unit == u.name; });
    if (known == units(kind).end()) {
      return Trouble{written->unit.empty()
                         ? fmt::format("{} needs a unit", kind_name(kind))
                         : fmt::format("`{}` is no unit of {}", written->unit, kind_name(kind)),
                     spelling(kind, *written)};
    }
    unit = *known;
  }
  if (holds_real(kind)) {
    const double value = to_real(written->number, unit.exponent) * static_cast<double>(unit.factor);
    if (!std::isfinite(value)) return Trouble{fmt::format("`{}` is too large", text), {}};
    if (value < rule.low || value > rule.high) return outside(rule, text);
    return Value{0, value, {}};
  }
  const Whole whole = to_whole(written->number, unit.factor, ceiling(kind));
  if (whole.inexact) {
    const std::string of =
        names.empty() ? "" : fmt::format(" of {}", kind == Kind::time ? "ps" : names[0]);
    return Trouble{fmt::format("`{}` is not a whole number{}", text, of), {}};
  }
  if (whole.overflow) {
    return Trouble{fmt::format("`{}` is too large", text),
                   "at most " + format_value(rule, {ceiling(kind), 0, {}})};
  }
  const double value = static_cast<double>(whole.value);
  if (value < rule.low || value > rule.high) return outside(rule, text);
  return Value{whole.value, 0, {}};
}

std::variant<Value, Trouble> parse_toggle(std::string_view text) {
  const std::string folded = lower(text);
  if (folded == "on" || folded == "true" || folded == "yes") return Value{1, 0, {}};
  if (folded == "off" || folded == "false" || folded == "no") return Value{0, 0, {}};
  return Trouble{fmt::format("`{}` is neither on nor off", text), "write on or off"};
}

std::variant<Value, Trouble> parse_choice(const ScalarRule& rule, std::string_view text) {
  std::vector<std::string> known;
  for (const Word& word : rule.words) {
    if (text == word.text) {
      if (!word.later) return Value{word.value, 0, {}};
    }
    if (!word.later) known.emplace_back(word.text);
  }
  for (const Word& word : rule.words) {
    if (text == word.text) {
      return Trouble{fmt::format("`{}` is not supported yet in this version", text),
                     fmt::format("known: {}", fmt::join(known, ", "))};
    }
  }
  return Trouble{fmt::format("`{}` is not one of the choices here", text), suggest(text, known)};
}

std::variant<Value, Trouble> parse_text(const ScalarRule& rule, std::string_view text) {
  if (rule.kind == Kind::name && !is_name(text)) {
    return Trouble{fmt::format("`{}` is not a name", text.substr(0, 80)),
                   "a name is lower-case letters, digits and hyphens, a letter first"};
  }
  return Value{0, 0, std::string(text)};
}

/// The largest of the named units that divides the value.
std::string in_units(std::int64_t value, std::initializer_list<Unit> largest_first) {
  for (const Unit& unit : largest_first) {
    if (value != 0 && value % unit.factor == 0) {
      return fmt::format("{}{}", value / unit.factor, unit.name);
    }
  }
  return fmt::format("{}{}", value, std::prev(largest_first.end())->name);
}

}  // namespace

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::time:
      return "a time";
    case Kind::size:
      return "a size";
    case Kind::rate:
      return "a rate";
    case Kind::hertz:
      return "a clock frequency";
    case Kind::count:
      return "a whole number";
    case Kind::fraction:
      return "a percentage";
    case Kind::length:
      return "a length";
    case Kind::money:
      return "a cost";
    case Kind::per_second:
      return "a frequency";
    case Kind::number:
      return "a number";
    case Kind::toggle:
      return "on or off";
    case Kind::choice:
      return "a word";
    case Kind::name:
      return "a name";
    case Kind::text:
      return "a text";
  }
  return "a value";
}

bool holds_real(Kind kind) {
  return kind == Kind::fraction || kind == Kind::length || kind == Kind::money ||
         kind == Kind::per_second || kind == Kind::number;
}

bool holds_integer(Kind kind) {
  return !holds_real(kind) && kind != Kind::name && kind != Kind::text;
}

std::vector<std::string> unit_names(Kind kind) {
  std::vector<std::string> names;
  for (const Unit& unit : units(kind)) names.emplace_back(unit.name);
  return names;
}

bool is_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-'; });
}

std::variant<Value, Trouble> parse_value(const ScalarRule& rule, std::string_view text) {
  if (text.size() > 4096) return Trouble{"the value is longer than 4096 bytes", {}};
  switch (rule.kind) {
    case Kind::toggle:
      return parse_toggle(text);
    case Kind::choice:
      return parse_choice(rule, text);
    case Kind::name:
    case Kind::text:
      return parse_text(rule, text);
    default:
      return parse_number(rule, text);
  }
}

std::string format_value(const ScalarRule& rule, const Value& value) {
  switch (rule.kind) {
    case Kind::time:
      if (value.integer == 0) return "0s";
      return in_units(value.integer,
                      {{"s", kTera}, {"ms", kGiga}, {"us", kMega}, {"ns", kKilo}, {"ps", 1}});
    case Kind::size:
      return in_units(value.integer, {{"GiB", kGibi}, {"MiB", kMebi}, {"KiB", kKibi}, {"B", 1}});
    case Kind::rate:
      return in_units(value.integer, {{"Tbit/s", kTera},
                                      {"Gbit/s", kGiga},
                                      {"Mbit/s", kMega},
                                      {"kbit/s", kKilo},
                                      {"bit/s", 1}});
    case Kind::hertz:
      return in_units(value.integer, {{"GHz", kGiga}, {"MHz", kMega}, {"kHz", kKilo}, {"Hz", 1}});
    case Kind::count:
      return fmt::format("{}", value.integer);
    case Kind::fraction:
      return decimal_text(value.real, 2) + "%";
    case Kind::length:
      return decimal_text(value.real, 0) + "m";
    case Kind::money:
      return decimal_text(value.real, 0) + "EUR";
    case Kind::per_second:
      return decimal_text(value.real, 0) + "/s";
    case Kind::number:
      return decimal_text(value.real, 0);
    case Kind::toggle:
      return value.integer ? "on" : "off";
    case Kind::choice:
      for (const Word& word : rule.words) {
        if (word.value == value.integer && !word.later) return word.text;
      }
      return "?";
    case Kind::name:
    case Kind::text:
      return value.text;
  }
  return {};
}

}  // namespace linerate::experiments
