// `compare`: two results, figure by figure, with a verdict where a tolerance is given.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <filesystem>
#include <optional>

#include "cli/experiment_run.hpp"
#include "cli/failure.hpp"
#include "cli/verb.hpp"
#include "experiments/results/json.hpp"
#include "experiments/results/table.hpp"
#include "experiments/studies/calibration/calibrate_document.hpp"
#include "experiments/studies/calibration/variation.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;
using experiments::Better;
using experiments::FigureComparison;
using experiments::Result;
using experiments::ResultComparison;
using experiments::Tolerance;

struct Source {
  std::string path;
  Result result;
};

Source read_result(const std::string& path) {
  return {path, experiments::result_from_json(read_input(path), path)};
}

/// "rpc.latency.p50=20%": a pattern and a share.
Tolerance tolerance_from(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw usage_error("--tolerance needs PATTERN=SHARE, not `" + text + "`",
                      "such as --tolerance '*.goodput=1%'");
  const std::string_view share = std::string_view(text).substr(equals + 1);
  double percent = 0;
  const auto [stopped, error] = std::from_chars(share.data(), share.data() + share.size(), percent);
  if (error != std::errc{} || stopped == share.data() || !(percent >= 0) || percent > 1e6)
    throw usage_error(fmt::format("--tolerance {}: `{}` is no share", text, share),
                      "write a percentage such as 1%");
  if (std::string_view(stopped, share.data() + share.size()) != "%")
    throw usage_error(fmt::format("--tolerance {}: a share needs its unit", text),
                      fmt::format("write {}=1%", text.substr(0, equals)));
  return {text.substr(0, equals), percent / 100};
}

/// The file's tolerances, those of the command line over them.
std::vector<Tolerance> merged(std::vector<Tolerance> tolerances,
                              const std::vector<std::string>& given) {
  for (const std::string& text : given) {
    Tolerance tolerance = tolerance_from(text);
    std::erase_if(tolerances,
                  [&](const Tolerance& old) { return old.pattern == tolerance.pattern; });
    tolerances.push_back(std::move(tolerance));
  }
  return tolerances;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

struct Pair {
  Source predicted, reference;
};

Pair chosen_pair(const Invocation& invocation) {
  std::vector<std::string> paths = invocation.arguments;
  const std::string named = invocation.text("reference");
  if (!named.empty()) {
    std::erase_if(paths, [&](const std::string& path) { return same_file(path, named); });
    if (paths.size() != 1)
      throw usage_error("--reference FILE leaves not one but " + std::to_string(paths.size()) +
                        " files to compare with it");
    return {read_result(paths[0]), read_result(named)};
  }
  if (paths.size() != 2)
    throw usage_error("`compare` needs two results", "or one and --reference FILE");
  Source first = read_result(paths[0]);
  Source second = read_result(paths[1]);
  if (experiments::first_is_reference(first.result.backend, second.result.backend))
    return {std::move(second), std::move(first)};
  return {std::move(first), std::move(second)};
}

/// Whether the row is worse than its reference, in the direction the figure has. A figure without
/// one cannot be.
bool is_worse(const FigureComparison& row) {
  if (!row.error) return false;
  if (row.better == Better::higher) return *row.error < 0;
  return row.better == Better::lower && *row.error > 0;
}

/// The tolerances of the experiment inside a result; none if it carries none that this version
/// reads (a published table).
std::vector<Tolerance> tolerances_in(const Result& result) {
  if (result.provenance.experiment.empty()) return {};
  try {
    return experiments::parse_experiment(result.provenance.experiment, "provenance").tolerances;
  } catch (const experiments::DefinitionError&) {
    return {};
  }
}

/// The prediction beside models that know nothing of hosts. Fit and test are as the reference's
/// rows say.
experiments::NullModelStudy null_models(const Source& predicted, const Source& reference,
                                        const Invocation& invocation) try {
  if (predicted.result.provenance.experiment.empty())
    throw usage_error(
        predicted.path + " holds no experiment, whose writes and lines null models need",
        "name a result of `predict` or `measure` and its reference");
  experiments::CalibrationData data;
  data.source = reference.path;
  data.result = reference.result;
  data.experiment = experiments::parse_experiment(
      experiments::self_contained(predicted.result.provenance.experiment),
      predicted.path + ": provenance", invocation.parse);
  return experiments::beside_null_models(data, predicted.result, invocation.list("figures"));
} catch (const experiments::StudyError& error) {
  throw usage_error(error.what(), error.remedy());
}

ExitCode run_compare(const Invocation& invocation) {
  const auto [predicted, reference] = chosen_pair(invocation);
  std::vector<Tolerance> tolerances = tolerances_in(predicted.result);
  if (tolerances.empty()) tolerances = tolerances_in(reference.result);
  tolerances = merged(std::move(tolerances), invocation.list("tolerance"));
  ResultComparison comparison =
      experiments::compare(predicted.result, reference.result, tolerances);
  comparison.predicted_source = predicted.path;
  comparison.reference_source = reference.path;
  if (invocation.has("only-worse"))
    std::erase_if(comparison.figures, [](const FigureComparison& row) { return !is_worse(row); });
  const Console& console = invocation.console;
  if (invocation.has("null-models")) {
    const experiments::NullModelStudy study = null_models(predicted, reference, invocation);
    console.deliver(experiments::format_table(study, console.colour()),
                    experiments::to_json(study));
  } else {
    console.deliver(experiments::format_table(comparison, console.colour()),
                    experiments::to_json(comparison));
  }
  return both(code_of(comparison),
              both(code_of_notes(predicted.result), code_of_notes(reference.result)));
}

void compare_options(po::options_description_easy_init add) {
  add("reference", po::value<std::string>()->value_name("FILE"),
      "the file that errors are relative to");
  add("only-worse", "show and judge only what is worse than the reference");
  add("tolerance", po::value<std::vector<std::string>>()->composing()->value_name("PATTERN=SHARE"),
      "judge matching figures, '*.goodput=1%'; over what the file says; may be repeated");
  add("null-models",
      "show errors beside those of three null models: a full wire, a time linear in bytes, the "
      "mean "
      "of the other rows; rows marked `use: fit` and `use: test` apart");
  add("figures", po::value<std::vector<std::string>>()->composing()->value_name("PATTERN"),
      "figures beside null models; unless given, of each test what says how long its work took, "
      "and "
      "CPU seconds");
}

}  // namespace

const Verb compare_verb{
    "compare",
    "compare RESULT RESULT",
    "hold one result against another",
    "The error is predicted / reference - 1 of the medians. A measured or published result is the\n"
    "reference before a simulated one, else the first file. Tolerances are those of the "
    "experiment\n"
    "inside the results. Exit code 1: a figure is outside its tolerance; 5: it cannot be said.\n"
    "Example: linerate compare predicted.json measured.json --tolerance '*.goodput=1%'",
    false,
    1,
    2,
    compare_options,
    run_compare};

}  // namespace linerate::cli
