// `--model-runs`: predictions with the uncertainty of their parameters.
#pragma once

#include <boost/program_options/options_description.hpp>

#include "cli/verb.hpp"
#include "experiments/results/result.hpp"

namespace linerate::cli {

void model_options(boost::program_options::options_description_easy_init add);

/// The number that --model-runs gives; else 39 where the experiment or a profile of the user states
/// an interval, and none for the catalog's priors alone. Throws Failure (2).
int model_runs(const Invocation& invocation, const experiments::Experiment& experiment);

/// Gives the figures of a whole prediction their `model95`, if parameters of the experiment carry
/// `within` and the user has not asked to stop.
void add_model_intervals(const experiments::Experiment& experiment, int runs,
                         const Console& console, experiments::Result& result);

}  // namespace linerate::cli
