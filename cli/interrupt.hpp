// Signals: Ctrl-C asks the run to end early, an abort becomes exit code 4.
#pragma once

#include <atomic>

#include "cli/exit_code.hpp"

namespace linerate::cli {

/// Installs the handlers. SIGINT and SIGTERM set the stop flag; a second one ends the process at
/// once. SIGABRT (a failed CHECK, std::terminate) ends with exit code 4; with `json` it first puts
/// an error document on standard output. SIGPIPE is ignored, so that a closed pipe cannot kill a
/// measurement before it has taken its lab down.
void install_signal_handlers(bool json);

/// Set once an interrupt has arrived; both back ends look at it.
const std::atomic<bool>& stop_flag();

/// Whether to end early.
bool stop_requested();

/// 130 or 143 by the signal that arrived; call only when stop_requested().
ExitCode interrupt_code();

}  // namespace linerate::cli
