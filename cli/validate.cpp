// `validate`: predict, measure, compare. The main job.
#include <boost/program_options.hpp>
#include <system_error>

#include "cli/capture_folder.hpp"
#include "cli/experiment_run.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_intervals.hpp"
#include "cli/verb.hpp"
#include "experiments/definition/lint.hpp"
#include "experiments/results/json.hpp"
#include "experiments/results/table.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;
using experiments::Result;

/// The file that --predicted or --measured names, "" without it. Throws Failure (2) if it cannot be
/// written.
std::string file_to_keep(const Invocation& invocation, const char* option) {
  if (!invocation.has(option)) return {};
  const std::string path = invocation.text(option);
  check_writable(path);
  return path;
}

/// Keeps one of the two results beside the comparison, if asked to. What cannot be kept costs the
/// exit code, not the measurement: returns refused then.
ExitCode keep(const Result& result, const std::string& path) {
  if (path.empty()) return ExitCode::holds;
  try {
    experiments::write_file_atomically(path, experiments::to_json(result));
    return ExitCode::holds;
  } catch (const std::system_error& error) {
    write_standard_error("linerate: " + path + ": cannot be written: " + error.what() + "\n");
    return ExitCode::refused;
  }
}

/// The judgements of one side, each line saying which.
std::string titled(const char* side, const std::vector<experiments::Judgement>& judgements) {
  std::string text;
  for (const auto& judgement : judgements) text += side + words_of({judgement});
  return text;
}

ExitCode run_validate(const Invocation& invocation) {
  const Console& console = invocation.console;
  const std::string keep_predicted = file_to_keep(invocation, "predicted");
  const std::string keep_measured = file_to_keep(invocation, "measured");
  const experiments::Experiment experiment = load(invocation.arguments[0], invocation);
  console.warn(experiments::lint(experiment));

  CaptureFolder captures(invocation, experiment);
  const int runs = model_runs(invocation, experiment);
  Result predicted = predict(experiment, console, captures.options());
  captures.keep();
  add_model_intervals(experiment, runs, console, predicted);
  ExitCode kept = keep(predicted, keep_predicted);
  // After Ctrl-C half a prediction is all there is to say.
  if (stop_requested()) return conclude(experiment, predicted, console);
  const Result measured = measure(experiment, console);
  if (keep(measured, keep_measured) != ExitCode::holds) kept = ExitCode::refused;

  experiments::ResultComparison comparison =
      experiments::compare(predicted, measured, experiment.tolerances);
  comparison.predicted_source = keep_predicted.empty() ? "prediction" : keep_predicted;
  comparison.reference_source = keep_measured.empty() ? "measurement" : keep_measured;
  if (!measured.complete) comparison.notes.push_back("incomplete: the measurement ended early");
  const auto of_predicted = experiments::judge(experiment, predicted);
  const auto of_measured = experiments::judge(experiment, measured);
  console.deliver(experiments::format_table(comparison, console.colour()) +
                      titled("predicted: ", of_predicted) + titled("measured: ", of_measured),
                  experiments::to_json(comparison));
  if (stop_requested()) return interrupt_code();
  if (kept != ExitCode::holds) return kept;
  return both(both(code_of(comparison), code_of_notes(measured)),
              both(code_of(of_predicted), code_of(of_measured)));
}

void validate_options(po::options_description_easy_init add) {
  capture_options(add);
  model_options(add);
  add("predicted", po::value<std::string>()->value_name("FILE"), "keep the predicted result too");
  add("measured", po::value<std::string>()->value_name("FILE"), "keep the measured result too");
}

}  // namespace

const Verb validate_verb{
    "validate",
    "validate EXPERIMENT",
    "predict, measure and compare",
    "Runs both back ends over the same file and judges by its `tolerance` and `assert`. -o keeps "
    "the\n"
    "comparison. Exit code 1: outside a tolerance or an assertion is missed; 5: it cannot be "
    "said.\n"
    "Example: linerate validate exp.yaml --predicted predicted.json --measured measured.json",
    true,
    1,
    1,
    validate_options,
    run_validate};

}  // namespace linerate::cli
