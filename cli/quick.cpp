// `quick`: no file. Letters as iperf3 has them become an experiment, which is predicted or
// measured.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <string_view>

#include "cli/encapsulation_letters.hpp"
#include "cli/experiment_run.hpp"
#include "cli/explanation.hpp"
#include "cli/failure.hpp"
#include "cli/interrupt.hpp"
#include "cli/verb.hpp"
#include "experiments/definition/lint.hpp"
#include "experiments/results/json.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;
using experiments::Diagnostic;

constexpr const char* kSource = "quick";

/// An option and the key of the generated experiment it becomes.
struct Letter {
  const char* option;    ///< as Boost knows it
  const char* spelling;  ///< as people write it
  const char* key;
  const char* unit;  ///< what iperf3 means by a bare number here; "" when it needs a unit
};

constexpr std::array kTestLetters{
    Letter{"time", "-t", "duration", "s"},
    Letter{"omit", "-O", "omit", "s"},
    Letter{"bytes", "-n", "bytes", "B"},
    Letter{"length", "-l", "write", "B"},
    Letter{"window", "-w", "socket_buffer", "B"},
    Letter{"set-mss", "-M", "max_segment", "B"},
    Letter{"parallel", "-P", "flows", ""},
    Letter{"congestion", "-C", "congestion", ""},
    Letter{"ip", "--ip", "ip", ""},
};
constexpr std::array kLinkLetters{
    Letter{"rate", "--rate", "rate", ""}, Letter{"medium", "--medium", "medium", ""},
    Letter{"delay", "--delay", "delay", ""}, Letter{"loss", "--loss", "loss", ""}};
constexpr std::array kNicLetters{Letter{"mtu", "--mtu", "mtu", ""},
                                 Letter{"vlan", "--vlan", "vlan", ""}};
constexpr std::array kHostLetters{Letter{"stack", "--stack", "stack", ""}};

/// Digits, with a decimal point or without.
bool is_number(std::string_view text) {
  const bool digits =
      std::any_of(text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; });
  return digits && text.find_first_not_of("0123456789.") == std::string_view::npos &&
         std::count(text.begin(), text.end(), '.') <= 1;
}

/// A YAML scalar: plain where that is safe, else quoted, so that a value stays one value.
std::string scalar(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./%_+-";
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string::npos &&
                     text.front() != '-' && text.front() != '%';
  if (plain) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// ", key: value" for every option given.
template <class Letters>
std::string fields(const Invocation& invocation, const Letters& letters) {
  std::string text;
  for (const Letter& letter : letters) {
    if (!invocation.has(letter.option)) continue;
    std::string value = invocation.text(letter.option);
    if (is_number(value)) value += letter.unit;
    text += fmt::format(", {}: {}", letter.key, scalar(value));
  }
  return text;
}

std::string experiment_text(const Invocation& invocation) {
  if (invocation.has("rate") && invocation.has("medium"))
    throw usage_error("--rate and --medium exclude each other: a medium has its rate");
  if (invocation.has("print") &&
      !(invocation.parse.set.empty() && invocation.parse.overlays.empty()))
    throw usage_error("--print shows what the letters become, without --set and --overlay",
                      "give them to `predict` with the printed file");
  if (invocation.has("time") && invocation.has("bytes"))
    throw usage_error("-t and -n exclude each other");
  std::string link = fields(invocation, kLinkLetters);
  if (!invocation.has("rate") && !invocation.has("medium")) link = ", rate: 1Gbit/s" + link;
  std::string test = fields(invocation, kTestLetters);
  // Long enough for slow start to be over and short enough to wait for.
  if (!invocation.has("time") && !invocation.has("bytes")) {
    test += ", duration: 3s";
    if (!invocation.has("omit")) test += ", omit: 1s";
  }
  if (invocation.has("reverse")) test += ", direction: reverse";
  if (invocation.has("no-delay")) test += ", no_delay: true";
  if (invocation.has("measure")) test += ", repeats: 1";
  std::string nic = fields(invocation, kNicLetters);
  if (invocation.has("encapsulation"))
    nic += ", encapsulation: " + encapsulation_list(invocation.text("encapsulation"));
  const std::string seed =
      invocation.parse.seed ? fmt::format("seed: {}\n", *invocation.parse.seed) : "";
  const std::string stack = invocation.has("stack") ? "" : ", stack: linux-6";
  // Without root there are no virtual links: both ends then run here, over no link at all.
  const std::string lab = !invocation.has("measure") ? ""
                          : ::geteuid() == 0         ? "lab: {type: netns}\n"
                                                     : "lab: {type: loopback}\n";
  return fmt::format(
      "schema_version: 1\n"
      "name: quick\n"
      "{}"
      "hosts:\n"
      "  a: {{profile: ideal{}{}, nics: {{eth0: {{profile: ideal{}}}}}}}\n"
      "  b: {{like: a}}\n"
      "links:\n"
      "  - {{endpoints: [\"a:eth0\", \"b:eth0\"]{}}}\n"
      "tests:\n"
      "  - {{name: flow, type: tcp-stream, from: a, to: b{}}}\n"
      "{}",
      seed, stack, fields(invocation, kHostLetters), nic, link, test, lab);
}

/// Errors name the option, not a place in a text the user never saw.
std::vector<Diagnostic> in_letters(std::vector<Diagnostic> diagnostics) {
  const auto rename = [](Diagnostic& diagnostic, const auto& letters) {
    const std::string path = "." + diagnostic.path + ".";
    for (const Letter& letter : letters)
      if (path.find(fmt::format(".{}.", letter.key)) != std::string::npos)
        diagnostic.path = letter.spelling;
  };
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.origin.source != kSource) continue;
    diagnostic.origin = {};
    rename(diagnostic, kTestLetters);
    rename(diagnostic, kLinkLetters);
    rename(diagnostic, kNicLetters);
    rename(diagnostic, kHostLetters);
    if (diagnostic.path.find(".encapsulation") != std::string::npos)
      diagnostic.path = "--encapsulation";
  }
  // What is wrong with both hosts is one option.
  diagnostics.erase(std::unique(diagnostics.begin(), diagnostics.end()), diagnostics.end());
  return diagnostics;
}

