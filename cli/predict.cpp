// `predict`: the experiment in the simulator.
#include "cli/capture_folder.hpp"
#include "cli/experiment_run.hpp"
#include "cli/model_intervals.hpp"
#include "cli/verb.hpp"
#include "experiments/definition/lint.hpp"

namespace linerate::cli {
namespace {

void predict_options(boost::program_options::options_description_easy_init add) {
  capture_options(add);
  model_options(add);
}

ExitCode run_predict(const Invocation& invocation) {
  const experiments::Experiment experiment = load(invocation.arguments[0], invocation);
  invocation.console.warn(experiments::lint(experiment));
  CaptureFolder captures(invocation, experiment);
  const int runs = model_runs(invocation, experiment);
  experiments::Result result = predict(experiment, invocation.console, captures.options());
  add_model_intervals(experiment, runs, invocation.console, result);
  // The result first: a disk that fills up with captures must not cost it.
  const ExitCode code = conclude(experiment, result, invocation.console);
  captures.keep();
  return code;
}

}  // namespace

const Verb predict_verb{
    "predict",
    "predict EXPERIMENT",
    "simulate an experiment packet by packet",
    "Prints figures, byte ledger and limits; -o or --json gives the result as JSON. The same file\n"
    "and seed give the same bytes. Exit code 1 if an assertion of the file is missed.\n"
    "Example: linerate predict exp.yaml -o predicted.json --pcap captures",
    true,
    1,
    1,
    predict_options,
    run_predict};

}  // namespace linerate::cli
