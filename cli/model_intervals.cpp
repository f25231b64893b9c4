#include "cli/model_intervals.hpp"

#include <boost/program_options.hpp>
#include <charconv>
#include <mutex>
#include <thread>

#include "cli/failure.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "experiments/studies/calibration/uncertainty.hpp"
#include "experiments/studies/trial.hpp"
#include "models/simulate.hpp"

namespace linerate::cli {

void model_options(boost::program_options::options_description_easy_init add) {
  add("model-runs", boost::program_options::value<std::string>()->value_name("N"),
      "simulations more, at values drawn from the `within` of parameters, for the 95 % interval of "
      "the model; unless given 39, but none where only the catalog has intervals; 0: none");
}

int model_runs(const Invocation& invocation, const experiments::Experiment& experiment) {
  const std::string text = invocation.text("model-runs");
  if (text.empty()) return experiments::states_intervals(experiment) ? experiments::kModelRuns : 0;
  int runs = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, runs);
  if (error != std::errc{} || stopped != end || runs < 0 || runs > 100'000)
    throw usage_error("--model-runs is a whole number from 0 to 100000, not `" + text + "`",
                      "39 runs enclose 95 %, 0 leaves the interval out");
  return runs;
}

void add_model_intervals(const experiments::Experiment& experiment, int runs,
                         const Console& console, experiments::Result& result) {
  if (stop_requested() || !result.complete) return;
  ProgressLine line(console.options());
  std::mutex mutex;
  std::int64_t done = 0;
  const auto run = [&](const experiments::Experiment& variant) {
    models::SimulationOptions options;
    options.stop = &stop_flag();
    experiments::Result sample = models::simulate(variant, options);
    if (stop_requested()) throw experiments::Interrupted{};
    const std::lock_guard lock(mutex);
    line.show(StudyProgress{"model interval", ++done});
    return sample;
  };
  try {
    experiments::add_model_intervals(experiment, result, run, runs,
                                     std::max(1u, std::thread::hardware_concurrency()));
  } catch (const experiments::Interrupted&) {
    result.notes.push_back("interrupted before the model's interval was known");
  }
}

}  // namespace linerate::cli
