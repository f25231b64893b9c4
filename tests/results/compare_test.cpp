// Errors, verdicts and tolerances, and the judgement of assertions.
#include "experiments/results/compare.hpp"

#include <catch2/catch.hpp>

#include "experiments/results/json.hpp"
#include "experiments/results/judge.hpp"
#include "samples.hpp"

using namespace linerate::experiments;
using Catch::Matchers::Contains;

namespace {

/// A result of one test "bulk" with one figure.
Result with_samples(Backend backend, std::vector<double> samples,
                    const std::string& figure = "goodput") {
  Result result;
  result.backend = backend;
  TestResult test;
  test.name = "bulk";
  test.type = "tcp-stream";
  test.figures[figure] = make_figure("bit/s", Better::higher, std::move(samples));
  result.tests = {test};
  return result;
}

FigureComparison only_figure(const std::vector<double>& predicted,
                             const std::vector<double>& reference,
                             const std::vector<Tolerance>& tolerances) {
  const auto comparison = compare(with_samples(Backend::simulated, predicted),
                                  with_samples(Backend::measured, reference), tolerances);
  REQUIRE(comparison.figures.size() == 1);
  return comparison.figures[0];
}

}  // namespace

TEST_CASE("the error is predicted over reference, minus one") {
  // fe-default of a published table: 94.1482 Mbit/s of payload fit, 94.1551 were measured.
  const auto figure = only_figure({100e6 * 1448 / 1538}, {94.1551e6}, {});
  REQUIRE(figure.error);
  CHECK(*figure.error == Approx(-0.0000728).epsilon(0.001));
  CHECK_FALSE(figure.error90);
  CHECK(figure.verdict == Verdict::not_judged);
}

TEST_CASE("without repeats the point error decides") {
  CHECK(only_figure({102}, {100}, {{"bulk.goodput", 0.03}}).verdict == Verdict::within);
  CHECK(only_figure({98}, {100}, {{"bulk.goodput", 0.03}}).verdict == Verdict::within);
  CHECK(only_figure({104}, {100}, {{"bulk.goodput", 0.03}}).verdict == Verdict::outside);
  CHECK(only_figure({96}, {100}, {{"bulk.goodput", 0.03}}).verdict == Verdict::outside);
}

TEST_CASE("with repeats the whole 90 % interval decides") {
  const std::vector<double> runs{98, 99, 100, 100, 100, 101, 102};
  const auto verdict = [&](double predicted, double tolerance) {
    return only_figure({predicted}, runs, {{"bulk.goodput", tolerance}}).verdict;
  };
  CHECK(verdict(100, 0.03) == Verdict::within);        // -1.96 .. +2.04 %
  CHECK(verdict(100, 0.02) == Verdict::inconclusive);  // though the point error is 0
  CHECK(verdict(110, 0.05) == Verdict::outside);       // +7.8 .. +12.2 %
  CHECK(verdict(104, 0.03) == Verdict::inconclusive);  // +1.96 .. +6.1 %
}

TEST_CASE("an outlier among the runs moves neither the error nor the verdict") {
  // 28.67 is the published outlier among runs of 94.1 Mbit/s; nine runs leave it out of ranks 2..8.
  const std::vector<double> runs{28.67, 94.12, 94.13, 94.15, 94.15, 94.15, 94.15, 94.15, 94.16};
  const auto figure = only_figure({94.148}, runs, {{"bulk.goodput", 0.001}});
  CHECK(std::abs(*figure.error) < 1e-4);
  CHECK(figure.verdict == Verdict::within);
}

TEST_CASE("a reference of zero has no relative error, but zero against zero agrees") {
  const auto both = only_figure({0}, {0, 0, 0}, {{"*.goodput", 0.01}});
  CHECK(both.error == 0.0);
  CHECK(both.verdict == Verdict::within);
  const auto one = only_figure({5}, {0}, {{"*.goodput", 0.01}});
  CHECK_FALSE(one.error);
  CHECK(one.verdict == Verdict::outside);
  CHECK_THAT(one.note, Contains("reference is 0"));
}

TEST_CASE("repeats with a zero among them cannot be judged by a ratio") {
  CHECK(only_figure({5}, {0, 5, 5}, {{"*.goodput", 0.01}}).verdict == Verdict::inconclusive);
}

TEST_CASE("the most specific tolerance wins") {
  const std::vector<Tolerance> tolerances{
      {"bulk.goodput", 0.01}, {"*.*", 0.5},           {"*.goodput", 0.1},  {"bulk.*", 0.2},
      {"fwd.loss", 0.3},      {"fwd[64B].loss", 0.4}, {"*.latency.*", 0.6}};
  CHECK(tolerance_for("bulk", "goodput", tolerances) == 0.01);
  CHECK(tolerance_for("other", "goodput", tolerances) == 0.1);
  CHECK(tolerance_for("other", "elapsed", tolerances) == 0.5);
  CHECK(tolerance_for("bulk", "elapsed", tolerances) == 0.2);
  CHECK(tolerance_for("fwd[64B]", "loss", tolerances) == 0.4);
  CHECK(tolerance_for("fwd[128B]", "loss", tolerances) == 0.3);
  CHECK(tolerance_for("rpc", "latency.p50", tolerances) == 0.6);
  CHECK_FALSE(tolerance_for("bulk", "goodput.min", tolerances));  // * is one level
}

