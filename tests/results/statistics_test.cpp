// The median, its interval, and the interval of a ratio: against published tables and by their
// defining law, coverage.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "experiments/results/interval.hpp"
#include "experiments/results/result.hpp"

using namespace linerate::experiments;

namespace {

/// Samples 1..n, so that a value is its own rank.
std::vector<double> ranks(int n) {
  std::vector<double> samples(static_cast<std::size_t>(n));
  std::iota(samples.begin(), samples.end(), 1.0);
  return samples;
}

/// An exponential sample of mean 1: far from normal, its median is ln 2.
double exponential(std::mt19937_64& random) {
  return -std::log((static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0);
}

std::vector<double> exponentials(std::mt19937_64& random, int n) {
  std::vector<double> samples;
  for (int i = 0; i < n; ++i) samples.push_back(exponential(random));
  std::sort(samples.begin(), samples.end());
  return samples;
}

}  // namespace

TEST_CASE(
    "Jain's index is 1 for equal shares, 1/n for one who has all, and scale does not matter") {
  CHECK(jains_index({7e6, 7e6, 7e6}) == 1.0);
  CHECK(jains_index({5, 0, 0, 0}) == 0.25);
  CHECK(*jains_index({1, 2, 3}) == Approx(*jains_index({1e9, 2e9, 3e9})));
  CHECK(*jains_index({1, 2, 3}) == Approx(36.0 / 42));
  CHECK_FALSE(jains_index({0, 0}));
}

TEST_CASE("the median is the middle sample, or the mean of the two middle ones") {
  CHECK(make_figure("s", Better::lower, {3, 1, 2}).median() == 2);
  CHECK(make_figure("s", Better::lower, {4, 1, 2, 3}).median() == 2.5);
  CHECK(make_figure("s", Better::lower, {1.5e308, 1.7e308}).median() == Approx(1.6e308));
}

TEST_CASE("a figure keeps its samples sorted") {
  CHECK(make_figure("s", Better::lower, {3, 1, 2}).samples == std::vector<double>{1, 2, 3});
}

TEST_CASE("95 % ranks of the median are those of the sign test's tables") {
  // n, lower rank, upper rank: Conover, table of the binomial with p = 1/2.
  const int n = GENERATE(6, 7, 8, 9, 10, 15, 20, 25, 50, 100);
  static const std::map<int, Bounds> table{
      {6, {1, 6}},   {7, {1, 7}},   {8, {1, 8}},   {9, {2, 8}},    {10, {2, 9}},
      {15, {4, 12}}, {20, {6, 15}}, {25, {8, 18}}, {50, {18, 33}}, {100, {40, 61}}};
  CAPTURE(n);
  CHECK(make_figure("count", Better::neither, ranks(n)).ci95 == table.at(n));
}

TEST_CASE("there is no 95 % interval below six samples") {
  for (int n = 1; n <= 5; ++n)
    CHECK_FALSE(make_figure("count", Better::neither, ranks(n)).ci95.has_value());
}

TEST_CASE("a million samples have an interval of the normal approximation's width") {
  const auto bounds = median_interval(ranks(1'000'000), 0.95);
  REQUIRE(bounds);
  // Half width 1.96 sqrt(n) / 2.
  CHECK(bounds->second - bounds->first == Approx(1960).epsilon(0.002));
}

TEST_CASE("one value against seven takes the ranks of the median at 90 %") {
  // n = 7: ranks 1..7 cover 98.4 %, ranks 2..6 only 87.5 %.
  CHECK(ratio_interval90({8}, {1, 2, 3, 4, 5, 6, 8}) == Bounds{1, 8});
  CHECK(ratio_interval90({1, 2, 3, 4, 5, 6, 8}, {2}) == Bounds{0.5, 4});
  // n = 8: ranks 2..7 cover 93.0 %.
  CHECK(ratio_interval90({1, 2, 3, 4, 5, 6, 7, 8}, {1}) == Bounds{2, 7});
}

TEST_CASE("repeats on both sides take the critical values of Mann and Whitney's tables") {
  struct Row {
    int n, m;
    std::size_t critical;  // largest U with P(U <= critical) <= 5 %, one-sided
  };
  const auto row = GENERATE(Row{3, 3, 0}, Row{4, 4, 1}, Row{4, 6, 3}, Row{5, 5, 4}, Row{7, 7, 11},
                            Row{8, 5, 8}, Row{10, 10, 27}, Row{20, 20, 138});
  CAPTURE(row.n, row.m);
  std::mt19937_64 random(7);
  const auto above = exponentials(random, row.n), below = exponentials(random, row.m);
  std::vector<double> ratios;
  for (const double a : above)
    for (const double b : below) ratios.push_back(a / b);
  std::sort(ratios.begin(), ratios.end());
  const Bounds expected{ratios[row.critical], ratios[ratios.size() - 1 - row.critical]};
  CHECK(ratio_interval90(above, below) == expected);
}

TEST_CASE("the normal approximation above 10,000 pairs continues the exact ranks") {
  std::mt19937_64 random(3);
  const auto above = exponentials(random, 101), below = exponentials(random, 101);
  const auto exact =
      ratio_interval90({above.begin(), above.end() - 2}, {below.begin(), below.end() - 2});
  const auto approximate = ratio_interval90(above, below);
  REQUIRE((exact && approximate));
  CHECK(approximate->first == Approx(exact->first).epsilon(0.05));
  CHECK(approximate->second == Approx(exact->second).epsilon(0.05));
}

TEST_CASE("few repeats use Student's t on the logarithms") {
  // Mean of the logarithms 0, standard error 0.01 / sqrt(3); t(0.95, 2) = 2.9200 in every table.
  const std::vector<double> samples{std::exp(-0.01), 1, std::exp(0.01)};
  const auto bounds = ratio_interval90({1}, samples);
  REQUIRE(bounds);
  CHECK(std::log(bounds->second) == Approx(2.9200 * 0.01 / std::sqrt(3.0)).epsilon(1e-4));
  CHECK(std::log(bounds->first) == Approx(-std::log(bounds->second)));
}

TEST_CASE("samples that are all alike have an interval of no width") {
  CHECK(ratio_interval90({2}, {4, 4, 4, 4, 4, 4, 4}) == Bounds{0.5, 0.5});
  const auto few = ratio_interval90({2}, {4, 4});
  REQUIRE(few);
  CHECK(few->first == Approx(0.5));
  CHECK(few->second == Approx(0.5));
}

TEST_CASE("there is no interval of a ratio without repeats or with a zero") {
  CHECK_FALSE(ratio_interval90({1}, {1}).has_value());
  CHECK_FALSE(ratio_interval90({1}, {0, 1, 1, 1, 1, 1}).has_value());
  CHECK_FALSE(ratio_interval90({}, {1, 1, 1, 1, 1, 1}).has_value());
}

TEST_CASE("exchanging the sides inverts the interval") {
  std::mt19937_64 random(11);
  const auto a = exponentials(random, 7), b = exponentials(random, 9);
  const auto there = ratio_interval90(a, b), back = ratio_interval90(b, a);
  REQUIRE((there && back));
  CHECK(there->first * back->second == Approx(1));
  CHECK(there->second * back->first == Approx(1));
}

TEST_CASE("intervals cover what they claim to, whatever the distribution") {
  struct Sides {
    int n, m;
  };
  // One value is taken as exact, so there it is the true median, ln 2, itself.
  const auto sides =
      GENERATE(Sides{1, 5}, Sides{1, 7}, Sides{1, 20}, Sides{3, 3}, Sides{7, 7}, Sides{5, 12});
  CAPTURE(sides.n, sides.m);
  std::mt19937_64 random(42);
  int covered = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    const auto above =
        sides.n == 1 ? std::vector<double>{std::log(2.0)} : exponentials(random, sides.n);
    const auto bounds = ratio_interval90(above, exponentials(random, sides.m));
    REQUIRE(bounds);
    if (bounds->first <= 1 && bounds->second >= 1) ++covered;
  }
  // Three standard errors of a proportion of 0.9 over 4000 trials are 0.014.
  CHECK(covered / double{trials} >= 0.9 - 0.014);
}

TEST_CASE("which direction is better follows from a figure's name") {
  CHECK(usual_direction("goodput.min") == Better::higher);
  CHECK(usual_direction("transaction_rate") == Better::higher);
  CHECK(usual_direction("latency.p999") == Better::lower);
  CHECK(usual_direction("receiver.busiest_core") == Better::lower);
  CHECK(usual_direction("loss") == Better::lower);
  CHECK(usual_direction("sender.calls") == Better::neither);
}
