#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

#include "cli/failure.hpp"
#include "cli/interrupt.hpp"
#include "cli/verb.hpp"
#include "experiments/definition/nearest.hpp"
#include "experiments/results/json.hpp"
#include "realnet/measure.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;
using Words = std::vector<std::string>;

constexpr std::array kVerbs{&quick_verb,     &init_verb,    &check_verb,    &predict_verb,
                            &measure_verb,   &compare_verb, &validate_verb, &explain_verb,
                            &calibrate_verb, &import_verb,  &report_verb,   &probe_verb,
                            &agent_verb,     &catalog_verb};

po::options_description options_of(const Verb& verb) {
  po::options_description options("Options", 96, 60);
  auto add = options.add_options();
  if (verb.options != nullptr) verb.options(add);
  if (verb.takes_experiment)
    add("set", po::value<Words>()->composing()->value_name("PATH=VALUE"),
        "change one value of the experiment; may be repeated")(
        "overlay", po::value<Words>()->composing()->value_name("FILE"),
        "merge another file over the experiment; may be repeated")(
        "seed", po::value<std::string>()->value_name("N"), "seed of every random stream");
  add("output,o", po::value<std::string>()->value_name("FILE"),
      "write the document to FILE (complete or not at all)")(
      "json", po::bool_switch(), "one JSON document on standard output, errors too")(
      "quiet", po::bool_switch(), "no text and no progress; errors, --json and -o remain")(
      "progress", po::value<std::string>()->value_name("HOW"),
      "auto (a line if standard error is a terminal), json or none")("help,h", po::bool_switch(),
                                                                     "this help");
  return options;
}

std::string general_help() {
  std::string text =
      "linerate predicts how fast a network really goes, measures it, and says how far apart the "
      "two are.\n\nUsage: linerate VERB [arguments] [options]\n\n";
  for (const Verb* verb : kVerbs) text += fmt::format("  {:<9} {}\n", verb->name, verb->summary);
  text +=
      "  help      what a verb does: linerate help VERB\n\n"
      "Exit codes: 0 done, all judged holds; 1 an assertion or tolerance is missed; 2 bad usage "
      "or\n"
      "bad file; 3 the environment refused; 4 a bug; 5 inconclusive; 130/143 interrupted.\n";
  return text;
}

std::string help_of(const Verb& verb) {
  std::ostringstream options;
  options << options_of(verb);
  return fmt::format("{}\n\nUsage: linerate {} [options]\n\n{}\n\n{}", verb.summary, verb.usage,
                     verb.description, options.str());
}

Words verb_names() {
  Words names{"help"};
  for (const Verb* verb : kVerbs) names.emplace_back(verb->name);
  return names;
}

const Verb& find_verb(const std::string& name) {
  for (const Verb* verb : kVerbs)
    if (name == verb->name) return *verb;
  std::string remedy = experiments::suggest(name, verb_names());
  if (remedy.empty()) remedy = "`linerate help` lists the verbs";
  throw usage_error("there is no verb `" + name + "`", std::move(remedy));
}

/// Boost names a mistyped option; we add the nearest one that exists.
Failure option_failure(const po::error& error, const Verb& verb) {
  const auto* named = dynamic_cast<const po::unknown_option*>(&error);
  if (named == nullptr)
    return usage_error(error.what(), fmt::format("see `linerate help {}`", verb.name));
  const std::string given = named->get_option_name();
  Words known;
  const po::options_description options = options_of(verb);
  for (const auto& option : options.options()) known.push_back("--" + option->long_name());
  std::string remedy = experiments::suggest(given, known);
  if (remedy.empty()) remedy = fmt::format("`linerate help {}` lists them", verb.name);
  return usage_error(fmt::format("`{}` has no option `{}`", verb.name, given), std::move(remedy));
}

po::variables_map parse_words(const Verb& verb, const Words& words) {
  namespace style = po::command_line_style;
  // Guessing is off: an abbreviation in a script would change its meaning with the next option.
  const int kStyle = style::unix_style & ~style::allow_guessing;
  // What was parsed points into the description, which therefore has to live as long.
  po::options_description options = options_of(verb);
  options.add_options()("argument", po::value<Words>());
  po::positional_options_description positional;
  positional.add("argument", -1);
  try {
    po::variables_map values;
    po::store(
        po::command_line_parser(words).options(options).positional(positional).style(kStyle).run(),
        values);
    return values;
  } catch (const po::error& error) {
    throw option_failure(error, verb);
  }
}

ProgressMode progress_mode(const std::string& word) {
  if (word == "auto") return ProgressMode::automatic;
  if (word == "json") return ProgressMode::json;
  if (word == "none") return ProgressMode::none;
  throw usage_error("--progress is auto, json or none, not `" + word + "`",
                    experiments::suggest(word, {"auto", "json", "none"}));
}

std::optional<std::uint64_t> seed_of(const po::variables_map& values) {
  if (values.count("seed") == 0) return std::nullopt;
  const std::string& text = values["seed"].as<std::string>();
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc{} || stopped != end)
    throw usage_error("--seed is a whole number from 0 to 18446744073709551615, not `" + text +
                      "`");
  return seed;
}

