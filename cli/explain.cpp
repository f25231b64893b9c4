// `explain`: what limits a test, in order, and why.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/experiment_run.hpp"
#include "cli/explanation.hpp"
#include "cli/failure.hpp"
#include "cli/interrupt.hpp"
#include "cli/verb.hpp"
#include "experiments/definition/lint.hpp"
#include "experiments/definition/nearest.hpp"
#include "experiments/results/json.hpp"
#include "experiments/results/table.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;
using experiments::FigureComparison;
using experiments::Result;
using experiments::ResultComparison;
using experiments::TestResult;
using nlohmann::ordered_json;

/// "result" or "comparison" for a file of ours, "" for anything else (an experiment).
std::string kind_of(const std::string& text) {
  const ordered_json document = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !document.contains("kind") || !document["kind"].is_string())
    return {};
  return document["kind"].get<std::string>();
}

/// "fwd" reaches its sub-results "fwd[64B]".
bool is_chosen(const std::string& name, const std::string& chosen) {
  return chosen.empty() || name == chosen || name.starts_with(chosen + "[");
}

void require_test(const std::vector<std::string>& names, const std::string& chosen) {
  for (const std::string& name : names)
    if (is_chosen(name, chosen)) return;
  if (!chosen.empty() || names.empty())
    throw usage_error(
        chosen.empty() ? "there is no test to explain" : "there is no test `" + chosen + "`",
        experiments::suggest(chosen, names));
}

ordered_json limits_json(const TestResult& test) {
  ordered_json limits = ordered_json::array();
  for (const auto& limit : test.limits) {
    ordered_json entry{
        {"resource", limit.resource}, {"utilisation", limit.utilisation}, {"binds", limit.binds}};
    if (!limit.formula.empty()) entry["formula"] = limit.formula;
    if (!limit.parameter.empty()) entry["parameter"] = limit.parameter;
    if (!limit.origin.empty()) entry["origin"] = limit.origin;
    const std::string advice = limit.binds ? advice_for(limit) : "";
    if (!advice.empty()) entry["advice"] = advice;
    limits.push_back(std::move(entry));
  }
  return limits;
}

void explain_result(const Result& result, const std::string& chosen, const Console& console) {
  std::vector<std::string> names;
  for (const TestResult& test : result.tests) names.push_back(test.name);
  require_test(names, chosen);
  std::string text;
  ordered_json tests = ordered_json::array();
  for (const TestResult& test : result.tests) {
    if (!is_chosen(test.name, chosen)) continue;
    text += (text.empty() ? "" : "\n") + explain(test);
    tests.push_back({{"name", test.name}, {"limits", limits_json(test)}});
  }
  const ordered_json document{
      {"schema_version", 1}, {"kind", "explanation"}, {"tests", std::move(tests)}};
  console.deliver(text, document.dump(2) + "\n");
}

std::string row_text(const FigureComparison& row) {
  using experiments::format_quantity;
  std::string text = fmt::format("{}.{}: predicted {}, reference {}", row.test, row.figure,
                                 format_quantity(row.predicted, row.unit),
                                 format_quantity(row.reference, row.unit));
  // A reference of 0 leaves no ratio to speak of.
  if (row.error) text += fmt::format(", error {}", experiments::format_error(*row.error));
  text += fmt::format(", {}\n", experiments::verdict_words(row.verdict));
  if (row.null_error)
    text +=
        fmt::format("  the wire's ceiling alone would be off by {:+.2f}%\n", 100 * *row.null_error);
  if (!row.note.empty()) text += fmt::format("  {}\n", row.note);
  return text;
}

/// What each side says binds a test, if the result file is still where it was.
std::string side_text(const char* side, const std::string& source, const std::string& test) {
  if (!std::filesystem::is_regular_file(source)) return {};
  const Result result = experiments::result_from_json(read_input(source), source);
  for (const TestResult& candidate : result.tests)
    if (candidate.name == test)
      return fmt::format("\n{} ({}): {}", side, source, explain(candidate));
  return {};
}

void explain_comparison(const ResultComparison& comparison, const std::string& chosen,
                        const Console& console) {
  std::vector<std::string> tests;
  for (const FigureComparison& row : comparison.figures)
    if (tests.empty() || tests.back() != row.test) tests.push_back(row.test);
  require_test(tests, chosen);
  std::string text;
  ordered_json explained = ordered_json::array();
  for (const std::string& test : tests) {
    if (!is_chosen(test, chosen)) continue;
    std::string words;
    for (const FigureComparison& row : comparison.figures)
      if (row.test == test) words += row_text(row);
    words += side_text("predicted", comparison.predicted_source, test);
    words += side_text("reference", comparison.reference_source, test);
    text += (text.empty() ? "" : "\n") + words;
    explained.push_back({{"name", test}, {"text", words}});
  }
  const ordered_json document{
      {"schema_version", 1}, {"kind", "explanation"}, {"tests", std::move(explained)}};
  console.deliver(text, document.dump(2) + "\n");
}

ExitCode run_explain(const Invocation& invocation) {
  const std::string& path = invocation.arguments[0];
  const std::string chosen = invocation.text("test");
  const std::string text = read_input(path);
  const std::string name = path == "-" ? "standard input" : path;
  const std::string kind = kind_of(text);
  if (kind == "result") {
    explain_result(experiments::result_from_json(text, name), chosen, invocation.console);
  } else if (kind == "comparison") {
    explain_comparison(experiments::comparison_from_json(text, name), chosen, invocation.console);
  } else {
    // A pipe has been read already, so its text is parsed; only a file can be opened again, and has
    // a folder in which profiles are looked for.
    const experiments::Experiment experiment =
        std::filesystem::is_regular_file(path)
            ? load(path, invocation)
            : experiments::parse_experiment(text, name, invocation.parse);
    std::vector<std::string> names;
    for (const auto& test : experiment.tests) names.push_back(test.name);
    require_test(names, chosen);
    invocation.console.warn(experiments::lint(experiment));
    explain_result(predict(experiment, invocation.console), chosen, invocation.console);
  }
  return stop_requested() ? interrupt_code() : ExitCode::holds;
}

void explain_options(po::options_description_easy_init add) {
  add("test", po::value<std::string>()->value_name("NAME"), "explain this test only");
}

}  // namespace

const Verb explain_verb{"explain",
                        "explain FILE",
                        "what limits a test, in order, and why",
                        "FILE is an experiment (it is predicted first), a result or a comparison. "
                        "Every limit comes with\n"
                        "how far it is used, its formula and the file and line of its parameter; "
                        "for the binding one it\n"
                        "says what would help. Example: linerate explain exp.yaml --test bulk",
                        true,
                        1,
                        1,
                        explain_options,
                        run_explain};

}  // namespace linerate::cli
