#include "realnet/traffic/iperf3_peer.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>

#include "experiments/results/tools/import_tool.hpp"
#include "realnet/remote/program.hpp"

namespace linerate::realnet {
namespace {

using experiments::Test;
using experiments::TestType;

/// What a run may take beyond its own length: connecting, draining, a slow exchange of results.
constexpr Time kBeyond = Time::seconds(30);

/// All that `program` prints; nothing when `stop` was set. Throws EnvironmentError at `limit`.
std::optional<std::string> printed_by(const Program& program, Time limit,
                                      const std::atomic<bool>* stop) {
  std::string text;
  const Time give_up = monotonic_now() + limit;
  char buffer[65'536];
  for (;;) {
    if (stop && *stop) return std::nullopt;
    if (monotonic_now() > give_up) {
      throw EnvironmentError(fmt::format("iperf3 did not end within {} s", limit.seconds()));
    }
    pollfd waiting{program.output().number(), POLLIN, 0};
    if (::poll(&waiting, 1, 100) <= 0) continue;
    const ssize_t size = ::read(program.output().number(), buffer, sizeof buffer);
    if (size == 0) return text;
    if (size < 0 && errno != EINTR) throw_errno("read from iperf3");
    if (size > 0) text.append(buffer, static_cast<std::size_t>(size));
  }
}

/// Why iperf3 cannot run a test, or "".
std::string obstacle_for_iperf3(const Test& test) {
  if (test.type != TestType::tcp_stream && test.type != TestType::udp_stream) {
    return fmt::format("iperf3 has no {} test", name_of(test.type));
  }
  const std::pair<bool, const char*> keys[] = {
      {test.arrivals.has_value(), "arrivals"}, {test.sizes.has_value(), "sizes"},
      {!test.writes.empty(), "writes"},        {test.verify, "verify"},
      {test.background, "background"},         {test.start_spread > Time{}, "start_spread"}};
  for (const auto& [used, key] : keys) {
    if (used) return fmt::format("iperf3 has no `{}`", key);
  }
  if (test.type == TestType::udp_stream && !test.rate) return "iperf3 needs the `rate` of UDP";
  return {};
}

}  // namespace

Iperf3Server parse_iperf3_server(const std::string& text) {
  Iperf3Server server{text, 5201};
  const std::size_t colon = text.rfind(':');
  const bool bracketed = !text.empty() && text.front() == '[';
  // More than one colon without brackets: an IPv6 address alone.
  if (colon != std::string::npos &&
      (bracketed ? text[colon - 1] == ']' : text.find(':') == colon)) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, server.port);
    if (error != std::errc() || stop != end || server.port < 1 || server.port > 65'535) {
      throw EnvironmentError(fmt::format("`{}` has no valid port: write 192.0.2.1:5201", text));
    }
    server.address = text.substr(0, colon);
  }
  if (bracketed && server.address.size() > 2) {
    server.address = server.address.substr(1, server.address.size() - 2);
  }
  // An address is an argument of a program: it must not look like an option.
  if (server.address.empty() || server.address.front() == '-' || server.address.front() == '[') {
    throw EnvironmentError(fmt::format("`{}` is no address: write 192.0.2.1:5201", text));
  }
  return server;
}

std::vector<std::string> iperf3_command(const Test& test, const Iperf3Server& server,
                                        std::string& obstacle) {
  obstacle = obstacle_for_iperf3(test);
  if (!obstacle.empty()) return {};
  std::vector<std::string> command{"iperf3",       "--json", "-c",
                                   server.address, "-p",     std::to_string(server.port)};
  const auto add = [&](std::initializer_list<std::string> words) {
    command.insert(command.end(), words);
  };
  const bool udp = test.type == TestType::udp_stream;
  add({test.ip == 6 ? "-6" : "-4", "-P", std::to_string(test.flows)});
  add({"-l", std::to_string(udp ? test.datagram.count() : test.write.count())});
  if (test.bytes) {
    // All streams of iperf3 together.
    add({"-n", std::to_string(test.bytes->count() * test.flows)});
  } else {
    // iperf3 takes whole seconds, and does not count those it omits.
    const auto whole = [](Time span) {
      return std::to_string((span + Time::seconds(1) - Time::picoseconds(1)) / Time::seconds(1));
    };
    add({"-t", whole(test.duration - test.omit)});
    if (test.omit > Time{}) add({"-O", whole(test.omit)});
  }
  if (test.direction == experiments::Direction::reverse) add({"-R"});
  if (test.direction == experiments::Direction::both) add({"--bidir"});
  if (test.send_buffer || test.receive_buffer) {
    add({"-w",
         std::to_string((test.send_buffer ? test.send_buffer : test.receive_buffer)->count())});
  }
  if (udp) {
    add({"-u", "-b", std::to_string(test.rate->bits_per_second())});
  } else {
    if (test.congestion) add({"-C", *test.congestion});
    if (test.max_segment) add({"-M", std::to_string(test.max_segment->count())});
    if (test.no_delay) add({"-N"});
    if (test.pacing) add({"--fq-rate", std::to_string(test.pacing->bits_per_second())});
    if (test.zero_copy) add({"-Z"});
  }
  if (test.core) add({"-A", std::to_string(*test.core)});
  return command;
}

experiments::Result measure_with_iperf3(const experiments::Experiment& experiment,
                                        const Iperf3Server& server,
                                        const MeasurementOptions& options) {
  experiments::Result result;
  result.backend = experiments::Backend::measured;
  result.provenance.experiment = experiment.resolved;
  result.provenance.set = experiment.set;
  result.provenance.seed = experiment.seed;
  result.notes.push_back(fmt::format("run by iperf3 against {} port {}, over the network there is",
                                     server.address, server.port));
  for (const Test& test : experiment.tests) {
    std::string obstacle;
    const std::vector<std::string> command = iperf3_command(test, server, obstacle);
    if (!obstacle.empty()) {
      experiments::TestResult passed_over;
      passed_over.name = test.name;
      passed_over.type = name_of(test.type);
      passed_over.notes.push_back("inconclusive: not measured: " + obstacle);
      result.tests.push_back(std::move(passed_over));
      continue;
    }
    std::vector<experiments::ToolOutput> outputs;
    for (int repeat = 0; repeat < test.repeats; ++repeat) {
      if (options.progress) options.progress({test.name, repeat, test.repeats});
      const Time limit = (test.bytes ? Time::seconds(3600) : test.duration + test.omit) + kBeyond;
      const auto text = printed_by(Program(command), limit, options.stop);
      if (!text) {
        result.complete = false;
        break;
      }
      outputs.push_back({"iperf3 for test " + test.name, *text});
    }
    if (outputs.empty()) break;
    try {
      result.tests.push_back(
          experiments::import_tool("iperf3", outputs, {.test = test.name}).tests.front());
    } catch (const experiments::ImportError& error) {
      throw EnvironmentError(error.what());
    }
    if (!result.complete) break;
  }
  return result;
}

}  // namespace linerate::realnet
