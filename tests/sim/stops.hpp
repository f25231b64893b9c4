// Observes a failed CHECK, which ends the program, from inside a test.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace linerate::tests {

/// Whether `action` ends a forked copy of this program by abort, as a failed CHECK does.
template <class Action>
bool stops(Action&& action) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // Catch would report the abort as this test's own
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    action();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

}  // namespace linerate::tests
