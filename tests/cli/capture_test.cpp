// --pcap: which files it makes, and what it refuses.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/cli/program.hpp"
#include "tests/cli/samples.hpp"

namespace linerate::tests {
namespace {

using Catch::Contains;
using Names = std::vector<std::string>;

Names names_in(const std::string& folder) {
  Names names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("predict --pcap writes a complete pcapng file a test and port, and nothing else") {
  TemporaryFolder folder;
  const std::string captures = folder.path("captures");
  const Run run = tests::run({"predict", "-", "--quiet", "--pcap", captures}, experiment_text());
  CHECK(run.code == 0);
  CHECK(run.errors.empty());
  CHECK(names_in(captures) == Names{"bulk.a-eth0.pcapng", "bulk.b-eth0.pcapng"});
  for (const std::string& name : names_in(captures)) {
    const std::string text = text_of(captures + "/" + name);
    CHECK(text.substr(0, 4) == "\x0a\x0d\x0d\x0a");  // a section header block
    CHECK(text.size() > 10'000);
  }
}

TEST_CASE("a capture that reaches its limit says when it ends, and the prediction goes on") {
  TemporaryFolder folder;
  const Run run = tests::run({"predict", "-", "--pcap", folder.path("c"), "--pcap-ports", "a:eth0",
                              "--pcap-limit", "64KiB"},
                             experiment_text());
  CHECK(run.code == 0);
  CHECK_THAT(run.errors, Contains("a:eth0") && Contains("65536 bytes"));
  CHECK(names_in(folder.path("c")) == Names{"bulk.a-eth0.pcapng"});
  CHECK(text_of(folder.path("c/bulk.a-eth0.pcapng")).size() <= 65'536);
}

TEST_CASE("what makes no sense with captures is refused before anything is simulated") {
  TemporaryFolder folder;
  const auto refused = [&](const Names& options) {
    Names arguments{"predict", "-"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Run run = tests::run(arguments, experiment_text());
    CHECK(run.code == 2);
    CHECK(run.output.empty());
    return run.errors;
  };
  const std::string to = folder.path("c");
  CHECK_THAT(refused({"--pcap", to, "--pcap-ports", "a:eth9"}), Contains("a:eth0"));
  CHECK_THAT(refused({"--pcap", to, "--pcap-payload", "64"}), Contains("unit"));
  CHECK_THAT(refused({"--pcap-limit", "1MiB"}), Contains("--pcap DIR"));
  const std::string file = folder.file("not-a-folder", "");
  CHECK_THAT(refused({"--pcap", file + "/below"}), Contains("not-a-folder"));
}

}  // namespace
}  // namespace linerate::tests
