// Labs that are killed, doubled and stopped: nothing stays that is ours, and nothing goes that is
// not.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "realnet/lab.hpp"
#include "realnet/measure.hpp"
#include "sim/random.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

namespace files = std::filesystem;

bool labs_possible() {
  if (!is_root()) WARN("not root: no labs to kill");
  return is_root();
}

/// Two hosts whose link is a program.
experiments::Experiment emulated(Time duration) {
  auto experiment = two_hosts(20);
  experiment.links[0].delay = Time::milliseconds(1);
  experiment.links[0].queue = Bytes(100'000);
  experiment.tests = {stream("bulk", duration, Time{})};
  return experiment;
}

/// A process that measures and ends with 0 when that went well and goodput was between a half and
/// all of the line.
pid_t start_measuring(Time duration) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  int code = 1;
  try {
    const auto result = measure(emulated(duration));
    const double goodput = result.tests.at(0).figures.at("goodput").median();
    code = result.complete && goodput > 10e6 && goodput <= 20e6 ? 0 : 2;
  } catch (const std::exception&) {
  }
  ::_exit(code);
}

int exit_code(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Names under `folder` that carry the process number of a run.
std::vector<std::string> traces_of(pid_t process, const char* folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : files::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (name.find(std::to_string(process) + "-") != std::string::npos) names.push_back(name);
  }
  return names;
}

bool nothing_of(pid_t process) {
  return traces_of(process, "/run/netns").empty() && traces_of(process, "/run/linerate").empty();
}

TEST_CASE("robust: a run killed at any moment leaves nothing that the next does not remove") {
  if (!labs_possible()) return;
  sim::RandomStream random({2026, 0, "kill"});
  for (int i = 0; i < 5; ++i) {
    const pid_t process = start_measuring(Time::seconds(30));
    // While it builds, connects or sends.
    const auto moment = std::chrono::milliseconds(random.below(400));
    std::this_thread::sleep_for(moment);
    ::kill(process, SIGKILL);
    exit_code(process);
    remove_leftovers();
    INFO("killed after " << moment.count() << " ms");
    CHECK(nothing_of(process));
  }
}

TEST_CASE("robust: a file whose name only looks like a run's is left alone and stops nobody") {
  if (!labs_possible()) return;
  files::create_directories("/run/linerate");
  // Of no process there can be; without digits enough; without an end.
  for (const char* name : {"99999999999999999999-deadbeef.lock", "7-dead.lock", "7-deadbeef"}) {
    const std::string path = std::string("/run/linerate/") + name;
    std::ofstream(path) << "";
    CHECK_NOTHROW(remove_leftovers());
    CHECK(files::remove(path));
  }
}

TEST_CASE("robust: two runs at once do not disturb each other's labs") {
  if (!labs_possible()) return;
  const pid_t first = start_measuring(Time::milliseconds(1200));
  const pid_t second = start_measuring(Time::milliseconds(1200));
  remove_leftovers();  // both live: nothing is left over
  CHECK(exit_code(first) == 0);
  CHECK(exit_code(second) == 0);
  CHECK(nothing_of(first));
  CHECK(nothing_of(second));
}

TEST_CASE("robust: a stop takes wires down within two seconds") {
  if (!labs_possible()) return;
  std::atomic<bool> stop{false};
  MeasurementOptions options;
  options.stop = &stop;
  std::chrono::steady_clock::time_point stopped;
  std::thread operator_([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stopped = std::chrono::steady_clock::now();
    stop = true;
  });
  const auto result = measure(emulated(Time::seconds(60)), options);
  const auto took = std::chrono::steady_clock::now() - stopped;
  operator_.join();
  CHECK(took < std::chrono::seconds(2));
  CHECK_FALSE(result.complete);
  CHECK(nothing_of(::getpid()));
  CHECK((::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));  // no child left
}

TEST_CASE("robust: a wire that dies is an error that names it, not a slow network") {
  if (!labs_possible()) return;
  const auto experiment = emulated(Time::seconds(1));
  const LabPlan plan = plan_lab(experiment);
  const Lab lab(experiment, plan);
  CHECK_NOTHROW(lab.counters());
  // Its process is the only child of this one.
  const auto children = [] {
    std::vector<pid_t> found;
    for (const auto& entry : files::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string status = first_line(entry.path() / "stat");
      const auto parenthesis = status.rfind(") ");
      if (parenthesis == std::string::npos) continue;
      if (std::stoi(status.substr(parenthesis + 4)) == ::getpid()) found.push_back(std::stoi(name));
    }
    return found;
  }();
  REQUIRE(children.size() == 1);
  ::kill(children[0], SIGKILL);
  std::string complaint;
  for (int i = 0; i < 200 && complaint.empty(); ++i) {
    try {
      lab.counters();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } catch (const std::runtime_error& error) {
      complaint = error.what();
    }
  }
  CHECK_THAT(complaint, Catch::Contains("wire") && Catch::Contains("killed"));
}

}  // namespace
}  // namespace linerate::realnet
