// Seeded random streams whose numbers are the same on every machine and compiler.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "sim/check.hpp"
#include "sim/units.hpp"

namespace linerate::sim {

/// Which stream: one for every purpose of every entity, so that a model that draws one number more
/// changes nobody else's.
struct StreamId {
  std::uint64_t seed = 0;    ///< the experiment's
  std::uint64_t entity = 0;  ///< the source entity
  std::string_view name;     ///< what it decides: "loss", "arrivals", …
};

/// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014): advances `state` and returns 64 well mixed bits; spreads poor seeds over a generator's
/// state.
constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS
/// 47, 2021): 64 random bits a call, period 2^256 - 1. The state must not be all zeros.
class Xoshiro256 {
 public:
  explicit constexpr Xoshiro256(const std::array<std::uint64_t, 4>& state) : state_(state) {}

  constexpr std::uint64_t operator()() {
    auto& [a, b, c, d] = state_;
    const std::uint64_t result = std::rotl(a + d, 23) + a;
    const std::uint64_t shifted = b << 17;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = std::rotl(d, 45);
    return result;
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

/// One entity's random numbers for one purpose. Draws use integers and exact conversions only,
/// because the standard library's distributions differ between implementations.
class RandomStream {
 public:
  explicit RandomStream(const StreamId& id) : generator_(seeded(id)) {}

  /// 64 random bits.
  std::uint64_t bits() { return generator_(); }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform01() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  /// Uniform among 0 .. n-1, without bias (Lemire, "Fast random integer generation in an interval",
  /// ACM TOMACS 29, 2019). `n` is at least 1.
  std::uint64_t below(std::uint64_t n) {
    LINERATE_CHECK(n > 0, "there is a number to draw");
    Wide product = static_cast<Wide>(bits()) * n;
    if (static_cast<std::uint64_t>(product) < n) {
      // 2^64 mod n low words would make some results likelier; those draws are repeated.
      const std::uint64_t surplus = (0 - n) % n;
      while (static_cast<std::uint64_t>(product) < surplus) product = static_cast<Wide>(bits()) * n;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// Exponentially distributed span with the given mean. Von Neumann's method ("Various techniques
  /// used in connection with random digits", 1951) only compares uniform numbers, so no libm
  /// decides a last bit: the length of a falling run that starts at u is odd with probability
  /// exp(-u).
  Time exponential(Time mean) {
    for (std::int64_t whole = 0;; ++whole) {
      const std::uint64_t first = bits() >> 11;
      std::uint64_t last = first;
      bool odd = true;
      for (std::uint64_t next = bits() >> 11; next < last; next = bits() >> 11) {
        last = next;
        odd = !odd;
      }
      if (odd) return mean * whole + fraction_of(mean, first);
    }
  }

 private:
  __extension__ using Wide = unsigned __int128;

  // span x (u / 2^53), rounded down.
  static Time fraction_of(Time span, std::uint64_t u) {
    const Wide product = static_cast<Wide>(span.picoseconds()) * u;
    return Time::picoseconds(static_cast<std::int64_t>(product >> 53));
  }

  static std::array<std::uint64_t, 4> seeded(const StreamId& id) {
    std::uint64_t mix = id.seed;
    mix = splitmix64(mix) ^ id.entity;
    mix = splitmix64(mix) ^ hash(id.name);
    std::array<std::uint64_t, 4> state{};
    for (auto& word : state) word = splitmix64(mix);
    return state;
  }

  // FNV-1a, 64 bits (Fowler, Noll and Vo): only has to tell names apart.
  static std::uint64_t hash(std::string_view name) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return h;
  }

  Xoshiro256 generator_;
};

}  // namespace linerate::sim
