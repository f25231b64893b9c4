// What is written reads back; what is not ours is refused with the place that is wrong.
#include "experiments/results/json.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <system_error>

#include "samples.hpp"

using namespace linerate::experiments;
using Catch::Matchers::Contains;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The error for a text that must not be read.
std::string error_for(const std::string& text) {
  try {
    result_from_json(text, "file.json");
  } catch (const ResultFormatError& error) {
    return error.what();
  }
  return "no error";
}

/// A folder of its own, gone at the end.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("linerate-test-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator(path), {});
  }
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a result reads back as it was written, and writes the same bytes again") {
  for (const Result& result : {measured_result(), simulated_result(), Result{}}) {
    const std::string text = to_json(result);
    CHECK(result_from_json(text, "file.json") == result);
    CHECK(to_json(result_from_json(text, "file.json")) == text);
  }
}

TEST_CASE("every double reads back to the same bits") {
  std::mt19937_64 random(1);
  std::vector<double> samples{5e-324,  1.7976931348623157e308, 0.1, 1.0 / 3,
                              941.5e6, 123456789012345678.0};
  while (samples.size() < 2000) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) samples.push_back(std::abs(value));
  }
  Result result = simulated_result();
  for (std::size_t i = 0; i < samples.size(); ++i)
    result.tests[0].figures["f" + std::to_string(i)] =
        make_figure("s", Better::neither, {samples[i]});
  CHECK(result_from_json(to_json(result), "file.json") == result);
}

TEST_CASE("keys come in the documented order") {
  const auto json = nlohmann::ordered_json::parse(to_json(measured_result()));
  const auto keys = [](const nlohmann::ordered_json& object) {
    std::string names;
    for (const auto& item : object.items()) names += item.key() + " ";
    return names;
  };
  CHECK(keys(json) ==
        "schema_version kind backend complete provenance environment realisation tests notes ");
  CHECK(keys(json["tests"][0]) == "name type figures layers hosts ports intervals limits notes ");
  CHECK(keys(json["tests"][0]["figures"]["goodput"]) == "unit better median ci95 model95 samples ");
  CHECK(keys(json["tests"][0]["layers"]) == "payload l4 l3 l2 wire ");
}

TEST_CASE("the experiment is embedded as JSON, not as a string") {
  const auto json = nlohmann::json::parse(to_json(measured_result()));
  CHECK(json["provenance"]["experiment"]["name"] == "two-hosts");
}

TEST_CASE("what is unknown is absent, never 0") {
  const std::string text = to_json(simulated_result());
  for (const char* key : {"ci95", "model95", "formula", "origin", "environment", "null"})
    CHECK_THAT(text, !Contains("\"" + std::string(key) + "\""));
}

TEST_CASE("no line of a result is longer than 100 columns unless one string is") {
  std::istringstream lines(to_json(measured_result()));
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
}

TEST_CASE("a name that is no UTF-8 still gives a file that can be read") {
  Result result = measured_result();
  result.environment["cpu"] = "caf\xE9";
  CHECK(result_from_json(to_json(result), "file.json").environment.at("cpu") == "caf\xEF\xBF\xBD");
}

TEST_CASE("an error names the file and the path that is wrong") {
  const std::string good = to_json(measured_result());
  const auto with = [&](const char* from, const char* to) {
    return error_for(replaced(good, from, to));
  };
  CHECK(with(R"("name": "bulk")", R"("name": 7)") == "file.json: tests[0].name: is not a string");
  CHECK_THAT(with(R"("backend": "measured")", R"("backend": "guessed")"),
             Contains("file.json: backend: is \"guessed\", not one of simulated, measured"));
  CHECK_THAT(with(R"("schema_version": 1)", R"("schema_version": 2)"),
             Contains("file.json: schema_version: is not 1"));
  CHECK_THAT(with(R"("kind": "result")", R"("kind": "comparison")"),
             Contains("file.json: kind: is \"comparison\", not \"result\""));
  CHECK_THAT(with(R"("complete": true)", R"("complete": true, "colour": 1)"),
             Contains("file.json: colour: is not a key of this format"));
  CHECK_THAT(with(R"("complete": true,)", ""), Contains("file.json: \"complete\" is missing"));
  CHECK_THAT(with(R"("median": 0.74)", R"("median": 0.75)"),
             Contains("tests[0].figures[\"sender.cpu\"].median: is not the median of the samples"));
  CHECK_THAT(with(R"("samples": [0.74])", R"("samples": [])"), Contains("at least one sample"));
  CHECK_THAT(with(R"("frames_sent": 812345)", R"("frames_sent": 0.5)"),
             Contains("tests[0].ports[\"a:eth0\"].frames_sent: is not a whole number"));
  CHECK_THAT(with(R"("seed": 7)", R"("seed": -7)"), Contains("provenance.seed"));
  CHECK_THAT(with(R"("name": "rpc")", R"("name": "bulk")"), Contains("two tests are named"));
}

