// Preflight: what a machine cannot do is said before any traffic, with a way out.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "realnet/measure.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

std::string refusal(const experiments::Experiment& experiment) {
  try {
    measure(experiment);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "measured";
}

experiments::Experiment loopback_stream() {
  auto experiment = two_hosts(100);
  experiment.lab = experiments::LabType::loopback;
  experiment.tests = {stream("bulk", Time::milliseconds(200), Time{})};
  return experiment;
}

TEST_CASE("without privileges the netns lab names the capability and the loopback lab") {
  auto experiment = two_hosts(100);
  experiment.tests = {stream("bulk", Time::milliseconds(200), Time{})};
  // In a process of its own, which gives its privileges up for good.
  int line[2];
  REQUIRE(::pipe(line) == 0);
  const pid_t process = ::fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    if (is_root() && ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
    const std::string text = refusal(experiment);
    ::_exit(::write(line[1], text.data(), text.size()) < 0);
  }
  ::close(line[1]);
  char buffer[2000];
  const ssize_t size = ::read(line[0], buffer, sizeof buffer);
  ::close(line[0]);
  ::waitpid(process, nullptr, 0);
  REQUIRE(size > 0);
  const std::string text(buffer, static_cast<std::size_t>(size));
  CHECK_THAT(text, Catch::Contains("CAP_NET_ADMIN") && Catch::Contains("loopback"));
}

TEST_CASE("an unknown congestion control is named with those there are") {
  auto experiment = loopback_stream();
  experiment.tests[0].congestion = "no-such-control";
  CHECK_THAT(refusal(experiment), Catch::Contains("bulk") && Catch::Contains("no-such-control") &&
                                      Catch::Contains("reno"));
}

TEST_CASE("a test that cannot be measured is named") {
  auto experiment = loopback_stream();
  experiment.tests[0].type = experiments::TestType::raw_frames;
  CHECK_THAT(refusal(experiment), Catch::Contains("bulk") && Catch::Contains("raw-frames"));
}

TEST_CASE("a test that cannot be measured is passed over, with the group it belongs to") {
  auto experiment = loopback_stream();
  auto load = stream("load", Time::milliseconds(200), Time{});
  load.type = experiments::TestType::raw_frames;
  load.group = "loaded";
  load.background = true;
  auto under_load = stream("under-load", Time::milliseconds(200), Time{});
  under_load.group = "loaded";
  experiment.tests.push_back(load);
  experiment.tests.push_back(under_load);
  const auto result = measure(experiment);
  CHECK(result.complete);
  REQUIRE(result.tests.size() == 3);
  CHECK(result.tests[0].figures.at("goodput").median() > 0);
  CHECK(result.tests[1].type == "raw-frames");
  for (const int passed_over : {1, 2}) {
    CHECK(result.tests[passed_over].figures.empty());
    REQUIRE(result.tests[passed_over].notes.size() == 1);
    CHECK_THAT(result.tests[passed_over].notes[0],
               Catch::StartsWith("inconclusive: not measured") && Catch::Contains("test load"));
  }
  const auto lines = plan(experiment);
  for (const char* name : {"test load: not run", "test under-load: not run"}) {
    CHECK(std::any_of(lines.begin(), lines.end(),
                      [&](const std::string& line) { return line.find(name) == 0; }));
  }
}

TEST_CASE("a search sends frames, and the refusal says which lab has interfaces for them") {
  auto experiment = loopback_stream();
  experiment.tests[0].type = experiments::TestType::rfc2544_throughput;
  CHECK_THAT(refusal(experiment),
             Catch::Contains("rfc2544-throughput") && Catch::Contains("netns"));
}

TEST_CASE("a core that does not exist is refused") {
  auto experiment = loopback_stream();
  experiment.tests[0].core = 100'000;
  CHECK_THAT(refusal(experiment), Catch::Contains("core 100000"));
}

}  // namespace
}  // namespace linerate::realnet
