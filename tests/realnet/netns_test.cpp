// Virtual links: what is counted on them, and that nothing of them stays. What goes over them in
// how much time is in tests/traffic. Needs root; says so where it is not.
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
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

namespace files = std::filesystem;

/// Whether the lab can be built here; where not, checks that it says so instead.
bool lab_possible() {
  if (is_root()) return true;
  WARN("not root: no virtual links; checking the refusal instead of the traffic");
  auto experiment = two_hosts(100);
  experiment.tests = {stream("bulk", Time::milliseconds(100), Time{})};
  CHECK_THROWS_AS(measure(experiment), EnvironmentError);
  return false;
}

/// Names under /run/netns that belong to runs of the process `pid`.
std::vector<std::string> namespaces_of(pid_t pid) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : files::directory_iterator("/run/netns", none)) {
    const std::string name = entry.path().filename();
    if (name.rfind("linerate-" + std::to_string(pid) + "-", 0) == 0) names.push_back(name);
  }
  return names;
}

TEST_CASE("netns: frames are counted, not the bursts that TCP hands over as one packet") {
  if (!lab_possible()) return;
  auto experiment = two_hosts(1000);  // at this speed segmentation is left to the device
  experiment.tests = {stream("bulk", Time::milliseconds(1300), Time::milliseconds(300))};
  const auto result = measure(experiment);
  REQUIRE(result.complete);
  const auto& sent = result.tests[0].ports.at("a:eth0");
  CHECK(static_cast<double>(sent.wire_bytes_sent) / static_cast<double>(sent.frames_sent) ==
        Approx(1538).epsilon(0.005));
  CHECK(figure(result, "throughput") / figure(result, "goodput") ==
        Approx(1538.0 / 1448).epsilon(0.02));
}

TEST_CASE("netns: a stop ends a long test within two seconds and leaves nothing") {
  if (!lab_possible()) return;
  auto experiment = two_hosts(100);
  experiment.tests = {stream("long", Time::seconds(60), Time{})};
  std::atomic<bool> stop{false};
  MeasurementOptions options;
  options.stop = &stop;
  std::chrono::steady_clock::time_point stopped;
  std::thread operator_([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    stopped = std::chrono::steady_clock::now();
    stop = true;
  });
  const auto result = measure(experiment, options);
  const auto took = std::chrono::steady_clock::now() - stopped;
  operator_.join();
  CHECK(took < std::chrono::seconds(2));
  CHECK_FALSE(result.complete);
  CHECK(namespaces_of(::getpid()).empty());
  CHECK((::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));  // no child left
}

TEST_CASE("netns: a lab that cannot be finished leaves nothing") {
  if (!lab_possible()) return;
  auto experiment = two_hosts(100);
  experiment.hosts[1].nics[0].mtu = Bytes(70'000);  // above what a virtual device takes
  experiment.tests = {stream("bulk", Time::milliseconds(100), Time{})};
  CHECK_THROWS_WITH(measure(experiment), Catch::Contains("MTU 70000"));
  CHECK(namespaces_of(::getpid()).empty());
}

/// A process that measures for a minute.
pid_t start_long_run() {
  const pid_t process = ::fork();
  if (process == 0) {
    auto experiment = two_hosts(100);
    experiment.tests = {stream("long", Time::seconds(60), Time{})};
    measure(experiment);
    ::_exit(0);
  }
  return process;
}

/// Waits up to ten seconds for `condition`.
template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

/// Processes whose namespace is `name`, by their link under /proc.
int processes_in(const std::string& name) {
  int count = 0;
  std::error_code none;
  for (const auto& entry : files::directory_iterator("/proc", none)) {
    if (files::equivalent(entry.path() / "ns/net", "/run/netns/" + name, none)) ++count;
  }
  return count;
}

TEST_CASE("netns: what a killed run leaves is removed by the next, and nothing else") {
  if (!lab_possible()) return;
  const pid_t process = start_long_run();
  REQUIRE(comes_true([&] { return namespaces_of(process).size() == 2; }));
  const auto names = namespaces_of(process);
  CHECK(comes_true([&] { return processes_in(names[0]) == 1 && processes_in(names[1]) == 1; }));

  CHECK(remove_leftovers().empty());  // it lives, so nothing is left over
  CHECK(namespaces_of(process).size() == 2);

  const std::string foreign = "/run/netns/linerate-of-someone-else";
  std::ofstream(foreign).put('\n');
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  CHECK(namespaces_of(process).size() == 2);
  // No child outlives its parent.
  CHECK(comes_true([&] { return processes_in(names[0]) == 0 && processes_in(names[1]) == 0; }));

  auto experiment = two_hosts(100);
  experiment.tests = {stream("next", Time::milliseconds(100), Time{})};
  CHECK(measure(experiment).complete);
  CHECK(namespaces_of(process).empty());
  CHECK(files::exists(foreign));
  files::remove(foreign);
}

}  // namespace
}  // namespace linerate::realnet
