// CSV by RFC 4180, and rows of published tables by value.
#include <catch2/catch.hpp>

#include "experiments/results/import_csv.hpp"

using namespace linerate::experiments;
using Catch::Matchers::Contains;
using Catch::Matchers::VectorContains;

namespace {

std::vector<std::string> cells(const std::string& record) {
  const auto table = read_csv("a,b,c\n" + record, "t.csv");
  REQUIRE(table.rows.size() == 1);
  return table.rows[0].cells;
}

const TestResult& test(const Result& result, const std::string& name) {
  for (const TestResult& candidate : result.tests)
    if (candidate.name == name) return candidate;
  FAIL("no test " << name);
  return result.tests[0];
}

double value(const TestResult& result, const std::string& figure) {
  INFO(result.name << " " << figure);
  REQUIRE(result.figures.contains(figure));
  return result.figures.at(figure).median();
}

// Published with nttcp, 102,400 writes over a 100 Mbit/s and a 1 Gbit/s card.
const std::string nttcp_table =
    "id,series,direction,nic,sender,write_bytes,socket_buffer_kib,bytes,sender_s,sender_cpu_s,"
    "sender_calls,sender_mbit_s,receiver_s,receiver_cpu_s,receiver_calls,receiver_mbit_s,use\n"
    "fe-default,default,transmit,fast-ethernet,A,4096,,419430400,35.63,0.74,102400,94.1719,35.64,"
    "2.90,289543,94.1551,fit\n"
    "fe-w8k,socket-buffer,transmit,fast-ethernet,A,4096,8,419430400,35.77,2.72,102400,93.7940,"
    "35.78,3.28,307149,93.7909,test\n"
    "ge-l40960,buffer-length,transmit,gigabit-pci32,A,40960,,4194304000,207.37,10.89,102400,"
    "161.8104,207.37,24.98,2860672,161.8066,test\n";

}  // namespace

TEST_CASE("cells follow RFC 4180") {
  CHECK(cells("1,2,3") == std::vector<std::string>{"1", "2", "3"});
  CHECK(cells("1,2,3\r\n") == std::vector<std::string>{"1", "2", "3"});
  CHECK(cells("\"1,5\",\"say \"\"hi\"\"\",\"two\nlines\"") ==
        std::vector<std::string>{"1,5", "say \"hi\"", "two\nlines"});
  CHECK(cells(",,") == std::vector<std::string>{"", "", ""});
  CHECK(cells(" x , y ,\" z \"") == std::vector<std::string>{"x", "y", " z "});
}

