// House rules over the source tree, so that the arrows of the layout hold by test and not by habit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Offenders = std::vector<std::string>;

struct SourceFile {
  std::string path;  // relative to the source tree
  std::vector<std::string> lines;
};

bool has_extension(const std::string& path, const std::set<std::string>& extensions) {
  return extensions.count(fs::path(path).extension().string()) != 0;
}

SourceFile read(const fs::path& root, const fs::path& path) {
  SourceFile file{fs::relative(path, root).generic_string(), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

// Every text file of ours, by path; build trees and hidden folders hold none.
std::vector<SourceFile> source_tree() {
  const fs::path root = LINERATE_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (const char* folder : {"sim", "experiments", "models", "realnet", "cli", "tests", "bench",
                             "scripts", "cmake", "docs"}) {
    if (!fs::exists(root / folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file()) files.push_back(read(root, entry.path()));
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(root))
    if (entry.is_regular_file() && has_extension(entry.path().string(), {".txt", ".md", ".json"}))
      files.push_back(read(root, entry.path()));
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> files = source_tree();
  return files;
}

bool is_cpp(const std::string& path) { return has_extension(path, {".cpp", ".hpp"}); }
bool is_header(const std::string& path) { return has_extension(path, {".hpp"}); }

bool under(const std::string& path, const std::string& folder) {
  return path.compare(0, folder.size() + 1, folder + "/") == 0;
}

// What a folder may include, beside itself. The longest prefix that fits decides.
const std::map<std::string, std::vector<std::string>> kArrows{
    {"sim", {}},
    {"experiments/definition", {"sim", "experiments/catalog"}},
    {"experiments/results", {"sim", "experiments/catalog", "experiments/definition"}},
    {"experiments/studies",
     {"sim", "experiments/catalog", "experiments/definition", "experiments/results"}},
    {"experiments/catalog", {}},
    {"experiments/library", {}},
    {"models", {"sim", "experiments"}},
    {"realnet", {"sim", "experiments"}},
    {"cli", {"sim", "experiments", "models", "realnet"}},
    // Tests of one folder see what the folder sees; those of the cli see everything.
    {"tests/sim", {"sim"}},
    {"tests/definition", {"sim", "experiments/definition", "experiments/catalog"}},
    {"tests/results", {"sim", "experiments"}},
    {"tests/studies", {"sim", "experiments"}},
    {"tests/tcp", {"sim", "experiments", "models"}},
    {"tests/models", {"sim", "experiments", "models"}},
    {"tests/schema", {"sim", "experiments", "tests/definition", "tests/results"}},
    {"tests/validation", {"sim", "experiments", "models"}},
    {"tests/calibration", {"sim", "experiments", "models"}},
    {"tests/realnet", {"sim", "experiments", "realnet"}},
    {"tests/traffic", {"sim", "experiments", "realnet", "tests/realnet"}},
    {"tests", {"sim", "experiments", "models", "realnet", "cli"}},
    {"bench", {"sim", "experiments", "models", "realnet", "cli"}},
};

bool may_include(const std::string& file, const std::string& included) {
  const std::pair<const std::string, std::vector<std::string>>* rule = nullptr;
  for (const auto& candidate : kArrows)
    if (under(file, candidate.first) &&
        (rule == nullptr || candidate.first.size() > rule->first.size()))
      rule = &candidate;
  if (rule == nullptr) return false;
  const auto permits = [&](const std::string& folder) { return under(included, folder); };
  return permits(rule->first) || std::any_of(rule->second.begin(), rule->second.end(), permits);
}

// Reports `path:line: text` of every line of the chosen files in which `pattern` is found.
template <class Choose>
Offenders lines_with(const std::regex& pattern, Choose choose) {
  Offenders found;
  for (const SourceFile& file : sources()) {
    if (!choose(file.path)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      if (std::regex_search(file.lines[i], pattern))
        found.push_back(file.path + ":" + std::to_string(i + 1) + ": " + file.lines[i]);
  }
  return found;
}

}  // namespace

TEST_CASE("the source tree is found") {
  const auto count = std::count_if(sources().begin(), sources().end(),
                                   [](const SourceFile& file) { return is_cpp(file.path); });
  CHECK(count > 30);
}

TEST_CASE("the arrows: sim <- experiments <- {models, realnet} <- cli") {
  CHECK(may_include("models/simulate.cpp", "sim/units.hpp"));
  CHECK(may_include("cli/validate.cpp", "models/simulate.hpp"));
  CHECK_FALSE(may_include("realnet/measure.cpp", "models/simulate.hpp"));
  CHECK_FALSE(may_include("models/simulate.cpp", "realnet/measure.hpp"));
  CHECK_FALSE(may_include("sim/engine.hpp", "experiments/definition/experiment.hpp"));
  CHECK_FALSE(may_include("experiments/results/result.cpp", "models/simulate.hpp"));
  CHECK(may_include("experiments/results/compare.cpp", "experiments/definition/parse.hpp"));
  CHECK_FALSE(may_include("experiments/definition/parse.cpp", "experiments/results/result.hpp"));
  CHECK_FALSE(may_include("experiments/results/result.cpp", "experiments/studies/sweep.hpp"));
}

TEST_CASE("every include obeys the arrows and is written from the source tree") {
  const std::regex include(R"(^\s*#\s*include\s+"([^"]+)\")");
  const fs::path root = LINERATE_SOURCE_DIR;
  Offenders against_the_arrows, not_in_the_tree;
  for (const SourceFile& file : sources()) {
    if (!is_cpp(file.path)) continue;
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const std::string included = match[1];
      const fs::path beside = fs::path(file.path).parent_path() / included;
      if (under(file.path, "tests") && fs::exists(root / beside)) continue;  // a test's fixture
      if (!fs::exists(root / included))
        not_in_the_tree.push_back(file.path + " includes " + included);
      else if (!may_include(file.path, included))
        against_the_arrows.push_back(file.path + " includes " + included);
    }
  }
  CHECK(against_the_arrows == Offenders{});
  CHECK(not_in_the_tree == Offenders{});
}

TEST_CASE("catalog and library hold data, and the way to it") {
  Offenders code;
  for (const SourceFile& file : sources())
    if ((under(file.path, "experiments/catalog") || under(file.path, "experiments/library")) &&
        !has_extension(file.path, {".yaml", ".json", ".csv", ".md"}) &&
        file.path != "experiments/catalog/embedded.hpp")
      code.push_back(file.path);
  CHECK(code == Offenders{});
}

TEST_CASE("no source file is longer than 600 lines") {
  Offenders long_files;
  for (const SourceFile& file : sources())
    if (is_cpp(file.path) && file.lines.size() > 600)
      long_files.push_back(file.path + ": " + std::to_string(file.lines.size()) + " lines");
  CHECK(long_files == Offenders{});
}

TEST_CASE("every header starts by saying what it is for and is included once") {
  Offenders silent, unguarded;
  for (const SourceFile& file : sources()) {
    if (!is_header(file.path)) continue;
    if (file.lines.empty() || file.lines.front().compare(0, 3, "// ") != 0)
      silent.push_back(file.path);
    if (std::find(file.lines.begin(), file.lines.end(), "#pragma once") == file.lines.end())
      unguarded.push_back(file.path);
  }
  CHECK(silent == Offenders{});
  CHECK(unguarded == Offenders{});
}

TEST_CASE("no file names a place on one machine, and none is left unfinished") {
  const auto others = [](const std::string& path) {
    return path.find("tests/house/") == std::string::npos;  // the words below
  };
  CHECK(lines_with(std::regex(R"((^|[^\w.])/(home|root|work|Users)/|\.\./shared)"), others) ==
        Offenders{});
  CHECK(lines_with(std::regex(R"(\b(TODO|FIXME|XXX)\b)"), others) == Offenders{});
}
