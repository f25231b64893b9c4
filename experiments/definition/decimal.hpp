// Exact decimals: digits as written, without a detour through binary fractions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace linerate::experiments {

/// digits x 10^exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
  bool zero() const { return digits.find_first_not_of('0') == std::string::npos; }
};

/// number x factor as an integer, or why it is none.
struct Whole {
  std::int64_t value = 0;
  bool overflow = false;  ///< above the limit
  bool inexact = false;   ///< has a fraction
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads "12", "1.5" or "1.5e-3" at the start of `text`; the number of characters it takes, 0 if
/// there is no number. Signs are the caller's.
std::size_t read_decimal(std::string_view text, Decimal& number);

/// number x factor, exact; `factor` below 2^52, `most` the largest value allowed.
Whole to_whole(const Decimal& number, std::int64_t factor, std::int64_t most);

/// The double nearest to number x 10^shift; infinite on overflow.
double to_real(const Decimal& number, int shift);

/// The shortest decimal that reads back as `value`, times 10^shift, without an exponent where that
/// is readable. `value` is finite and not negative.
std::string decimal_text(double value, int shift);

}  // namespace linerate::experiments
