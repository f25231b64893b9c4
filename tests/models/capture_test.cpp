// Captures of simulations, read by tshark: it must find nothing to complain about, and in them what
// the simulation says happened.
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::Result;

namespace {

namespace fs = std::filesystem;

// A folder of its own, with the captures of one simulation.
class Captured {
 public:
  explicit Captured(const std::string& yaml, std::vector<std::string> ports = {}) {
    std::string pattern = (fs::temp_directory_path() / "linerate-capture-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    options_.ports = std::move(ports);
    run(yaml);
  }
  ~Captured() { fs::remove_all(folder_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  // What tshark prints, a line a packet, of the fields of packets that pass the filter.
  std::vector<std::string> fields(const std::string& file, const std::string& filter,
                                  const std::vector<std::string>& names) const {
    std::string command = "tshark -n -r '" + (folder_ / file).string() +
                          "' -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE"
                          " -o udp.check_checksum:TRUE -Y '" +
                          filter + "' -T fields -E separator=,";
    for (const std::string& name : names) command += " -e " + name;
    command += " 2>&1 | grep -v 'Running as user'";
    std::FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::vector<std::string> lines;
    char buffer[4096];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) {
      std::string line = buffer;
      while (!line.empty() && line.back() == '\n') line.pop_back();
      lines.push_back(line);
    }
    pclose(pipe);
    return lines;
  }

  // Packets that tshark finds malformed, with a wrong checksum, or out of the order of its TCP
  // analysis.
  std::vector<std::string> complaints(const std::string& file) const {
    return fields(file,
                  "_ws.malformed || _ws.short || tcp.analysis.flags || ip.checksum.status == 0 || "
                  "tcp.checksum.status == 0 || udp.checksum.status == 0 || "
                  "_ws.expert.severity >= 0x600000",
                  {"frame.number", "_ws.col.Info"});
  }

  const Result& result() const { return result_; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  void run(const std::string& yaml) {
    options_.payload_bytes = 65535;
    options_.open = [this](const std::string& name) -> std::ostream& {
      std::ofstream& file = streams_[name];
      file.open(folder_ / name, std::ios::binary);
      return file;
    };
    options_.note = [this](const std::string& text) { notes_.push_back(text); };
    models::SimulationOptions simulation;
    simulation.capture = &options_;
    result_ = models::simulate(experiments::parse_experiment(yaml, "test.yaml"), simulation);
    streams_.clear();  // closed, so that they can be read
  }

  fs::path folder_;
  models::CaptureOptions options_;
  std::map<std::string, std::ofstream> streams_;
  std::vector<std::string> notes_;
  Result result_;
};

std::string pair_of_hosts(const std::string& stack, const std::string& link,
                          const std::string& test, const std::string& nic = "") {
  return R"(schema_version: 1
name: pair
hosts:
  a: {profile: ideal, stack: )" +
         stack + ", nics: {eth0: {profile: ideal" + nic + R"(}}}
  b: {like: a}
links: [{endpoints: ["a:eth0", "b:eth0"], )" +
         link + R"(}]
tests: [{name: t, from: a, to: b, )" +
         test + "}]\n";
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("tshark reads a TCP transfer of every stack without a complaint") {
  const std::string stack =
      GENERATE("linux-6", "linux-2.2", "linux-2.4", "bsd-4.4", "freebsd-2", "vxworks-5.5");
  const std::string ip = GENERATE("4", "6");
  CAPTURE(stack, ip);
  const Captured capture(pair_of_hosts(stack, "rate: 100Mbit/s, delay: 500us",
                                       "type: tcp-stream, bytes: 200000B, ip: " + ip));
  for (const char* file : {"t.a-eth0.pcapng", "t.b-eth0.pcapng"}) {
    CHECK(capture.complaints(file) == Lines{});
    // Handshake, data and both FINs: 1 + 2 + 4 + 8 + 16 of its completeness flags.
    const Lines complete = capture.fields(file, "tcp", {"tcp.completeness"});
    REQUIRE_FALSE(complete.empty());
    CHECK(complete.back() == "31");
  }
  // The stream ends after 200,000 bytes (its FIN is one more), counted from the first.
  const Lines fins = capture.fields("t.b-eth0.pcapng", "tcp.flags.fin == 1 && tcp.dstport == 5001",
                                    {"tcp.nxtseq"});
  REQUIRE(fins.size() == 1);
  CHECK(fins.front() == "200002");
}

TEST_CASE("the first round trip in a capture is the path's") {
  const Captured capture(
      pair_of_hosts("linux-6", "rate: 1Gbit/s, delay: 5ms", "type: tcp-stream, bytes: 100000B"));
  const Lines rtt =
      capture.fields("t.a-eth0.pcapng", "tcp.analysis.initial_rtt", {"tcp.analysis.initial_rtt"});
  REQUIRE_FALSE(rtt.empty());
  // Twice 5 ms, and a SYN and a SYN-ACK of 78 bytes with their preambles.
  CHECK(std::stod(rtt.front()) == Approx(0.010).epsilon(0.001));
}

TEST_CASE(
    "what a capture shows of windows, options and segment sizes is what the stacks agreed on") {
  const Captured capture(pair_of_hosts("linux-6", "rate: 1Gbit/s", "type: tcp-stream, bytes: 1MB"));
  const Lines syn = capture.fields("t.a-eth0.pcapng", "tcp.flags.syn == 1",
                                   {"tcp.options.mss_val", "tcp.options.sack_perm", "tcp.hdr_len"});
  CHECK(syn == Lines{"1460,1,40", "1460,1,40"});
  const Lines longest =
      capture.fields("t.a-eth0.pcapng", "tcp.len == 1448", {"frame.len", "tcp.hdr_len"});
  REQUIRE_FALSE(longest.empty());
  CHECK(longest.front() == "1514,32");
}

TEST_CASE("a lost segment is missing where it was lost, and its retransmission is seen as one") {
  const Captured capture(pair_of_hosts(
      "linux-6", "rate: 100Mbit/s, delay: 1ms, drops: [{from: a, data_segments: [20]}]",
      "type: tcp-stream, bytes: 200000B"));
  const auto count = [&](const char* file, const char* filter) {
    return capture.fields(file, filter, {"frame.number"}).size();
  };
  CHECK(count("t.a-eth0.pcapng",
              "tcp.analysis.retransmission || "
              "tcp.analysis.fast_retransmission") == 1);
  CHECK(count("t.b-eth0.pcapng", "tcp.analysis.lost_segment") == 1);
  CHECK(count("t.a-eth0.pcapng", "tcp") == count("t.b-eth0.pcapng", "tcp") + 1);
  CHECK(count("t.b-eth0.pcapng", "tcp.options.sack.count >= 1 && tcp.srcport == 5001") > 0);
}

TEST_CASE("VLAN tags, class of service and UDP stand in the frames") {
  const Captured capture(pair_of_hosts("linux-6", "rate: 100Mbit/s",
                                       "type: udp-stream, datagram: 100B, rate: 1Mbit/s, "
                                       "duration: 20ms",
                                       ", vlan: 42"));
  CHECK(capture.complaints("t.b-eth0.pcapng") == Lines{});
  const Lines frames =
      capture.fields("t.b-eth0.pcapng", "vlan.id == 42 && udp", {"frame.len", "udp.length"});
  REQUIRE(frames.size() == 25);
  // 14 Ethernet, 4 tag, 20 IP, 8 UDP, 100 payload.
  CHECK(frames.front() == "146,108");
}

TEST_CASE("short frames are padded to 60 bytes and the check sequence") {
  const Captured capture(pair_of_hosts("bsd-4.4", "rate: 100Mbit/s",
                                       "type: raw-frames, frame_size: 64B, frame_rate: 1000/s, "
                                       "duration: 10ms"));
  const Lines frames = capture.fields("t.b-eth0.pcapng", "eth.type == 0x88b5", {"frame.len"});
  CHECK(frames == Lines(10, "60"));
}

TEST_CASE("every port of the way sees the same frames, in order of time") {
  const std::string yaml = R"(schema_version: 1
name: switched
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  b: {like: a}
switches: {s1: {ports: 2, rate: 1Gbit/s, latency: 2us, buffer: {total: 64KiB}}}
links:
  - {endpoints: ["a:eth0", "s1:1"], rate: 1Gbit/s}
  - {endpoints: ["b:eth0", "s1:2"], rate: 1Gbit/s}
tests: [{name: t, type: tcp-stream, from: a, to: b, bytes: 300000B}]
)";
  const Captured capture(yaml, {"a:eth0", "s1:1", "s1:2", "b:eth0"});
  CHECK(capture.files() ==
        Lines{"t.a-eth0.pcapng", "t.b-eth0.pcapng", "t.s1-1.pcapng", "t.s1-2.pcapng"});
  for (const std::string& file : capture.files()) {
    CHECK(capture.complaints(file) == Lines{});
    const Lines times = capture.fields(file, "frame", {"frame.time_epoch"});
    CHECK(std::is_sorted(times.begin(), times.end(),
                         [](const auto& a, const auto& b) { return std::stod(a) < std::stod(b); }));
    const auto& port = capture.result().tests.front().ports;
    CHECK(times.size() ==
          static_cast<std::size_t>(port.at("a:eth0").frames_sent + port.at("b:eth0").frames_sent));
  }
}

TEST_CASE("a capture changes nothing of the result and repeats to the byte") {
  const std::string yaml =
      pair_of_hosts("linux-6", "rate: 100Mbit/s, delay: 1ms, loss: 0.5%, queue: 50kB",
                    "type: tcp-stream, flows: 2, duration: 300ms, repeats: 2");
  const Captured capture(yaml);
  CHECK(capture.result() == models::simulate(experiments::parse_experiment(yaml, "test.yaml")));
  const Captured again(yaml);
  CHECK(capture.fields("t.a-eth0.pcapng", "tcp",
                       {"frame.time_epoch", "tcp.seq_raw", "tcp.ack_raw"}) ==
        again.fields("t.a-eth0.pcapng", "tcp", {"frame.time_epoch", "tcp.seq_raw", "tcp.ack_raw"}));
}
