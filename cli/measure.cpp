// `measure`: the experiment on real sockets.
#include "realnet/measure.hpp"

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include "cli/experiment_run.hpp"
#include "cli/verb.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;

ExitCode show_plan(const experiments::Experiment& experiment, const Console& console) {
  const std::vector<std::string> steps = realnet::plan(experiment);
  std::string text;
  for (const std::string& step : steps) text += step + "\n";
  const nlohmann::ordered_json document{{"schema_version", 1}, {"kind", "plan"}, {"steps", steps}};
  console.deliver(text, document.dump(2) + "\n");
  return ExitCode::holds;
}

ExitCode run_measure(const Invocation& invocation) {
  const experiments::Experiment experiment = load(invocation.arguments[0], invocation);
  if (invocation.has("dry-run")) return show_plan(experiment, invocation.console);
  return conclude(experiment, measure(experiment, invocation.console, invocation.text("iperf3")),
                  invocation.console);
}

void measure_options(po::options_description_easy_init add) {
  add("iperf3", po::value<std::string>()->value_name("HOST[:PORT]"),
      "the peer has iperf3 and not linerate: run the iperf3 program against its server");
  add("dry-run", "list what would be built and sent, and do nothing");
}

}  // namespace

const Verb measure_verb{
    "measure",
    "measure EXPERIMENT",
    "run an experiment on real sockets",
    "Builds the lab the file asks for (`lab: {type: netns}` needs root, `loopback` does not), "
    "runs\n"
    "every test and takes the lab down again, also after Ctrl-C. Exit code 3 if this machine will\n"
    "not let it. Example: linerate measure exp.yaml -o measured.json",
    true,
    1,
    1,
    measure_options,
    run_measure};

}  // namespace linerate::cli
