// Published measurements reproduced from mechanism: experiments/library/published.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "experiments/definition/parse.hpp"
#include "experiments/results/import_csv.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::TestResult;

namespace {

using Tests = std::map<std::string, TestResult>;

const std::string kFolder = std::string(LINERATE_SOURCE_DIR) + "/experiments/library/published/";

Tests by_name(const experiments::Result& result) {
  Tests tests;
  for (const TestResult& test : result.tests) tests[test.name] = test;
  return tests;
}

Tests predicted(const std::string& stem, std::vector<std::string> set = {}) {
  experiments::ParseOptions options;
  options.set = std::move(set);
  return by_name(models::simulate(experiments::load_experiment(kFolder + stem + ".yaml", options)));
}

Tests published(const std::string& stem) {
  std::ifstream file(kFolder + stem + ".csv");
  std::stringstream text;
  text << file.rdbuf();
  return by_name(experiments::import_csv(text.str(), stem + ".csv"));
}

double median(const Tests& tests, const std::string& test, const std::string& figure) {
  return tests.at(test).figures.at(figure).median();
}

// 1448 of 1538 wire bytes at 100 Mbit/s: the null model.
constexpr double kCeiling = 100e6 * 1448 / 1538;

}  // namespace

// A tenth of the shortest row's volume in every row: all of them are steady after 10 ms.
constexpr double kBytes = 41943040;

const Tests& nttcp() {
  static const Tests model = predicted("nttcp-fast-vs-gigabit-pci", {"tests.*.bytes=41943040B"});
  return model;
}
const Tests& nttcp_table() {
  static const Tests table = published("nttcp-fast-vs-gigabit-pci");
  return table;
}

bool has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

// CPU seconds of a row were sampled by ticks of 10 ms: standard error sqrt(10 ms x seconds).
bool cpu_agrees(const std::string& name, const char* figure, double within) {
  const double bytes =
      median(nttcp_table(), name, "goodput") * median(nttcp_table(), name, "receiver.elapsed") / 8;
  const double predicted = median(nttcp(), name, figure) * bytes / kBytes;
  const double measured = median(nttcp_table(), name, figure);
  UNSCOPED_INFO(name << " " << figure << ": " << predicted << " s for " << measured << " s");
  return std::abs(predicted - measured) <=
         std::max(within * measured, 2 * std::sqrt(0.01 * measured));
}

TEST_CASE("nttcp over fast Ethernet: times, writes and reads") {
  for (const auto& [name, test] : nttcp()) {
    if (has(name, "incast") || !has(name, "fe-")) continue;
    INFO(name);
    const double measured = median(nttcp_table(), name, "goodput");
    const double error = std::abs(measured / median(nttcp(), name, "goodput") - 1);
    const double ceiling = std::abs(measured / kCeiling - 1);
    if (name == "fe-w8k" || name == "fe-w16k")
      CHECK(error <= ceiling / 2);
    else
      CHECK(error <= std::max(0.0005, ceiling + 0.0002));
    // fe-w16k's reads and time disagree in the source (docs/VALIDATION.md).
    const double bytes = measured * median(nttcp_table(), name, "receiver.elapsed") / 8;
    if (name != "fe-w16k")
      CHECK(median(nttcp(), name, "receiver.calls") * bytes / kBytes ==
            Approx(median(nttcp_table(), name, "receiver.calls")).epsilon(0.02));
  }
  CHECK(median(nttcp(), "fe-default", "sender.calls") == kBytes / 4096);
}

TEST_CASE("nttcp over the gigabit card: within 1 %, three senders within 2 %") {
  double sum = 0, published_sum = 0;
  for (const auto& [name, test] : nttcp()) {
    if (!has(name, "ge-")) continue;
    INFO(name);
    const double measured = median(nttcp_table(), name, "goodput");
    const double model = median(nttcp(), name, "goodput");
    if (has(name, "incast-3")) {
      sum += model;
      published_sum += measured;
    } else {
      CHECK(model == Approx(measured).epsilon(0.01));
    }
  }
  CHECK(sum == Approx(published_sum).epsilon(0.02));
}

TEST_CASE("nttcp: CPU seconds of receivers, and of senders that block") {
  for (const auto& [name, test] : nttcp()) {
    // Two senders to one receiver are fitted, three saturate it; fe-incast-3-a is missed by 16 %
    // (docs/VALIDATION.md).
    if (!has(name, "ge-incast") && name != "fe-incast-3-a")
      CHECK(cpu_agrees(name, "receiver.cpu", 0.15));
    // Not predicted: the writer over fast Ethernet that sleeps often, or has a deep buffer.
    const bool buffers = has(name, "ge-w") && name != "ge-w128k";  // a fit row
    if (buffers || name == "fe-w32k" || name == "fe-w64k")
      CHECK(cpu_agrees(name, "sender.cpu", 0.25));
  }
}

