// Bad usage: exit code 2, words on standard error, nothing on standard output.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/cli/samples.hpp"

namespace linerate::tests {
namespace {

using Catch::Contains;
using nlohmann::json;

TEST_CASE("help and version are data: standard output, exit code 0") {
  const std::vector<std::string> ways = {"--version", "help", "--help"};
  for (const std::string& way : ways) {
    const Run run = tests::run({way});
    INFO(way);
    CHECK(run.code == 0);
    CHECK_THAT(run.output, Contains("linerate"));
    CHECK(run.errors.empty());
  }
}

TEST_CASE("every verb of the help explains itself") {
  for (const char* verb : {"quick", "init", "check", "predict", "measure", "compare", "validate",
                           "explain", "import"}) {
    INFO(verb);
    CHECK_THAT(run({"help"}).output, Contains(std::string("\n  ") + verb));
    const Run by_help = run({"help", verb});
    CHECK(by_help.code == 0);
    CHECK_THAT(by_help.output, Contains(std::string("Usage: linerate ") + verb));
    CHECK(run({verb, "--help"}).output == by_help.output);
  }
}

TEST_CASE("bad usage is exit code 2 and says what was meant") {
  struct Case {
    std::vector<std::string> arguments;
    const char* words;
  };
  const std::vector<Case> cases = {
      {{}, "Usage: linerate VERB"},
      {{"perdict", "x.yaml"}, "did you mean `predict`?"},
      {{"xyzzy"}, "there is no verb `xyzzy`"},
      {{"--quiet"}, "a verb comes before the options"},
      {{"predict"}, "needs an argument more"},
      {{"predict", "a.yaml", "b.yaml"}, "no use for `b.yaml`"},
      {{"predict", "a.yaml", "--seeed", "3"}, "did you mean `--seed`?"},
      {{"predict", "a.yaml", "--seed", "-1"}, "--seed is a whole number"},
      {{"predict", "a.yaml", "--seed", "0x7"}, "--seed is a whole number"},
      {{"predict", "a.yaml", "--seed"}, "seed"},
      {{"predict", "a.yaml", "--progress", "jsn"}, "did you mean `json`?"},
      {{"help", "compair"}, "did you mean `compare`?"},
      {{"init"}, "init --list"},
      {{"init", "two-host"}, "did you mean `two-hosts`?"},
      {{"compare", "one.json"}, "two results"},
      {{"import", "xml", "x"}, "reads csv"},
      {{"quick", "--rate", "1Gbit/s", "--medium", "1000BASE-T"}, "exclude each other"},
  };
  TemporaryFolder folder;
  for (const Case& wrong : cases) {
    const Run run = tests::run(wrong.arguments);
    INFO(run.errors);
    CHECK(run.code == 2);
    CHECK(run.output.empty());
    CHECK_THAT(run.errors, Contains(wrong.words));
  }
}

TEST_CASE("an abbreviated option is refused: it would change its meaning with the next option") {
  CHECK(run({"predict", "x.yaml", "--quie"}).code == 2);
}

TEST_CASE("a file that cannot be read is named with the reason") {
  TemporaryFolder folder;
  const std::string secret = folder.file("secret.yaml", experiment_text());
  ::chmod(secret.c_str(), 0);
  open_to_everybody(folder.path(""));
  for (const char* verb : {"check", "predict", "measure", "validate", "explain"}) {
    INFO(verb);
    const Run missing = run({verb, folder.path("none.yaml")});
    CHECK(missing.code == 2);
    CHECK_THAT(missing.errors, Contains(folder.path("none.yaml")) && Contains("No such file"));
    const Run directory = run({verb, folder.path("")});
    CHECK(directory.code == 2);
    CHECK_THAT(directory.errors, Contains("is a directory"));
    const Run unreadable = run_unprivileged({verb, secret});
    CHECK(unreadable.code == 2);
    CHECK_THAT(unreadable.errors, Contains("Permission denied"));
  }
  const Run overlay = run(
      {"check", folder.file("e.yaml", experiment_text()), "--overlay", folder.path("none.yaml")});
  CHECK(overlay.code == 2);
  CHECK_THAT(overlay.errors, Contains("none.yaml"));
}

TEST_CASE("with --json an error is one document on standard output, and text beside it") {
  TemporaryFolder folder;
  const std::string bad = folder.file(
      "bad.yaml",
      "schema_version: 1\nname: bad\nhosts:\n  a: {profle: ideal}\n  b: {cpu: {cores: x}}\n");
  const Run run = tests::run({"predict", bad, "--json"});
  CHECK(run.code == 2);
  const json document = json::parse(run.output);
  CHECK(document["kind"] == "error");
  CHECK(document["exit_code"] == 2);
  REQUIRE(document["errors"].size() >= 2);
  bool typo = false;
  for (const json& error : document["errors"]) {
    // The same content in both forms.
    CHECK_THAT(run.errors, Contains(error["message"].get<std::string>()));
    CHECK_THAT(run.errors, Contains(error.value("remedy", "")));
    if (error.value("line", 0) == 4) {
      typo = true;
      CHECK(error["file"] == bad);
      CHECK(error["column"].get<int>() > 1);
      CHECK_THAT(error["path"].get<std::string>(), Contains("hosts.a"));
      CHECK_THAT(error["remedy"].get<std::string>(), Contains("profile"));
    }
  }
  CHECK(typo);

  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"perdict", "--json"},
                                             {"predict", "--json"},
                                             {"predict", "none.yaml", "--json"},
                                             {"compare", bad, bad, "--json"}}) {
    const Run wrong = tests::run(arguments);
    CHECK(wrong.code == 2);
    CHECK(json::parse(wrong.output)["kind"] == "error");
    CHECK_FALSE(wrong.errors.empty());
  }
}

TEST_CASE("a --set that matches nothing is an error with the nearest path") {
  TemporaryFolder folder;
  const std::string file = folder.file("e.yaml", experiment_text());
  const Run typo = run({"check", file, "--set", "tests.bulk.wriet=64KiB"});
  CHECK(typo.code == 2);
  CHECK_THAT(typo.errors, Contains("wriet") && Contains("write"));
  CHECK(run({"check", file, "--set", "tests.bulk.write"}).code == 2);
  CHECK(run({"check", file, "--set", "=1"}).code == 2);
  CHECK(run({"check", file, "--set", "tests.bulk.write=64KiB"}).code == 0);
}

TEST_CASE("quick names its option, not a file nobody wrote") {
  const Run bare = run({"quick", "--rate", "10G"});
  CHECK(bare.code == 2);
  CHECK_THAT(bare.errors, Contains("--rate") && Contains("Gbit/s"));
  CHECK_THAT(run({"quick", "--mtu", "9000"}).errors, Contains("--mtu") && Contains("9000B"));
  CHECK(run({"quick", "-C", "vegass"}).code == 2);
  // As iperf3: a bare number is seconds, whole or not.
  CHECK(run({"quick", "-t", "0.5", "-O", "0.1", "--rate", "10Mbit/s", "--quiet"}).code == 0);
  // A value stays one value, whatever it holds.
  CHECK(run({"quick", "--stack", "linux-6, cpu: {cores: 2}"}).code == 2);
}

}  // namespace
}  // namespace linerate::tests
