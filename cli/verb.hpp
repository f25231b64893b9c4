// A verb of the command line: its words for the help, its options, and what it does.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/exit_code.hpp"
#include "experiments/definition/parse.hpp"

namespace linerate::cli {

/// A command line taken apart for one verb.
struct Invocation {
  boost::program_options::variables_map values;  ///< the verb's own options
  std::vector<std::string> arguments;            ///< what is no option, in order
  experiments::ParseOptions parse;               ///< --set, --overlay, --seed
  const Console& console;

  bool has(const char* option) const { return values.count(option) > 0; }
  /// The value of a text option, or `otherwise`.
  std::string text(const char* option, const std::string& otherwise = {}) const {
    return has(option) ? values[option].as<std::string>() : otherwise;
  }
  /// Every value of a repeatable option.
  std::vector<std::string> list(const char* option) const {
    return has(option) ? values[option].as<std::vector<std::string>>() : std::vector<std::string>{};
  }
};

struct Verb {
  const char* name;
  const char* usage;        ///< "predict EXPERIMENT"
  const char* summary;      ///< one line of the list of verbs
  const char* description;  ///< what `help VERB` adds; ends without a newline
  bool takes_experiment;    ///< has --set, --overlay and --seed
  std::size_t least_arguments, most_arguments;
  void (*options)(boost::program_options::options_description_easy_init);  ///< may be null
  ExitCode (*run)(const Invocation&);
};

extern const Verb quick_verb, init_verb, check_verb, predict_verb, measure_verb, compare_verb,
    validate_verb, explain_verb, calibrate_verb, import_verb, report_verb, probe_verb, agent_verb,
    catalog_verb;

/// Every verb, in the order of the help.
std::span<const Verb* const> verbs();

}  // namespace linerate::cli