TEST_CASE("nttcp, senders sharing a port: the sum is conserved") {
  auto sum = [&](std::initializer_list<const char*> names) {
    double longest = 0;
    for (const char* name : names)
      longest = std::max(longest, median(nttcp(), name, "receiver.elapsed"));
    return static_cast<double>(names.size()) * kBytes * 8 / longest;
  };
  CHECK(sum({"fe-incast-2-a", "fe-incast-2-b"}) == Approx(94.54e6).epsilon(0.005));
  CHECK(sum({"fe-incast-3-a", "fe-incast-3-b", "fe-incast-3-c"}) == Approx(94.16e6).epsilon(0.005));
}

TEST_CASE(
    "netperf between VxWorks and Linux: closer than the wire's ceiling, but for the outlier") {
  const Tests model = predicted("netperf-vxworks-linux-100base-tx");
  const Tests table = published("netperf-vxworks-linux-100base-tx");
  double sum = 0;
  int rows = 0;
  for (const auto& [name, test] : model) {
    if (name == "l2v-s32k") continue;  // 28.67 Mbit/s, a known outlier (docs/VALIDATION.md)
    INFO(name);
    const double measured = median(table, name, "goodput");
    const double error = std::abs(median(model, name, "goodput") / measured - 1);
    const double ceiling = std::abs(kCeiling / measured - 1);
    if (name == "v2l-s8k" || name == "v2l-m8k" || name == "v2l-m16k") CHECK(error <= ceiling / 2);
    CHECK(error <= ceiling + 0.0005);
    sum += error;
    ++rows;
  }
  CHECK(rows == 15);
  CHECK(sum / rows <= 0.0008);  // the ceiling alone: 0.128 %
}

TEST_CASE(
    "netperf between FreeBSD hosts: the receiver is nearly full, a faster wire brings little") {
  const Tests model = predicted("netperf-freebsd-100base-tx", {"tests.*.duration=2s"});
  CHECK(median(model, "freebsd-best", "goodput") == Approx(93.57e6).epsilon(0.002));
  CHECK(median(model, "freebsd-best", "receiver.busiest_core") >= 0.9);
  CHECK(median(model, "freebsd-best", "sender.busiest_core") <= 0.6);
  CHECK(median(model, "faster-wire", "goodput") <= 1.2 * median(model, "freebsd-best", "goodput"));
  CHECK(model.at("faster-wire").limits.front().resource == "cpu p133 core 0");
}

TEST_CASE("lftp by network driver: within 3 % of the test runs") {
  const Tests model = predicted("ftp-nic-drivers-100base-tx", {"tests.*.bytes=20MB"});
  const Tests table = published("ftp-nic-drivers-100base-tx");
  REQUIRE(model.size() == table.size());
  for (const auto& [name, test] : model) {
    INFO(name);
    const std::string pair = name.substr(0, name.size() - 1);  // without the number of the run
    // Runs 1 and 2 of a pair with one driver were fitted.
    const int first = has(name, "eepro100-pcnet32") ? 1 : 3;
    double mean = 0;
    for (int run = first; run <= 5; ++run)
      mean += median(table, pair + std::to_string(run), "goodput") / (6 - first);
    CHECK(median(model, name, "goodput") == Approx(mean).epsilon(0.03));
    // What one buys a faster driver for: the client's core is full either way.
    const bool get = has(name, "-get");
    CHECK(median(model, name, get ? "receiver.busiest_core" : "sender.busiest_core") > 0.97);
  }
}

TEST_CASE("forwarding on an ARM SoC: rates of test rows, and the rows that cannot be had") {
  const Tests model = predicted("rfc2544-arm-forwarding");
  const Tests table = published("rfc2544-arm-forwarding");
  REQUIRE(model.size() == table.size());
  for (const auto& [name, test] : model) {
    INFO(name);
    const double error = median(model, name, "frame_rate") / median(table, name, "frame_rate") - 1;
    if (name.starts_with("testpmd1604-10g"))
      CHECK(error > 0.15);  // another program on the same machine: see the experiment
    else if (name.starts_with("testpmd1604-1g"))
      CHECK(std::abs(error) <= 0.003);
    else
      CHECK(std::abs(error) <= 0.02);
  }
}
