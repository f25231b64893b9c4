// `agent`: one host's part of a measurement on real hosts, for the controller that started it.
#include "realnet/remote/agent.hpp"

#include <unistd.h>

#include <boost/program_options.hpp>

#include "cli/failure.hpp"
#include "cli/verb.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;

ExitCode run_agent_verb(const Invocation& invocation) {
  if (!invocation.has("stdio")) {
    throw usage_error("an agent talks through its standard input and output alone",
                      "usage: linerate agent --stdio, as `measure` starts it with "
                      "lab {type: hosts}");
  }
  return realnet::run_agent(STDIN_FILENO, STDOUT_FILENO) == 0 ? ExitCode::holds : ExitCode::refused;
}

void agent_options(po::options_description_easy_init add) {
  add("stdio", "talk through standard input and output");
}

}  // namespace

const Verb agent_verb{
    "agent",
    "agent --stdio",
    "one host's part of a measurement",
    "`measure` starts it on every host of lab {type: hosts} through your own ssh, or the command\n"
    "the file gives. It opens no port of its own, runs what it is told on its standard input, and\n"
    "ends when that is closed.",
    false,
    0,
    0,
    agent_options,
    run_agent_verb};

}  // namespace linerate::cli
