#include "experiments/definition/parse.hpp"

#include <filesystem>
#include <utility>

#include "experiments/definition/build.hpp"
#include "experiments/definition/field_writer.hpp"
#include "experiments/definition/generate.hpp"
#include "experiments/definition/merge.hpp"
#include "experiments/definition/pattern.hpp"
#include "experiments/definition/settings.hpp"
#include "experiments/definition/text_file.hpp"

namespace linerate::experiments {

namespace {

// The stages, in order. Each takes the tree as the one before left it:
//   1. text and overlays into one tree         3. `--set`
//   2. `topology:`, patterns, `like:`, …       4. fields over presets, 5. names and checks
class Parse {
 public:
  Parse(const std::string& source, const ParseOptions& options)
      : options_(options),
        file_(diagnostics_.add_source(source)),
        presets_(diagnostics_, std::filesystem::path(source).parent_path().string().empty()
                                   ? "."
                                   : std::filesystem::path(source).parent_path().string()) {}

  Experiment from_file(const std::string& path) {
    const std::optional<std::string> text = read_text_file(path, file_, diagnostics_);
    diagnostics_.throw_if_any();
    return from_text(*text);
  }

  Experiment from_text(const std::string& text) {
    Node root = read_layers(text);
    for (const std::string& setting : options_.set)
      if (sets_topology(setting)) apply_setting(root, setting, presets_, diagnostics_);
    generate_topology(root, presets_, diagnostics_);
    diagnostics_.throw_if_any();
    Budget budget;
    expand_patterns(root, budget, diagnostics_);
    resolve_copies(root, budget, diagnostics_);
    if (budget.exhausted()) diagnostics_.throw_if_any();
    name_links(root);
    for (const std::string& setting : options_.set) {
      if (!sets_topology(setting)) apply_setting(root, setting, presets_, diagnostics_);
    }

    ReadContext context{diagnostics_, presets_};
    ExperimentSpec spec;
    read_struct(context, root, "", spec);
    if (options_.seed) set_seed(context, spec);

    Experiment experiment;
    build_experiment(context, spec, experiment);
    diagnostics_.throw_if_any();
    return finish(context, spec, std::move(experiment));
  }

 private:
  Node read_layers(const std::string& text) {
    std::optional<Node> root = read_yaml(text, file_, diagnostics_);
    diagnostics_.throw_if_any();
    check_root(*root);
    for (const std::string& path : options_.overlays) {
      const int source = diagnostics_.add_source(path);
      const std::optional<std::string> over = read_text_file(path, source, diagnostics_);
      const std::optional<Node> tree = over ? read_yaml(*over, source, diagnostics_) : std::nullopt;
      if (!tree) continue;
      check_root(*tree);
      merge(*root, *tree);
    }
    diagnostics_.throw_if_any();
    return std::move(*root);
  }

  void check_root(const Node& root) {
    if (root.is_mapping()) return;
    diagnostics_.error(root.place, "", "an experiment is a mapping of keys to values",
                       "`linerate init` writes a start");
    diagnostics_.throw_if_any();
  }

  /// What `topology:` makes is set before it is made.
  static bool sets_topology(const std::string& setting) {
    return setting.starts_with("topology.") || setting.starts_with("topology=");
  }

  void set_seed(ReadContext& context, ExperimentSpec& spec) {
    const Place place{diagnostics_.add_source("--seed"), 0, 0};
    context.places["seed"] = place;
    // JSON readers keep whole numbers up to 2^53 only, and the seed is part of the result.
    if (*options_.seed > std::uint64_t{1} << 53) {
      diagnostics_.error(place, "seed", "the seed is too large", "at most 2^53");
      return;
    }
    spec.seed = static_cast<std::int64_t>(*options_.seed);
  }

  Experiment finish(ReadContext& context, ExperimentSpec& spec, Experiment&& experiment) {
    FieldWriter fields(context, experiment.resolved, "");
    describe(fields, spec);
    fields.finish();
    experiment.set = options_.set;
    for (const auto& [path, place] : context.places) {
      experiment.origins.emplace_hint(experiment.origins.end(), path, diagnostics_.origin(place));
    }
    return std::move(experiment);
  }

  const ParseOptions& options_;
  Diagnostics diagnostics_;
  int file_;
  Presets presets_;
};

}  // namespace

Experiment load_experiment(const std::string& path, const ParseOptions& options) {
  return Parse(path, options).from_file(path);
}

Experiment parse_experiment(const std::string& text, const std::string& source,
                            const ParseOptions& options) {
  return Parse(source, options).from_text(text);
}

}  // namespace linerate::experiments
