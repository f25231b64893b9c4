// `catalog`: the profiles and presets that an experiment can name, and what stands in them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cli/failure.hpp"
#include "cli/verb.hpp"
#include "experiments/catalog/embedded.hpp"
#include "experiments/definition/catalog_search.hpp"

namespace linerate::cli {
namespace {

/// "hosts" and "raspberry-4" of experiments/catalog/hosts/raspberry-4.yaml.
struct CatalogEntry {
  std::string kind, name;
  std::string_view text;
};

std::vector<CatalogEntry> catalog_entries() {
  std::vector<CatalogEntry> entries;
  for (const auto& [path, text] : experiments::embedded_files()) {
    const std::filesystem::path file(path);
    const std::filesystem::path folder = file.parent_path();
    if (folder.parent_path() == "experiments/catalog")
      entries.push_back({folder.filename().string(), file.stem().string(), text});
  }
  return entries;
}

std::string unquoted(std::string_view text) {
  if (text.size() > 1 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

/// What an entry says it is about.
std::string about_line(std::string_view text) {
  constexpr std::string_view kKey = "about: ";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(kKey)) return unquoted(line.substr(kKey.size()));
    at = end + 1;
  }
  return {};
}

template <class Of>
std::vector<std::string> distinct(const std::vector<CatalogEntry>& entries, Of of) {
  std::vector<std::string> names;
  for (const CatalogEntry& entry : entries) names.push_back(entry.*of);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Entries of a kind, or about something; empty: all.
ExitCode list_catalog(const Invocation& invocation, const std::string& kind,
                      const std::string& about = {}) {
  const std::vector<std::string> found = experiments::catalog_matches({}, about);
  std::string text, before;
  auto list = nlohmann::ordered_json::array();
  for (const CatalogEntry& entry : catalog_entries()) {
    if (!kind.empty() && entry.kind != kind) continue;
    if (!about.empty() && std::find(found.begin(), found.end(), entry.name) == found.end())
      continue;
    if (entry.kind != before) text += fmt::format("{}{}\n", before.empty() ? "" : "\n", entry.kind);
    before = entry.kind;
    text += fmt::format("  {:<22} {}\n", entry.name, about_line(entry.text));
    list.push_back({{"kind", entry.kind}, {"name", entry.name}, {"about", about_line(entry.text)}});
  }
  const nlohmann::ordered_json document{
      {"schema_version", 1}, {"kind", "catalog"}, {"entries", std::move(list)}};
  invocation.console.deliver(text, document.dump(2) + "\n");
  return ExitCode::holds;
}

ExitCode run_catalog(const Invocation& invocation) {
  const std::vector<CatalogEntry> entries = catalog_entries();
  if (invocation.arguments.empty()) return list_catalog(invocation, {});
  const std::string& name = invocation.arguments[0];
  const std::vector<std::string> kinds = distinct(entries, &CatalogEntry::kind);
  if (std::find(kinds.begin(), kinds.end(), name) != kinds.end())
    return list_catalog(invocation, name);
  std::string text;
  for (const CatalogEntry& entry : entries)
    if (entry.name == name) text += fmt::format("# {}/{}\n{}", entry.kind, entry.name, entry.text);
  if (text.empty()) {
    if (!experiments::catalog_matches({}, name).empty()) return list_catalog(invocation, {}, name);
    throw usage_error("the catalog has no `" + name + "`",
                      experiments::suggest_entry({}, name, distinct(entries, &CatalogEntry::name)));
  }
  invocation.console.deliver(text);
  return ExitCode::holds;
}

}  // namespace

const Verb catalog_verb{
    "catalog",
    "catalog [KIND|NAME|WORDS]",
    "list the profiles an experiment can name, or print one",
    "Lists hosts, nics, stacks and other profiles with what they are about, all or of one KIND;\n"
    "NAME prints that profile, with the source of every number; WORDS, such as 'Pi 4' or x520, "
    "list\n"
    "what is about them. Example: linerate catalog nics",
    false,
    0,
    1,
    nullptr,
    run_catalog};

}  // namespace linerate::cli
