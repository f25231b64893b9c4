// `import`: published tables, and what other measuring programs print, as results.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>

#include "cli/failure.hpp"
#include "cli/verb.hpp"
#include "experiments/results/import_csv.hpp"
#include "experiments/results/json.hpp"
#include "experiments/results/tools/import_tool.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;

std::string source_name(const std::string& path) { return path == "-" ? "standard input" : path; }

experiments::Result import_table(const Invocation& invocation) {
  if (invocation.arguments.size() > 2)
    throw usage_error("one table is a result of its own", "usage: linerate import csv FILE");
  const std::string& path = invocation.arguments[1];
  experiments::CsvOptions options;
  if (invocation.has("id")) options.id = invocation.list("id");
  options.type = invocation.text("type");
  options.derive = !invocation.has("no-derive");
  try {
    for (const std::string& mapping : invocation.list("map"))
      options.map.push_back(experiments::parse_mapping(mapping));
    return experiments::import_csv(read_input(path), source_name(path), options);
  } catch (const experiments::CsvError& error) {
    throw usage_error(error.what());
  }
}

experiments::Result import_outputs(const Invocation& invocation) {
  std::vector<experiments::ToolOutput> outputs;
  for (std::size_t i = 1; i < invocation.arguments.size(); ++i) {
    const std::string& path = invocation.arguments[i];
    outputs.push_back({source_name(path), read_input(path)});
  }
  try {
    return experiments::import_tool(
        invocation.arguments[0], outputs,
        {.test = invocation.text("test"), .reverse = invocation.has("reverse")});
  } catch (const experiments::ImportError& error) {
    throw usage_error(error.what());
  }
}

ExitCode run_import(const Invocation& invocation) {
  const std::string& format = invocation.arguments[0];
  const auto tools = experiments::tool_formats();
  const bool is_tool = std::find(tools.begin(), tools.end(), format) != tools.end();
  if (!is_tool && format != "csv")
    throw usage_error(
        fmt::format("`import` reads csv, {}, not `{}`", fmt::join(tools, ", "), format),
        "usage: linerate import FORMAT FILE");
  experiments::Result result = is_tool ? import_outputs(invocation) : import_table(invocation);
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
  add("test", po::value<std::string>()->value_name("NAME"),
      "name of the test in the result of a program's output, its program unless given");
  add("reverse", "nttcp was run with -r: its local end received");
  add("no-derive", "keep printed times, even where bytes and rate give finer ones");
}

}  // namespace

const Verb import_verb{
    "import",
    "import FORMAT FILE...",
    "turn a published table or another program's output into a result",
    "FORMAT is csv, for a published table: a column's name says what it holds, throughput_mbit_s,\n"
    "elapsed_s, sender_cpu_s. Or it is the program that wrote FILE: iperf3 (--json), netperf, "
    "nuttcp,\n"
    "nttcp, moongen; every further file is a repeat of the same test. Examples:\n"
    "linerate import csv table.csv --map 'peak=goodput:Mbit/s' -o published.json\n"
    "linerate import iperf3 run-1.json run-2.json --test bulk -o measured.json",
    false,
    2,
    64,
    import_options,
    run_import};

}  // namespace linerate::cli