void check_argument_count(const Verb& verb, const Words& arguments) {
  const std::string remedy = fmt::format("usage: linerate {} [options]", verb.usage);
  if (arguments.size() < verb.least_arguments)
    throw usage_error(fmt::format("`{}` needs an argument more", verb.name), remedy);
  if (arguments.size() > verb.most_arguments)
    throw usage_error(
        fmt::format("`{}` has no use for `{}`", verb.name, arguments[verb.most_arguments]), remedy);
}

/// A slip of the shell's history must not cost the experiment it was about.
void check_not_overwritten(const Words& inputs, const std::string& output) {
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(input, ignored) &&
        std::filesystem::equivalent(input, output, ignored))
      throw file_error(ExitCode::bad_input, output, "is read and would be overwritten by -o",
                       "choose another name");
  }
}

OutputOptions output_options(const po::variables_map& values) {
  OutputOptions output;
  output.json = values["json"].as<bool>();
  output.quiet = values["quiet"].as<bool>();
  if (values.count("output") > 0) output.file = values["output"].as<std::string>();
  if (values.count("progress") > 0)
    output.progress = progress_mode(values["progress"].as<std::string>());
  return output;
}

ExitCode run_verb(const Verb& verb, const Words& words) {
  const po::variables_map values = parse_words(verb, words);
  if (values["help"].as<bool>()) {
    write_standard_output(help_of(verb));
    return ExitCode::holds;
  }
  const Console console(output_options(values));
  Invocation invocation{values, {}, {}, console};
  if (values.count("argument") > 0) invocation.arguments = values["argument"].as<Words>();
  invocation.parse.set = invocation.list("set");
  invocation.parse.overlays = invocation.list("overlay");
  invocation.parse.seed = seed_of(values);
  check_argument_count(verb, invocation.arguments);
  for (const std::string& overlay : invocation.parse.overlays) check_readable(overlay);
  if (values.count("output") > 0) check_writable(console.options().file);
  check_not_overwritten(invocation.arguments, console.options().file);
  check_not_overwritten(invocation.parse.overlays, console.options().file);
  return verb.run(invocation);
}

ExitCode help(const Words& words) {
  if (words.size() > 1) throw usage_error("`help` explains one verb at a time");
  write_standard_output(words.empty() || words[0] == "help" ? general_help()
                                                            : help_of(find_verb(words[0])));
  return ExitCode::holds;
}

ExitCode dispatch(const Words& words) {
  if (words.empty()) {
    write_standard_error(general_help());
    return ExitCode::bad_input;
  }
  const std::string& first = words[0];
  const Words rest(words.begin() + 1, words.end());
  if (first == "--version" || first == "-V") {
    write_standard_output("linerate " LINERATE_VERSION "\n");
    return ExitCode::holds;
  }
  if (first == "help" || first == "--help" || first == "-h") return help(rest);
  if (first.starts_with('-'))
    throw usage_error("a verb comes before the options", "`linerate help` lists the verbs");
  return run_verb(find_verb(first), rest);
}

/// Errors go to standard error as text; with --json the same content is the one JSON document on
/// standard output, so that a reader of it never finds nothing.
ExitCode report(const Failure& failure, bool json) {
  for (const auto& diagnostic : failure.diagnostics())
    write_standard_error("linerate: " + experiments::format(diagnostic) + "\n");
  if (json && !failure.diagnostics().empty())
    write_standard_output(error_document(failure.code(), failure.diagnostics()));
  return failure.code();
}

ExitCode run_and_report(const Words& words, bool json) {
  try {
    return dispatch(words);
  } catch (const Failure& failure) {
    return report(failure, json);
  } catch (const experiments::DefinitionError& error) {
    // A signal makes the reading of a pipe fail, which is no fault of the file.
    const ExitCode code = stop_requested() ? interrupt_code() : ExitCode::bad_input;
    return report(Failure(code, error.diagnostics()), json);
  } catch (const experiments::ResultFormatError& error) {
    return report(usage_error(error.what()), json);
  } catch (const realnet::EnvironmentError& error) {
    return report(file_error(ExitCode::refused, {}, error.what()), json);
  } catch (const std::system_error& error) {
    // A failed system call is the machine's answer, not our bug.
    return report(file_error(ExitCode::refused, {}, error.what()), json);
  } catch (const std::exception& error) {
    return report(file_error(ExitCode::bug, {}, std::string("a bug in linerate: ") + error.what(),
                             "please report it with the experiment file"),
                  json);
  }
}

}  // namespace

std::span<const Verb* const> verbs() { return kVerbs; }

int run(const std::vector<std::string>& arguments) {
  // Known before the options are parsed, because parsing them may be what fails.
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  install_signal_handlers(json);
  try {
    return static_cast<int>(run_and_report(arguments, json));
  } catch (const Failure& failure) {
    // Standard output itself failed while an error was reported.
    return static_cast<int>(failure.code());
  }
}

}  // namespace linerate::cli
