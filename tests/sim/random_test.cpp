// Random streams: published values of the generators, and the laws of the distributions.
#include "sim/random.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/sim/stops.hpp"

using linerate::Time;
using namespace linerate::sim;

namespace {

constexpr int kDraws = 200'000;

RandomStream stream(const char* name) {
  return RandomStream({.seed = 7, .entity = 3, .name = name});
}

// Five standard errors: a right generator fails one such check in two million.
double five_errors(double standard_deviation) {
  return 5 * standard_deviation / std::sqrt(static_cast<double>(kDraws));
}

}  // namespace

TEST_CASE("the generators give their published sequences") {
  using Words = std::vector<std::uint64_t>;
  // splitmix64 from 1234567: Rosetta Code, "Pseudo-random numbers/Splitmix64".
  std::uint64_t state = 1234567;
  Words words(5);
  for (auto& word : words) word = splitmix64(state);
  CHECK(words == Words{6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                       4593380528125082431u, 16408922859458223821u});
  // xoshiro256++ from state 1 2 3 4: output of the authors' xoshiro256plusplus.c, as other
  // implementations' tests quote it.
  Xoshiro256 generator({1, 2, 3, 4});
  words.resize(10);
  for (auto& word : words) word = generator();
  CHECK(words == Words{41943041u, 58720359u, 3588806011781223u, 3591011842654386u,
                       9228616714210784205u, 9973669472204895162u, 14011001112246962877u,
                       12406186145184390807u, 15849039046786891736u, 10450023813501588000u});
}

TEST_CASE("a stream is named by seed, entity and purpose") {
  const auto first = [](const StreamId& id) { return RandomStream(id).bits(); };
  const StreamId id{.seed = 7, .entity = 3, .name = "loss"};
  CHECK(first(id) == first(id));
  CHECK(first(id) != first({.seed = 8, .entity = 3, .name = "loss"}));
  CHECK(first(id) != first({.seed = 7, .entity = 4, .name = "loss"}));
  CHECK(first(id) != first({.seed = 7, .entity = 3, .name = "arrivals"}));
  // Seed and entity do not stand for each other.
  CHECK(first({.seed = 1, .entity = 2, .name = ""}) != first({.seed = 2, .entity = 1, .name = ""}));
}

TEST_CASE("uniform01 has the mean 1/2 and the variance 1/12 and stays below 1") {
  RandomStream random = stream("uniform");
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform01();
    REQUIRE((u >= 0 && u < 1));
    sum += u;
    squares += (u - 0.5) * (u - 0.5);
  }
  CHECK(sum / kDraws == Approx(0.5).margin(five_errors(std::sqrt(1.0 / 12))));
  CHECK(squares / kDraws == Approx(1.0 / 12).margin(five_errors(std::sqrt(1.0 / 180))));
}

TEST_CASE("below(n) draws every number equally often") {
  RandomStream random = stream("below");
  std::array<int, 7> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(counts.size())];
  double chi_square = 0;
  for (const int count : counts) {
    const double expected = kDraws / 7.0;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  CHECK(chi_square < 35.9);  // six degrees of freedom, one in 300 000
  CHECK(random.below(1) == 0);
  // Three quarters of 2^64: a draw without rejection would favour a third of the results twofold.
  const std::uint64_t n = std::uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += random.below(n) < n / 3 ? 1 : 0;
  CHECK(low / static_cast<double>(kDraws) == Approx(1.0 / 3).margin(five_errors(0.472)));
  CHECK(linerate::tests::stops([&] { random.below(0); }));
}

TEST_CASE("exponential spans have their mean, their spread and no memory") {
  RandomStream random = stream("exponential");
  const Time mean = Time::microseconds(7);
  double sum = 0, squares = 0;
  int beyond_one = 0, beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Time span = random.exponential(mean);
    REQUIRE(span >= Time{});
    const double x = span.seconds() / mean.seconds();
    sum += x;
    squares += (x - 1) * (x - 1);
    beyond_one += x > 1 ? 1 : 0;
    beyond_two += x > 2 ? 1 : 0;
  }
  CHECK(sum / kDraws == Approx(1).margin(five_errors(1)));
  CHECK(squares / kDraws == Approx(1).margin(five_errors(std::sqrt(8.0))));
  const double survivors = std::exp(-1);
  CHECK(beyond_one / static_cast<double>(kDraws) == Approx(survivors).margin(five_errors(0.483)));
  CHECK(beyond_two / static_cast<double>(kDraws) ==
        Approx(survivors * survivors).margin(five_errors(0.342)));
}
