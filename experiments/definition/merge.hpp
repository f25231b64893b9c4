// Trees over trees: overlays, `like:` and `defaults:`. Maps merge, lists replace, null deletes.
#pragma once

#include <cstddef>

#include "experiments/definition/yaml_tree.hpp"

namespace linerate::experiments {

/// Bounds what copies may add to an experiment, so that a short file cannot fill the memory.
class Budget {
 public:
  /// Accounts for a copy of `node`; false (and an error, once) when the experiment has grown too
  /// large.
  bool spend(const Node& node, Diagnostics& diagnostics);
  /// Accounts for one host, switch, link or test made from a pattern.
  bool spend_entry(const Node& node, Diagnostics& diagnostics);
  /// Whether anything was refused, so that the tree is incomplete.
  bool exhausted() const { return reported_; }

 private:
  bool fail(const Node& node, Diagnostics& diagnostics);
  std::size_t nodes_ = 0, bytes_ = 0, entries_ = 0;
  bool reported_ = false;
};

/// Lays `over` on `base`.
void merge(Node& base, const Node& over);

/// Replaces `like: x` in every host, switch, link and test by a copy of x under what the entry says
/// itself, then fills in `defaults:` and removes it. Unknown names and cycles are errors.
void resolve_copies(Node& root, Budget& budget, Diagnostics& diagnostics);

}  // namespace linerate::experiments
