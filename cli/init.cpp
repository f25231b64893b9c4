// `init`: a commented template to start from.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/failure.hpp"
#include "cli/verb.hpp"
#include "experiments/catalog/embedded.hpp"
#include "experiments/definition/nearest.hpp"

namespace linerate::cli {
namespace {

namespace po = boost::program_options;

/// Text of every template by its name, "two-hosts".
std::map<std::string, std::string_view> templates() {
  constexpr std::string_view kFolder = "experiments/library/templates/";
  std::map<std::string, std::string_view> found;
  for (const auto& [path, text] : experiments::embedded_files())
    if (path.starts_with(kFolder)) found.emplace(std::filesystem::path(path).stem().string(), text);
  return found;
}

/// The first sentence of a template's opening comment.
std::string words_of(std::string_view text) {
  std::string words;
  while (text.starts_with("# ")) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(2, end - 2);
    text.remove_prefix(std::min(end + 1, text.size()));
    // The first line may be an editor's modeline, which says nothing to people.
    if (line.starts_with("yaml-language-server")) continue;
    words += (words.empty() ? "" : " ") + std::string(line);
    for (const char* stop : {". ", "? "})
      if (const std::size_t at = words.find(stop); at != std::string::npos) words.resize(at + 1);
    if (words.ends_with('.') || words.ends_with('?')) break;
  }
  return words;
}

ExitCode list_templates(const Invocation& invocation) {
  std::string text;
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, content] : templates()) {
    text += fmt::format("{:<16} {}\n", name, words_of(content));
    list.push_back({{"name", name}, {"description", words_of(content)}});
  }
  const nlohmann::ordered_json document{
      {"schema_version", 1}, {"kind", "templates"}, {"templates", std::move(list)}};
  invocation.console.deliver(text, document.dump(2) + "\n");
  return ExitCode::holds;
}

ExitCode run_init(const Invocation& invocation) {
  if (invocation.has("list")) return list_templates(invocation);
  if (invocation.arguments.empty())
    throw usage_error("`init` needs the name of a template", "`linerate init --list` shows them");
  const auto known = templates();
  const std::string& name = invocation.arguments[0];
  const auto found = known.find(name);
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const auto& entry : known) names.push_back(entry.first);
    std::string remedy = experiments::suggest(name, names);
    if (remedy.empty()) remedy = "`linerate init --list` shows them";
    throw usage_error("there is no template `" + name + "`", std::move(remedy));
  }
  const OutputOptions& output = invocation.console.options();
  // A file made by hand is worth more than a template.
  if (std::filesystem::is_regular_file(output.file) && !invocation.has("force"))
    throw file_error(ExitCode::bad_input, output.file, "exists already",
                     "choose another name, or add --force to replace it");
  invocation.console.deliver(found->second);
  return ExitCode::holds;
}

void init_options(po::options_description_easy_init add) {
  add("list", "list the templates")("force", "let -o replace a file");
}

}  // namespace

const Verb init_verb{"init",
                     "init TEMPLATE",
                     "print a commented experiment file to start from",
                     "Prints the template on standard output, or writes it to the -o file.\n"
                     "Example: linerate init two-hosts > exp.yaml",
                     false,
                     0,
                     1,
                     init_options,
                     run_init};

}  // namespace linerate::cli
