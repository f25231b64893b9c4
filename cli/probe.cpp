// `probe`: a machine as a host of an experiment.
#include "realnet/probe/probe.hpp"

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include "cli/failure.hpp"
#include "cli/verb.hpp"
#include "realnet/remote/program.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;

constexpr Time kProbePatience = Time::seconds(60);
constexpr Bytes kLongestProbe{1 << 20};

std::string remote_block(const Invocation& invocation) {
  std::vector<std::string> command{"linerate", "probe"};
  if (invocation.has("name")) command.insert(command.end(), {"--name", invocation.text("name")});
  return realnet::output_of(realnet::over_ssh(invocation.text("ssh"), command), kProbePatience,
                            kLongestProbe);
}

ExitCode run_probe(const Invocation& invocation) {
  const std::string name = invocation.text("name");
  const bool legal =
      !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (invocation.has("name") && !legal) {
    throw usage_error("`" + name + "` is no name of a host",
                      "a host's name has small letters, digits and `-`, and begins with a letter");
  }
  const std::string block = invocation.has("ssh")
                                ? remote_block(invocation)
                                : realnet::host_block(realnet::probe_machine(), name);
  const nlohmann::ordered_json document{{"schema_version", 1}, {"kind", "probe"}, {"yaml", block}};
  invocation.console.deliver(block, document.dump(2) + "\n");
  return ExitCode::holds;
}

void probe_options(po::options_description_easy_init add) {
  add("name", po::value<std::string>()->value_name("NAME"),
      "of the host in the block; the machine's own name unless given");
  add("ssh", po::value<std::string>()->value_name("HOST"),
      "probe HOST, where linerate is installed, through your own ssh");
}

}  // namespace

const Verb probe_verb{
    "probe",
    "probe [--ssh HOST]",
    "print a machine as a host of an experiment",
    "Prints a `hosts:` block with cores, stack, bus and network interfaces as the kernel and the\n"
    "drivers describe them, for an experiment or an overlay; what has no key stands in comments.\n"
    "Changes nothing. Example: linerate probe --name a > a.yaml\n"
    "         linerate predict exp.yaml --overlay a.yaml",
    false,
    0,
    0,
    probe_options,
    run_probe};

}  // namespace linerate::cli
