// Quantities with units: time, sizes and rates. Nothing here knows networking beyond "bits take
// time to send".
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "sim/check.hpp"

namespace linerate {

/// A point in simulated time or a span of it, in integer picoseconds (int64: 106 days). A byte at
/// 800 Gbit/s lasts exactly 10 ps, so serialization never accumulates rounding.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time picoseconds(std::int64_t n) { return Time(n); }
  static constexpr Time nanoseconds(std::int64_t n) { return Time(n * 1'000); }
  static constexpr Time microseconds(std::int64_t n) { return Time(n * 1'000'000); }
  static constexpr Time milliseconds(std::int64_t n) { return Time(n * 1'000'000'000); }
  static constexpr Time seconds(std::int64_t n) { return Time(n * 1'000'000'000'000); }
  /// Rounds to the nearest picosecond.
  static constexpr Time from_seconds(double s) {
    return Time(static_cast<std::int64_t>(s * 1e12 + (s < 0 ? -0.5 : 0.5)));
  }
  /// Later than anything that happens: the deadline of a timer that is not set.
  static constexpr Time never() { return Time(std::numeric_limits<std::int64_t>::max()); }

  constexpr std::int64_t picoseconds() const { return ps_; }
  constexpr std::int64_t whole_microseconds() const { return ps_ / 1'000'000; }
  constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time operator+(Time other) const { return Time(ps_ + other.ps_); }
  constexpr Time operator-(Time other) const { return Time(ps_ - other.ps_); }
  constexpr Time operator*(std::int64_t n) const { return Time(ps_ * n); }
  constexpr Time operator/(std::int64_t n) const { return Time(ps_ / n); }
  constexpr std::int64_t operator/(Time other) const { return ps_ / other.ps_; }
  constexpr Time operator%(Time other) const { return Time(ps_ % other.ps_); }
  constexpr Time& operator+=(Time other) {
    ps_ += other.ps_;
    return *this;
  }
  constexpr Time& operator-=(Time other) {
    ps_ -= other.ps_;
    return *this;
  }
  /// The span scaled by a dimensionless factor, rounded to the nearest picosecond.
  constexpr Time scaled(double factor) const {
    return Time(static_cast<std::int64_t>(static_cast<double>(ps_) * factor + 0.5));
  }

 private:
  explicit constexpr Time(std::int64_t ps) : ps_(ps) {}
  std::int64_t ps_ = 0;
};

// By value and on the number: std::max hands out references, as a choice between two objects does,
// for which a compiler stores its operands in memory.
constexpr Time later(Time a, Time b) {
  return Time::picoseconds(a < b ? b.picoseconds() : a.picoseconds());
}
constexpr Time earlier(Time a, Time b) {
  return Time::picoseconds(b < a ? b.picoseconds() : a.picoseconds());
}

/// A number of bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(std::int64_t n) : n_(n) {}
  constexpr std::int64_t count() const { return n_; }
  constexpr std::int64_t bits() const { return n_ * 8; }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes other) const { return Bytes(n_ + other.n_); }
  constexpr Bytes operator-(Bytes other) const { return Bytes(n_ - other.n_); }
  constexpr Bytes operator*(std::int64_t n) const { return Bytes(n_ * n); }
  constexpr Bytes operator/(std::int64_t n) const { return Bytes(n_ / n); }
  constexpr std::int64_t operator/(Bytes other) const { return n_ / other.n_; }
  constexpr Bytes& operator+=(Bytes other) {
    n_ += other.n_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    n_ -= other.n_;
    return *this;
  }

 private:
  std::int64_t n_ = 0;
};

constexpr Bytes larger(Bytes a, Bytes b) { return Bytes(a < b ? b.count() : a.count()); }
constexpr Bytes smaller(Bytes a, Bytes b) { return Bytes(b < a ? b.count() : a.count()); }

/// A rate in bits per second; a link's bandwidth or a sender's rate.
class BitRate {
 public:
  constexpr BitRate() = default;
  static constexpr BitRate bits_per_second(std::int64_t n) { return BitRate(n); }
  constexpr std::int64_t bits_per_second() const { return n_; }
  constexpr auto operator<=>(const BitRate&) const = default;
  constexpr BitRate operator*(std::int64_t n) const { return BitRate(n_ * n); }

 private:
  explicit constexpr BitRate(std::int64_t n) : n_(n) {}
  std::int64_t n_ = 0;
};

/// How long `size` occupies a line of `rate`: bits / rate, rounded up to a picosecond.
constexpr Time serialization_time(Bytes size, BitRate rate) {
  LINERATE_CHECK(rate.bits_per_second() > 0, "a line that serializes has a rate");
  __extension__ using Wide = __int128;
  const Wide numerator = static_cast<Wide>(size.bits()) * 1'000'000'000'000;
  const Wide divisor = rate.bits_per_second();
  return Time::picoseconds(static_cast<std::int64_t>((numerator + divisor - 1) / divisor));
}

/// What is sent per second when `size` takes `span`; 0 for an empty span.
constexpr double rate_over(Bytes size, Time span) {
  return span.picoseconds() > 0 ? static_cast<double>(size.bits()) / span.seconds() : 0.0;
}

}  // namespace linerate