ExitCode run_quick(const Invocation& invocation) {
  const std::string text = experiment_text(invocation);
  experiments::Experiment experiment;
  try {
    experiment = experiments::parse_experiment(text, kSource, invocation.parse);
  } catch (const experiments::DefinitionError& error) {
    throw Failure(ExitCode::bad_input, in_letters(error.diagnostics()));
  }
  if (invocation.has("print")) {
    invocation.console.deliver(text);
    return ExitCode::holds;
  }
  invocation.console.warn(in_letters(experiments::lint(experiment)));
  const experiments::Result result = invocation.has("measure")
                                         ? measure(experiment, invocation.console)
                                         : predict(experiment, invocation.console);
  std::string shown;
  for (const auto& test : result.tests) {
    shown += summary_of(test);
    if (invocation.has("encapsulation")) shown += byte_ledger(test);
  }
  invocation.console.deliver(shown, experiments::to_json(result));
  return stop_requested() ? interrupt_code() : code_of_notes(result);
}

void quick_options(po::options_description_easy_init add) {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  add("rate", text("RATE"), "bandwidth of the link, 1Gbit/s unless given");
  add("medium", text("NAME"), "medium of the link instead of a rate, 1000BASE-T");
  add("delay", text("TIME"), "delay added one way, 10ms");
  add("loss", text("SHARE"), "frames lost each way, 0.1%");
  add("mtu", text("SIZE"), "largest IP packet, 1500B unless given");
  add("vlan", text("ID"), "802.1Q tag");
  add("encapsulation", text("LAYERS"),
      "around IP packets, from the packet outwards: vxlan,esp=gcm+nat-traversal; prints where "
      "every "
      "byte goes");
  add("ip", text("VERSION"), "4 or 6");
  add("stack", text("NAME"), "TCP stack of both hosts, linux-6 unless given");
  add("time,t", text("TIME"), "how long to send; a bare number is seconds; 3s unless given");
  add("omit,O", text("TIME"), "leave out the start; a bare number is seconds");
  add("bytes,n", text("SIZE"), "how much to send, instead of -t; a bare number is bytes");
  add("parallel,P", text("N"), "flows side by side");
  add("reverse,R", "b sends, a receives");
  add("length,l", text("SIZE"), "size of a write; a bare number is bytes");
  add("window,w", text("SIZE"), "socket buffers, as setsockopt has them; a bare number is bytes");
  add("set-mss,M", text("SIZE"), "largest segment; a bare number is bytes");
  add("no-delay,N", "send short segments at once");
  add("congestion,C", text("NAME"), "congestion control, reno or cubic");
  add("measure",
      "run it on real sockets: between two network namespaces, or without root over loopback");
  add("print", "print the experiment file instead of running it");
}

}  // namespace

const Verb quick_verb{
    "quick",
    "quick",
    "goodput and byte ledger of one TCP flow, without a file",
    "Two ideal hosts and one link, predicted, or with --measure run for real. The letters are "
    "those\n"
    "of iperf3; quantities carry units, and where a bare number has one meaning in iperf3 (-t 10,\n"
    "-l 1460) it keeps it.\n"
    "Example: linerate quick --rate 100Mbit/s --delay 10ms -P 4",
    true,
    0,
    0,
    quick_options,
    run_quick};

}  // namespace linerate::cli
