// Quantities for people.
#pragma once

#include <string>

namespace linerate::experiments {

/// A value in base units ("bit/s", "s", "B", "1/s", "count", "fraction", "EUR") with the prefix
/// that keeps it readable: "94.15 Mbit/s", "161.57 Mbit/s", "8.2 us", "64 KiB", "14.88 M/s", "0.12
/// %". Four significant digits, five after a leading 1, so that the last digit is worth 0.005 to
/// 0.05 % throughout; a whole number loses its zeros. "%" is "fraction" by another name. An unknown
/// unit is appended as it is.
std::string format_quantity(double value, const std::string& unit);

/// A relative error in percent with its sign, two decimals or three significant digits: "+0.06 %",
/// "-12.3 %".
std::string format_error(double error);

}  // namespace linerate::experiments
