// What encryption costs: of programs (ssh, TLS), of tunnels at ends and in routers.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;

namespace {

// a sends to b through the router r, whose far NIC, like b's, may have a tunnel.
std::string network(const std::string& r, const std::string& b, const std::string& tunnel,
                    const std::string& test) {
  return "schema_version: 1\nname: ciphers\nhosts:\n"
         "  a: {profile: ideal, stack: linux-6, nics: {eth0: {profile: ideal}}}\n"
         "  r: {profile: ideal, forwarding: kernel, " +
         r +
         ", nics: {eth0: {profile: ideal}, eth1: "
         "{profile: ideal" +
         tunnel +
         "}}}\n"
         "  b: {profile: ideal, stack: linux-6, " +
         b + ", nics: {eth0: {profile: ideal" + tunnel +
         "}}}\n"
         "links:\n  - {endpoints: [\"a:eth0\", \"r:eth0\"], rate: 1Gbit/s}\n"
         "  - {endpoints: [\"r:eth1\", \"b:eth0\"], rate: 1Gbit/s}\n"
         "tests:\n  - {name: t, from: a, to: b, repeats: 1, duration: 400ms, omit: 100ms, " +
         test + "}\n";
}

double goodput(const std::string& text) {
  const auto result = models::simulate(experiments::parse_experiment(text, "ciphers.yaml"));
  return result.tests.front().figures.at("goodput").median();
}

const std::string kFree = "hash: layer3+4";  // a field that changes nothing here
const std::string kStream = "type: tcp-stream, cipher: aes-gcm";

}  // namespace

TEST_CASE("a program that decrypts is as fast as its core") {
  // 50 MB/s are 400 Mbit/s.
  const double rate =
      goodput(network(kFree, "cpu: {cores: 1, ciphers: {aes_gcm: 50MB/s}}", "", kStream));
  CHECK(rate == Approx(400e6).epsilon(0.01));
  // Another cipher's rate says nothing.
  CHECK_THROWS_WITH(goodput(network(kFree, "cpu: {ciphers: {chacha20: 50MB/s}}", "", kStream)),
                    Catch::Contains("how fast it encrypts"));
}

TEST_CASE("a router spends packet and bytes on what enters its tunnel; cores share WireGuard's") {
  // Datagrams of 972 B are packets of 1000 B: 20 us of bytes at 50 MB/s and 5 us a packet, so
  // 40,000 packets/s. Two cores that share the bytes make 1/15 us of it.
  const std::string load = "type: udp-stream, datagram: 972B, rate: 800Mbit/s";
  const auto router = [](const std::string& cores) {
    return "cpu: {cores: 1, ciphers: {aes_gcm: 50MB/s, packet: 5us, cores: " + cores +
           ", chacha20: 50MB/s}}";
  };
  const std::string esp = ", encapsulation: [esp]", wireguard = ", encapsulation: [wireguard]";
  const double one = goodput(network(router("1"), kFree, esp, load));
  CHECK(one == Approx(40e3 * 972 * 8).epsilon(0.01));
  CHECK(goodput(network(router("2"), kFree, esp, load)) == Approx(one).epsilon(0.001));
  CHECK(goodput(network(router("2"), kFree, wireguard, load)) ==
        Approx(one * 25 / 15).epsilon(0.01));
}

TEST_CASE("an end of a tunnel decrypts packet by packet") {
  // Segments of WireGuard's 1420 B: payload 1368 B in packets of 1420 B, 142 us at 10 MB/s.
  const double rate = goodput(network(kFree, "cpu: {cores: 1, ciphers: {chacha20: 10MB/s}}",
                                      ", encapsulation: [wireguard]", "type: tcp-stream"));
  CHECK(rate < 1368 * 8 / 142e-6 * 1.005);  // reads come in bursts
  CHECK(rate > 1368 * 8 / 142e-6 * 0.95);   // ACKs are encrypted too
}
