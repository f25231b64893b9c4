// `report`: a result in the shape that other programs read.
#include <boost/program_options.hpp>

#include "cli/failure.hpp"
#include "cli/verb.hpp"
#include "experiments/results/json.hpp"
#include "experiments/results/tools/export_iperf3.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;

ExitCode run_report(const Invocation& invocation) {
  const std::string format = invocation.text("format");
  if (format != "iperf3")
    throw usage_error(format.empty() ? "which format?" : "`report` does not write " + format,
                      "write --format iperf3");
  try {
    const experiments::Result result =
        experiments::result_from_json(read_input(invocation.arguments[0]), invocation.arguments[0]);
    invocation.console.deliver(experiments::to_iperf3(result, invocation.text("test")));
  } catch (const experiments::ExportError& error) {
    throw usage_error(error.what(), "give it with --test NAME");
  }
  return ExitCode::holds;
}

void report_options(po::options_description_easy_init add) {
  add("format", po::value<std::string>()->value_name("NAME"), "iperf3");
  add("test", po::value<std::string>()->value_name("NAME"), "which test, where there are several");
}

}  // namespace

const Verb report_verb{"report",
                       "report RESULT",
                       "write a result in the shape that other programs read",
                       "--format iperf3: as iperf3 --json would have printed it. Example:\n"
                       "linerate report measured.json --format iperf3 --test bulk",
                       false,
                       1,
                       1,
                       report_options,
                       run_report};

}  // namespace linerate::cli
