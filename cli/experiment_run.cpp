#include "cli/experiment_run.hpp"

#include <fmt/format.h>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "experiments/results/json.hpp"
#include "experiments/results/table.hpp"
#include "models/simulate.hpp"
#include "realnet/measure.hpp"
#include "realnet/traffic/iperf3_peer.hpp"

namespace linerate::cli {
namespace {

using experiments::Experiment;
using experiments::Judgement;
using experiments::Outcome;
using experiments::Result;

void add_provenance(Result& result, const Experiment& experiment) {
  result.provenance.experiment = experiment.resolved;
  result.provenance.set = experiment.set;
  result.provenance.seed = experiment.seed;
  result.provenance.version = LINERATE_VERSION;
}

}  // namespace

Experiment load(const std::string& path, const Invocation& invocation) {
  if (path == "-")
    return experiments::parse_experiment(read_input(path), "standard input", invocation.parse);
  check_readable(path);
  return experiments::load_experiment(path, invocation.parse);
}

Result predict(const Experiment& experiment, const Console& console,
               const models::CaptureOptions* capture) {
  ProgressLine line(console.options());
  models::SimulationOptions options;
  options.progress = [&line](const models::Progress& progress) { line.show(progress); };
  options.stop = &stop_flag();
  options.capture = capture;
  Result result = models::simulate(experiment, options);
  add_provenance(result, experiment);
  return result;
}

Result measure(const Experiment& experiment, const Console& console,
               const std::string& iperf3_server) {
  ProgressLine line(console.options());
  realnet::MeasurementOptions options;
  options.progress = [&line](const realnet::Progress& progress) { line.show(progress); };
  options.stop = &stop_flag();
  Result result = iperf3_server.empty()
                      ? realnet::measure(experiment, options)
                      : realnet::measure_with_iperf3(
                            experiment, realnet::parse_iperf3_server(iperf3_server), options);
  add_provenance(result, experiment);
  return result;
}

ExitCode code_of(const std::vector<Judgement>& judgements) {
  switch (experiments::overall(judgements)) {
    case Outcome::holds:
      return ExitCode::holds;
    case Outcome::violated:
      return ExitCode::missed;
    case Outcome::unknown:
      return ExitCode::inconclusive;
  }
  return ExitCode::inconclusive;
}

ExitCode code_of(const experiments::ResultComparison& comparison) {
  switch (experiments::overall(comparison)) {
    case experiments::Verdict::outside:
      return ExitCode::missed;
    case experiments::Verdict::inconclusive:
      return ExitCode::inconclusive;
    case experiments::Verdict::within:
    case experiments::Verdict::not_judged:
      return ExitCode::holds;
  }
  return ExitCode::inconclusive;
}

ExitCode code_of_notes(const Result& result) {
  for (const auto& test : result.tests)
    for (const std::string& note : test.notes)
      if (note.starts_with("inconclusive:")) return ExitCode::inconclusive;
  return ExitCode::holds;
}

std::string words_of(const std::vector<Judgement>& judgements) {
  std::string text;
  for (const Judgement& judgement : judgements) {
    const char* outcome = judgement.outcome == Outcome::holds      ? "holds"
                          : judgement.outcome == Outcome::violated ? "violated"
                                                                   : "unknown";
    text += fmt::format("assertion {}: {}", outcome, judgement.assertion);
    if (judgement.actual)
      text +=
          fmt::format(" (is {})", experiments::format_quantity(*judgement.actual, judgement.unit));
    if (!judgement.reason.empty()) text += fmt::format(" ({})", judgement.reason);
    text += "\n";
  }
  return text;
}

ExitCode conclude(const Experiment& experiment, const Result& result, const Console& console) {
  const auto judgements = experiments::judge(experiment, result);
  console.deliver(experiments::format_table(result, console.colour()) + words_of(judgements),
                  experiments::to_json(result));
  // Half a run proves nothing about an assertion.
  return stop_requested() ? interrupt_code() : code_of(judgements);
}

}  // namespace linerate::cli
