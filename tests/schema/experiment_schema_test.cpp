// The published JSON Schema against the parser: one comes from the other, and every shipped file
// satisfies both.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "experiments/catalog/embedded.hpp"
#include "experiments/definition/yaml_tree.hpp"
#include "tests/definition/parse_fixture.hpp"
#include "tests/schema/schema_validator.hpp"

using namespace linerate::experiments;
using nlohmann::json;

namespace {

/// What a YAML 1.2 reader makes of the text: numbers, booleans, null and strings.
json to_json(const Node& node) {
  if (node.is_sequence()) {
    json list = json::array();
    for (const Node& item : node.items) list.push_back(to_json(item));
    return list;
  }
  if (node.is_mapping()) {
    json object = json::object();
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      object[node.keys[i].text] = to_json(node.items[i]);
    }
    return object;
  }
  if (node.is_null()) return nullptr;
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  const json number = json::parse(node.text, nullptr, false);
  return number.is_number() ? number : json(node.text);
}

json yaml_to_json(const std::string& text) {
  Diagnostics diagnostics;
  const auto tree = read_yaml(text, 0, diagnostics);
  REQUIRE(tree);
  return to_json(*tree);
}

SchemaValidator schema_of_experiments() {
  return SchemaValidator(json::parse(experiment_schema()));
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const std::filesystem::path kExperiments =
    std::filesystem::path(LINERATE_SOURCE_DIR) / "experiments";

}  // namespace

TEST_CASE("the published schema is the generated one") {
  // To renew it: linerate check --schema > experiments/definition/experiment.schema.json
  CHECK(read_file(kExperiments / "definition/experiment.schema.json") == experiment_schema());
}

TEST_CASE("every shipped experiment satisfies the parser and the schema") {
  const SchemaValidator schema = schema_of_experiments();
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(kExperiments / "library")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    INFO(entry.path());
    const std::string text = read_file(entry.path());
    CHECK(schema.complaint(yaml_to_json(text)) == "");
    Experiment experiment;
    REQUIRE_NOTHROW(experiment = load_experiment(entry.path().string()));
    // What is resolved is a legal file too, and for the schema as well.
    CHECK(schema.complaint(json::parse(experiment.resolved)) == "");
    CHECK(parse_experiment(experiment.resolved, "resolved").resolved == experiment.resolved);
  }
  CHECK(files > 0);
}

TEST_CASE("what the schema refuses, the parser refuses") {
  const SchemaValidator schema = schema_of_experiments();
  for (const Sections& wrong :
       {Sections{.more = "seeed: 1"}, Sections{.more = "lab: {type: moon}"},
        Sections{.more = "seed: one"}, Sections{.more = "name: 5"},
        Sections{.links = "\n  - {endpoints: [\"a:eth0\", \"b:eth0\"], rate: 10G}"},
        Sections{.links = "\n  - {endpoints: [\"a:eth0\", \"b:eth0\"], rate: 1Gbit/s, delay: 5}"},
        Sections{.hosts = "\n  A: {nics: {eth0: {}}}"},
        Sections{.hosts = "\n  a: {nics: {eth0: {vlan: 4095}}}"},
        Sections{.tests = "\n  - {name: bulk, type: ftp, from: a, to: b}"}}) {
    INFO(wrong.text());
    CHECK_FALSE(errors_of(wrong).empty());
    if (wrong.more != "name: 5") CHECK(schema.complaint(yaml_to_json(wrong.text())) != "");
  }
}

TEST_CASE("every preset can be used, and a stack's names every parameter with its source") {
  std::vector<std::string> parameters;
  Stack stack;
  const auto collect = [&](const char* name, auto&, const char*) { parameters.emplace_back(name); };
  Stack::describe(collect, stack);

  for (const auto& [path, text] : embedded_files()) {
    const std::string_view folder = "experiments/catalog/";
    if (!path.starts_with(folder)) continue;
    const std::string entry(path.substr(folder.size(), path.size() - folder.size() - 5));
    const std::string kind = entry.substr(0, entry.find('/'));
    const std::string name = entry.substr(kind.size() + 1);
    INFO(entry);
    Sections sections;
    if (kind == "hosts") {
      sections.hosts = "\n  a: {profile: " + name + ", nics: {eth0: {}}}\n  b: {nics: {eth0: {}}}";
    } else if (kind == "nics") {
      sections.hosts = "\n  a: {nics: {eth0: {profile: " + name + "}}}\n  b: {like: a}";
      const json rates = yaml_to_json(std::string(text)).value("rates", json::array());
      const std::string rate = rates.empty() ? "10Mbit/s" : rates.front().get<std::string>();
      sections.links = "\n  - {endpoints: [\"a:eth0\", \"b:eth0\"], rate: " + rate + "}";
    } else if (kind == "sizes") {
      sections.tests = "\n  - {name: t, type: tcp-stream, from: a, to: b, sizes: " + name + "}";
    } else if (kind == "stacks") {
      sections.hosts = "\n  a: {stack: " + name + ", nics: {eth0: {}}}\n  b: {like: a}";
      const json file = yaml_to_json(std::string(text));
      for (const std::string& parameter : parameters) {
        INFO(parameter);
        REQUIRE(file.contains(parameter));
        CHECK_FALSE(file[parameter].value("source", "").empty());
      }
    } else {
      continue;
    }
    CHECK(errors_of(sections) == Lines{});
  }
}
