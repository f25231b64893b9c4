// Loading, running, judging and showing: what the verbs share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/exit_code.hpp"
#include "cli/verb.hpp"
#include "experiments/definition/experiment.hpp"
#include "experiments/results/compare.hpp"
#include "experiments/results/judge.hpp"
#include "experiments/results/result.hpp"
#include "models/capture/capture_options.hpp"

namespace linerate::cli {

/// The experiment in `path` ("-": standard input) with the invocation's --set, --overlay and
/// --seed. Throws DefinitionError, or Failure (2) for a file that cannot be read.
experiments::Experiment load(const std::string& path, const Invocation& invocation);

/// Simulates, with progress, and captures if told to. The result carries its provenance.
experiments::Result predict(const experiments::Experiment& experiment, const Console& console,
                            const models::CaptureOptions* capture = nullptr);

/// Runs it on real sockets, with progress; with `iperf3_server` ("192.0.2.1:5201") by the iperf3
/// program against that server. Throws realnet::EnvironmentError.
experiments::Result measure(const experiments::Experiment& experiment, const Console& console,
                            const std::string& iperf3_server = {});

/// Violated is 1, unknown 5.
ExitCode code_of(const std::vector<experiments::Judgement>& judgements);

/// Outside a tolerance is 1, inconclusive 5.
ExitCode code_of(const experiments::ResultComparison& comparison);

/// 5 when a test of the result says that it is inconclusive (a note "inconclusive: …"): the lab
/// could not realise what it depends on, or the generator was the limit.
ExitCode code_of_notes(const experiments::Result& result);

/// A line a judgement: "assertion violated: bulk.goodput >= 930Mbit/s (is 94.15 Mbit/s)".
std::string words_of(const std::vector<experiments::Judgement>& judgements);

/// Shows a result as table or JSON, judges the experiment's assertions by it, and returns the exit
/// code: 130/143 after an interrupt, else by the judgements.
ExitCode conclude(const experiments::Experiment& experiment, const experiments::Result& result,
                  const Console& console);

}  // namespace linerate::cli
