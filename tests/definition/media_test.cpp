#include "experiments/definition/media.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace linerate;
using namespace linerate::experiments;

namespace {

double delay_ns(const char* name, double length_m) {
  const Medium* medium = find_medium(name);
  REQUIRE(medium != nullptr);
  return static_cast<double>(propagation_delay(*medium, length_m).picoseconds()) / 1e3;
}

}  // namespace

TEST_CASE("a medium is found by its exact name and by no other") {
  REQUIRE(find_medium("1000BASE-T") != nullptr);
  CHECK(find_medium("1000BASE-T")->rate == BitRate::bits_per_second(1'000'000'000));
  CHECK(find_medium("2.5GBASE-T")->rate == BitRate::bits_per_second(2'500'000'000));
  CHECK(find_medium("800GBASE-R")->rate == BitRate::bits_per_second(800'000'000'000));
  CHECK(find_medium("1000base-t") == nullptr);
  CHECK(find_medium("1000BASE") == nullptr);
  CHECK(find_medium("") == nullptr);
}

TEST_CASE("names are unique, findable and begin with their rate") {
  const std::vector<std::string> names = medium_names();
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  for (const std::string& name : names) {
    INFO(name);
    const Medium* medium = find_medium(name);
    REQUIRE(medium != nullptr);
    // IEEE 802.3 1.2.3: the number before BASE is the rate in Mbit/s, or in Gbit/s with a G.
    const std::string number = name.substr(0, name.find("BASE"));
    const bool giga = number.back() == 'G';
    const double stated = std::stod(number) * (giga ? 1e9 : 1e6);
    CHECK(static_cast<double>(medium->rate.bits_per_second()) == stated);
  }
}

TEST_CASE("no signal outruns light, and none crawls") {
  for (const std::string& name : medium_names()) {
    INFO(name);
    CHECK(find_medium(name)->velocity_factor < 1.0);
    CHECK(find_medium(name)->velocity_factor >= 0.4);
    CHECK(find_medium(name)->max_length_m >= 1.0);
  }
}

TEST_CASE("segment delays are those of IEEE 802.3 table 13-1") {
  CHECK(delay_ns("10BASE5", 500) == Approx(2165).epsilon(0.002));
  CHECK(delay_ns("10BASE2", 185) == Approx(950).epsilon(0.002));
  CHECK(delay_ns("10BASE-T", 100) < 1000);
}

TEST_CASE("data cable meets the delay limit of TIA-568: 548 ns for a 100 m channel") {
  CHECK(delay_ns("1000BASE-T", 100) <= 548);
  CHECK(delay_ns("1000BASE-T", 100) >= 450);
}

TEST_CASE("a kilometre of fibre takes 4.9 us") {
  CHECK(delay_ns("10GBASE-LR", 1000) == Approx(4900).epsilon(0.005));
  CHECK(delay_ns("10GBASE-LR", 0) == 0);
  CHECK(delay_ns("10GBASE-LR", 2000) == Approx(2 * delay_ns("10GBASE-LR", 1000)));
}

TEST_CASE("half duplex exists up to 1 Gbit/s only, and alone where the cable is one wire") {
  for (const std::string& name : medium_names()) {
    INFO(name);
    const Medium& medium = *find_medium(name);
    CHECK((medium.half_duplex || medium.full_duplex));
    if (medium.rate > BitRate::bits_per_second(1'000'000'000)) CHECK_FALSE(medium.half_duplex);
  }
  CHECK_FALSE(find_medium("10BASE2")->full_duplex);
  CHECK_FALSE(find_medium("10BASE5")->full_duplex);
  CHECK_FALSE(find_medium("100BASE-T4")->full_duplex);  // clause 23: two pairs go both ways
  CHECK(find_medium("100BASE-TX")->full_duplex);
}
