#include "cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace linerate::cli {
namespace {

// A signal handler can reach nothing but globals; these are the only ones of the program.
std::atomic<bool> stop{false};
std::atomic<int> stop_signal{0};
std::atomic<bool> json_errors{false};
std::atomic<pid_t> main_process{0};

static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "only lock-free atomics may be used in a signal handler");

void write_from_handler(int descriptor, std::string_view text) {
  // Nothing can be done about a failed write while dying.
  if (::write(descriptor, text.data(), text.size()) < 0) errno = 0;
}

extern "C" void on_interrupt(int signal) {
  if (stop.exchange(true)) ::_exit(128 + signal);
  stop_signal.store(signal);
}

extern "C" void on_abort(int) {
  // Forked senders and receivers inherit the handler; only the parent owns the output.
  if (::getpid() == main_process.load()) {
    write_from_handler(STDERR_FILENO,
                       "linerate: this is a bug in linerate, not in your experiment; please report "
                       "it with the experiment file and the line above\n");
    if (json_errors.load())
      write_from_handler(STDOUT_FILENO,
                         "{\"schema_version\": 1, \"kind\": \"error\", \"exit_code\": 4, "
                         "\"errors\": [{\"message\": \"a bug in linerate; its place is on standard "
                         "error\"}]}\n");
  }
  ::_exit(static_cast<int>(ExitCode::bug));
}

void install(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void install_signal_handlers(bool json) {
  json_errors = json;
  main_process = ::getpid();
  // No SA_RESTART: a back end blocked in poll() or waitpid() has to wake up.
  install(SIGINT, on_interrupt, 0);
  install(SIGTERM, on_interrupt, 0);
  install(SIGABRT, on_abort, 0);
  install(SIGPIPE, SIG_IGN, 0);
}

const std::atomic<bool>& stop_flag() { return stop; }

bool stop_requested() { return stop.load(); }

ExitCode interrupt_code() {
  return stop_signal.load() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
}

}  // namespace linerate::cli
