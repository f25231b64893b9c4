// Marks instead of losses, from an experiment file to its figures.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;

namespace {

experiments::TestResult predict(const std::string& stack, const std::string& queue,
                                const std::string& test) {
  const std::string yaml = R"(schema_version: 1
name: marks
hosts:
  a: {profile: ideal, stack: {)" +
                           stack + R"(}, nics: {eth0: {profile: ideal}}}
  b: {like: a}
links:
  - {endpoints: ["a:eth0", "b:eth0"], rate: 1Gbit/s, delay: 500us, queue: {limit: 8MB, )" +
                           queue + R"(}}
tests:
  - {name: t, type: tcp-stream, from: a, to: b, duration: 2s, omit: 1s, )" +
                           test + "}\n";
  return models::simulate(experiments::parse_experiment(yaml, "test.yaml")).tests.front();
}

double goodput(const experiments::TestResult& result) {
  return result.figures.at("goodput").median();
}

constexpr double kCeiling = 1e9 * 1448 / 1538;

}  // namespace

TEST_CASE("DCTCP: one or many flows fill the line and lose nothing") {
  for (const char* flows : {"1", "10"}) {
    CAPTURE(flows);
    const experiments::TestResult result =
        predict("preset: linux-6", "discipline: fifo, ecn_threshold: 100kB",
                std::string("congestion: dctcp, flows: ") + flows);
    CHECK(goodput(result) == Approx(kCeiling).epsilon(0.005));
    CHECK(result.figures.at("retransmits").median() == 0);
    CHECK(result.hosts.at("a").figures.at("mark_reductions") > 0);
  }
}

TEST_CASE("CUBIC with ECN is slowed by CoDel without a loss, without ECN by losses") {
  const std::string queue = "discipline: codel, ecn: on";
  const experiments::TestResult marked = predict("ecn: on", queue, "congestion: cubic, flows: 4");
  CHECK(marked.figures.at("retransmits").median() == 0);
  CHECK(marked.hosts.at("a").figures.at("mark_reductions") > 0);
  CHECK(goodput(marked) > 0.95 * kCeiling);
  const experiments::TestResult lost = predict("ecn: off", queue, "congestion: cubic, flows: 4");
  CHECK(lost.figures.at("retransmits").median() > 0);
  CHECK(lost.hosts.at("a").figures.at("mark_reductions") == 0);
}
