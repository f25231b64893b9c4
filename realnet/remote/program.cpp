#include "realnet/remote/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "realnet/measure.hpp"

namespace linerate::realnet {
namespace {

struct PipeEnds {
  FileDescriptor read, write;
};

PipeEnds make_pipe() {
  int ends[2];
  checked(::pipe2(ends, O_CLOEXEC), "pipe");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// In the child: becomes the program. Only calls that are safe after fork.
[[noreturn]] void become(char* const* arguments, int input, int output, int failure, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::execvp(arguments[0], arguments);
  const int reason = errno;
  static_cast<void>(!::write(failure, &reason, sizeof reason));
  ::_exit(127);
}

std::string joined(const std::vector<std::string>& command) {
  return fmt::format("{}", fmt::join(command, " "));
}

int milliseconds_until(Time deadline) {
  const Time left = deadline - monotonic_now();
  return left > Time{} ? static_cast<int>(left.whole_microseconds() / 1'000 + 1) : 0;
}

}  // namespace

Program::Program(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  PipeEnds to = make_pipe(), from = make_pipe(), failure = make_pipe();
  const pid_t parent = ::getpid();
  process_ = checked(::fork(), "fork");
  if (process_ == 0)
    become(arguments.data(), to.read.number(), from.write.number(), failure.write.number(), parent);
  failure.write = FileDescriptor();  // closed by exec in the child: then there is nothing to read
  int reason = 0;
  if (::read(failure.read.number(), &reason, sizeof reason) == sizeof reason) {
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
    throw EnvironmentError(
        fmt::format("cannot start `{}`: {}{}", joined(command), std::strerror(reason),
                    command.front() == "ssh" && reason == ENOENT
                        ? "; install an ssh client (Debian: apt-get install openssh-client)"
                        : ""));
  }
  input_ = std::move(to.write);
  output_ = std::move(from.read);
}

Program::~Program() {
  if (process_ < 0) return;
  close_input();
  if (ending(Time::seconds(1)).empty()) {
    ::kill(-process_, SIGKILL);
    ending(Time::seconds(1));
  }
}

std::string Program::ending(Time patience) {
  const Time give_up = monotonic_now() + patience;
  while (ending_.empty()) {
    int status = 0;
    const pid_t ended = ::waitpid(process_, &status, WNOHANG);
    if (ended == process_) {
      ending_ = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                  : fmt::format("signal {}", WTERMSIG(status));
    } else if (ended < 0 && errno != EINTR) {
      ending_ = "unknown";
    } else if (monotonic_now() >= give_up) {
      break;
    } else {
      sleep_until(monotonic_now() + Time::milliseconds(5));
    }
  }
  return ending_;
}

std::string output_of(const std::vector<std::string>& command, Time patience, Bytes most) {
  Program program(command);
  program.close_input();
  const Time give_up = monotonic_now() + patience;
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    pollfd readable{program.output().number(), POLLIN, 0};
    if (::poll(&readable, 1, milliseconds_until(give_up)) == 0) {
      throw EnvironmentError(
          fmt::format("`{}` does not end within {} s", joined(command), patience.seconds()));
    }
    const ssize_t size = ::read(program.output().number(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(size));
    if (text.size() > static_cast<std::size_t>(most.count())) {
      throw EnvironmentError(
          fmt::format("`{}` writes more than {} B", joined(command), most.count()));
    }
  }
  const std::string ending = program.ending(Time::seconds(5));
  if (ending != "exit code 0") {
    throw EnvironmentError(fmt::format("`{}` failed ({})", joined(command),
                                       ending.empty() ? "it does not end" : ending));
  }
  return text;
}

std::vector<std::string> over_ssh(const std::string& host,
                                  const std::vector<std::string>& command) {
  // "--": a host is never an option. BatchMode: fail rather than ask where nobody answers.
  std::vector<std::string> words{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10",
                                 "--",  host};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace linerate::realnet
