// How far a run has come, on standard error: a line that rewrites itself on a terminal, JSON lines
// for machines, or nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/console.hpp"
#include "models/simulate.hpp"
#include "realnet/measure.hpp"

namespace linerate::cli {

/// How far a study of many runs has come.
struct StudyProgress {
  std::string stage;
  std::int64_t runs = 0;
};

class ProgressLine {
 public:
  /// Nothing is shown with `quiet`, and `automatic` shows nothing unless standard error is a
  /// terminal: a log file has no use for an animation.
  explicit ProgressLine(const OutputOptions& options);
  ~ProgressLine();  ///< wipes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const models::Progress& progress);
  void show(const realnet::Progress& progress);
  void show(const StudyProgress& progress);

 private:
  void rewrite(const std::string& line);

  bool animated_ = false;
  bool json_ = false;
  bool drawn_ = false;
  std::string test_;
  /// Wall-clock start of the test that runs; for the rate and the time left only.
  std::chrono::steady_clock::time_point started_;
};

}  // namespace linerate::cli
