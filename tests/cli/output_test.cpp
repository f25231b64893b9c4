// Where data goes, and what happens to it when it cannot go there.
#include <signal.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/cli/program.hpp"
#include "tests/cli/samples.hpp"

namespace linerate::tests {
namespace {

using Catch::Contains;
using nlohmann::json;

TEST_CASE("predict --json is one result on standard output and nothing on standard error") {
  const Run run =
      tests::run({"predict", "-", "--json", "--set", "tests.bulk.write=64KiB"}, experiment_text());
  CHECK(run.code == 0);
  CHECK(run.errors.empty());
  const json result = json::parse(run.output);
  CHECK(result["schema_version"] == 1);
  CHECK(result["kind"] == "result");
  CHECK(result["backend"] == "simulated");
  CHECK(result["complete"] == true);
  CHECK(result["provenance"]["set"] == json{"tests.bulk.write=64KiB"});
  CHECK(result["provenance"]["experiment"]["tests"].is_structured());
  // RFC 7323 timestamps leave 1448 B of a 1500 B packet, 1538 B of wire: no goodput is higher.
  const double goodput = result["tests"][0]["figures"]["goodput"]["median"];
  CHECK(goodput <= 100e6 * 1448 / 1538 * 1.0001);
  CHECK(goodput > 90e6);
}

TEST_CASE("the same experiment gives the same bytes, to a file as to standard output") {
  TemporaryFolder folder;
  const std::string file = folder.file("e.yaml", experiment_text());
  const Run first = run({"predict", file, "--json"});
  const Run second = run({"predict", file, "-o", folder.path("r.json"), "--quiet"});
  CHECK(second.code == 0);
  CHECK(second.output.empty());
  CHECK(second.errors.empty());
  CHECK(text_of(folder.path("r.json")) == first.output);
}

TEST_CASE("nothing is animated or coloured where nobody looks") {
  const Run run = tests::run({"predict", "-"}, experiment_text());
  CHECK(run.code == 0);
  CHECK_THAT(run.output, Contains("goodput"));
  CHECK(run.output.find('\033') == std::string::npos);
  CHECK(run.errors.find('\033') == std::string::npos);
  CHECK(run.errors.find('\r') == std::string::npos);
}

TEST_CASE("progress for machines is JSON lines on standard error") {
  const Run run = tests::run(
      {"predict", "-", "--json", "--progress", "json", "--set", "tests.bulk.duration=60s"},
      experiment_text());
  CHECK(run.code == 0);
  CHECK(json::parse(run.output)["kind"] == "result");
  std::istringstream lines(run.errors);
  double last = 0;
  for (std::string line; std::getline(lines, line);) {
    const json progress = json::parse(line);
    CHECK(progress["kind"] == "progress");
    CHECK(progress["test"] == "bulk");
    CHECK(progress["simulated"].get<double>() >= last);
    last = progress["simulated"];
  }
}

TEST_CASE("an -o that cannot be written is refused before any work, and leaves the old file") {
  TemporaryFolder folder;
  const std::string file = folder.file("e.yaml", experiment_text());
  const Run no_folder = run({"predict", file, "-o", folder.path("none/r.json")});
  CHECK(no_folder.code == 2);
  CHECK_THAT(no_folder.errors, Contains("does not exist"));
  CHECK(no_folder.output.empty());
  CHECK(run({"predict", file, "-o", folder.path("")}).code == 2);
  CHECK(run({"predict", file, "-o", ""}).code == 2);  // a variable of a script that is not set
  CHECK(run({"validate", file, "--measured", ""}).code == 2);

  std::filesystem::create_directory(folder.path("shut"));
  std::filesystem::permissions(folder.path("shut"), std::filesystem::perms::owner_read |
                                                        std::filesystem::perms::others_read |
                                                        std::filesystem::perms::others_exec);
  open_to_everybody(file);
  const Run shut = run_unprivileged({"predict", file, "-o", folder.path("shut/r.json")});
  CHECK(shut.code == 2);
  CHECK_THAT(shut.errors, Contains("Permission denied"));

  const std::string before = text_of(file);
  CHECK(run({"predict", file, "-o", file}).code == 2);
  CHECK(text_of(file) == before);

  const std::string kept = folder.file("kept.json", "precious");
  CHECK(run({"predict", folder.file("bad.yaml", "name: ["), "-o", kept}).code == 2);
  CHECK(text_of(kept) == "precious");
}

TEST_CASE("a result that cannot be written after all is not lost") {
  const Run run = tests::run({"predict", "-", "-o", "/dev/full", "--quiet"}, experiment_text());
  CHECK(run.code == 3);
  CHECK_THAT(run.errors, Contains("No space left") && Contains("on standard output instead"));
  CHECK(json::parse(run.output)["kind"] == "result");
  CHECK(std::filesystem::is_character_file("/dev/full"));
  // The document takes the table's place: one thing on standard output, whatever the options.
  const Run loud = tests::run({"predict", "-", "-o", "/dev/full"}, experiment_text());
  CHECK(loud.code == 3);
  CHECK(json::parse(loud.output)["kind"] == "result");
  // With --json the result stays the one document.
  const Run both = tests::run({"predict", "-", "-o", "/dev/full", "--json"}, experiment_text());
  CHECK(both.code == 3);
  CHECK(json::parse(both.output)["kind"] == "result");
}

TEST_CASE("a standard output that fails does not cost the -o file") {
  TemporaryFolder folder;
  const std::string file = folder.file("e.yaml", experiment_text());
  const std::string target = folder.path("r.json");
  for (const char* redirection : {"\"$@\" > /dev/full", "\"$@\" >&-"}) {
    INFO(redirection);
    Program program({"predict", file, "-o", target}, "", {}, {"/bin/sh", "-c", redirection, "sh"});
    CHECK(program.finish().code == 3);
    CHECK(json::parse(text_of(target))["kind"] == "result");
    std::filesystem::remove(target);
  }
}

TEST_CASE("what validate cannot keep beside the comparison costs the exit code alone") {
  for (const char* option : {"--predicted", "--measured"}) {
    const Run run = tests::run({"validate", "-", "--json", option, "/dev/full"},
                               experiment_text("lab: {type: loopback}\n"));
    CHECK(run.code == 3);
    CHECK_THAT(run.errors, Contains("/dev/full") && Contains("No space left"));
    CHECK(json::parse(run.output)["kind"] == "comparison");
  }
}

TEST_CASE("-o replaces a file whole and leaves nothing beside it") {
  TemporaryFolder folder;
  const std::string file = folder.file("e.yaml", experiment_text());
  const std::string target = folder.file("r.json", std::string(1 << 20, 'x'));
  CHECK(run({"predict", file, "-o", target}).code == 0);
  CHECK(json::parse(text_of(target))["kind"] == "result");
  CHECK(folder.names().size() == 2);
}

// Long enough that only a signal ends it.
std::string endless() {
  std::string text = experiment_text();
  text.replace(text.find("1500ms"), 6, "100000s");
  return text;
}

TEST_CASE("a signal ends a run early, with what is known and complete: false") {
  TemporaryFolder folder;
  const std::string file = folder.file("e.yaml", endless());
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    Program program({"predict", file, "-o", folder.path("r.json"), "--progress", "json"});
    REQUIRE(program.wait_for_error_text("progress"));
    program.send(signal);
    const Run run = program.finish();
    CHECK(run.code == code);
    const json result = json::parse(text_of(folder.path("r.json")));
    CHECK(result["complete"] == false);
    CHECK(result["tests"][0]["name"] == "bulk");
    CHECK(folder.names().size() == 2);
  }
}

TEST_CASE("a signal while a pipe without a writer is read is an interrupt, not a bad file") {
  TemporaryFolder folder;
  const std::string pipe = folder.path("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const char* verb : {"check", "predict"}) {
    Program program({verb, pipe});
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // it says nothing while it waits
    program.send(SIGINT);
    CHECK(program.finish().code == 130);
  }
}

TEST_CASE("an abort is a bug: exit code 4, said so, and an error document with --json") {
  TemporaryFolder folder;
  const std::string file = folder.file("e.yaml", endless());
  Program program({"predict", file, "--json", "--progress", "json"});
  REQUIRE(program.wait_for_error_text("progress"));
  program.send(SIGABRT);
  const Run run = program.finish();
  CHECK(run.code == 4);
  CHECK_THAT(run.errors, Contains("bug in linerate"));
  CHECK(json::parse(run.output)["exit_code"] == 4);
}

}  // namespace
}  // namespace linerate::tests
