// Captures of simulations, read by tshark: it must find nothing to complain about, and in them what
// the simulation says happened.
#include <stdlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
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
using Fields = std::map<std::string, std::string>;

// What tshark is asked for of each packet.
constexpr const char* kFields[] = {"frame.number",
                                   "frame.time_epoch",
                                   "frame.len",
                                   "_ws.malformed",
                                   "_ws.short",
                                   "_ws.expert.severity",
                                   "ip.checksum.status",
                                   "tcp.checksum.status",
                                   "udp.checksum.status",
                                   "eth.type",
                                   "vlan.id",
                                   "vlan.priority",
                                   "eth.src",
                                   "eth.dst",
                                   "ip.ttl",
                                   "ip.frag_offset",
                                   "ip.flags.mf",
                                   "ip.dsfield.dscp",
                                   "ip.reassembled.length",
                                   "ipv6.reassembled.length",
                                   "vxlan.vni",
                                   "macc.opcode",
                                   "udp.length",
                                   "tcp.stream",
                                   "tcp.srcport",
                                   "tcp.dstport",
                                   "tcp.flags.syn",
                                   "tcp.flags.fin",
                                   "tcp.len",
                                   "tcp.hdr_len",
                                   "tcp.nxtseq",
                                   "tcp.completeness",
                                   "tcp.options.mss_val",
                                   "tcp.options.sack_perm",
                                   "tcp.options.sack.count",
                                   "tcp.analysis.flags",
                                   "tcp.analysis.initial_rtt",
                                   "tcp.analysis.retransmission",
                                   "tcp.analysis.lost_segment"};