TEST_CASE("of two equally specific tolerances the one that names the test wins, then the later") {
  CHECK(tolerance_for("bulk", "goodput", {{"bulk.*", 0.2}, {"*.goodput", 0.1}}) == 0.2);
  CHECK(tolerance_for("bulk", "goodput", {{"*.goodput", 0.2}, {"*.goodput", 0.1}}) == 0.1);
}

TEST_CASE("outside beats inconclusive beats within") {
  ResultComparison comparison;
  CHECK(overall(comparison) == Verdict::not_judged);
  for (const Verdict verdict :
       {Verdict::not_judged, Verdict::within, Verdict::inconclusive, Verdict::outside}) {
    comparison.figures.emplace_back().verdict = verdict;
    CHECK(overall(comparison) == verdict);
  }
}

TEST_CASE("the reference is what was measured or published, else the first") {
  CHECK_FALSE(first_is_reference(Backend::simulated, Backend::measured));
  CHECK_FALSE(first_is_reference(Backend::simulated, Backend::published));
  CHECK(first_is_reference(Backend::measured, Backend::simulated));
  CHECK(first_is_reference(Backend::simulated, Backend::simulated));
  CHECK(first_is_reference(Backend::published, Backend::measured));
}

TEST_CASE("the wire's ceiling stands beside the prediction of goodput") {
  const auto comparison = compare(simulated_result(), measured_result(), {});
  for (const FigureComparison& figure : comparison.figures) {
    CHECK(figure.null_error.has_value() == (figure.figure == "goodput"));
    // 1 Gbit/s x 1448 / 1538 = 941.48 Mbit/s against a median of 941.5.
    if (figure.null_error) CHECK(*figure.null_error == Approx(-0.00002).margin(0.00001));
  }
}

TEST_CASE("the wire's ceiling is the narrowest line's, however little of it is used") {
  Result predicted = with_samples(Backend::simulated, {20e6});
  TestResult& test = predicted.tests[0];
  test.layers = {{"payload", 20e6, 1448}, {"wire", 21.24e6, 1538}};
  test.limits = {{"link a-s", 0.02, false, "", "", "", 1e9},
                 {"link s-b", 0.15, false, "", "", "", 1e8},
                 {"receive window", 0.97, true, "", "", ""}};
  const auto comparison = compare(predicted, with_samples(Backend::published, {94.148e6}), {});
  REQUIRE(comparison.figures.at(0).null_error);  // 100 Mbit/s x 1448 / 1538 = 94.148 Mbit/s
  CHECK(*comparison.figures[0].null_error == Approx(0).margin(1e-5));
}

TEST_CASE("a test that was passed over says so, and leaves claims about all tests open") {
  Result measured = with_samples(Backend::measured, {100});
  TestResult passed_over;
  passed_over.name = "rpc";
  passed_over.notes = {"inconclusive: not measured: request-response is not run here"};
  measured.tests.push_back(passed_over);
  Result predicted = with_samples(Backend::simulated, {100});
  predicted.tests.push_back(predicted.tests[0]);
  predicted.tests[1].name = "rpc";
  const auto comparison = compare(predicted, measured, {{"*.goodput", 0.1}});
  REQUIRE(comparison.notes.size() == 1);
  CHECK_THAT(comparison.notes[0], Contains("rpc") && Contains("not measured"));

  Experiment experiment;
  experiment.assertions = {{"all", "*", "goodput", Relation::greater, 50},
                           {"bulk", "bulk", "goodput", Relation::greater, 50},
                           {"missed", "*", "goodput", Relation::greater, 200}};
  const auto judgements = judge(experiment, measured);
  CHECK(judgements.at(0).outcome == Outcome::unknown);
  CHECK_THAT(judgements[0].reason, Contains("not measured"));
  CHECK(judgements.at(1).outcome == Outcome::holds);
  CHECK(judgements.at(2).outcome == Outcome::violated);
}

TEST_CASE("what only one side has is listed, not compared") {
  const auto comparison = compare(simulated_result(), measured_result(), {});
  CHECK(comparison.only_in_predicted.empty());
  CHECK(comparison.only_in_reference ==
        std::vector<std::string>{"bulk.sender.cpu", "rpc.transaction_rate"});
}

TEST_CASE("figures in different units are not compared") {
  Result other = with_samples(Backend::measured, {1});
  other.tests[0].figures["goodput"].unit = "B";
  const auto comparison = compare(with_samples(Backend::simulated, {1}), other, {});
  CHECK(comparison.figures.empty());
  REQUIRE(comparison.notes.size() == 1);
  CHECK_THAT(comparison.notes[0], Contains("bulk.goodput is not compared"));
}

