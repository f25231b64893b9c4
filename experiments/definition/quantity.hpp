// One scalar of an experiment file: a quantity with its unit, a count, a switch, a word. Exact: a
// decimal never passes through a rounded binary fraction on its way to an integer.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace linerate::experiments {

/// What a scalar measures, and in which unit Value holds it.
enum class Kind : std::uint8_t {
  time,        ///< integer, ps
  size,        ///< integer, bytes
  rate,        ///< integer, bit/s
  hertz,       ///< integer, Hz
  count,       ///< integer, no unit
  fraction,    ///< real, 1 = 100 %
  length,      ///< real, m
  money,       ///< real, EUR
  per_second,  ///< real, 1/s (frames, packets, requests)
  number,      ///< real, no unit
  toggle,      ///< integer, 0 or 1
  choice,      ///< integer, Word::value
  name,        ///< text, [a-z][a-z0-9-]*
  text,        ///< text, anything printable
};

/// One spelling of a choice. `later` words are known but refused in this version.
struct Word {
  const char* text;
  int value;
  bool later = false;
};

/// How a scalar must look. Limits are in the unit of its kind and inclusive.
struct ScalarRule {
  Kind kind = Kind::text;
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  std::span<const Word> words{};
};

struct Value {
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
};

/// Why a scalar cannot be read, and how it should be written.
struct Trouble {
  std::string message;
  std::string remedy;
};

/// Reads "25Gbit/s", "64KiB", "0.1%", "on". A quantity carries its unit, but 0 of a time, size,
/// fraction or length is 0 in every unit and may stand alone. Refuses negative, infinite and
/// overflowing values, and fractions of a picosecond, byte or bit/s.
std::variant<Value, Trouble> parse_value(const ScalarRule& rule, std::string_view text);

/// The shortest text that reads back as exactly `value`: "10us", "64KiB", "0.5%".
std::string format_value(const ScalarRule& rule, const Value& value);

/// "a time", "a size", … for messages.
const char* kind_name(Kind kind);
bool holds_integer(Kind kind);
bool holds_real(Kind kind);
/// The unit spellings of a kind, the usual ones first; empty where there is no unit.
std::vector<std::string> unit_names(Kind kind);

/// Whether `name` is a legal name: [a-z][a-z0-9-]*, at most 64 letters.
bool is_name(std::string_view name);

}  // namespace linerate::experiments
