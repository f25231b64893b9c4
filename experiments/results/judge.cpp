#include "experiments/results/judge.hpp"

#include <algorithm>
#include <cmath>

namespace linerate::experiments {
namespace {

bool holds(double actual, Relation relation, double value) {
  switch (relation) {
    case Relation::less:
      return actual < value;
    case Relation::less_equal:
      return actual <= value;
    case Relation::greater:
      return actual > value;
    case Relation::greater_equal:
      return actual >= value;
    case Relation::equal:
      return std::abs(actual - value) <= 1e-9 * std::max(std::abs(actual), std::abs(value));
  }
  return false;
}

/// How far a value is from breaking the assertion; the smallest margin is the one worth showing.
double margin(double actual, Relation relation, double value) {
  switch (relation) {
    case Relation::less:
    case Relation::less_equal:
      return value - actual;
    case Relation::greater:
    case Relation::greater_equal:
      return actual - value;
    case Relation::equal:
      return -std::abs(actual - value);
  }
  return 0;
}

bool concerns(const Assertion& assertion, const std::string& test) {
  return assertion.test == "*" || assertion.test == test ||
         assertion.test == test.substr(0, test.find('['));
}

/// Keeps the candidate that says more: a violation before an unknown before a margin.
void consider(Judgement& judgement, const Assertion& assertion, const TestResult& test,
              const Figure& figure) {
  const double actual = figure.median();
  for (const std::string& note : test.notes) {
    if (!note.starts_with("inconclusive:") || judgement.outcome == Outcome::violated) continue;
    judgement = {assertion.text, Outcome::unknown, test.name, actual, figure.unit, note};
    return;
  }
  if (!holds(actual, assertion.relation, assertion.value)) {
    if (judgement.outcome != Outcome::violated)
      judgement = {assertion.text, Outcome::violated, test.name, actual, figure.unit, ""};
    return;
  }
  const bool first = judgement.outcome == Outcome::unknown && judgement.reason.empty();
  const bool closer = judgement.outcome == Outcome::holds &&
                      margin(actual, assertion.relation, assertion.value) <
                          margin(*judgement.actual, assertion.relation, assertion.value);
  if (first || closer)
    judgement = {assertion.text, Outcome::holds, test.name, actual, figure.unit, ""};
}

/// A test that was not measured leaves open what is claimed of it, and so what is claimed of all.
void consider_absent(Judgement& judgement, const Assertion& assertion, const TestResult& test) {
  if (judgement.outcome == Outcome::violated) return;
  for (const std::string& note : test.notes) {
    if (!note.starts_with("inconclusive:")) continue;
    judgement = {assertion.text, Outcome::unknown, test.name, std::nullopt, "", note};
  }
}

Judgement judge_one(const Assertion& assertion, const Result& result) {
  Judgement judgement;
  judgement.assertion = assertion.text;
  bool test_found = false;
  for (const TestResult& test : result.tests) {
    if (!concerns(assertion, test.name)) continue;
    test_found = true;
    const auto figure = test.figures.find(assertion.figure);
    if (figure != test.figures.end()) {
      consider(judgement, assertion, test, figure->second);
    } else {
      consider_absent(judgement, assertion, test);
    }
  }
  if (!judgement.actual && judgement.reason.empty())
    judgement.reason = test_found ? "the result has no figure " + assertion.figure
                                  : "the result has no test " + assertion.test;
  return judgement;
}

}  // namespace

std::vector<Judgement> judge(const Experiment& experiment, const Result& result) {
  std::vector<Judgement> judgements;
  for (const Assertion& assertion : experiment.assertions)
    judgements.push_back(judge_one(assertion, result));
  return judgements;
}

Outcome overall(const std::vector<Judgement>& judgements) {
  Outcome worst = Outcome::holds;
  for (const Judgement& judgement : judgements) {
    if (judgement.outcome == Outcome::violated) return Outcome::violated;
    if (judgement.outcome == Outcome::unknown) worst = Outcome::unknown;
  }
  return worst;
}

}  // namespace linerate::experiments