TEST_CASE("a test that says it is inconclusive gets no other verdict") {
  Result measured = with_samples(Backend::measured, {100});
  measured.tests[0].notes = {"inconclusive: the generator was the limit"};
  const auto comparison =
      compare(with_samples(Backend::simulated, {100}), measured, {{"*.goodput", 0.1}});
  CHECK(overall(comparison) == Verdict::inconclusive);
  CHECK_THAT(comparison.figures.at(0).note, Contains("generator was the limit"));
}

TEST_CASE("a tolerance that reaches no figure and an incomplete side are noted") {
  Result cut = with_samples(Backend::simulated, {100});
  cut.complete = false;
  const auto comparison =
      compare(cut, with_samples(Backend::measured, {100}), {{"bulk.godput", 0.1}});
  CHECK(comparison.notes ==
        std::vector<std::string>{"the prediction is incomplete",
                                 "the tolerance \"bulk.godput\" reaches no common figure"});
}

namespace {

Outcome outcome_of(const Assertion& assertion, const Result& result, Judgement* details = nullptr) {
  Experiment experiment;
  experiment.assertions = {assertion};
  const auto judgements = judge(experiment, result);
  REQUIRE(judgements.size() == 1);
  if (details != nullptr) *details = judgements[0];
  return judgements[0].outcome;
}

}  // namespace

TEST_CASE("an assertion holds, is violated, or is unknown") {
  const Result result = with_samples(Backend::simulated, {930e6});
  const auto outcome = [&](Relation relation, double value) {
    return outcome_of({"", "bulk", "goodput", relation, value}, result);
  };
  CHECK(outcome(Relation::greater_equal, 930e6) == Outcome::holds);
  CHECK(outcome(Relation::greater, 930e6) == Outcome::violated);
  CHECK(outcome(Relation::less_equal, 930e6) == Outcome::holds);
  CHECK(outcome(Relation::less, 930e6) == Outcome::violated);
  CHECK(outcome(Relation::equal, 930e6 * (1 + 1e-12)) == Outcome::holds);
  CHECK(outcome(Relation::equal, 931e6) == Outcome::violated);
  CHECK(outcome_of({"", "bulk", "loss", Relation::less, 1}, result) == Outcome::unknown);
  CHECK(outcome_of({"", "other", "goodput", Relation::less, 1}, result) == Outcome::unknown);
}

TEST_CASE("an assertion about a test holds for every sub-result or names the one that breaks it") {
  Result result;
  for (const auto& [name, rate] : {std::pair{"fwd[64B]", 1.2e6}, std::pair{"fwd[128B]", 0.8e6},
                                   std::pair{"fwd[256B]", 0.4e6}}) {
    TestResult test;
    test.name = name;
    test.figures["frame_rate"] = make_figure("1/s", Better::higher, {rate});
    result.tests.push_back(test);
  }
  Judgement judgement;
  CHECK(outcome_of({"a", "fwd", "frame_rate", Relation::greater, 1e6}, result, &judgement) ==
        Outcome::violated);
  CHECK(judgement.test == "fwd[128B]");
  CHECK(judgement.actual == 0.8e6);
  CHECK(outcome_of({"a", "*", "frame_rate", Relation::greater, 0.3e6}, result, &judgement) ==
        Outcome::holds);
  CHECK(judgement.test == "fwd[256B]");  // the closest to the bound
  CHECK(outcome_of({"a", "fwd[64B]", "frame_rate", Relation::greater, 1e6}, result) ==
        Outcome::holds);
}

TEST_CASE("an assertion about an inconclusive test is unknown") {
  Result result = with_samples(Backend::measured, {1e6});
  result.tests[0].notes = {"inconclusive: a namespace has no PCIe slot"};
  Judgement judgement;
  CHECK(outcome_of({"a", "bulk", "goodput", Relation::greater, 0}, result, &judgement) ==
        Outcome::unknown);
  CHECK_THAT(judgement.reason, Contains("PCIe"));
}

TEST_CASE("violated beats unknown beats holds") {
  std::vector<Judgement> judgements(1);
  judgements[0].outcome = Outcome::holds;
  CHECK(overall(judgements) == Outcome::holds);
  judgements.emplace_back().outcome = Outcome::unknown;
  CHECK(overall(judgements) == Outcome::unknown);
  judgements.emplace_back().outcome = Outcome::violated;
  CHECK(overall(judgements) == Outcome::violated);
}

TEST_CASE(
    "figures no ratio can express are outside any tolerance, and every document stays finite") {
  for (const double predicted : {1e308, 5e-324})
    for (const double reference : {1e308, 5e-324}) {
      const std::vector<Tolerance> tolerances{{"bulk.goodput", 0.01}};
      for (const std::size_t repeats : {1u, 8u}) {
        const auto comparison = compare(
            with_samples(Backend::simulated, std::vector<double>(repeats, predicted)),
            with_samples(Backend::measured, std::vector<double>(repeats, reference)), tolerances);
        CHECK((comparison.figures[0].verdict == Verdict::within) == (predicted == reference));
        CHECK_NOTHROW(to_json(comparison));
      }
    }
}
