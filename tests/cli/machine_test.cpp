// `measure` on machines that are not as one expects: up for long, without IPv6, without rights.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace linerate::tests {
namespace {

using Catch::Contains;
using nlohmann::json;

/// Both ends of two tests on this machine.
constexpr const char* kLoopback = R"(schema_version: 1
name: odd-machine
hosts: {a: {stack: {preset: linux-6, congestion: reno}, nics: {eth0: {}}}, b: {like: a}}
links: [{endpoints: ["a:eth0", "b:eth0"], rate: 100Mbit/s}]
tests:
  - {name: bulk, type: tcp-stream, from: a, to: b, duration: 300ms, omit: 0s, repeats: 1}
  - {name: load, type: udp-stream, from: a, to: b, rate: 1Mbit/s, duration: 300ms, omit: 0s,
     repeats: 1}
lab: {type: loopback}
)";

/// What measuring gives behind `command`, which changes what the machine looks like.
Run measured(const std::vector<std::string>& command, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"measure", "-", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return Program(words, kLoopback, {}, command).finish();
}

bool is_root() {
  if (::geteuid() != 0) WARN("not root: the machine cannot be made to look otherwise");
  return ::geteuid() == 0;
}

/// In a network of its own, after `script`.
std::vector<std::string> network(const std::string& script) {
  return {"unshare", "--net", "sh", "-c", script + " && exec \"$@\"", "sh"};
}

TEST_CASE("a machine that has been up for longer than a Time spans measures as any other") {
  if (!is_root()) return;
  // A Time ends at 2^63 ps, which is 106.75 days (time_namespaces(7) moves the clock).
  for (const char* uptime : {"9223372", "17280000"}) {
    INFO("up for " << uptime << " s more");
    const Run run = measured({"unshare", "--time", "--monotonic", uptime, "--fork"});
    REQUIRE(run.code == 0);
    const json tests = json::parse(run.output).at("tests");
    const auto median = [&](std::size_t test, const char* figure) {
      return tests.at(test).at("figures").at(figure).at("median").get<double>();
    };
    CHECK(median(0, "elapsed") > 0.25);
    CHECK(median(0, "elapsed") < 10);
    CHECK(median(1, "loss") == 0);
    CHECK(median(1, "latency.p50") > 0);
    CHECK(median(1, "latency.p50") < 0.1);
  }
}

TEST_CASE("a machine without IPv6 measures IPv4, and says what a test of IPv6 needs") {
  if (!is_root()) return;
  const auto no_ipv6 =
      network("ip link set lo up && echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6");
  CHECK(measured(no_ipv6).code == 0);
  const Run refused = measured(no_ipv6, {"--set", "tests.bulk.ip=6"});
  CHECK(refused.code == 3);
  CHECK_THAT(refused.errors + refused.output, Contains("bulk") && Contains("disable_ipv6=0"));
}

TEST_CASE("a loopback device that is down is named with what starts it") {
  if (!is_root()) return;
  const Run refused = measured(network("true"));
  CHECK(refused.code == 3);
  CHECK_THAT(refused.errors + refused.output, Contains("ip link set lo up"));
}

TEST_CASE("somebody without rights measures over the loopback device") {
  TemporaryFolder folder;
  const std::string file = folder.file("lo.yaml", kLoopback);
  open_to_everybody(file);
  const Run run = run_unprivileged({"measure", file, "--json"});
  INFO(run.errors);
  REQUIRE(run.code == 0);
  CHECK(json::parse(run.output).at("complete") == true);
}

}  // namespace
}  // namespace linerate::tests
