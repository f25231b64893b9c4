// Two hosts on one cable with one test, and what parsing a variation of it gives.
#pragma once

#include <string>
#include <vector>

#include "experiments/definition/parse.hpp"

namespace linerate::experiments {

/// A legal experiment of the given sections; sections left empty are the plain ones.
struct Sections {
  std::string hosts = R"(
  a: {nics: {eth0: {}}}
  b: {nics: {eth0: {}}})";
  std::string links = R"(
  - {endpoints: ["a:eth0", "b:eth0"], medium: 1000BASE-T})";
  std::string tests = R"(
  - {name: bulk, type: tcp-stream, from: a, to: b})";
  std::string more{};

  std::string text() const {
    return "schema_version: 1\nname: sample\nhosts:" + hosts + "\nlinks:" + links +
           "\ntests:" + tests + "\n" + more + "\n";
  }
};

inline Experiment parse(const Sections& sections, const ParseOptions& options = {}) {
  return parse_experiment(sections.text(), "sample.yaml", options);
}

/// Every error as the user reads it; empty if the text is legal.
inline std::vector<std::string> errors_of(const std::string& text,
                                          const ParseOptions& options = {}) {
  std::vector<std::string> result;
  try {
    parse_experiment(text, "sample.yaml", options);
  } catch (const DefinitionError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) result.push_back(format(diagnostic));
  }
  return result;
}

inline std::vector<std::string> errors_of(const Sections& sections,
                                          const ParseOptions& options = {}) {
  return errors_of(sections.text(), options);
}

using Lines = std::vector<std::string>;

}  // namespace linerate::experiments