TEST_CASE("hostile text is refused, not obeyed") {
  CHECK_THAT(error_for(""), Contains("file.json: is not JSON"));
  CHECK_THAT(error_for("[1, 2"), Contains("is not JSON"));
  CHECK_THAT(error_for("[]"), Contains("is not an object"));
  CHECK_THAT(error_for("{} {}"), Contains("is not JSON"));
  CHECK_THAT(error_for(std::string(1'000'000, '[')), Contains("nested deeper than 64"));
  CHECK_THAT(error_for(std::string("{\"a\":\"\xff\"}")), Contains("is not JSON"));
  CHECK_THAT(error_for(R"({"kind": "result", "kind": "result"})"), Contains("stands twice"));
  const std::string good = to_json(measured_result());
  CHECK_THAT(error_for(replaced(good, "0.74]", "1e999]")), Contains("file.json: "));
  CHECK_THAT(
      error_for(replaced(good, "\"frames_sent\": 812345", "\"frames_sent\": 99999999999999999999")),
      Contains("file.json: "));
  CHECK_THAT(error_for(replaced(good, "\"median\": 0.74", "\"median\": NaN")),
             Contains("not JSON"));
}

TEST_CASE("a name that would act on a terminal is refused") {
  Result result = simulated_result();
  result.tests[0].name = "\x1b[31mred";
  CHECK_THROWS_WITH(result_from_json(to_json(result), "file.json"), Contains("control character"));
}

TEST_CASE("a result cut off anywhere is refused") {
  const std::string good = to_json(measured_result());
  for (std::size_t length = 0; length + 1 < good.size(); length += 7)
    CHECK_THROWS_AS(result_from_json(good.substr(0, length), "file.json"), ResultFormatError);
}

TEST_CASE("a comparison reads back as it was written") {
  ResultComparison comparison = compare(simulated_result(), measured_result(),
                                        {{"*.goodput", 0.01}, {"rpc.latency.p50", 0.2}});
  comparison.predicted_source = "predicted.json";
  comparison.reference_source = "measured.json";
  const std::string text = to_json(comparison);
  CHECK(comparison_from_json(text, "file.json") == comparison);
  CHECK(nlohmann::json::parse(text)["verdict"] == "outside");
  CHECK_THROWS_WITH(
      comparison_from_json(replaced(text, "\"verdict\": \"outside\"", "\"verdict\": \"within\""),
                           "file.json"),
      Contains("verdict: is not the verdict of the figures"));
  CHECK_THROWS_AS(result_from_json(text, "file.json"), ResultFormatError);
}

TEST_CASE("a file is written whole, or the old one stays") {
  const Folder folder;
  const std::string path = folder.file("result.json");
  write_file_atomically(path, "first");
  CHECK(contents(path) == "first");
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  write_file_atomically(path, "second");
  CHECK(contents(path) == "second");
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a write that fails leaves nothing behind and says what failed") {
  const Folder folder;
  CHECK_THROWS_WITH(write_file_atomically(folder.file("missing/result.json"), "text"),
                    Contains("open") && Contains("missing/result.json"));
  std::filesystem::create_directory(folder.file("taken"));
  CHECK_THROWS_AS(write_file_atomically(folder.file("taken"), "text"), std::system_error);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a symbolic link keeps pointing to the file that is replaced") {
  const Folder folder;
  write_file_atomically(folder.file("real.json"), "old");
  std::filesystem::create_symlink("real.json", folder.file("link.json"));
  write_file_atomically(folder.file("link.json"), "new");
  CHECK(std::filesystem::is_symlink(folder.file("link.json")));
  CHECK(contents(folder.file("real.json")) == "new");
}

TEST_CASE("a device is written to, never replaced") {
  write_file_atomically("/dev/null", "text");
  CHECK(std::filesystem::is_character_file("/dev/null"));
}
