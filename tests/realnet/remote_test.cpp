// Agents that are no agents: whatever answers, the controller says what is wrong and where.
#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "realnet/measure.hpp"
#include "realnet/remote/agent.hpp"
#include "realnet/remote/agent_link.hpp"
#include "realnet/remote/host_setup.hpp"
#include "realnet/remote/order_text.hpp"
#include "realnet/remote/remote_end.hpp"
#include "realnet/remote/wire_format.hpp"
#include "sim/random.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

/// What is said of an agent that is the shell script `script`.
std::string complaint_about(const std::string& script) {
  experiments::LabHost host;
  host.name = "far";
  host.command = {"sh", "-c", script, "agent"};  // what follows are the script's arguments
  try {
    AgentLink agent(host);
    for (;;) agent.ask({{"do", "clock"}}, Time::milliseconds(1500));
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

/// A shell command that says hello as a true agent does, but for `changes`.
std::string hello(const Json& changes = Json::object()) {
  Json greeting = agent_greeting();
  greeting.update(changes);
  return "echo '" + greeting.dump() + "'; ";
}

TEST_CASE("an agent that cannot be started, or is something else, is named with its host") {
  CHECK_THAT(complaint_about("exit 7"),
             Catch::Contains("host far") && Catch::Contains("exit code 7"));
  CHECK_THAT(complaint_about("echo Welcome to this machine; cat > /dev/null"),
             Catch::Contains("no message") && Catch::Contains("Welcome"));
  CHECK_THAT(complaint_about("echo '{\"x\": 1}'; cat > /dev/null"),
             Catch::Contains("no linerate agent"));
  experiments::LabHost nowhere;
  nowhere.name = "far";
  nowhere.command = {"/no/such/program"};
  CHECK_THROWS_WITH(AgentLink(nowhere), Catch::Contains("/no/such/program"));
}

TEST_CASE("an agent of another version or layout is refused with both") {
  CHECK_THAT(
      complaint_about(hello({{"version", "99.9"}}) + "cat > /dev/null"),
      Catch::Contains("version") && Catch::Contains("99.9") && Catch::Contains("same version"));
  CHECK_THAT(complaint_about(hello({{"protocol", 77}}) + "cat > /dev/null"),
             Catch::Contains("protocol"));
  CHECK_THAT(complaint_about(hello({{"layout", "1+1/middle"}}) + "cat > /dev/null"),
             Catch::Contains("layout"));
}

TEST_CASE("an agent that dies, hangs, floods or talks without end is not waited for") {
  // On a busy machine the patience may end before the flood is noticed; it ends in either case.
  const auto no_answer = Catch::Contains("does not answer");
  CHECK_THAT(complaint_about(hello() + "read order; exit 9"), Catch::Contains("exit code 9"));
  CHECK_THAT(complaint_about(hello() + "kill -9 $$"), Catch::Contains("signal 9"));
  CHECK_THAT(complaint_about(hello() + "sleep 60"), Catch::Contains("does not answer"));
  CHECK_THAT(complaint_about(hello() + "yes '{\"alive\": true}'"),
             Catch::Contains("messages") || no_answer);
  CHECK_THAT(complaint_about(hello() + "cat /dev/zero"),
             Catch::Contains("line of more than") || no_answer);
  CHECK_THAT(complaint_about(hello() + "yes '{\"end\": 1}'"),
             Catch::Contains("more news") || Catch::Contains("messages") || no_answer);
}

/// What is said of an agent that, asked for an end, does `deed` (shell commands).
std::string complaint_about_end(const std::string& deed, Role role = Role::receiver) {
  auto experiment = two_hosts(100);
  experiment.tests = {stream("bulk", Time::seconds(1), Time{})};
  TransferEnd end;
  end.options.test = &experiment.tests[0];
  Shared<TransferReport> report;
  experiments::LabHost host;
  host.name = "far";
  host.command = {"sh", "-c", hello() + "read order; " + deed + "; cat > /dev/null", "agent"};
  try {
    AgentLink agent(host);
    RemoteEnd remote(agent, {experiment, end, 1, role, *report, Time::seconds(9)});
    const Time give_up = monotonic_now() + Time::seconds(5);
    while (monotonic_now() < give_up) {
      const int word = remote.message();
      if (word < 0) return "failed: " + std::string(report->receiver_failure.data());
      if (word == kDone) return "believed";
      sleep_until(monotonic_now() + Time::milliseconds(1));
    }
    return "not noticed";
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

TEST_CASE("news that makes no sense is the agent's failure, not this program's") {
  const auto complaint = [](const std::string& news) {
    return complaint_about_end("echo '" + news + "'");
  };
  for (const char* news : {R"({"end": 1, "said": 3})", R"({"end": 1, "said": "1", "port": "x"})",
                           R"({"end": []})", R"({"end": 1, "hardware_address": [1]})",
                           R"({"end": 1, "failed": {}})", R"({"end": 1, "report": 5})"}) {
    INFO(news);
    CHECK_THAT(complaint(news), Catch::Contains("host far") && Catch::Contains("makes no sense"));
  }
  CHECK_THAT(complaint_about(hello({{"machine", {{"cores", 2}}}}) + "cat > /dev/null"),
             Catch::Contains("makes no sense"));
  CHECK_THAT(complaint(R"({"end": 1, "said": "3"})"), Catch::Contains("report is missing"));
  CHECK_THAT(complaint(R"({"end": 1, "said": ""})"), Catch::Contains("out of turn"));
  CHECK_THAT(complaint(R"({"end": 1, "said": "x"})"), Catch::Contains("out of turn"));
  CHECK_THAT(complaint(R"({"end": 1, "received": -7})"), Catch::Contains("less than nothing"));
  CHECK_THAT(complaint(R"({"end": 1, "failed": "no disk"})"), Catch::Contains("failed: no disk"));
  // Values within values without end would use up the stack of whoever copies them.
  CHECK_THAT(complaint_about_end("head -c 1000000 /dev/zero | tr '\\0' '['; echo"),
             Catch::Contains("no message"));
}

TEST_CASE("what an agent says cannot write to the terminal as it likes") {
  const auto clean = [](const std::string& text) {
    return !text.empty() && text.find_first_of("\x1b\x07") == std::string::npos;
  };
  const std::string escape = R"(\033]0;mine\007)";
  CHECK(clean(complaint_about("printf '" + escape + "\\n'; cat > /dev/null")));
  CHECK(clean(complaint_about_end(R"(echo '{"end": 1, "failed": "\u001b[2J\u0007"}')")));
}

/// An agent whose report on a receiver is what `change` makes of a true one.
template <class Change>
std::string complaint_about_report(Change change) {
  const auto report = std::make_unique<ReceiverReport>();
  report->step = Time::milliseconds(100);
  report->intervals = 10;
  change(*report);
  const std::string path =
      std::filesystem::temp_directory_path() / ("report-" + std::to_string(::getpid()));
  std::ofstream(path) << Json{{"end", 1},
                              {"said", "3"},
                              {"report", to_base64(std::as_bytes(std::span(report.get(), 1)))}}
                             .dump()
                      << '\n';
  const std::string complaint = complaint_about_end("cat " + path);
  std::filesystem::remove(path);
  return complaint;
}

TEST_CASE("a report that would lead its reader out of bounds is refused") {
  CHECK(complaint_about_report([](ReceiverReport&) {}) == "believed");
  const auto refused = Catch::Contains("its report makes no sense");
  using Report = ReceiverReport;
  CHECK_THAT(complaint_about_report([](Report& r) { r.intervals = kMostIntervals + 1; }), refused);
  CHECK_THAT(complaint_about_report([](Report& r) { r.intervals = -1; }), refused);
  CHECK_THAT(complaint_about_report([](Report& r) { r.step = Time{}; }), refused);
  CHECK_THAT(complaint_about_report([](Report& r) { r.bytes = INT64_MIN; }), refused);
  CHECK_THAT(complaint_about_report([](Report& r) { r.window_bytes[3] = NAN; }), refused);
  CHECK_THAT(complaint_about_report([](Report& r) { r.datagrams.method.fill('x'); }), refused);
  CHECK_THAT(complaint_about_report([](Report& r) {
               // The number of spans of a histogram that has none; it is its first member.
               const std::int64_t count = 7;
               std::memcpy(static_cast<void*>(&r.datagrams.latency), &count, sizeof count);
             }),
             refused);
}

TEST_CASE("an agent's refusal of an order is passed on") {
  CHECK_THAT(
      complaint_about(hello() +
                      "read order; echo '{\"error\": \"no route to 192.0.2.9\"}'; cat > /dev/null"),
      Catch::Contains("host far") && Catch::Contains("no route to 192.0.2.9"));
}

TEST_CASE("bytes survive as text, and damaged text is found") {
  sim::RandomStream random({3, 0, "bytes"});
  for (std::size_t size = 0; size < 70; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random.below(256));
    const std::string text = to_base64(std::as_bytes(std::span(bytes)));
    CHECK(from_base64(text, size) == bytes);
    CHECK_FALSE(from_base64(text + "AAAA", size));
    if (size == 0) continue;
    std::string damaged = text;
    damaged[0] = '!';
    CHECK_FALSE(from_base64(damaged, size));
    CHECK_FALSE(from_base64(text.substr(1), size));
  }
  CHECK(to_base64(std::as_bytes(std::span("foobar", 6))) == "Zm9vYmFy");  // RFC 4648, 10
  CHECK(to_base64(std::as_bytes(std::span("fooba", 5))) == "Zm9vYmE=");
}

TEST_CASE("a message to an agent that has gone is an error, and no signal that ends the program") {
  int line[2];
  REQUIRE(::pipe2(line, O_CLOEXEC) == 0);
  const FileDescriptor writing(line[1]);
  ::close(line[0]);
  CHECK_THROWS_WITH(write_message(writing, {{"do", "clock"}}, Time::milliseconds(100)),
                    Catch::Contains("gone"));
}

TEST_CASE("an order arrives as it was given, and one that fits no experiment is refused") {
  auto experiment = two_hosts(100);
  experiment.tests = {stream("first", Time::seconds(1), Time{}),
                      stream("second", Time::seconds(1), Time{})};
  TransferEnd end;
  end.place.address = "192.0.2.1";
  end.peer_address = "192.0.2.2";
  end.options.test = &experiment.tests[1];
  Shared<TransferReport> report;
  report->port = 4711;
  const EndOrder order{experiment, end, 1, Role::receiver, *report, Time::seconds(9)};
  Json message = to_message(order);
  const RemoteOrder read = order_from(Json::parse(message.dump()), experiment);
  CHECK(read.role == Role::receiver);
  CHECK(read.host == 1);
  CHECK(read.port == 4711);
  CHECK(read.limit == Time::seconds(9));
  CHECK(read.end.place.address == "192.0.2.1");
  CHECK(read.end.peer_address == "192.0.2.2");
  CHECK(read.end.options.test == &experiment.tests[1]);
  CHECK(read.end.options.stack == &experiment.hosts[1].stack);
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{
           {"test", 2}, {"test", -1}, {"host", 2}, {"role", "king"}, {"port", "x"}}) {
    Json wrong = message;
    wrong[key] = value;
    CHECK_THROWS(order_from(wrong, experiment));
    wrong.erase(key);
    CHECK_THROWS(order_from(wrong, experiment));
  }
}

TEST_CASE("a host that is not what the tests need is told how to become so") {
  HostSetup setup;
  setup.interfaces = {{"lo", {"127.0.0.1"}, Bytes(1500)}};
  CHECK_NOTHROW(check_setup(setup));
  setup.interfaces[0].addresses = {"192.0.2.77"};
  CHECK_THROWS_WITH(check_setup(setup),
                    Catch::Contains("192.0.2.77") && Catch::Contains("ip address add"));
  setup.interfaces[0] = {"lo", {}, Bytes(100'000)};
  CHECK_THROWS_WITH(check_setup(setup),
                    Catch::Contains("65536") && Catch::Contains("apply-and-restore"));
  setup.interfaces[0] = {"no-such-device", {}, Bytes(1500)};
  CHECK_THROWS_WITH(check_setup(setup), Catch::Contains("no interface no-such-device"));
  Json message = to_message(HostSetup{{}, {{"net/ipv4/tcp_sack", "0"}}, false});
  CHECK(setup_from(message).parameters.size() == 1);
  message["parameters"][0][0] = "net/../kernel/panic";
  CHECK_THROWS(setup_from(message));
  message["parameters"][0][0] = "kernel/panic";
  CHECK_THROWS(setup_from(message));
}

}  // namespace
}  // namespace linerate::realnet
