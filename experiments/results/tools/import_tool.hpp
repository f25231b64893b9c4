// What other measuring programs print, as results: so that a prediction can be held against them,
// and a host that cannot run linerate be measured through them.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/results/result.hpp"

namespace linerate::experiments {

/// What is wrong with an output and where: "run.json: line 3, column 9: …".
class ImportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One file as it was read.
struct ToolOutput {
  std::string name;  ///< for messages
  std::string text;
};

struct ToolOptions {
  std::string test;      ///< name of the test; empty: that of the program
  bool reverse = false;  ///< nttcp -r: the row of the local end is the receiver's
};

/// The programs whose output can be read: "iperf3", "netperf", "nuttcp", "nttcp", "moongen".
std::vector<std::string_view> tool_formats();

/// A result with backend `measured` and one test; every run in `outputs` is a repeat of it.
///
/// What the program calls throughput or bandwidth becomes `goodput` where it counts payload, which
/// all do but moongen: that counts frames with FCS (`frame_rate`), and with preamble and gap
/// (`throughput`). CPU shares become seconds where they are of one core. Read are
/// - iperf3 --json: TCP, UDP and --bidir, with streams and intervals;
/// - netperf: the tables of *_STREAM, *_MAERTS and *_RR, `-k` and `-o`;
/// - nuttcp: its lines, with intervals, and those of -fparse;
/// - nttcp: its table, with or without the title of -T, in the default format;
/// - moongen: the last lines of its counters, plain or CSV.
///
/// Throws ImportError: not that program's output, a failed or truncated run, a number that is none.
Result import_tool(std::string_view format, const std::vector<ToolOutput>& outputs,
                   const ToolOptions& options = {});

}  // namespace linerate::experiments
