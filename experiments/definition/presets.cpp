#include "experiments/definition/presets.hpp"

#include <algorithm>
#include <filesystem>

#include "experiments/catalog/embedded.hpp"
#include "experiments/definition/text_file.hpp"

namespace linerate::experiments {

namespace {

/// A name that stays inside its folder: "linux-2.4", never "../secret".
bool is_file_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

std::string catalog_folder(const std::string& folder) {
  return "experiments/catalog/" + folder + "/";
}

}  // namespace

Presets::Presets(Diagnostics& diagnostics, std::string directory)
    : diagnostics_(diagnostics), directory_(std::move(directory)) {}

const Node* Presets::find(const std::string& folder, const std::string& name) {
  const auto [entry, added] = loaded_.try_emplace({folder, name});
  if (added && is_file_name(name)) entry->second = load(folder, name);
  return entry->second.tree ? &*entry->second.tree : nullptr;
}

bool Presets::broken(const std::string& folder, const std::string& name) const {
  const auto found = loaded_.find({folder, name});
  return found != loaded_.end() && found->second.exists && !found->second.tree;
}

Presets::Entry Presets::load(const std::string& folder, const std::string& name) {
  if (!directory_.empty()) {
    const std::string path = directory_ + "/profiles/" + name + ".yaml";
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) {
      const int source = diagnostics_.add_source(path);
      const std::optional<std::string> text = read_text_file(path, source, diagnostics_);
      return {true, text ? read_yaml(*text, source, diagnostics_) : std::nullopt};
    }
  }
  const auto& files = embedded_files();
  const auto found = files.find(catalog_folder(folder) + name + ".yaml");
  if (found == files.end()) return {};
  const int source = diagnostics_.add_source("catalog " + folder + "/" + name);
  return {true, read_yaml(found->second, source, diagnostics_)};
}

std::vector<std::string> Presets::names(const std::string& folder) const {
  std::vector<std::string> result;
  const std::string prefix = catalog_folder(folder);
  for (const auto& [path, text] : embedded_files()) {
    if (path.starts_with(prefix) && path.ends_with(".yaml")) {
      result.emplace_back(path.substr(prefix.size(), path.size() - prefix.size() - 5));
    }
  }
  return result;
}

}  // namespace linerate::experiments
