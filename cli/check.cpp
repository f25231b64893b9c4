// `check`: is the experiment well formed, and can it perform as it looks?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include "cli/experiment_run.hpp"
#include "cli/failure.hpp"
#include "cli/verb.hpp"
#include "experiments/definition/lint.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;
using experiments::Diagnostic;
using experiments::Experiment;
using experiments::Origin;
using nlohmann::ordered_json;

/// One parameter of the resolved experiment.
struct Resolved {
  std::string path, value;
  std::vector<std::string> within;  ///< lowest and highest, if it is uncertain
  Origin origin;
};

/// {value, within}: one value and where it may lie.
bool is_uncertain(const ordered_json& node) {
  return node.is_object() && node.contains("value") && node.contains("within");
}

bool is_leaf(const ordered_json& node) {
  if (!node.is_structured()) return true;
  // A list of plain values ("endpoints", "frame_sizes") is one value to its reader.
  return node.is_array() && std::none_of(node.begin(), node.end(), [](const ordered_json& item) {
           return item.is_structured();
         });
}

/// The origin of a path, or of the nearest level above that has one.
Origin origin_of(std::string path, const std::map<std::string, Origin>& origins) {
  for (;;) {
    if (const auto found = origins.find(path); found != origins.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) return {};
    path.resize(dot);
  }
}

std::string text_of(const ordered_json& node) {
  return node.is_string() ? node.get<std::string>() : node.dump();
}

void flatten(const ordered_json& node, const std::string& path, const Experiment& experiment,
             std::vector<Resolved>& rows) {
  if (is_leaf(node)) {
    rows.push_back({path, text_of(node), {}, origin_of(path, experiment.origins)});
    return;
  }
  if (is_uncertain(node)) {
    rows.push_back({path,
                    text_of(node["value"]),
                    {text_of(node["within"][0]), text_of(node["within"][1])},
                    origin_of(path, experiment.origins)});
    return;
  }
  std::size_t index = 0;
  for (const auto& [key, child] : node.items()) {
    // Elements of a list are addressed by name, as in --set.
    std::string step = key;
    if (node.is_array()) {
      const bool named = child.is_object() && child.contains("name") && child["name"].is_string();
      step = named ? child["name"].get<std::string>() : std::to_string(index);
    }
    ++index;
    flatten(child, path.empty() ? step : path + "." + step, experiment, rows);
  }
}

std::string words_of(const Origin& origin) {
  return origin.line > 0 ? fmt::format("{}:{}", origin.source, origin.line) : origin.source;
}

std::vector<Resolved> resolved_parameters(const Experiment& experiment) {
  std::vector<Resolved> rows;
  flatten(ordered_json::parse(experiment.resolved), "", experiment, rows);
  return rows;
}

std::string shown(const Resolved& row) {
  if (row.within.empty()) return row.value;
  return fmt::format("{} ({} .. {})", row.value, row.within[0], row.within[1]);
}

std::string resolved_table(const std::vector<Resolved>& rows) {
  std::size_t path_width = 4, value_width = 5;
  for (const Resolved& row : rows) {
    path_width = std::max(path_width, row.path.size());
    value_width = std::max(value_width, std::min<std::size_t>(shown(row).size(), 32));
  }
  std::string text =
      fmt::format("{:<{}}  {:<{}}  {}\n", "path", path_width, "value", value_width, "origin");
  for (const Resolved& row : rows)
    text += fmt::format("{:<{}}  {:<{}}  {}\n", row.path, path_width, shown(row), value_width,
                        words_of(row.origin));
  return text;
}

ordered_json resolved_json(const std::vector<Resolved>& rows) {
  ordered_json array = ordered_json::array();
  for (const Resolved& row : rows) {
    ordered_json entry{{"path", row.path}, {"value", row.value}, {"origin", row.origin.source}};
    if (!row.within.empty()) entry["within"] = row.within;
    if (row.origin.line > 0) entry["line"] = row.origin.line;
    if (row.origin.column > 0) entry["column"] = row.origin.column;
    array.push_back(std::move(entry));
  }
  return array;
}

std::string counted(std::size_t count, const char* noun, const char* plural) {
  return fmt::format("{} {}", count, count == 1 ? noun : plural);
}

std::string verdict_line(const Experiment& experiment, std::size_t warnings) {
  return fmt::format("{}: {}, {}, {}, {}; {}\n", experiment.name,
                     counted(experiment.hosts.size(), "host", "hosts"),
                     counted(experiment.switches.size(), "switch", "switches"),
                     counted(experiment.links.size(), "link", "links"),
                     counted(experiment.tests.size(), "test", "tests"),
                     warnings == 0 ? "ok" : counted(warnings, "warning", "warnings"));
}

/// Hosts that no CPU cost or bus limits, which `profile: ideal` says and nothing else should mean.
std::string free_hosts_line(const Experiment& experiment) {
  std::vector<std::string> names;
  for (const experiments::Host& host : experiment.hosts)
    if (host.profile.empty() && !host.cpu.modelled() && host.forward_frame() == Time{} &&
        host.bus.type == experiments::BusType::none)
      names.push_back(host.name);
  if (names.empty()) return {};
  return fmt::format("no profile and no cpu.costs, so processors and buses set no limit: {}\n",
                     names.size() > 6 ? fmt::format("{} hosts", names.size())
                                      : fmt::format("{}", fmt::join(names, ", ")));
}

ExitCode run_check(const Invocation& invocation) {
  const Console& console = invocation.console;
  if (invocation.has("schema")) {
    if (!invocation.arguments.empty()) throw usage_error("`check --schema` takes no experiment");
    console.deliver(experiments::experiment_schema());
    return ExitCode::holds;
  }
  if (invocation.arguments.empty())
    throw usage_error("`check` needs an experiment file", "usage: linerate check EXPERIMENT");
  const Experiment experiment = load(invocation.arguments[0], invocation);
  const std::vector<Diagnostic> warnings = experiments::lint(experiment);
  console.warn(warnings);

  ordered_json document{{"schema_version", 1},
                        {"kind", "check"},
                        {"name", experiment.name},
                        {"warnings", diagnostics_to_json(warnings)}};
  std::string text = verdict_line(experiment, warnings.size()) + free_hosts_line(experiment);
  if (invocation.has("resolved")) {
    const std::vector<Resolved> rows = resolved_parameters(experiment);
    document["resolved"] = resolved_json(rows);
    text = resolved_table(rows);
  }
  console.deliver(text, document.dump(2) + "\n");
  return invocation.has("strict") && !warnings.empty() ? ExitCode::missed : ExitCode::holds;
}

void check_options(po::options_description_easy_init add) {
  add("strict", "a warning fails with exit code 1");
  add("resolved", "print every parameter with its value and where it comes from");
  add("schema", "print the JSON Schema of experiment files");
}

}  // namespace

const Verb check_verb{"check",
                      "check EXPERIMENT",
                      "check an experiment file: schema, names, and what physics forbids",
                      "Errors (exit code 2) and warnings stand on standard error, each with file, "
                      "line, column, path\n"
                      "and what to do. Example: linerate check exp.yaml --resolved",
                      true,
                      0,
                      1,
                      check_options,
                      run_check};

}  // namespace linerate::cli
