// Quantities and their units: what is accepted, what it is worth, and what the user is told else.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/quantity.hpp"

using namespace linerate::experiments;

namespace {

std::int64_t whole(Kind kind, const char* text) {
  const auto parsed = parse_value({.kind = kind}, text);
  INFO(text);
  REQUIRE(std::holds_alternative<Value>(parsed));
  return std::get<Value>(parsed).integer;
}

double real(Kind kind, const char* text) {
  const auto parsed = parse_value({.kind = kind}, text);
  INFO(text);
  REQUIRE(std::holds_alternative<Value>(parsed));
  return std::get<Value>(parsed).real;
}

std::string refusal(Kind kind, const std::string& text) {
  const auto parsed = parse_value({.kind = kind}, text);
  INFO(text);
  REQUIRE(std::holds_alternative<Trouble>(parsed));
  const Trouble& trouble = std::get<Trouble>(parsed);
  return trouble.message + (trouble.remedy.empty() ? "" : "; " + trouble.remedy);
}

}  // namespace

TEST_CASE("k, M and G are powers of ten, Ki, Mi and Gi powers of two") {
  CHECK(whole(Kind::rate, "25Gbit/s") == 25'000'000'000);
  CHECK(whole(Kind::rate, "1.5GB/s") == 12'000'000'000);
  CHECK(whole(Kind::rate, "1bit/s") == 1);
  CHECK(whole(Kind::rate, "1MiB/s") == 8 * 1'048'576);
  CHECK(whole(Kind::size, "64KiB") == 65'536);
  CHECK(whole(Kind::size, "64kB") == 64'000);
  CHECK(whole(Kind::size, "9000B") == 9'000);
  CHECK(whole(Kind::size, "1GiB") == 1'073'741'824);
  CHECK(whole(Kind::time, "10us") == 10'000'000);
  CHECK(whole(Kind::time, "1ps") == 1);
  CHECK(whole(Kind::time, "1h") == 3'600'000'000'000'000);
  CHECK(whole(Kind::time, "2min") == 120'000'000'000'000);
  CHECK(whole(Kind::hertz, "33.33MHz") == 33'330'000);
  CHECK(real(Kind::per_second, "14.88Mpps") == 14.88e6);
  CHECK(real(Kind::per_second, "1000/s") == 1000);
  CHECK(real(Kind::fraction, "0.1%") == 0.001);
  CHECK(real(Kind::length, "3m") == 3);
  CHECK(real(Kind::money, "310EUR") == 310);
}

TEST_CASE("decimals are exact, not rounded through a binary fraction") {
  // 0.1 + 0.2 style traps: 4.35e6 is not representable in binary at 1e6 x 4.35.
  CHECK(whole(Kind::rate, "4.35Mbit/s") == 4'350'000);
  CHECK(whole(Kind::time, "0.3s") == 300'000'000'000);
  CHECK(whole(Kind::time, "1.000000000001s") == 1'000'000'000'001);
  CHECK(whole(Kind::size, "1.5KiB") == 1'536);
  // 64 bits of a double's 53 would lose the last digit.
  CHECK(whole(Kind::time, "1000000.000000000001s") == 1'000'000'000'000'000'001);
}

TEST_CASE("a fraction of the smallest unit is refused, not rounded") {
  CHECK(refusal(Kind::size, "0.3B") == "`0.3B` is not a whole number of B");
  CHECK(refusal(Kind::size, "1.1KiB") == "`1.1KiB` is not a whole number of B");
  CHECK(refusal(Kind::time, "0.5ps") == "`0.5ps` is not a whole number of ps");
}

TEST_CASE("a bare number where a unit belongs is refused with the right spelling") {
  CHECK(refusal(Kind::size, "1500") == "a size needs a unit; write 1500B");
  CHECK(refusal(Kind::rate, "10G") == "`G` is no unit of a rate; write 10Gbit/s");
  CHECK(refusal(Kind::rate, "10") == "a rate needs a unit; write 10bit/s");
  CHECK(refusal(Kind::rate, "10Mbps") == "`Mbps` is no unit of a rate; write 10Mbit/s");
  CHECK(refusal(Kind::size, "64K") == "`K` is no unit of a size; write 64KiB");
  CHECK(refusal(Kind::time, "10") ==
        "a time needs a unit; write 10us, 10ms or 10s, whichever is meant");
  CHECK(refusal(Kind::time, "10sec") == "`sec` is no unit of a time; write 10s");
  CHECK(refusal(Kind::fraction, "0.01") == "a percentage needs a unit; write 1%");
}

TEST_CASE("nothing is nothing in every unit of time, size, share and length") {
  for (const Kind kind : {Kind::time, Kind::size}) CHECK(whole(kind, "0") == 0);
  for (const Kind kind : {Kind::fraction, Kind::length}) CHECK(real(kind, "0") == 0);
  CHECK(refusal(Kind::rate, "0") == "a rate needs a unit; write 0bit/s");
}

TEST_CASE("negative, infinite and overflowing values are refused") {
  for (const char* text : {"-1us", "nan", ".inf", "inf", "-inf", "1e400s", "107d", "200000000s",
                           "99999999999999999999999999s", "", "us", "1..2s", "0x10s", "1 2s"}) {
    const auto parsed = parse_value({.kind = Kind::time}, text);
    INFO(text);
    CHECK(std::holds_alternative<Trouble>(parsed));
  }
  CHECK(std::holds_alternative<Trouble>(parse_value({.kind = Kind::number}, "1e999")));
  CHECK(std::holds_alternative<Trouble>(parse_value({.kind = Kind::count}, "9223372036854775808")));
  CHECK(std::holds_alternative<Trouble>(parse_value({.kind = Kind::count}, "1.5")));
}

TEST_CASE("what is written reads back as the same value") {
  const auto round_trip = [](Kind kind, Value value) {
    const ScalarRule rule{.kind = kind};
    const std::string text = format_value(rule, value);
    const auto parsed = parse_value(rule, text);
    INFO(text);
    REQUIRE(std::holds_alternative<Value>(parsed));
    CHECK(std::get<Value>(parsed).integer == value.integer);
    CHECK(std::get<Value>(parsed).real == value.real);
  };
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{999}, std::int64_t{1'024},
        std::int64_t{16'666'666'667}, std::int64_t{1'000'000'000'000'001}}) {
    for (const Kind kind : {Kind::time, Kind::size, Kind::hertz, Kind::count}) {
      if (kind == Kind::hertz && n > 1'000'000'000'000) continue;
      round_trip(kind, {n, 0, {}});
    }
  }
  for (const double x : {0.0, 0.001, 1.0 / 3, 1e-12, 12345.678, 1e15, 5e-324, 0.1 + 0.2}) {
    for (const Kind kind : {Kind::fraction, Kind::length, Kind::number, Kind::per_second}) {
      round_trip(kind, {0, x, {}});
    }
  }
}

TEST_CASE("switches take the YAML spellings") {
  for (const char* on : {"on", "true", "yes", "On", "TRUE"}) CHECK(whole(Kind::toggle, on) == 1);
  for (const char* off : {"off", "false", "no", "Off"}) CHECK(whole(Kind::toggle, off) == 0);
  CHECK(refusal(Kind::toggle, "maybe") == "`maybe` is neither on nor off; write on or off");
}
