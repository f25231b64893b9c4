// What the program's exit code says. These numbers are a contract with scripts (README.md).
#pragma once

namespace linerate::cli {

enum class ExitCode {
  holds = 0,          ///< done, and everything judged holds
  missed = 1,         ///< an assertion, a tolerance or `check --strict` is missed
  bad_input = 2,      ///< bad usage, or a file that is not what it should be
  refused = 3,        ///< the machine refused: permission, tool, peer, full disk
  bug = 4,            ///< a broken invariant of linerate's own
  inconclusive = 5,   ///< nothing is missed, but something could not be judged
  interrupted = 130,  ///< SIGINT: 128 + 2, as shells count
  terminated = 143,   ///< SIGTERM: 128 + 15
};

/// The code of two judgements together: missed beats inconclusive beats holds. A thing known to be
/// wrong must not hide behind a thing not known.
constexpr ExitCode both(ExitCode a, ExitCode b) {
  if (a == ExitCode::missed || b == ExitCode::missed) return ExitCode::missed;
  return a == ExitCode::holds ? b : a;
}

}  // namespace linerate::cli
