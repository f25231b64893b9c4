// A link that takes smaller packets than the hosts believe, from an experiment file to its figures.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;

namespace {

experiments::TestResult predict(const std::string& stack) {
  const std::string yaml = R"(schema_version: 1
name: narrow
hosts:
  a: {profile: ideal, stack: {)" +
                           stack + R"(}, nics: {eth0: {profile: ideal}}}
  b: {profile: ideal, nics: {eth0: {profile: ideal}}}
links:
  - {endpoints: ["a:eth0", "b:eth0"], rate: 100Mbit/s, delay: 5ms, queue: 500kB, mtu: 1400B}
tests:
  - {name: t, type: tcp-stream, from: a, to: b, duration: 20s}
)";
  return models::simulate(experiments::parse_experiment(yaml, "test.yaml")).tests.front();
}

double goodput(const experiments::TestResult& result) {
  return result.figures.at("goodput").median();
}

}  // namespace

TEST_CASE("a known path MTU sets the segments, a filtered one stops the flow") {
  // 1400 - 52 of 1400 + 38 bytes of line; the first round trips cost some of 20 s.
  CHECK(goodput(predict("path_mtu_discovery: on")) ==
        Approx(1e8 * (1400 - 52) / (1400 + 38)).epsilon(0.01));
  const experiments::TestResult stuck = predict("path_mtu_discovery: blackhole");
  CHECK(goodput(stuck) == 0);
  CHECK(stuck.hosts.at("a").figures.at("timeouts") >= 5);
}

TEST_CASE("tags and MACsec are around what a link's MTU bounds (IEEE 802.3 3.2.7)") {
  for (const std::string layer : {"vlan: 10", "encapsulation: [macsec]", "encapsulation: [qinq]"}) {
    const auto dropped = [&](const std::string& mtu) {
      const std::string yaml = R"(schema_version: 1
name: tagged
hosts:
  a: {profile: ideal, stack: {path_mtu_discovery: blackhole}, nics: {eth0: {profile: ideal, )" +
                               layer + R"(}}}
  b: {like: a}
links:
  - {endpoints: ["a:eth0", "b:eth0"], rate: 100Mbit/s, mtu: )" +
                               mtu + R"(}
tests:
  - {name: t, type: tcp-stream, from: a, to: b, duration: 200ms}
)";
      const auto test =
          models::simulate(experiments::parse_experiment(yaml, "test.yaml")).tests.front();
      return test.ports.at("a:eth0").drops;
    };
    INFO(layer);
    CHECK(dropped("1500B").empty());
    CHECK(dropped("1499B").count("too-large") == 1);
  }
}

TEST_CASE("MTU probing finds its way after some timeouts") {
  const experiments::TestResult found = predict("path_mtu_discovery: blackhole, mtu_probing: on");
  // 1024 B segments, about 3.5 of 20 s lost.
  const double ceiling = 1e8 * 1024 / (1024 + 52 + 38);
  CHECK(goodput(found) < ceiling * 0.87);
  CHECK(goodput(found) > ceiling * 0.75);
}
