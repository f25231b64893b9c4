#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace linerate::tests {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "linerate-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(const std::string& name, const std::string& text) const {
  std::ofstream(path(name)) << text;
  return path(name);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  return names;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Program::Program(const std::vector<std::string>& arguments, const std::string& input,
                 const std::vector<std::string>& environment,
                 const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  words.push_back(LINERATE_BINARY_DIR "/linerate");
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "TERM=xterm"};
  variables.insert(variables.end(), environment.begin(), environment.end());

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string input_path = folder_.file("input", input);
  const int kCreate = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input_path.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, folder_.path("output").c_str(), kCreate,
                                   0644);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, folder_.path("errors").c_str(), kCreate,
                                   0644);
  const int error = ::posix_spawnp(&pid_, words[0].c_str(), &actions, nullptr,
                                   pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + words[0]);
}

Program::~Program() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Program::send(int signal) const { ::kill(pid_, signal); }

bool Program::wait_for_error_text(const std::string& text) const {
  const auto give_up = Clock::now() + std::chrono::seconds(20);
  while (Clock::now() < give_up) {
    if (text_of(folder_.path("errors")).find(text) != std::string::npos) return true;
    siginfo_t ended = {};
    ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == pid_) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

Run Program::finish() {
  const auto give_up = Clock::now() + std::chrono::seconds(60);
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() > give_up) ::kill(pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  pid_ = -1;
  Run run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.output = text_of(folder_.path("output"));
  run.errors = text_of(folder_.path("errors"));
  return run;
}

Run run(const std::vector<std::string>& arguments, const std::string& input,
        const std::vector<std::string>& environment) {
  return Program(arguments, input, environment).finish();
}

Run run_unprivileged(const std::vector<std::string>& arguments) {
  if (::geteuid() != 0) return run(arguments);
  // 65534 is nobody.
  return Program(arguments, {}, {}, {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"})
      .finish();
}

void open_to_everybody(const std::string& path) {
  fs::permissions(path, fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
  fs::permissions(fs::path(path).parent_path(), fs::perms::others_read | fs::perms::others_exec,
                  fs::perm_options::add);
}

}  // namespace linerate::tests