TEST_CASE("a byte order mark is not part of the first name, and empty lines are no rows") {
  const auto table = read_csv("\xEF\xBB\xBFid,x_s\r\n\r\na,1\r\n\r\nb,2\r\n", "t.csv");
  CHECK(table.header == std::vector<std::string>{"id", "x_s"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[1].line == 5);
}

TEST_CASE("a line break inside quotes counts as a line") {
  const auto table = read_csv("id,x\n\"a\nb\",1\nc,2\n", "t.csv");
  CHECK(table.rows[1].line == 4);
}

TEST_CASE("a table that is not one is refused with its place") {
  CHECK_THROWS_WITH(read_csv("", "t.csv"), "t.csv: holds no table");
  CHECK_THROWS_WITH(read_csv("a,a\n", "t.csv"), "t.csv:1: two columns are named a");
  CHECK_THROWS_WITH(read_csv("a,\n", "t.csv"), "t.csv:1: column 2 has no name");
  CHECK_THROWS_WITH(read_csv("a,b\n1,2\n1\n", "t.csv"), "t.csv:3: has 1 cells, the header 2");
  CHECK_THROWS_WITH(read_csv("a,b\n1,\"2", "t.csv"), "t.csv:2: column 2: a quote is not closed");
  CHECK_THROWS_WITH(read_csv("a,b\n1,2\"x\n", "t.csv"),
                    "t.csv:2: column 2: a quote inside an unquoted cell");
  CHECK_THROWS_WITH(read_csv("a,b\n1,\"2\"x\n", "t.csv"), Contains("text after a closing quote"));
}

TEST_CASE("nttcp: both ends' seconds, CPU, calls, and goodput as the receiver timed it") {
  const Result result = import_csv(nttcp_table, "nttcp.csv");
  CHECK(result.backend == Backend::published);
  const TestResult& row = test(result, "fe-default");
  CHECK(row.type == "tcp-stream");
  CHECK(value(row, "goodput") == Approx(94.1551e6));
  CHECK(row.figures.at("goodput").unit == "bit/s");
  CHECK(row.figures.at("goodput").better == Better::higher);
  CHECK(value(row, "sender.cpu") == 0.74);
  CHECK(value(row, "receiver.cpu") == 2.90);
  CHECK(value(row, "sender.calls") == 102400);
  CHECK(value(row, "receiver.calls") == 289543);
  CHECK_THAT(row.notes, VectorContains(std::string("use: fit")));
  CHECK_THAT(row.notes, VectorContains(std::string("write_bytes: 4096")));
  // An empty cell is absent.
  for (const std::string& note : row.notes) CHECK_THAT(note, !Contains("socket_buffer_kib"));
  CHECK_THAT(test(result, "fe-w8k").notes, VectorContains(std::string("socket_buffer_kib: 8")));
}

TEST_CASE("nttcp: bytes and rate give the seconds more finely than the clock printed them") {
  const Result result = import_csv(nttcp_table, "nttcp.csv");
  // 8 x 419430400 B / 94.1551 Mbit/s = 35.6374 s, printed as 35.64.
  CHECK(value(test(result, "fe-default"), "receiver.elapsed") == Approx(35.6374).margin(5e-5));
  CHECK(value(test(result, "fe-default"), "sender.elapsed") == Approx(35.6310).margin(5e-5));
  // The byte count that overflowed 32 bits where it was published, corrected.
  CHECK(value(test(result, "ge-l40960"), "receiver.elapsed") == Approx(207.374).margin(5e-4));
  CsvOptions plain;
  plain.derive = false;
  CHECK(value(test(import_csv(nttcp_table, "nttcp.csv", plain), "fe-default"),
              "receiver.elapsed") == 35.64);
}

TEST_CASE("a derived time that contradicts the printed one is not used") {
  const Result result =
      import_csv("id,bytes,receiver_s,receiver_mbit_s\na,1000000,10.00,94.0\n", "t.csv");
  CHECK(value(result.tests[0], "receiver.elapsed") == 10.0);
  REQUIRE(result.tests[0].notes.size() == 2);
  CHECK_THAT(result.tests[0].notes[1], Contains("printed as 10 s"));
}

TEST_CASE("a byte count that overflowed is refused where it stands") {
  CHECK_THROWS_WITH(
      import_csv("id,bytes,receiver_mbit_s\na,1,1\nb,-100663296,161.8066\n", "nttcp.csv"),
      Contains("nttcp.csv:3: column 2 (bytes): -100663296 is negative"));
}

TEST_CASE("netperf: throughput is goodput") {
  const Result result = import_csv(
      "id,sender,receiver,send_message_bytes,send_socket_bytes,recv_socket_bytes,elapsed_s,"
      "throughput_mbit_s,use\n"
      "l2v-s32k,cpci735-linux22,mvme5100-vxworks55,32768,65536,32768,10.11,28.67,test\n",
      "netperf.csv");
  const TestResult& row = test(result, "l2v-s32k");
  CHECK(row.figures.size() == 2);
  CHECK(value(row, "goodput") == Approx(28.67e6));
  CHECK(value(row, "elapsed") == 10.11);
  CHECK_THAT(row.notes, VectorContains(std::string("sender: cpci735-linux22")));
  CHECK_THAT(
      result.notes,
      VectorContains(std::string("throughput_mbit_s is goodput: these tools count payload")));
}

TEST_CASE("a share of a CPU is a fraction of its end") {
  const Result result =
      import_csv("id,throughput_mbit_s,receiver_kernel_cpu_fraction\nbest,93.57,0.99\n", "t.csv");
  CHECK(value(result.tests[0], "receiver.kernel_cpu") == 0.99);
  CHECK(result.tests[0].figures.at("receiver.kernel_cpu").unit == "fraction");
}

TEST_CASE("RFC 2544: frames a second as finely as printed, the wire apart from layer 2") {
  const Result result = import_csv(
      "id,device_under_test,forwarder,port,frame_bytes,rate_mpps,rate_mbit_s,wire_rate_mbit_s,"
      "frames_per_s,use\n"
      "kernel-64,arm,linux-kernel,1000base-t,64,0.40,203.18,266.68,396836,fit\n",
      "rfc2544.csv");
  const TestResult& row = test(result, "kernel-64");
  CHECK(row.type == "rfc2544-throughput");
  CHECK(value(row, "frame_rate") == 396836);  // not 0.40 Mpps
  CHECK(value(row, "throughput") == Approx(266.68e6));
  // 64 B take 84 B of wire: the published pair of rates agrees with the ledger.
  REQUIRE(row.layers.size() == 2);
  CHECK(row.layers[0] == LayerRate{"l2", 203.18e6, 64});
  CHECK(row.layers[1] == LayerRate{"wire", 266.68e6, 84});
  CHECK(row.layers[1].rate / row.layers[0].rate == Approx(84.0 / 64).epsilon(1e-4));
}

TEST_CASE("lftp: \"M\"/s is 10^6 B/s, and the doubt about it is on record") {
  const std::string table =
      "id,left_nic,right_nic,operation,run,rate_m_per_s,use\n"
      "e100-e100-put-1,e100,e100,put,1,11.436,fit\n"
      "e100-e100-put-2,e100,e100,put,2,11.286,fit\n";
  const Result result = import_csv(table, "ftp.csv");
  CHECK(result.tests.size() == 2);
  CHECK(result.tests[0].type == "file-transfer");
  CHECK(value(result.tests[0], "goodput") == Approx(91.488e6));
  CHECK_THAT(result.notes.back(), Contains("1000 KiB/s"));
  CsvOptions options;
  options.map = {parse_mapping("rate_m_per_s=goodput:1000KiB/s")};
  const Result other = import_csv(table, "ftp.csv", options);
  CHECK(value(other.tests[0], "goodput") == Approx(91.488e6 * 1.024));
}

TEST_CASE("rows of one name are repeats of one test") {
  CsvOptions options;
  options.id = {"nic", "operation"};
  const Result result = import_csv(
      "nic,operation,run,rate_m_per_s\n"
      "e100,put,1,11.436\ne100,get,1,9.317\ne100,put,2,11.286\ne100,put,3,11.294\n",
      "ftp.csv", options);
  REQUIRE(result.tests.size() == 2);
  CHECK(result.tests[0].name == "e100-put");
  CHECK(result.tests[0].figures.at("goodput").samples.size() == 3);
  CHECK(value(result.tests[0], "goodput") == Approx(11.294 * 8e6));
}

TEST_CASE("units are converted to base units") {
  const Result result = import_csv(
      "id,latency_p50_us,latency_p99_ms,loss_percent,transactions_per_s,goodput_gbit_s\n"
      "a,41.5,1.5,0.1,24093,9.41\n",
      "t.csv");
  const TestResult& row = result.tests[0];
  CHECK(value(row, "latency.p50") == Approx(41.5e-6));
  CHECK(value(row, "latency.p99") == Approx(1.5e-3));
  CHECK(value(row, "loss") == Approx(0.001));
  CHECK(value(row, "transaction_rate") == 24093);
  CHECK(value(row, "goodput") == Approx(9.41e9));
}

TEST_CASE("a mapping overrides the name of a column") {
  CHECK(parse_mapping("x=latency.p50:us") == ColumnMapping{"x", "latency.p50", "us"});
  CHECK(parse_mapping("x=goodput") == ColumnMapping{"x", "goodput", ""});
  CHECK_THROWS_AS(parse_mapping("goodput"), CsvError);
  CsvOptions options;
  options.map = {parse_mapping("speed=goodput:Gbit/s"), parse_mapping("elapsed_s=")};
  const Result result = import_csv("id,speed,elapsed_s\na,9.4,10\n", "t.csv", options);
  CHECK(value(result.tests[0], "goodput") == Approx(9.4e9));
  CHECK(result.tests[0].figures.size() == 1);
  CHECK(result.tests[0].notes == std::vector<std::string>{"elapsed_s: 10"});
  options.map = {parse_mapping("missing=goodput")};
  CHECK_THROWS_WITH(import_csv("id,speed\na,1\n", "t.csv", options), Contains("no column missing"));
  options.map = {parse_mapping("speed=goodput:parsec")};
  CHECK_THROWS_WITH(import_csv("id,speed\na,1\n", "t.csv", options), Contains("parsec is no unit"));
}

TEST_CASE("a cell that is no number is refused with line and column") {
  const auto error = [](const std::string& cell) {
    return Contains("t.csv:2: column 2 (elapsed_s): \"" + cell + "\" is no number");
  };
  for (const char* cell : {"ten", "10 s", "1,", "nan", "inf", "0x10", "1e999", "--1"}) {
    if (std::string(cell).find(',') != std::string::npos) continue;
    CHECK_THROWS_WITH(import_csv("id,elapsed_s\na," + std::string(cell) + "\n", "t.csv"),
                      error(cell));
  }
  // Numbers that overflow as soon as something is derived from them.
  for (const char* cell : {"1e308", "1e30", "1e-30"})
    CHECK_THROWS_WITH(import_csv("id,throughput_gbit_s\na," + std::string(cell) + "\n", "t.csv"),
                      Contains("t.csv:2: column 2 (throughput_gbit_s)"));
  CHECK_THROWS_WITH(import_csv("id,elapsed_s\n,1\n", "t.csv"), Contains("t.csv:2: column 1 (id)"));
  CHECK_THROWS_WITH(import_csv("name,elapsed_s\na,1\n", "t.csv"),
                    Contains("no column id") && Contains("name, elapsed_s"));
}
