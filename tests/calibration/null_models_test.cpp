// Null models beside a prediction, on a table whose null errors are worked by hand.
#include "experiments/studies/calibration/null_models.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "experiments/definition/parse.hpp"

using namespace linerate;
using namespace linerate::experiments;

namespace {

// Streams whose writes have 1000, 2000 and 4000 B, and raw frames of two sizes.
Experiment table_experiment() {
  return parse_experiment(R"(
schema_version: 1
name: null-models
hosts: {a: {profile: ideal, nics: {eth0: {profile: ideal}}}, b: {like: a}}
links: [{endpoints: ["a:eth0", "b:eth0"], medium: 100BASE-TX}]
defaults: {tests: {from: a, to: b, duration: 1s}}
tests:
  - {name: w1, type: tcp-stream, write: 1000B}
  - {name: w2, type: tcp-stream, write: 2000B}
  - {name: w4, type: tcp-stream, write: 4000B}
  - {name: f64, type: raw-frames, frame_size: 64B}
  - {name: f128, type: raw-frames, frame_size: 128B}
)",
                          "null-models.yaml");
}

TestResult test_with(const char* name, const char* figure, const char* unit, double value,
                     const char* use = nullptr) {
  TestResult test;
  test.name = name;
  test.figures[figure] = make_figure(unit, Better::higher, {value});
  if (use != nullptr) test.notes = {std::string("use: ") + use};
  return test;
}

CalibrationData published() {
  CalibrationData data{"published.csv", {}, table_experiment()};
  data.result.backend = Backend::published;
  // A write of 1000 B takes 100 us and one of 2000 B 180 us: 20 us, and 80 ns a byte.
  data.result.tests = {test_with("w1", "goodput", "bit/s", 80e6, "fit"),
                       test_with("w2", "goodput", "bit/s", 16000 / 180e-6, "fit"),
                       test_with("w4", "goodput", "bit/s", 94e6, "test"),
                       test_with("f64", "frame_rate", "1/s", 100e3, "fit"),
                       test_with("f128", "frame_rate", "1/s", 80e3, "test")};
  return data;
}

Result prediction() {
  Result result;
  for (const char* name : {"w1", "w2", "w4"}) {
    TestResult test = test_with(name, "goodput", "bit/s", 90e6);
    test.layers = {{"payload", 90e6, 1448}, {"wire", 90e6 * 1538 / 1448, 1538}};
    Limit line;
    line.capacity = 100e6;
    test.limits = {line};
    result.tests.push_back(test);
  }
  result.tests.push_back(test_with("f64", "frame_rate", "1/s", 110e3));
  return result;
}

}  // namespace

TEST_CASE("null models of a small table, worked by hand") {
  const NullModelStudy study = beside_null_models(published(), prediction(), {});
  REQUIRE(study.cells.size() == 5);
  const CalibrationCell &w1 = study.cells[0], &w4 = study.cells[2], &f64 = study.cells[3],
                        &f128 = study.cells[4];

  CHECK(w1.use == CellUse::fit);
  CHECK(w4.use == CellUse::test);
  CHECK(w1.deviation.value() == Approx(90.0 / 80 - 1));
  CHECK(w4.deviation.value() == Approx(90.0 / 94 - 1));
  // A full wire carries 1448 of 1538 B of 100 Mbit/s: 94.148.
  CHECK(w1.wire.value() == Approx(0.176853).epsilon(1e-4));
  CHECK(w4.wire.value() == Approx(0.001576).epsilon(1e-3));
  // The line through the fit rows is exact there; 4000 B take 340 us by it: 94.118 Mbit/s.
  CHECK(w1.linear.value() == Approx(0).margin(1e-9));
  CHECK(w4.linear.value() == Approx(0.0012516).epsilon(1e-3));
  // The other fit row, 88.889; and both, 84.444.
  CHECK(w1.mean.value() == Approx(0.111111).epsilon(1e-4));
  CHECK(w4.mean.value() == Approx(-0.101655).epsilon(1e-4));

  // 64 B and 20 B of preamble and gap: 148,809.5 frames/s. Only one row is to be fitted, so either
  // knows the other, and a line needs two.
  CHECK(f64.wire.value() == Approx(0.488095).epsilon(1e-5));
  CHECK(f64.mean.value() == Approx(-0.2));
  CHECK(f128.mean.value() == Approx(0.25));
  CHECK_FALSE(f64.linear);
  CHECK_FALSE(f128.deviation);  // not predicted
}

TEST_CASE("errors are summarised by use: fit and test rows stay apart") {
  const NullModelStudy study = beside_null_models(published(), prediction(), {"goodput"});
  const auto find = [&](CellUse use, const std::string& model) {
    for (const ErrorSummary& summary : study.summaries)
      if (summary.use == use && summary.model == model) return summary;
    return ErrorSummary{};
  };
  // 90 against 80 and 88.889.
  const ErrorSummary fit = find(CellUse::fit, "prediction");
  CHECK(fit.cells == 2);
  CHECK(fit.mean == Approx((0.125 + 0.0125) / 2).epsilon(1e-4));
  CHECK(fit.bias == Approx(std::sqrt(1.125 * 1.0125) - 1).epsilon(1e-4));
  CHECK(find(CellUse::test, "prediction").cells == 1);
  CHECK(find(CellUse::test, "null: mean of the others").worst == Approx(0.101655).epsilon(1e-4));
}

TEST_CASE("two results without a common figure are refused with a remedy") {
  CalibrationData data = published();
  for (TestResult& test : data.result.tests) test.name += "-elsewhere";
  CHECK_THROWS_AS(beside_null_models(data, prediction(), {}), StudyError);
}
