// Where things stand in the files read, and the errors found so far.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "experiments/definition/parse.hpp"

namespace linerate::experiments {

/// A position in one of the texts read. Lines and columns count from 1; line 0: the text has none
/// (a `--set`, a built-in default).
struct Place {
  int source = 0;  ///< index into Diagnostics' list of sources
  int line = 0;
  int column = 0;
  bool operator==(const Place&) const = default;
};

/// Collects every error of a run, so that a user sees all of them at once. Memory is bounded: past
/// a limit errors are only counted.
class Diagnostics {
 public:
  /// Registers a text by the name that errors and origins show. Index 0 is "built-in default".
  int add_source(std::string name);
  Origin origin(Place place) const;

  void error(Place place, std::string path, std::string message, std::string remedy = {});
  bool empty() const { return count_ == 0; }
  /// Whether an error concerns `path` or anything below it: later checks then keep quiet about it.
  bool touched(const std::string& path) const;
  /// So many errors that finding remedies for more is wasted work.
  bool crowded() const { return count_ > 1000; }
  /// Throws DefinitionError with the errors in file order, the first hundred of them.
  void throw_if_any() const;

 private:
  struct Entry {
    Place place;
    Diagnostic diagnostic;
  };
  std::vector<std::string> sources_{"built-in default"};
  std::vector<Entry> entries_;
  std::set<std::string> paths_;
  std::size_t count_ = 0;
};

}  // namespace linerate::experiments
