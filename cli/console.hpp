// Where output goes: data to standard output or the -o file, everything else to standard error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/definition/parse.hpp"

namespace linerate::cli {

enum class ProgressMode { automatic, json, none };

/// The options every verb has.
struct OutputOptions {
  bool json = false;   ///< one JSON document on standard output instead of text
  bool quiet = false;  ///< no text, no progress; errors, --json and -o remain
  std::string file;    ///< -o: also write the document there, atomically; "" or "-": no
  ProgressMode progress = ProgressMode::automatic;
};

class Console {
 public:
  explicit Console(OutputOptions options) : options_(std::move(options)) {}

  const OutputOptions& options() const { return options_; }
  /// Whether text on standard output may be coloured: a terminal, and NO_COLOR unset
  /// (https://no-color.org).
  bool colour() const;

  /// What a verb has to say, in both forms: `document` (JSON) goes to -o, and standard output shows
  /// `document` with --json and `text` otherwise. If the file cannot be written after all, the
  /// document goes to standard output, so that nothing is lost, and Failure (3) is thrown.
  void deliver(std::string_view text, std::string_view document) const;

  /// A text that is its own document, such as a template: to -o if there is one, else to standard
  /// output.
  void deliver(std::string_view document) const;

  /// Warnings as text on standard error; silent with --quiet.
  void warn(const std::vector<experiments::Diagnostic>& warnings) const;

 private:
  void write_file(std::string_view document) const;

  OutputOptions options_;
};

/// Refuses an output file that cannot be written, before any work is done for it. Throws Failure
/// (2).
void check_writable(const std::string& path);

/// Writes all of `text` to standard output. A reader that went away is no error; anything else
/// throws Failure (3).
void write_standard_output(std::string_view text);
void write_standard_error(std::string_view text);

/// The whole of a file, or of standard input for "-". Throws Failure (2) naming what is wrong:
/// missing, not readable, a directory, larger than 256 MiB.
std::string read_input(const std::string& path);

/// Refuses a path that cannot be read, as read_input would, without reading it.
void check_readable(const std::string& path);

}  // namespace linerate::cli
