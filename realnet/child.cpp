#include "realnet/child.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>
#include <system_error>

#include "realnet/traffic/cpu_quota.hpp"

namespace linerate::realnet {
namespace {

/// Well before ordinary processes, but not so far that a sender at full speed could keep the
/// kernel's own network threads (priority 0) from running.
constexpr int kPriority = -10;

/// Other work on the machine should delay an end as little as possible: what the receiver reads
/// late counts in the wrong window. Refused without privileges, and then it is as good as it gets.
void raise_priority() {
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, kPriority));
  try {
    // With automatic scheduling groups a priority counts within the session's group alone, and the
    // group has one of its own (sched(7)).
    write_parameter("/proc/self/autogroup", std::to_string(kPriority));
  } catch (const std::system_error&) {
  }
}

void leave_text(FailureText failure, const std::string& text) {
  const std::size_t size = std::min(text.size(), failure.size() - 1);
  std::copy_n(text.data(), size, failure.data());
  failure[size] = '\0';
}

/// Makes this process die in time: with its parent even if that is killed, and after `limit`.
void bind_lifetime(pid_t parent, Time limit) {
  ::setsid();  // a process group, and a scheduling group, of its own
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM}) {
    ::sigaction(signal, &normal, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before the line above
  ::alarm(static_cast<unsigned>(limit / Time::seconds(1)) + 1);
  raise_priority();
  // The default slack of 50 us delays every timed wake-up.
  ::prctl(PR_SET_TIMERSLACK, 1);
}

}  // namespace

void ParentLine::say(char message) const {
  checked(static_cast<int>(::send(socket_.number(), &message, 1, MSG_NOSIGNAL)), "tell parent");
}

void ParentLine::wait_for_go() const {
  char answer = 0;
  ssize_t size = 0;
  do {
    size = ::recv(socket_.number(), &answer, 1, 0);
  } while (size < 0 && errno == EINTR);
  if (size != 1) throw_errno("wait for start");
}

Child::Child(const std::function<void(const ParentLine&)>& body, FailureText failure, Time limit) {
  int ends[2];
  checked(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
  line_ = FileDescriptor(ends[0]);
  FileDescriptor child_end(ends[1]);
  const pid_t parent = ::getpid();
  process_ = checked(::fork(), "fork");
  if (process_ != 0) return;
  bind_lifetime(parent, limit);
  int status = 0;
  try {
    body(ParentLine(std::move(child_end)));
  } catch (const std::exception& error) {
    leave_text(failure, error.what());
    status = 1;
  }
  ::_exit(status);  // no destructors and exit handlers of the parent's objects
}

Child::Child(Child&& other) noexcept
    : line_(std::move(other.line_)), process_(std::exchange(other.process_, -1)) {}

Child::~Child() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  remove_quotas(process_);
}

void Child::go() const {
  const char word = 'g';
  checked(static_cast<int>(::send(line_.number(), &word, 1, MSG_NOSIGNAL)), "start a child");
}

int Child::message() const {
  char word = 0;
  const ssize_t size = ::recv(line_.number(), &word, 1, MSG_DONTWAIT);
  if (size == 1) return word;
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  return -1;
}

}  // namespace linerate::realnet
