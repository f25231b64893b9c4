// Other people's measurements in which a bus or a router's core binds: experiments/library/cases.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::Result;
using experiments::TestResult;

namespace {

Result predicted(const std::string& name) {
  return models::simulate(experiments::load_experiment(
      std::string(LINERATE_SOURCE_DIR) + "/experiments/library/cases/" + name + ".yaml"));
}

struct Row {
  const char* test;
  const char* figure;
  double measured;
  double within;
  const char* binds;  ///< what the source says does, or nullptr
};

void check(const Result& result, const Row& row) {
  INFO(row.test);
  for (const TestResult& test : result.tests) {
    if (test.name != row.test) continue;
    CHECK(std::abs(test.figures.at(row.figure).median() / row.measured - 1) <= row.within);
    REQUIRE(!test.limits.empty());
    if (row.binds != nullptr) CHECK(test.limits.front().resource.starts_with(row.binds));
    return;
  }
  FAIL("no such test");
}

}  // namespace

TEST_CASE("public cases B: what a bus carries") {
  const Result result = predicted("bus-limited");
  const Row rows[] = {
      {"b01-three-ports", "goodput", 2.818e9, 0.01, "link"},
      {"b01-four-ports", "goodput", 3.074e9, 0.01, "bus cm4-i340 to memory"},
      {"b02-one-way", "goodput", 3.26e9, 0.03, "bus cm4-aqc107 from memory"},
      {"b02-out", "goodput", 3.12e9, 0.04, "bus cm4-jumbo from memory"},
      {"b05-receive", "goodput", 338e6, 0.13, "bus zero2"},
      {"b05-transmit", "goodput", 311e6, 0.05, "bus zero2"},
      {"b08-four-lanes", "goodput", 9.7e9, 0.03, "link"},
  };
  for (const Row& row : rows) check(result, row);
}

TEST_CASE("public cases E: more cores forward more, 2002 and 2018") {
  const Result result = predicted("forwarding");
  const Row rows[] = {
      {"e10-linux-2", "frame_rate", 3.371e6, 0.05, "cpu linux-2"},
      {"e10-xdp-6", "frame_rate", 30.42e6, 0.07, "cpu xdp-6"},
      {"e11-drop", "frame_rate", 86.8e6, 0.1, "bus drops to memory"},
      {"e19-transmit", "frame_rate", 99e6, 0.05, "bus generates from memory"},
      {"e14-128", "frame_rate", 758150 * 0.464364, 0.05, "cpu napi"},
      {"e14-256", "frame_rate", 445632 * 0.774646, 0.07, "cpu napi"},
      {"e14-1024", "frame_rate", 119061, 0.01, nullptr},
  };
  for (const Row& row : rows) check(result, row);
}
