// experiments/definition/: the experiment file. From text to an Experiment: YAML, overlays,
// patterns, like:, --set, presets, checks. Knows the file's language and what is a legal network;
// knows nothing of how one is simulated or measured.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"

namespace linerate::experiments {

/// One thing wrong (or suspicious) with an experiment, where it stands and what to do.
struct Diagnostic {
  Origin origin;
  std::string path;     ///< "hosts.a.nics.eth0.mtu"; empty for a syntax error
  std::string message;  ///< what is wrong, with the figures
  std::string remedy;   ///< the nearest known key or the right spelling; may be empty
  bool operator==(const Diagnostic&) const = default;
};

/// "file.yaml:12:5: hosts.a.nics.eth0.mtu: a size needs a unit; write 1500B"
std::string format(const Diagnostic& diagnostic);

/// Everything wrong with an experiment, in file order. The command line exits with 2.
class DefinitionError : public std::runtime_error {
 public:
  explicit DefinitionError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

struct ParseOptions {
  std::vector<std::string> set{};       ///< "tests.bulk.write=64KiB", in order
  std::vector<std::string> overlays{};  ///< files merged over the experiment, in order
  std::optional<std::uint64_t> seed{};
};

/// Reads, merges and checks an experiment file. Throws DefinitionError with every error found.
Experiment load_experiment(const std::string& path, const ParseOptions& options = {});

/// The same from memory; `source` names the text in diagnostics.
Experiment parse_experiment(const std::string& text, const std::string& source,
                            const ParseOptions& options = {});

/// JSON Schema draft-07 of the experiment file, generated from the field tables.
std::string experiment_schema();

}  // namespace linerate::experiments