// A folder of its own, with the captures of one simulation.
class Captured {
 public:
  explicit Captured(const std::string& yaml, std::vector<std::string> ports = {},
                    Bytes limit = Bytes(1 << 30)) {
    options_.limit = limit;
    std::string pattern = (fs::temp_directory_path() / "linerate-capture-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    options_.ports = std::move(ports);
    run(yaml);
  }
  ~Captured() { fs::remove_all(folder_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  // Every packet of a file that passes the filter, as tshark sees it: its fields by name. Starting
  // tshark takes most of a test's time, so a file is read once.
  std::vector<Fields> packets(const std::string& file, const std::string& filter = "frame") const {
    std::string command = "tshark -n -r '" + (folder_ / file).string() +
                          "' -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE"
                          " -o udp.check_checksum:TRUE -Y '" +
                          filter + "' -T fields -E separator=';'";
    for (const char* name : kFields) command += std::string(" -e ") + name;
    std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::vector<Fields> found;
    char buffer[4096];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) {
      std::string text = buffer;
      while (!text.empty() && text.back() == '\n') text.pop_back();
      std::istringstream line(text);
      Fields& fields = found.emplace_back();
      for (const char* name : kFields) std::getline(line, fields[name], ';');
    }
    // 127: there is no tshark. scripts/setup installs it.
    REQUIRE(pclose(pipe) == 0);
    return found;
  }

  std::string bytes(const std::string& file) const {
    std::ifstream in(folder_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
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

// Packets that tshark finds malformed, cut short, with a wrong checksum, out of the order of its
// TCP analysis, or worth a warning.
Lines complaints(const std::vector<Fields>& packets) {
  constexpr unsigned kWarning = 0x600000;  // severities of Wireshark's expert information
  Lines found;
  for (const Fields& p : packets) {
    std::istringstream severities(p.at("_ws.expert.severity"));
    unsigned worst = 0;
    for (std::string one; std::getline(severities, one, ',');)
      worst = std::max(worst, static_cast<unsigned>(std::stoul(one)));
    const bool bad = !p.at("_ws.malformed").empty() || !p.at("_ws.short").empty() ||
                     !p.at("tcp.analysis.flags").empty() || worst >= kWarning ||
                     p.at("ip.checksum.status") == "0" || p.at("tcp.checksum.status") == "0" ||
                     p.at("udp.checksum.status") == "0";
    if (bad) found.push_back("packet " + p.at("frame.number"));
  }
  return found;
}

std::int64_t count(const std::vector<Fields>& packets, const std::string& field) {
  return std::count_if(packets.begin(), packets.end(),
                       [&](const Fields& p) { return !p.at(field).empty(); });
}

}  // namespace

TEST_CASE("tshark reads TCP transfers of every stack, by IPv4 and IPv6, without a complaint") {
  // All of them cross one port, so that one capture shows them.
  const Lines stacks{"linux-6", "linux-2.2", "linux-2.4", "bsd-4.4", "freebsd-2", "vxworks-5.5"};
  std::string hosts, links, tests;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const std::string n = std::to_string(i), port = std::to_string(i + 1);
    for (const char* side : {"a", "b"})
      hosts += std::string("  ") + side + n + ": {profile: ideal, stack: " + stacks[i] +
               ", nics: {eth0: {profile: ideal}}}\n";
    links += "  - {endpoints: [\"a" + n + ":eth0\", \"s1:" + port + "\"], rate: 10Mbit/s}\n" +
             "  - {endpoints: [\"b" + n + ":eth0\", \"s2:" + port + "\"], rate: 10Mbit/s}\n";
    for (const char* ip : {"4", "6"})
      tests += "  - {name: t" + n + "-" + ip + ", group: all, type: tcp-stream, from: a" + n +
               ", to: b" + n + ", bytes: 100000B, ip: " + ip + "}\n";
  }
  const Captured capture("schema_version: 1\nname: stacks\nhosts:\n" + hosts +
                             "switches: {s1: {ports: 8, rate: 1Gbit/s}, s2: {like: s1}}\nlinks:\n" +
                             links +
                             "  - {endpoints: [\"s1:8\", \"s2:8\"], rate: 1Gbit/s, delay: 1ms}\n"
                             "tests:\n" +
                             tests,
                         {"s1:8"});
  REQUIRE(capture.files() == Lines{"all.s1-8.pcapng"});
  const std::vector<Fields> packets = capture.packets("all.s1-8.pcapng");
  CHECK(complaints(packets) == Lines{});
  std::map<std::string, std::string> completeness, last;
  for (const Fields& p : packets) {
    completeness[p.at("tcp.stream")] = p.at("tcp.completeness");
    const bool from_client = p.at("tcp.dstport").size() == 4;
    if (p.at("tcp.flags.fin") == "1" && from_client) last[p.at("tcp.stream")] = p.at("tcp.nxtseq");
  }
  REQUIRE(completeness.size() == 2 * stacks.size());
  for (const auto& [stream, flags] : completeness) {
    CAPTURE(stream);
    // SYN, SYN-ACK, ACK, data and FIN: 1 + 2 + 4 + 8 + 16.
    CHECK(flags == "31");
    // 100,000 bytes from 1 on, and the FIN.
    CHECK(last[stream] == "100002");
  }
}

TEST_CASE("round trip, options and segment sizes in a capture are those of path and stacks") {
  const Captured capture(
      pair_of_hosts("linux-6", "rate: 1Gbit/s, delay: 5ms", "type: tcp-stream, bytes: 100000B"));
  CHECK(capture.files() == Lines{"t.a-eth0.pcapng", "t.b-eth0.pcapng"});
  const std::vector<Fields> packets = capture.packets("t.a-eth0.pcapng");
  CHECK(complaints(packets) == Lines{});
  for (const Fields& p : packets) {
    if (p.at("tcp.flags.syn") == "1") {
      CHECK(p.at("tcp.options.mss_val") == "1460");  // RFC 6691: MTU less 40
      CHECK(p.at("tcp.options.sack_perm") == "0402");
      CHECK(p.at("tcp.hdr_len") == "40");
    } else if (!p.at("tcp.analysis.initial_rtt").empty()) {
      CHECK(std::stod(p.at("tcp.analysis.initial_rtt")) == Approx(0.010).epsilon(0.001));
    }
    if (p.at("tcp.len") == "1448") CHECK(p.at("frame.len") == "1514");
  }
}

TEST_CASE("a lost segment is missing where it was lost, and its retransmission is seen as one") {
  const Captured capture(pair_of_hosts(
      "linux-6", "rate: 100Mbit/s, delay: 1ms, drops: [{from: a, data_segments: [20]}]",
      "type: tcp-stream, bytes: 200000B"));
  const std::vector<Fields> at_a = capture.packets("t.a-eth0.pcapng");
  const std::vector<Fields> at_b = capture.packets("t.b-eth0.pcapng");
  CHECK(count(at_a, "tcp.analysis.retransmission") == 1);
  CHECK(count(at_b, "tcp.analysis.lost_segment") == 1);
  CHECK(at_a.size() == at_b.size() + 1);
  CHECK(count(at_b, "tcp.options.sack.count") > 0);
}

TEST_CASE("VLAN tag and UDP stand in the frames, and datagrams have their length") {
  const Captured capture(pair_of_hosts("linux-6", "rate: 100Mbit/s",
                                       "type: udp-stream, datagram: 100B, rate: 1Mbit/s, "
                                       "duration: 20ms",
                                       ", vlan: 42"));
  const std::vector<Fields> packets = capture.packets("t.b-eth0.pcapng");
  CHECK(complaints(packets) == Lines{});
  REQUIRE(packets.size() == 25);
  for (const Fields& p : packets) {
    CHECK(p.at("vlan.id") == "42");
    CHECK(p.at("udp.length") == "108");
    CHECK(p.at("frame.len") == "146");  // 14 Ethernet, 4 tag, 20 IP, 8 UDP, 100 payload
  }
}

TEST_CASE("the smallest frame is 60 bytes and its check sequence") {
  const Captured capture(pair_of_hosts("bsd-4.4", "rate: 100Mbit/s",
                                       "type: raw-frames, frame_size: 64B, frame_rate: 1000/s, "
                                       "duration: 10ms"));
  const std::vector<Fields> packets = capture.packets("t.b-eth0.pcapng");
  REQUIRE(packets.size() == 10);
  for (const Fields& p : packets) {
    CHECK(p.at("frame.len") == "60");
    CHECK(p.at("eth.type") == "0x88b5");
  }
}

TEST_CASE("both sides of a switch see the same frames, each in order of time") {
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
  const Captured capture(yaml, {"s1:1", "s1:2"});
  const auto& ports = capture.result().tests.front().ports;
  for (const char* file : {"t.s1-1.pcapng", "t.s1-2.pcapng"}) {
    const std::vector<Fields> packets = capture.packets(file);
    CHECK(complaints(packets) == Lines{});
    CHECK(std::is_sorted(packets.begin(), packets.end(), [](const Fields& a, const Fields& b) {
      return std::stod(a.at("frame.time_epoch")) < std::stod(b.at("frame.time_epoch"));
    }));
    CHECK(static_cast<std::int64_t>(packets.size()) ==
          ports.at("a:eth0").frames_sent + ports.at("b:eth0").frames_sent);
  }
}

TEST_CASE("a capture changes nothing of the result and repeats to the byte") {
  const std::string yaml =
      pair_of_hosts("linux-6", "rate: 100Mbit/s, delay: 1ms, loss: 0.5%, queue: 50kB",
                    "type: tcp-stream, flows: 2, duration: 100ms, repeats: 2");
  const Captured capture(yaml);
  CHECK(capture.result() == models::simulate(experiments::parse_experiment(yaml, "test.yaml")));
  const Captured again(yaml);
  REQUIRE(capture.files() == again.files());
  for (const std::string& file : capture.files()) CHECK(capture.bytes(file) == again.bytes(file));
}

TEST_CASE("a capture ends, and says so, when its file has reached the limit") {
  const Captured capture(
      pair_of_hosts("linux-6", "rate: 100Mbit/s", "type: tcp-stream, bytes: 200000B"), {},
      Bytes(50'000));
  for (const std::string& file : capture.files()) {
    CHECK(capture.bytes(file).size() <= 50'000);
    CHECK(capture.bytes(file).size() > 48'000);
  }
  REQUIRE(capture.notes().size() == 2);
  CHECK(capture.notes().front().find("50000 bytes") != std::string::npos);
}

TEST_CASE("a datagram in fragments is put together again by its reader") {
  const std::string ip = GENERATE("4", "6");
  const Captured capture(pair_of_hosts("linux-6", "rate: 100Mbit/s",
                                       "type: udp-stream, datagram: 4000B, rate: 10Mbit/s, "
                                       "duration: 10ms, ip: " +
                                           ip));
  const std::vector<Fields> packets = capture.packets("t.b-eth0.pcapng");
  CHECK(complaints(packets) == Lines{});
  std::int64_t whole = 0;
  for (const Fields& p : packets) {
    const std::string& length =
        p.at(ip == "4" ? "ip.reassembled.length" : "ipv6.reassembled.length");
    if (length.empty()) continue;
    CHECK(length == "4008");  // UDP header and payload
    ++whole;
  }
  // 32,000 bits each at 10 Mbit/s: every 3.2 ms.
  CHECK(whole == 4);
  CHECK(static_cast<std::int64_t>(packets.size()) == 3 * whole);
}

TEST_CASE("behind a router a frame has other addresses, one hop less, and its tunnel") {
  const std::string yaml = R"(schema_version: 1
name: routed
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  r: {profile: ideal, forwarding: kernel, nics: {eth0: {profile: ideal},
      eth1: {profile: ideal, mtu: 1600B, encapsulation: [{vxlan: {vni: 77}}]}}}
  b: {profile: ideal, nics: {eth0: {profile: ideal, mtu: 1600B, encapsulation: [{vxlan: {vni: 77}}]}}}
links:
  - {endpoints: ["a:eth0", "r:eth0"], rate: 1Gbit/s}
  - {endpoints: ["r:eth1", "b:eth0"], rate: 1Gbit/s}
tests: [{name: t, type: tcp-stream, from: a, to: b, bytes: 50000B, priority: 5}]
)";
  const Captured capture(yaml);
  const std::vector<Fields> before = capture.packets("t.a-eth0.pcapng");
  const std::vector<Fields> behind = capture.packets("t.b-eth0.pcapng");
  CHECK(complaints(before) == Lines{});
  CHECK(complaints(behind) == Lines{});
  REQUIRE(before.size() == behind.size());
  CHECK(before.front().at("ip.ttl") == "64");
  CHECK(before.front().at("ip.dsfield.dscp") == "40");  // CS5
  CHECK(before.front().at("vxlan.vni").empty());
  CHECK(behind.front().at("vxlan.vni") == "77");
  CHECK(behind.front().at("eth.src").substr(0, 17) != before.front().at("eth.src"));
  // Outer and inner IP header; the inner one has passed one router.
  CHECK(behind.front().at("ip.ttl").ends_with(",63"));
  CHECK(behind.front().at("tcp.flags.syn") == "1");
}

TEST_CASE("between switches a frame carries the tag of its VLAN, with its class of service") {
  const std::string yaml = R"(schema_version: 1
name: tagged
hosts:
  a: {profile: ideal, nics: {eth0: {profile: ideal}}}
  b: {like: a}
switches:
  s1: {ports: 2, rate: 1Gbit/s, vlans: {10: {untagged: ["1"], tagged: ["2"]}}}
  s2: {like: s1}
links:
  - {endpoints: ["a:eth0", "s1:1"], rate: 1Gbit/s}
  - {endpoints: ["b:eth0", "s2:1"], rate: 1Gbit/s}
  - {endpoints: ["s1:2", "s2:2"], rate: 1Gbit/s}
tests: [{name: t, type: tcp-stream, from: a, to: b, bytes: 20000B, priority: 3}]
)";
  const Captured capture(yaml, {"s1:2", "b:eth0"});
  const std::vector<Fields> trunk = capture.packets("t.s1-2.pcapng");
  const std::vector<Fields> host = capture.packets("t.b-eth0.pcapng");
  CHECK(complaints(trunk) == Lines{});
  CHECK(complaints(host) == Lines{});
  REQUIRE(trunk.size() == host.size());
  for (const Fields& p : trunk) CHECK(p.at("vlan.id") == "10");
  for (const Fields& p : host) CHECK(p.at("vlan.id").empty());
  CHECK(trunk.front().at("vlan.priority") == "3");
}
