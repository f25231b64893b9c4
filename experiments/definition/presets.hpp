// Starting values by name: the embedded catalog, and ./profiles beside the experiment file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/definition/yaml_tree.hpp"

namespace linerate::experiments {

class Presets {
 public:
  /// `directory` is the one that may hold `profiles/`; empty: only the catalog is used.
  Presets(Diagnostics& diagnostics, std::string directory);

  /// The entry `name` of "hosts", "nics", "switches" or "stacks"; a file of ./profiles comes before
  /// the catalog. nullptr if there is none (or it cannot be read, which is then reported).
  const Node* find(const std::string& folder, const std::string& name);

  /// Whether the entry is there but cannot be read.
  bool broken(const std::string& folder, const std::string& name) const;

  /// The names `find` knows in the catalog's folder.
  std::vector<std::string> names(const std::string& folder) const;

 private:
  struct Entry {
    bool exists = false;
    std::optional<Node> tree;
  };
  Entry load(const std::string& folder, const std::string& name);

  Diagnostics& diagnostics_;
  std::string directory_;
  std::map<std::pair<std::string, std::string>, Entry> loaded_;
};

}  // namespace linerate::experiments
