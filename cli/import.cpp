// `import`: published tables as results.
#include <boost/program_options.hpp>

#include "cli/failure.hpp"
#include "cli/verb.hpp"
#include "experiments/results/import_csv.hpp"
#include "experiments/results/json.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;

ExitCode run_import(const Invocation& invocation) {
  const std::string& format = invocation.arguments[0];
  if (format != "csv")
    throw usage_error("`import` reads csv, not `" + format + "`",
                      "usage: linerate import csv FILE");
  const std::string& path = invocation.arguments[1];
  const std::string name = path == "-" ? "standard input" : path;
  experiments::CsvOptions options;
  if (invocation.has("id")) options.id = invocation.list("id");
  options.type = invocation.text("type");
  options.derive = !invocation.has("no-derive");
  experiments::Result result;
  try {
    for (const std::string& mapping : invocation.list("map"))
      options.map.push_back(experiments::parse_mapping(mapping));
    result = experiments::import_csv(read_input(path), name, options);
  } catch (const experiments::CsvError& error) {
    throw usage_error(error.what());
  }
  result.provenance.version = LINERATE_VERSION;
  // A conversion: the document is what is wanted, with or without --json.
  invocation.console.deliver(experiments::to_json(result));
  return ExitCode::holds;
}

void import_options(po::options_description_easy_init add) {
  const auto list = [](const char* name) {
    return po::value<std::vector<std::string>>()->composing()->value_name(name);
  };
  add("map", list("COLUMN=FIGURE[:UNIT]"), "what a column is; may be repeated");
  add("id", list("COLUMN"), "column that names a test, `id` unless given; may be repeated");
  add("type", po::value<std::string>()->value_name("TYPE"), "type of every test, tcp-stream");
  add("no-derive", "keep printed times, even where bytes and rate give finer ones");
}

}  // namespace

const Verb import_verb{
    "import",
    "import csv FILE",
    "turn a published table into a result",
    "Prints a result with backend `published`, for `compare`. A column's name says what it holds:\n"
    "throughput_mbit_s, elapsed_s, sender_cpu_s. Example:\n"
    "linerate import csv table.csv --map 'peak=goodput:Mbit/s' -o published.json",
    false,
    2,
    2,
    import_options,
    run_import};

}  // namespace linerate::cli
