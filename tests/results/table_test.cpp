// How quantities and tables read. The golden files are to be judged by eye.
#include "experiments/results/table.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "samples.hpp"

using namespace linerate::experiments;
using Catch::Matchers::Contains;

namespace {

std::string golden(const std::string& name) {
  std::ifstream file(LINERATE_SOURCE_DIR "/tests/results/golden/" + name);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

ResultComparison sample_comparison() {
  auto comparison = compare(simulated_result(), measured_result(),
                            {{"*.goodput", 0.01}, {"rpc.latency.p50", 0.2}});
  comparison.predicted_source = "predicted.json";
  comparison.reference_source = "measured.json";
  return comparison;
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

}  // namespace

TEST_CASE("quantities carry the prefix that keeps them readable") {
  CHECK(format_quantity(94.1551e6, "bit/s") == "94.16 Mbit/s");
  CHECK(format_quantity(161.6043e6, "bit/s") == "161.60 Mbit/s");
  CHECK(format_quantity(1e9, "bit/s") == "1 Gbit/s");
  CHECK(format_quantity(999.96e6, "bit/s") == "1 Gbit/s");
  CHECK(format_quantity(800e9, "bit/s") == "800 Gbit/s");
  CHECK(format_quantity(0, "bit/s") == "0 bit/s");
  CHECK(format_quantity(0.5, "bit/s") == "0.5000 bit/s");
  CHECK(format_quantity(35.6374, "s") == "35.64 s");
  CHECK(format_quantity(41.3e-6, "s") == "41.30 us");
  CHECK(format_quantity(5.12e-9, "s") == "5.120 ns");
  CHECK(format_quantity(3600, "s") == "3600 s");
  CHECK(format_quantity(65536, "B") == "64 KiB");
  CHECK(format_quantity(9000, "B") == "9000 B");
  CHECK(format_quantity(419430400, "B") == "400 MiB");
  CHECK(format_quantity(1249386610, "B") == "1.2494 GB");
  CHECK(format_quantity(14880952, "1/s") == "14.881 M/s");
  CHECK(format_quantity(24093, "1/s") == "24.09 k/s");
  CHECK(format_quantity(0.001, "fraction") == "0.1 %");
  CHECK(format_quantity(1, "%") == "100 %");
  CHECK(format_quantity(289543, "count") == "289543");
  CHECK(format_quantity(310, "EUR") == "310.00 EUR");
}

TEST_CASE("errors carry a sign and no more digits than they deserve") {
  CHECK(format_error(0.00062) == "+0.06 %");
  CHECK(format_error(-0.1234) == "-12.3 %");
  CHECK(format_error(2.284) == "+228 %");
  CHECK(format_error(-0.00001) == "+0.00 %");
}

TEST_CASE("a result reads as its golden table") {
  CHECK(format_table(measured_result()) == golden("result.txt"));
}

TEST_CASE("a comparison reads as its golden table") {
  CHECK(format_table(sample_comparison()) == golden("comparison.txt"));
}

TEST_CASE("tables fit a terminal of 100 columns and hold no escape sequence unless asked") {
  for (const std::string& text :
       {format_table(measured_result()), format_table(sample_comparison())}) {
    CHECK(longest_line(text) <= 100);
    CHECK(text.find('\x1b') == std::string::npos);
  }
  CHECK(format_table(sample_comparison(), true).find("\x1b[31moutside\x1b[0m") !=
        std::string::npos);
}

TEST_CASE("long names put the test on a line of its own") {
  Result predicted = simulated_result(), measured = measured_result();
  const std::string name = "a-test-with-a-name-of-fifty-three-characters-or-more";
  predicted.tests[0].name = measured.tests[0].name = name;
  const std::string text = format_table(compare(predicted, measured, {}));
  CHECK_THAT(text, Contains("\n" + name + "\n  goodput"));
  CHECK(longest_line(text) <= 100);
}

TEST_CASE("colour changes no text") {
  std::string plain;
  bool escape = false;
  for (const char c : format_table(measured_result(), true)) {
    if (c == '\x1b') escape = true;
    if (!escape) plain += c;
    if (c == 'm') escape = false;
  }
  CHECK(plain == format_table(measured_result()));
}

TEST_CASE("a search has a line a frame size, its latencies apart, and fits a terminal") {
  Result result;
  for (const char* size : {"64B", "1518B"}) {
    TestResult test;
    test.name = std::string("fwd[") + size + "]";
    test.type = "rfc2544-throughput";
    for (const char* name : {"frame_rate", "pdr.frame_rate"})
      test.figures[name] = make_figure("1/s", Better::higher, {14'880'952});
    for (const char* name : {"throughput", "pdr.throughput"})
      test.figures[name] = make_figure("bit/s", Better::higher, {9'876.5e6});
    for (const char* name : {"loss", "pdr.loss"})
      test.figures[name] = make_figure("fraction", Better::lower, {0.00321});
    for (const char* name : {"latency.min", "latency.mean", "latency.p50", "latency.p99",
                             "latency.p999", "latency.max", "latency.device"})
      test.figures[name] = make_figure("s", Better::lower, {123.4e-6});
    test.figures["trials"] = make_figure("count", Better::neither, {24});
    test.notes = {"limited by switch dut fabric"};
    result.tests.push_back(test);
  }
  const std::string text = format_table(result);
  CHECK(longest_line(text) <= 100);
  CHECK_THAT(text, Contains("fwd (rfc2544-throughput)") && Contains("latency.device") &&
                       Contains("1518B: limited by switch dut fabric"));
  // Name and type stand once, not once a size.
  CHECK(text.find("rfc2544-throughput") == text.rfind("rfc2544-throughput"));
}

TEST_CASE("a loss curve has a line a load and a column a frame size") {
  Result result;
  for (const auto& [size, loads] : std::vector<std::pair<const char*, std::vector<int>>>{
           {"64B", {100, 90, 80}}, {"128B", {100, 90}}}) {
    TestResult test;
    test.name = std::string("curve[") + size + "]";
    test.type = "rfc2544-frame-loss";
    for (const int load : loads)
      test.figures["loss." + std::to_string(load) + "%"] =
          make_figure("fraction", Better::lower, {load == 100 ? 0.5 : 0});
    result.tests.push_back(test);
  }
  const std::string text = format_table(result);
  CHECK_THAT(text, Contains("loss 64B") && Contains("loss 128B"));
  const std::size_t full = text.find("100 %"), least = text.find(" 80 %");
  REQUIRE(full != std::string::npos);
  REQUIRE(least != std::string::npos);
  CHECK(full < least);
}
