// `measure` on real hosts, which are namespaces here: agents started by `ip netns exec`.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "realnet/lab.hpp"
#include "realnet/netlink.hpp"
#include "tests/cli/program.hpp"

namespace linerate::tests {
namespace {

using Catch::Contains;
using nlohmann::json;

bool is_root() {
  if (::geteuid() != 0) WARN("not root: no namespaces to stand for hosts");
  return ::geteuid() == 0;
}

/// Two namespaces that stand for two machines with a cable between them.
class TwoMachines {
 public:
  TwoMachines()
      : a_("linerate-" + lock_.id() + "-a"),
        b_("linerate-" + lock_.id() + "-b"),
        name_a_("linerate-" + lock_.id() + "-a"),
        name_b_("linerate-" + lock_.id() + "-b") {
    a_.devices().add_veth({"enp1s0", 10}, {"enp2s0", 11}, b_.descriptor());
    a_.devices().add_address("enp1s0", "192.0.2.1/24");
    b_.devices().add_address("enp2s0", "192.0.2.2/24");
    a_.devices().set_up("enp1s0");
    b_.devices().set_up("enp2s0");
  }

  /// An experiment over them; `lab` is added to the lab, `duration` to the test.
  std::string experiment(const std::string& lab, const std::string& duration,
                         const std::string& stack = "linux-6") const {
    const auto host = [](const std::string& name, const char* device, const char* address) {
      return "{command: [ip, netns, exec, " + name +
             ", env, \"PATH=" LINERATE_BINARY_DIR
             ":/usr/sbin:/usr/bin:/sbin:/bin\"], interfaces: {eth0: {device: " +
             device + ", address: " + address + "}}}";
    };
    return "schema_version: 1\n"
           "name: far\n"
           "hosts:\n"
           "  a: {stack: " +
           stack +
           ", nics: {eth0: {}}}\n"
           "  b: {like: a}\n"
           "switches: {s1: {ports: 2, rate: 1Gbit/s}}\n"
           "links:\n"
           "  - {endpoints: [\"a:eth0\", \"s1:1\"], rate: 1Gbit/s}\n"
           "  - {endpoints: [\"b:eth0\", \"s1:2\"], rate: 1Gbit/s}\n"
           "tests:\n"
           "  - {name: bulk, type: tcp-stream, from: a, to: b, congestion: reno, duration: " +
           duration +
           ", repeats: 2}\n"
           "lab:\n"
           "  type: hosts\n" +
           lab +
           "  switches: {s1: external}\n"
           "  hosts:\n"
           "    a: " +
           host(name_a_, "enp1s0", address_a.c_str()) +
           "\n"
           "    b: " +
           host(name_b_, "enp2s0", "192.0.2.2/24") + "\n";
  }

  /// Of an interface's MTU or a parameter in a's namespace.
  std::string seen_by_a(const std::string& path) const {
    std::string value;
    realnet::run_in_namespace(a_.descriptor(), [&] { value = realnet::first_line(path); });
    return value;
  }

  std::string address_a = "192.0.2.1/24";

 private:
  realnet::RunLock lock_;
  realnet::NetworkNamespace a_, b_;
  std::string name_a_, name_b_;
};

constexpr const char* kTimestamps = "/proc/sys/net/ipv4/tcp_timestamps";

/// Waits up to ten seconds.
template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 500 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return condition();
}

TEST_CASE("agents: a test between two hosts, whose clocks are compared") {
  if (!is_root()) return;
  const TwoMachines machines;
  const Run run = tests::run({"measure", "-", "--json"}, machines.experiment("", "400ms"));
  INFO(run.errors);
  REQUIRE((run.code == 0 || run.code == 5));
  const json result = json::parse(run.output);
  CHECK(result["complete"] == true);
  CHECK(result["tests"][0]["figures"]["goodput"]["samples"].size() == 2);
  CHECK(result["tests"][0]["figures"]["goodput"]["median"] > 1e6);
  // From the first SYN to the last acknowledgment: both clocks count from one start.
  CHECK(result["tests"][0]["figures"]["elapsed"]["median"] > 0.39);
  CHECK(result["tests"][0]["figures"]["elapsed"]["median"] < 2.0);
  CHECK_THAT(result["environment"]["b.clock"].get<std::string>(), Contains("ms"));
  CHECK(result["environment"].contains("a.kernel"));
}

TEST_CASE("agents: --dry-run starts none and says how they would be") {
  if (!is_root()) return;
  const TwoMachines machines;
  const Run run = tests::run({"measure", "-", "--dry-run"}, machines.experiment("", "400ms"));
  CHECK(run.code == 0);
  CHECK_THAT(run.output, Contains("agent on host a through ip netns exec") &&
                             Contains("interface enp2s0: 192.0.2.2"));
}

TEST_CASE("agents: a host without the address is refused before any traffic") {
  if (!is_root()) return;
  TwoMachines machines;
  machines.address_a = "192.0.2.9/24";
  const Run run = tests::run({"measure", "-"}, machines.experiment("", "400ms"));
  CHECK(run.code == 3);
  CHECK_THAT(run.errors, Contains("host a") && Contains("192.0.2.9"));
}

TEST_CASE("agents: parameters are set only where the file says so, and restored") {
  if (!is_root()) return;
  const TwoMachines machines;
  REQUIRE(machines.seen_by_a(kTimestamps) == "1");
  const std::string stack = "{preset: linux-6, timestamps: off}";
  const Run checked =
      tests::run({"measure", "-", "--json"}, machines.experiment("", "300ms", stack));
  CHECK_THAT(checked.output, Contains("tcp_timestamps is 1, not 0"));

  Program running({"measure", "-"},
                  machines.experiment("  configure: apply-and-restore\n", "1500ms", stack));
  CHECK(soon([&] { return machines.seen_by_a(kTimestamps) == "0"; }));
  const Run run = running.finish();
  INFO(run.errors);
  CHECK((run.code == 0 || run.code == 5));
  CHECK(machines.seen_by_a(kTimestamps) == "1");
}

TEST_CASE("agents: when the controller is killed they end and restore what they set") {
  if (!is_root()) return;
  const TwoMachines machines;
  Program running({"measure", "-"}, machines.experiment("  configure: apply-and-restore\n", "30s",
                                                        "{preset: linux-6, timestamps: off}"));
  REQUIRE(soon([&] { return machines.seen_by_a(kTimestamps) == "0"; }));
  running.send(SIGKILL);
  running.finish();
  CHECK(soon([&] { return machines.seen_by_a(kTimestamps) == "1"; }));
}

}  // namespace
}  // namespace linerate::tests
