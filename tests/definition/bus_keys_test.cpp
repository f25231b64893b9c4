// Keys of buses, NICs and routers: what cannot be is refused with place and remedy.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/lint.hpp"
#include "experiments/definition/parse.hpp"

using namespace linerate::experiments;

namespace {

std::string text(const std::string& host, const std::string& test = "") {
  return R"(schema_version: 1
name: keys
hosts:
  a: {nics: {eth0: {profile: generic-1g}}}
  b: {nics: {eth0: {profile: generic-1g}}}
  r: {nics: {eth0: {profile: generic-1g}, eth1: {profile: generic-1g}}, )" +
         host + R"(}
links:
  - {endpoints: ["a:eth0", "r:eth0"], medium: 1000BASE-T}
  - {endpoints: ["r:eth1", "b:eth0"], medium: 1000BASE-T}
tests: [{name: t, type: tcp-stream, from: a, to: r)" +
         test + "}]\n";
}

std::string refusal(const std::string& host) {
  try {
    parse_experiment(text(host), "keys.yaml");
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& message, const std::string& part) {
  INFO(message);
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("buses that do not exist are refused") {
  CHECK(says(refusal("bus: {type: usb, generation: 4}"), "USB 4 is not modelled"));
  CHECK(says(refusal("bus: {type: usb, generation: 2, packets: 14}"), "has room for 13"));
  CHECK(says(refusal("bus: {type: pcie, completion: 32B}"), "hosts.r.bus.completion"));
  CHECK(says(refusal("bus: {type: pcie, lines: {size: 60B}}"), "is no power of two"));
  CHECK(says(refusal("bus: {type: pci, latency_timer: 300}"), "hosts.r.bus.latency_timer"));
}

TEST_CASE("costs of forwarding that cannot be") {
  CHECK(says(refusal("forwarding: kernel, forward_costs: {frame: 1us, cores: 3}"),
             "3 cores forward, and the host has 1"));
  CHECK(says(refusal("forwarding: poll-mode, forward_costs: {interrupt: 1us}"), "no interrupts"));
}

TEST_CASE("a FIFO smaller than a frame is refused where there is a bus") {
  const char* const small =
      "bus: {type: pcie}, nics: {eth0: {profile: generic-1g, mtu: 9000B, fifo: "
      "{receive: 4KiB}}, eth1: {profile: generic-1g}}";
  std::string message;
  try {
    parse_experiment(std::string(R"(schema_version: 1
name: fifo
hosts:
  a: {nics: {eth0: {profile: generic-1g}}}
  r: {)") + small + R"(}
links: [{endpoints: ["a:eth0", "r:eth0"], medium: 1000BASE-T}]
tests: [{name: t, type: tcp-stream, from: a, to: r}]
)",
                     "fifo.yaml");
  } catch (const std::exception& error) {
    message = error.what();
  }
  CHECK(says(message, "4096 B cannot hold a frame of 9022 B"));
}

TEST_CASE("check warns of a router that its lines can flood, unless it is what is tested") {
  const auto warnings = [](const std::string& yaml) {
    std::string all;
    for (const Diagnostic& diagnostic : lint(parse_experiment(yaml, "keys.yaml")))
      all += diagnostic.message + "\n";
    return all;
  };
  const std::string slow = "forwarding: kernel, forward_costs: {frame: 1us}";
  CHECK(says(warnings(text(slow)), "1 core can forward 1e+06 frames/s at most"));
  CHECK_FALSE(says(warnings(text("forwarding: kernel, forward_costs: {frame: 300ns}")), "forward"));
}

TEST_CASE("check warns of a FIFO that is bound to run dry") {
  const auto warnings = [](const std::string& bus, const std::string& threshold) {
    std::string all;
    const std::string yaml = R"(schema_version: 1
name: fifo
hosts:
  a: {nics: {eth0: {profile: generic-1g}}}
  r: {bus: {type: )" + bus + R"(}, nics: {eth0: {profile: generic-1g, fifo: {threshold: )" +
                             threshold + R"(}}}}
links: [{endpoints: ["a:eth0", "r:eth0"], medium: 1000BASE-T}]
tests: [{name: t, type: tcp-stream, from: a, to: r}]
)";
    for (const Diagnostic& diagnostic : lint(parse_experiment(yaml, "fifo.yaml")))
      all += diagnostic.message + "\n";
    return all;
  };
  CHECK(says(warnings("pci", "128B"), "it runs dry"));
  CHECK_FALSE(says(warnings("pci", "0B"), "it runs dry"));
  CHECK_FALSE(says(warnings("pcie", "128B"), "it runs dry"));
}
