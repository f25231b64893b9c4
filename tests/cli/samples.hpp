// Small experiment and result files for the tests of the command line.
#pragma once

#include <string>

#include "experiments/results/json.hpp"
#include "experiments/results/result.hpp"

namespace linerate::tests {

/// Two hosts on one 100 Mbit/s link for a short while; `more` is added at the end.
inline std::string experiment_text(const std::string& more = {}) {
  return "schema_version: 1\n"
         "name: pair\n"
         "hosts:\n"
         "  a: {profile: ideal, stack: linux-6, nics: {eth0: {profile: generic-100m}}}\n"
         "  b: {like: a}\n"
         "links:\n"
         "  - {endpoints: [\"a:eth0\", \"b:eth0\"], medium: 100BASE-TX}\n"
         "tests:\n"
         "  - {name: bulk, type: tcp-stream, from: a, to: b, duration: 1500ms, omit: 500ms, "
         "repeats: 1}\n" +
         more;
}

/// A result with one figure, bulk.goodput in bit/s.
inline std::string result_text(experiments::Backend backend, double goodput,
                               const std::string& note = {}) {
  experiments::TestResult test;
  test.name = "bulk";
  test.type = "tcp-stream";
  test.figures["goodput"] =
      experiments::make_figure("bit/s", experiments::Better::higher, {goodput});
  if (!note.empty()) test.notes.push_back(note);
  experiments::Result result;
  result.backend = backend;
  result.tests.push_back(test);
  return experiments::to_json(result);
}

}  // namespace linerate::tests
