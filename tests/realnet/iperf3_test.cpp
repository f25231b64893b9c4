// The iperf3 program as an engine: the command line that a test becomes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "realnet/traffic/iperf3_peer.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

std::string line_of(const experiments::Test& test) {
  std::string obstacle, line;
  for (const std::string& word : iperf3_command(test, {"192.0.2.1", 5201}, obstacle)) {
    line += word + " ";
  }
  return obstacle.empty() ? line : obstacle;
}

TEST_CASE("a TCP test becomes the letters of iperf3 that mean the same") {
  auto test = stream("t", Time::seconds(10), Time::seconds(1));
  test.flows = 4;
  test.write = Bytes(8192);
  test.no_delay = true;
  test.direction = experiments::Direction::reverse;
  // iperf3 does not count the seconds that it omits.
  CHECK(line_of(test) ==
        "iperf3 --json -c 192.0.2.1 -p 5201 -4 -P 4 -l 8192 -t 9 -O 1 -R -C reno -N ");
  test.bytes = Bytes(1'000'000);
  CHECK_THAT(line_of(test), Catch::Contains("-n 4000000 "));  // of all streams together
}

TEST_CASE("a UDP test has its rate, and what iperf3 cannot do is named") {
  auto test = stream("t", Time::seconds(2), Time{});
  test.type = experiments::TestType::udp_stream;
  CHECK_THAT(line_of(test), Catch::Contains("rate"));
  test.rate = BitRate::bits_per_second(5'000'000);
  test.datagram = Bytes(1000);
  CHECK_THAT(line_of(test), Catch::Contains("-u -b 5000000") && Catch::Contains("-l 1000"));
  test.type = experiments::TestType::request_response;
  CHECK_THAT(line_of(test), Catch::Contains("request-response"));
}

TEST_CASE("a server is an address with or without a port, and never an option") {
  CHECK(parse_iperf3_server("192.0.2.1").port == 5201);
  CHECK(parse_iperf3_server("host:99").port == 99);
  CHECK(parse_iperf3_server("2001:db8::1").address == "2001:db8::1");
  CHECK(parse_iperf3_server("[2001:db8::1]:99").address == "2001:db8::1");
  for (const char* wrong : {"", ":99", "host:", "host:70000", "host:9x", "--help", "[]"}) {
    CHECK_THROWS_AS(parse_iperf3_server(wrong), EnvironmentError);
  }
}

}  // namespace
}  // namespace linerate::realnet
