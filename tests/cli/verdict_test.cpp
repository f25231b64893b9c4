// What each verb judges, and the exit code it gives.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/cli/samples.hpp"

namespace linerate::tests {
namespace {

using Catch::Contains;
using experiments::Backend;
using nlohmann::json;

TEST_CASE("predict judges assertions: 0 holds, 1 violated, 5 unknown, 1 before 5") {
  const auto code_with = [](const std::string& assertions) {
    return run({"predict", "-"}, experiment_text("assert: [" + assertions + "]\n")).code;
  };
  // The wire's ceiling is 94.15 Mbit/s of payload.
  CHECK(code_with("\"bulk.goodput >= 90Mbit/s\"") == 0);
  CHECK(code_with("\"bulk.goodput >= 95Mbit/s\"") == 1);
  CHECK(code_with("\"bulk.cost <= 100EUR\"") == 5);
  CHECK(code_with("\"bulk.cost <= 100EUR\", \"bulk.goodput >= 95Mbit/s\"") == 1);
  const Run violated =
      run({"predict", "-"}, experiment_text("assert: [\"bulk.goodput >= 95Mbit/s\"]\n"));
  CHECK_THAT(violated.output, Contains("violated: bulk.goodput >= 95Mbit/s"));
}

TEST_CASE("check: warnings pass, --strict makes them fail, errors are bad input") {
  // A 4 KiB window over 20 ms can carry 1.6 Mbit/s of the line's 100.
  std::string narrow = experiment_text();
  narrow.replace(narrow.find("100BASE-TX}"), 11, "100BASE-TX, delay: 10ms}");
  narrow.replace(narrow.find("repeats: 1"), 10, "repeats: 1, socket_buffer: 4KiB");
  const Run warned = run({"check", "-"}, narrow);
  CHECK(warned.code == 0);
  CHECK_THAT(warned.errors, Contains("warning:"));
  CHECK(run({"check", "-", "--strict"}, narrow).code == 1);
  CHECK(run({"check", "-", "--strict"}, experiment_text()).code == 0);
  CHECK(run({"check", "-"}, "schema_version: 2\n").code == 2);

  const json document = json::parse(run({"check", "-", "--json"}, narrow).output);
  CHECK(document["kind"] == "check");
  CHECK_FALSE(document["warnings"].empty());
}

TEST_CASE("check --resolved gives every value and where it comes from") {
  TemporaryFolder folder;
  const std::string file = folder.file("e.yaml", experiment_text());
  const Run run = tests::run({"check", file, "--resolved", "--json"});
  REQUIRE(run.code == 0);
  std::map<std::string, json> rows;
  const json document = json::parse(run.output);
  for (const json& row : document["resolved"]) rows[row["path"]] = row;
  // Written in the file, supplied by the catalog, and built in.
  CHECK(rows["tests.bulk.duration"]["origin"] == file);
  CHECK(rows["tests.bulk.duration"]["line"] == 9);
  CHECK_THAT(rows["hosts.a.stack.rto_min"]["origin"].get<std::string>(), Contains("linux-6"));
  CHECK(rows.count("tests.bulk.write") == 1);
  for (const auto& [path, row] : rows) {
    INFO(path);
    CHECK_FALSE(row["origin"].get<std::string>().empty());
  }
}

TEST_CASE("check --schema is a draft-07 schema") {
  const Run run = tests::run({"check", "--schema"});
  CHECK(run.code == 0);
  CHECK_THAT(json::parse(run.output)["$schema"].get<std::string>(), Contains("draft-07"));
}

TEST_CASE("compare: 0 within, 1 outside, 0 when nothing is judged") {
  TemporaryFolder folder;
  // 94.15 / 93 - 1 = +1.24 %.
  const std::string predicted = folder.file("p.json", result_text(Backend::simulated, 94.15e6));
  const std::string measured = folder.file("m.json", result_text(Backend::measured, 93e6));
  CHECK(run({"compare", predicted, measured}).code == 0);
  CHECK(run({"compare", predicted, measured, "--tolerance", "*.goodput=2%"}).code == 0);
  CHECK(run({"compare", predicted, measured, "--tolerance", "bulk.goodput=1%"}).code == 1);
  CHECK(run({"compare", predicted, "-", "--tolerance", "*.goodput=1%"}, text_of(measured)).code ==
        1);
  CHECK(run({"compare", predicted, measured, "--tolerance", "*.goodput=0.01"}).code == 2);
  CHECK(run({"compare", predicted, measured, "--tolerance", "5%"}).code == 2);
}

TEST_CASE("compare: what happened is the reference before what was computed, else the first") {
  TemporaryFolder folder;
  const std::string predicted = folder.file("p.json", result_text(Backend::simulated, 94.15e6));
  const std::string other = folder.file("o.json", result_text(Backend::simulated, 90e6));
  const std::string published = folder.file("m.json", result_text(Backend::published, 93e6));
  const auto reference_of = [](const std::vector<std::string>& arguments) {
    const Run run = tests::run(arguments);
    INFO(run.errors);
    return json::parse(run.output)["figures"][0]["reference"].get<double>();
  };
  CHECK(reference_of({"compare", predicted, published, "--json"}) == 93e6);
  CHECK(reference_of({"compare", published, predicted, "--json"}) == 93e6);
  CHECK(reference_of({"compare", predicted, other, "--json"}) == 94.15e6);
  CHECK(reference_of({"compare", predicted, other, "--json", "--reference", other}) == 90e6);
  CHECK(reference_of({"compare", predicted, "--json", "--reference", other}) == 90e6);
}

TEST_CASE("compare --only-worse does not judge an improvement") {
  TemporaryFolder folder;
  const std::string before = folder.file("before.json", result_text(Backend::simulated, 90e6));
  const std::string after = folder.file("after.json", result_text(Backend::simulated, 99e6));
  const std::vector<std::string> limits{"--tolerance", "*.goodput=1%", "--only-worse"};
  CHECK(run({"compare", before, after, limits[0], limits[1]}).code == 1);
  CHECK(run({"compare", before, after, limits[0], limits[1], limits[2]}).code == 0);
  CHECK(run({"compare", after, before, limits[0], limits[1], limits[2]}).code == 1);
}

TEST_CASE("compare: a test the lab could not realise is inconclusive, judged or not") {
  TemporaryFolder folder;
  const std::string predicted = folder.file("p.json", result_text(Backend::simulated, 94e6));
  const std::string loose = folder.file(
      "m.json",
      result_text(Backend::measured, 40e9, "inconclusive: the lab ignores links.a-b.rate"));
  CHECK(run({"compare", predicted, loose}).code == 5);
  CHECK(run({"compare", predicted, loose, "--tolerance", "*.goodput=1%"}).code == 5);
}

TEST_CASE("a file that is no result is bad input") {
  TemporaryFolder folder;
  const std::string good = folder.file("p.json", result_text(Backend::simulated, 94e6));
  CHECK(run({"compare", good, folder.file("e.yaml", experiment_text())}).code == 2);
  CHECK(run({"compare", good, folder.file("empty.json", "")}).code == 2);
  CHECK(run({"compare", good, folder.path("none.json")}).code == 2);
}

TEST_CASE("validate over loopback is inconclusive: a loopback has no link of 100 Mbit/s") {
  const Run run =
      tests::run({"validate", "-", "--json"},
                 experiment_text("lab: {type: loopback}\ntolerance: {\"*.goodput\": 1%}\n"));
  INFO(run.errors);
  CHECK(run.code == 5);
  CHECK(json::parse(run.output)["kind"] == "comparison");
}

TEST_CASE("measure without the right to build a lab is refused by the environment") {
  TemporaryFolder folder;
  const std::string file = folder.file("e.yaml", experiment_text("lab: {type: netns}\n"));
  open_to_everybody(file);
  const Run run = run_unprivileged({"measure", file, "--json"});
  CHECK(run.code == 3);
  CHECK(json::parse(run.output)["exit_code"] == 3);
  CHECK_FALSE(run.errors.empty());
  const Run planned = run_unprivileged({"measure", file, "--dry-run"});
  CHECK(planned.code == 0);
  CHECK_FALSE(planned.output.empty());
}

TEST_CASE("explain names the full link, its place in the file and what helps") {
  TemporaryFolder folder;
  const std::string file = folder.file("e.yaml", experiment_text());
  const Run of_experiment = run({"explain", file, "--test", "bulk"});
  CHECK(of_experiment.code == 0);
  CHECK_THAT(of_experiment.output, Contains("limited by: link a-b"));
  CHECK_THAT(of_experiment.output, Contains(file + ":7"));
  CHECK_THAT(of_experiment.output, Contains("what helps:"));
  CHECK(run({"explain", file, "--test", "bluk"}).code == 2);

  // The same from the result file, and through a comparison.
  REQUIRE(run({"predict", file, "-o", folder.path("p.json"), "--quiet"}).code == 0);
  CHECK(run({"explain", folder.path("p.json")}).output == run({"explain", file}).output);
  const std::string measured = folder.file("m.json", result_text(Backend::measured, 80e6));
  REQUIRE(run({"compare", folder.path("p.json"), measured, "-o", folder.path("c.json")}).code == 0);
  const Run of_comparison = run({"explain", folder.path("c.json")});
  CHECK(of_comparison.code == 0);
  CHECK_THAT(of_comparison.output, Contains("limited by: link a-b"));
}

TEST_CASE("every template passes its own check, and init spares existing files") {
  const json templates = json::parse(run({"init", "--list", "--json"}).output)["templates"];
  REQUIRE(templates.size() >= 3);
  for (const json& entry : templates) {
    INFO(entry["name"]);
    CHECK_FALSE(entry["description"].get<std::string>().empty());
    const Run text = run({"init", entry["name"]});
    CHECK(text.code == 0);
    const Run checked = run({"check", "-"}, text.output);
    INFO(checked.errors);
    CHECK(checked.code == 0);
  }
  TemporaryFolder folder;
  const std::string mine = folder.file("mine.yaml", "mine");
  CHECK(run({"init", "two-hosts", "-o", mine}).code == 2);
  CHECK(text_of(mine) == "mine");
  CHECK(run({"init", "two-hosts", "-o", mine, "--force"}).code == 0);
  CHECK(text_of(mine) == run({"init", "two-hosts"}).output);
}

TEST_CASE("catalog lists every profile with what it is about, and prints one") {
  const json entries = json::parse(run({"catalog", "--json"}).output)["entries"];
  std::map<std::string, std::string> kinds;
  for (const json& entry : entries) {
    INFO(entry["name"]);
    CHECK_FALSE(entry["about"].get<std::string>().empty());
    kinds[entry["name"]] = entry["kind"];
  }
  CHECK(kinds["ideal"] != "");
  CHECK(kinds["intel-i210"] == "nics");
  CHECK(kinds["linux-6"] == "stacks");
  const Run nics = run({"catalog", "nics"});
  CHECK_THAT(nics.output, Contains("intel-i210"));
  CHECK_THAT(nics.output, !Contains("linux-6"));
  CHECK_THAT(run({"catalog", "intel-i210"}).output, Contains("transmit_ring"));
  const Run misspelt = run({"catalog", "intel-i211"});
  CHECK(misspelt.code == 2);
  CHECK_THAT(misspelt.errors, Contains("intel-i210"));
}

TEST_CASE("every host and NIC of the catalog makes a valid experiment") {
  const json entries = json::parse(run({"catalog", "--json"}).output)["entries"];
  std::string hosts, links;
  int count = 0;
  for (const json& entry : entries) {
    const bool host = entry["kind"] == "hosts";
    if (!host && entry["kind"] != "nics") continue;
    const std::string name = "h" + std::to_string(count++), entry_name = entry["name"];
    hosts += "  " + name + ": {profile: " + (host ? entry_name : "generic-server-2020") +
             ", nics: {eth0: {profile: " + (host ? "generic-1g" : entry_name) + "}}}\n";
  }
  hosts += "  a: {profile: ideal, nics: {eth0: {profile: ideal}}}\n  b: {like: a}\n";
  links = "  - {endpoints: [\"a:eth0\", \"b:eth0\"], rate: 1Gbit/s}\n";
  const Run checked =
      run({"check", "-"}, "schema_version: 1\nname: catalog\nhosts:\n" + hosts + "links:\n" +
                              links + "tests:\n  - {name: t, type: tcp-stream, from: a, to: b}\n");
  INFO(checked.errors);
  CHECK(checked.code == 0);
}

TEST_CASE("quick: letters of iperf3 become an experiment that check accepts") {
  const Run printed =
      run({"quick", "--print", "--rate", "100Mbit/s", "-t",    "10",    "-O", "2",      "-P",
           "4",     "-R",      "-l",     "1460",      "-w",    "64KiB", "-C", "cubic",  "--delay",
           "1ms",   "--loss",  "0.1%",   "--mtu",     "9000B", "--ip",  "6",  "--vlan", "10"});
  CHECK(printed.code == 0);
  CHECK_THAT(printed.output, Contains("duration: 10s") && Contains("omit: 2s") &&
                                 Contains("flows: 4") && Contains("direction: reverse") &&
                                 Contains("write: 1460B"));
  CHECK(run({"check", "-"}, printed.output).code == 0);
}

TEST_CASE("quick --encapsulation prints where every byte of a stack of layers goes") {
  // VXLAN is 50 B, ESP with GCM 52 B of header, IV and check value and 2 of trailer, to a multiple
  // of 4: 1396 B of 1500 are left for a packet, 20 and 20 of them headers.
  const std::vector<std::string> stack{
      "quick", "-t", "100ms", "-O", "0s", "--encapsulation", "vxlan=7,esp=gcm"};
  const Run shown = run(stack);
  CHECK(shown.code == 0);
  for (const char* words :
       {"VXLAN header", "ESP ICV", "packets of up to 1396 B inside, MSS 1356 B"})
    CHECK_THAT(shown.output, Contains(words));
  std::vector<std::string> as_json = stack;
  as_json.push_back("--json");
  const json ledger = json::parse(run(as_json).output)["tests"][0]["ledger"];
  CHECK(ledger["mtu"] == 1396);
  CHECK(ledger["max_segment"] == 1356);
  int sum = 0;
  for (const json& part : ledger["parts"]) sum += part["bytes"].get<int>();
  CHECK(sum == 1538);

  const auto refused = [](const std::string& letters) {
    const Run run = tests::run({"quick", "--encapsulation", letters});
    CHECK(run.code == 2);
    return run.errors;
  };
  CHECK_THAT(refused("vxlam"), Contains("--encapsulation") && Contains("did you mean `vxlan`?"));
  CHECK_THAT(refused("vxlan,,esp"), Contains("without a name"));
  CHECK_THAT(refused("pppoe,esp"), Contains("`esp` carries IP packets"));
  CHECK_THAT(refused("esp=rot13"), Contains("cbc-sha256"));
}

TEST_CASE("quick shows goodput, the ledger and what binds") {
  const Run run = tests::run({"quick", "--rate", "100Mbit/s", "-t", "1500ms", "-O", "500ms"});
  INFO(run.errors);
  CHECK(run.code == 0);
  // 1448 B of payload in 1538 B of wire: 94.15 Mbit/s.
  CHECK_THAT(run.output, Contains("94.15 Mbit/s"));
  CHECK_THAT(run.output, Contains("1448") && Contains("1538"));
  CHECK_THAT(run.output, Contains("limited by link a-b"));
}

TEST_CASE("import csv makes a published result that compare takes") {
  TemporaryFolder folder;
  const std::string table = folder.file("t.csv", "id,throughput_mbit_s,use\nbulk,93.5,test\n");
  REQUIRE(run({"import", "csv", table, "-o", folder.path("published.json")}).code == 0);
  const json published = json::parse(text_of(folder.path("published.json")));
  CHECK(published["backend"] == "published");
  CHECK(published["tests"][0]["figures"]["goodput"]["median"] == 93.5e6);
  const std::string predicted = folder.file("p.json", result_text(Backend::simulated, 94.15e6));
  CHECK(run({"compare", predicted, folder.path("published.json"), "--tolerance", "*.goodput=1%"})
            .code == 0);
  CHECK(run({"import", "csv", folder.file("bad.csv", "id,elapsed_s\nx,abc\n")}).code == 2);
  CHECK(run({"import", "csv", table, "--map", "nope=goodput:Mbit/s"}).code == 2);
}

}  // namespace
}  // namespace linerate::tests
