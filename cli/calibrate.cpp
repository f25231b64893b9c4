// `calibrate`: parameters of a model from results that were measured or published.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <system_error>
#include <thread>

#include "cli/experiment_run.hpp"
#include "cli/failure.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/verb.hpp"
#include "experiments/results/json.hpp"
#include "experiments/studies/calibration/calibrate_document.hpp"
#include "experiments/studies/trial.hpp"
#include "models/simulate.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;
using experiments::CalibrationData;
using experiments::KnownError;
using experiments::Result;
using Words = std::vector<std::string>;

/// The experiment that a result carries; what --set says over it.
experiments::Experiment carried_experiment(const Result& result, const std::string& path,
                                           const Invocation& invocation) {
  if (result.provenance.experiment.empty())
    throw usage_error(path + " holds no experiment, as published tables do not",
                      "name the file it is about by --experiment FILE");
  return experiments::parse_experiment(experiments::self_contained(result.provenance.experiment),
                                       path + ": provenance", invocation.parse);
}

std::vector<CalibrationData> read_data(const Invocation& invocation) {
  const Words files = invocation.list("experiment");
  const Words& paths = invocation.arguments;
  if (files.size() > 1 && files.size() != paths.size())
    throw usage_error(fmt::format("{} experiments for {} results", files.size(), paths.size()),
                      "give --experiment once for all results, or once for each in their order");
  std::vector<CalibrationData> data;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Result result = experiments::result_from_json(read_input(paths[i]), paths[i]);
    if (result.backend == experiments::Backend::simulated && !invocation.has("simulated"))
      throw usage_error(paths[i] + " was simulated, and a model fitted to itself proves nothing",
                        "name a measured or published result, or add --simulated to try it out");
    experiments::Experiment experiment =
        files.empty() ? carried_experiment(result, paths[i], invocation)
                      : load(files.size() == 1 ? files[0] : files[i], invocation);
    data.push_back({paths[i], std::move(result), std::move(experiment)});
  }
  return data;
}

/// "receiver.cpu=0.02s", "*.goodput=1%".
KnownError known_error(const std::string& text, bool quantum) {
  const char* option = quantum ? "--clock" : "--error";
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw usage_error(fmt::format("{} needs PATTERN=VALUE, not `{}`", option, text),
                      fmt::format("such as {} receiver.elapsed=0.01s", option));
  KnownError error;
  error.pattern = text.substr(0, equals);
  error.quantum = quantum;
  experiments::Kind kind{};
  error.value = experiments::parse_quantity(text.substr(equals + 1), kind);
  if (kind == experiments::Kind::time) error.value *= 1e-12;
  error.relative = kind == experiments::Kind::fraction;
  if (!(error.value > 0))
    throw usage_error(fmt::format("{} {}: an error is larger than 0", option, text));
  return error;
}

int whole_number(const Invocation& invocation, const char* option, int otherwise, int most) {
  const std::string text = invocation.text(option);
  if (text.empty()) return otherwise;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end || number < 1 || number > most)
    throw usage_error(
        fmt::format("--{} is a whole number from 1 to {}, not `{}`", option, most, text));
  return number;
}

experiments::CalibrationOptions options_from(const Invocation& invocation) {
  experiments::CalibrationOptions options;
  for (const std::string& text : invocation.list("fit"))
    options.parameters.push_back(experiments::parse_fit_parameter(text));
  options.figures = invocation.list("figures");
  options.hold_out = invocation.list("hold-out");
  options.block = invocation.text("block");
  for (const std::string& text : invocation.list("error"))
    options.errors.push_back(known_error(text, false));
  for (const std::string& text : invocation.list("clock"))
    options.errors.push_back(known_error(text, true));
  options.starts = whole_number(invocation, "starts", 3, 100);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.threads = static_cast<unsigned>(whole_number(invocation, "threads", cores, 1024));
  return options;
}

