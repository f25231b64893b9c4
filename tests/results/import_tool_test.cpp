// What other programs printed, read back: real outputs (samples/), the formats' documentation, and
// outputs that are cut off or of something else.
#include "experiments/results/tools/import_tool.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "experiments/results/tools/export_iperf3.hpp"

namespace linerate::experiments {
namespace {

std::string sample(const std::string& name) {
  std::ifstream file(std::string(LINERATE_SOURCE_DIR) + "/tests/results/samples/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TestResult read(const char* format, const std::string& text, const ToolOptions& options = {}) {
  const Result result = import_tool(format, {{"run", text}}, options);
  CHECK(result.backend == Backend::measured);
  REQUIRE(result.tests.size() == 1);
  return result.tests[0];
}

double median(const TestResult& test, const char* figure) {
  return test.figures.at(figure).median();
}

std::string refusal(const char* format, const std::string& text) {
  try {
    import_tool(format, {{"run", text}});
  } catch (const ImportError& error) {
    return error.what();
  }
  return "read";
}

TEST_CASE("iperf3: what was received is the goodput, of all streams together") {
  const TestResult test = read("iperf3", sample("iperf3-tcp.json"));
  CHECK(test.type == "tcp-stream");
  CHECK(median(test, "goodput") == 6366259154.108978);
  CHECK(median(test, "goodput.min") == 3169837215.764898);
  CHECK(median(test, "retransmits") == 4);
  // 15.4 % of a core for 1.996 s.
  CHECK(median(test, "sender.cpu") == Approx(0.15395923749 * 1.996106));
  // Two seconds after one that was omitted.
  CHECK(test.intervals.size() == 2);
}

TEST_CASE("iperf3: UDP has loss and jitter, --bidir both directions") {
  const TestResult udp = read("iperf3", sample("iperf3-udp.json"));
  CHECK(udp.type == "udp-stream");
  CHECK(median(udp, "loss") == 0);
  CHECK(median(udp, "jitter") == Approx(0.01798726666322386e-3));
  const TestResult both = read("iperf3", sample("iperf3-bidir.json"));
  CHECK(median(both, "goodput") ==
        Approx(median(both, "goodput.forward") + median(both, "goodput.reverse")));
}

TEST_CASE("iperf3: a run that failed is an error, and a cut-off file says where") {
  CHECK_THAT(refusal("iperf3", R"({"start": {}, "end": {}, "error": "unable to connect"})"),
             Catch::Contains("unable to connect"));
  const std::string whole = sample("iperf3-tcp.json");
  for (std::size_t length = 0; length < whole.size() - 2; length += 97) {
    CHECK_THAT(refusal("iperf3", whole.substr(0, length)), Catch::Contains("run: not JSON: line "));
  }
  CHECK_THAT(refusal("iperf3", R"({"start": {}, "end": {"sum_sent": {}, "sum_received": {}}})"),
             Catch::Contains("end.sum_received.bits_per_second is missing"));
  CHECK_THAT(refusal("iperf3", R"({"start": {"test_start": 7}, "end": []})"),
             Catch::Contains("run: "));
  CHECK_THAT(refusal("iperf3", "[1, 2]"), Catch::Contains("not the output of iperf3"));
}

TEST_CASE("every further output is a repeat of the test, of the same type") {
  const std::string run = sample("iperf3-tcp.json");
  const Result result = import_tool("iperf3", {{"one", run}, {"two", run}}, {.test = "bulk"});
  CHECK(result.tests[0].name == "bulk");
  CHECK(result.tests[0].figures.at("goodput").samples.size() == 2);
  CHECK_THROWS_AS(import_tool("iperf3", {{"one", run}, {"two", sample("iperf3-udp.json")}}),
                  ImportError);
}

TEST_CASE("nuttcp: the line of a whole run, with its intervals before it") {
  const TestResult tcp = read("nuttcp", sample("nuttcp-tcp.txt"));
  CHECK(tcp.type == "tcp-stream");
  CHECK(median(tcp, "goodput") == Approx(3934.6299e6));
  // 470.4375 MiB at that rate.
  CHECK(median(tcp, "elapsed") == Approx(470.4375 * 1048576 * 8 / 3934.6299e6));
  CHECK(median(tcp, "retransmits") == 0);
  CHECK(tcp.intervals.size() == 2);
  const TestResult udp = read("nuttcp", sample("nuttcp-udp.txt"));
  CHECK(udp.type == "udp-stream");
  CHECK(median(udp, "goodput") == Approx(50.6716e6));
  CHECK(median(udp, "loss") == 0);
  const TestResult parsed = read("nuttcp", sample("nuttcp-parse.txt"));
  CHECK(median(parsed, "goodput") == Approx(2012.3068e6));
}

TEST_CASE("nuttcp: intervals alone are a run that was cut off") {
  CHECK_THAT(refusal("nuttcp", "  231.6875 MB /   0.50 sec = 3866.5476 Mbps     0 retrans\n"),
             Catch::Contains("cut off") && Catch::Contains("line 1"));
  CHECK_THAT(refusal("nuttcp", "nuttcp-t: Error: connect: Connection refused\n"),
             Catch::Contains("refused"));
}

constexpr const char* kNttcp =
    "     Bytes  Real s   CPU s Real-MBit/s  CPU-MBit/s   Calls  Real-C/s   CPU-C/s\n"
    "l  8388608    0.71    0.01     94.9903   7457.3690    2048   2898.87  227580.8\n"
    "1  8388608    0.71    0.04     93.9984   1598.0964    5794   8115.57  137975.4\n";

TEST_CASE("nttcp: the receiver's rate is the goodput, and finer than its printed time") {
  // As a user of Linux 2.6.7 reported it on the kernel's mailing list in August 2004.
  const TestResult test = read("nttcp", kNttcp);
  CHECK(median(test, "goodput") == Approx(93.9984e6));
  CHECK(median(test, "receiver.elapsed") == Approx(8388608 * 8 / 93.9984e6));
  CHECK(median(test, "sender.calls") == 2048);
  CHECK(median(test, "receiver.calls") == 5794);
  CHECK(median(test, "receiver.cpu") == 0.04);
  const TestResult reversed = read("nttcp", kNttcp, {.test = "", .reverse = true});
  CHECK(median(reversed, "goodput") == Approx(94.9903e6));
  CHECK(median(reversed, "sender.calls") == 5794);
}

TEST_CASE("nttcp: a row that is cut off and an end that is missing say their line") {
  const std::string text = kNttcp;
  CHECK_THAT(refusal("nttcp", text.substr(0, text.find("1  83"))),
             Catch::Contains("line 2") && Catch::Contains("remote end"));
  CHECK_THAT(refusal("nttcp", text.substr(0, text.size() - 12)),
             Catch::Contains("line 3") && Catch::Contains("columns"));
  CHECK_THAT(refusal("nttcp", "hello\n"), Catch::Contains("not the output"));
}

TEST_CASE("netperf: tables of streams, requests and datagrams") {
  const TestResult stream = read("netperf",
                                 "MIGRATED TCP STREAM TEST from 10.10.1.1 () port 0 AF_INET to "
                                 "10.10.1.2 () port 0 AF_INET : demo\n"
                                 "Recv   Send    Send                          \n"
                                 "Socket Socket  Message  Elapsed              \n"
                                 "Size   Size    Size     Time     Throughput  \n"
                                 "bytes  bytes   bytes    secs.    10^6bits/sec  \n\n"
                                 "131072  16384   1500    10.00    9407.41   \n");
  CHECK(stream.type == "tcp-stream");
  CHECK(median(stream, "goodput") == Approx(9407.41e6));
  CHECK(median(stream, "elapsed") == 10);
  const TestResult requests =
      read("netperf",
           "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.2.15 "
           "() port 0 AF_INET\n"
           "Local /Remote\n"
           "Socket Size   Request  Resp.   Elapsed  Trans.\n"
           "Send   Recv   Size     Size    Time     Rate\n"
           "bytes  Bytes  bytes    bytes   secs.    per sec\n\n"
           "16384  131072 32       1024    10.00    6537.30\n16384  131072\n");
  CHECK(requests.type == "request-response");
  CHECK(median(requests, "transaction_rate") == Approx(6537.30));
  const TestResult datagrams = read("netperf",
                                    "MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 "
                                    "AF_INET to 10.250.7.241 (10.250.7.241) port 0 AF_INET\n"
                                    "Socket  Message  Elapsed      Messages                \n"
                                    "Size    Size     Time         Okay Errors   Throughput\n"
                                    "bytes   bytes    secs            #      #   10^6bits/sec\n\n"
                                    "262144   65507   10.00       42962      0    2251.09\n"
                                    "262144           10.00       17866            936.13\n");
  CHECK(median(datagrams, "goodput") == Approx(936.13e6));
  CHECK(median(datagrams, "loss") == Approx(1 - 17866.0 / 42962));
}

TEST_CASE("netperf: lists of the omni tests, by key and as CSV") {
  const TestResult keys =
      read("netperf",
           "OMNI Send TEST from 0.0.0.0 port 0\n"
           "THROUGHPUT=9420.15\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=10.00\n");
  CHECK(median(keys, "goodput") == Approx(9420.15e6));
  const TestResult csv = read(
      "netperf",
      "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 20001 AF_INET to 10.0.0.86 "
      "() port 20001\n"
      "Throughput,Throughput Units,50th Percentile Latency Microseconds,99th Percentile Latency "
      "Microseconds\n1405.50,Trans/s,683,841\n");
  CHECK(median(csv, "transaction_rate") == 1405.5);
  CHECK(median(csv, "latency.p99") == Approx(841e-6));
}

TEST_CASE("netperf: no banner, a cut-off table and a wrong number are errors") {
  CHECK_THAT(refusal("netperf", "131072  16384   1500    10.00    9407.41\n"),
             Catch::Contains("-P 0"));
  CHECK_THAT(refusal("netperf", "MIGRATED TCP STREAM TEST from a to b\n87380 16384\n"),
             Catch::Contains("line 2") && Catch::Contains("cut off"));
  CHECK_THAT(refusal("netperf", "OMNI Send TEST\nTHROUGHPUT=fast\n"),
             Catch::Contains("line 2") && Catch::Contains("fast"));
  CHECK_THAT(refusal("netperf", "OMNI Send TEST\nTHROUGHPUT=1\nTHROUGHPUT_UNITS=parsec\n"),
             Catch::Contains("parsec"));
}

TEST_CASE("moongen: counters of both ends, plain with colours and as CSV") {
  const TestResult plain =
      read("moongen",
           "[INFO] Starting\n"
           "\x1b[34m[Device: id=0] TX\x1b[0m: 14.88 Mpps, 7619 Mbit/s (10000 Mbit/s with framing)\n"
           "\x1b[34m[Device: id=0] TX\x1b[0m: 14.88 (StdDev 0.01) Mpps, 7619 (StdDev 3) Mbit/s "
           "(10000 Mbit/s "
           "with framing), total 1000 packets with 64000 bytes (incl. CRC)\n"
           "[Device: id=1] RX: 7.44 (StdDev 0.01) Mpps, 3809 (StdDev 3) Mbit/s (5000 Mbit/s with "
           "framing), "
           "total 500 packets with 32000 bytes (incl. CRC)\n");
  CHECK(plain.type == "raw-frames");
  CHECK(median(plain, "frame_rate") == Approx(7.44e6));
  CHECK(median(plain, "sender.frame_rate") == Approx(14.88e6));
  CHECK(median(plain, "throughput") == Approx(5e9));
  CHECK(median(plain, "loss") == 0.5);
  const TestResult csv =
      read("moongen",
           "Time,Device,Direction,PacketRate,Mbit,MbitWithFraming,TotalPackets,TotalBytes\n"
           "1,Device: id=0,TX,1.2,600,800,1000,64000\n"
           "2,Device: id=0,TX,1.0,512,672,2000,128000\n");
  CHECK(median(csv, "frame_rate") == Approx(1e6));
  CHECK(csv.notes.size() == 1);  // nothing was received
  CHECK_THAT(refusal("moongen", "[Device: id=0] TX: 14.88 Mpps, 7619 Mbit/s\n"),
             Catch::Contains("cut off"));
  CHECK_THAT(refusal("moongen", "[Device: id=0] TX: 14.88 (StdDev 0.01) Mpps, 7619 (Std"),
             Catch::Contains("line 1"));
}

TEST_CASE("a result written for readers of iperf3 is read back as what it was") {
  Result result = import_tool("iperf3", {{"run", sample("iperf3-tcp.json")}}, {.test = "bulk"});
  const TestResult again = read("iperf3", to_iperf3(result, "bulk"));
  CHECK(median(again, "goodput") == Approx(median(result.tests[0], "goodput")).epsilon(1e-9));
  CHECK(median(again, "retransmits") == 4);
  CHECK(again.intervals.size() == 2);
  CHECK_THROWS_WITH(to_iperf3(result, "other"), Catch::Contains("bulk"));
  result.tests[0].type = "request-response";
  CHECK_THROWS_AS(to_iperf3(result, "bulk"), ExportError);
}

}  // namespace
}  // namespace linerate::experiments