/// The profile to -o, as far as something is known.
void write_profile(const experiments::Calibration& found, const experiments::Experiment& experiment,
                   const Invocation& invocation) {
  const std::string& path = invocation.console.options().file;
  if (path.empty() || !found.complete) return;
  const std::string text = experiments::profile_yaml(found, experiment, invocation.text("date"));
  if (path == "-")
    write_standard_output(text);
  else
    experiments::write_file_atomically(path, text);
}

ExitCode run_calibrate(const Invocation& invocation) try {
  const Console& console = invocation.console;
  experiments::CalibrationOptions options = options_from(invocation);
  const bool profile = !console.options().file.empty();
  if (profile) experiments::profile_place(options.parameters);
  const std::string study = invocation.text("study");
  if (!study.empty()) check_writable(study);
  const std::vector<CalibrationData> data = read_data(invocation);

  experiments::Calibration found;
  {
    ProgressLine line(console.options());
    options.progress = [&line](const std::string& stage, std::int64_t runs) {
      line.show(StudyProgress{stage, runs});
    };
    found = experiments::calibrate(data, options, [](const experiments::Experiment& experiment) {
      models::SimulationOptions simulation;
      simulation.stop = &stop_flag();
      Result result = models::simulate(experiment, simulation);
      if (stop_requested()) throw experiments::Interrupted{};
      return result;
    });
  }
  const std::string document = experiments::to_json(found);
  if (!study.empty()) experiments::write_file_atomically(study, document);
  write_profile(found, data.front().experiment, invocation);
  // -o is the profile, so what is shown goes nowhere else; `-o -` is all of standard output.
  OutputOptions shown = console.options();
  if (shown.file != "-") {
    shown.file.clear();
    Console(shown).deliver(experiments::format_table(found, console.colour()), document);
  }
  if (stop_requested()) return interrupt_code();
  return found.all_determined() ? ExitCode::holds : ExitCode::inconclusive;
} catch (const experiments::StudyError& error) {
  throw usage_error(error.what(), error.remedy());
}

void calibrate_options(po::options_description_easy_init add) {
  const auto list = [](const char* name) {
    return po::value<Words>()->composing()->value_name(name);
  };
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  add("fit", list("PATH=[LOWEST,HIGHEST]"), "a parameter and its bounds; may be repeated");
  add("experiment", list("FILE"), "what the results are of, if they do not say: one, or one each");
  add("figures", list("PATTERN"),
      "figures to fit, 'receiver.elapsed' or 'w8*.goodput'; unless given, of each test one that "
      "says how long it took, and CPU seconds");
  add("hold-out", list("PATTERN"), "tests or figures that are only tested, beside `use: test`");
  add("block", text("NOTE"), "leave out together what has the same note, such as series");
  add("error", list("PATTERN=VALUE"), "standard error of figures, receiver.cpu=0.02s or '*=1%'");
  add("clock", list("PATTERN=STEP"), "step of the clock that gave them, receiver.elapsed=10ms");
  add("starts", text("N"), "searches from different points, 3");
  add("threads", text("N"), "simulations at once; changes no result");
  add("date", text("TEXT"), "date for the profile; none: the same data give the same bytes");
  add("study", text("FILE"), "keep the whole study as JSON");
  add("simulated", "accept a simulated result as data");
}

}  // namespace

const Verb calibrate_verb{
    "calibrate",
    "calibrate RESULT... --fit PATH=[LOWEST,HIGHEST]",
    "find parameters from measured or published results",
    "Bounded least squares over the simulator. Prints values with their 95 % interval, errors of\n"
    "every figure with it left out and beside null models, and the errors of what was held out.\n"
    "-o writes a profile for ./profiles. A parameter that the data do not determine is said to be\n"
    "so and gets no number (exit code 5).\n"
    "Example: linerate calibrate measured.json --fit 'switches.s1.latency=[0.1us,100us]' -o "
    "s1.yaml",
    true,
    1,
    1000,
    calibrate_options,
    run_calibrate};

}  // namespace linerate::cli
