// Explicit Congestion Notification as packet scripts: what is negotiated, what is marked capable,
// how marks are echoed and answered (RFC 3168), and DCTCP's exact echo and estimate (RFC 8257).
#include <catch2/catch.hpp>

#include "models/tcp/dctcp.hpp"
#include "script.hpp"
#include "sender_stacks.hpp"

namespace linerate::tests {
namespace {

using namespace std::chrono_literals;
using experiments::EcnUse;
using experiments::Recovery;
using models::tcp::Ecn;
using models::tcp::kCwr;
using models::tcp::kEce;
using models::tcp::kSyn;

constexpr std::uint32_t kFull = 1448;

constexpr Sequence segment(Sequence n) { return 1 + n * kFull; }

EndpointConfig stack_with(EcnUse ecn, const char* congestion = "cubic") {
  EndpointConfig config = linux_6_sender();
  config.stack.ecn = ecn;
  config.congestion = congestion;
  config.send_buffer = Bytes(2'000'000);
  return config;
}

Packet asking_syn() { return syn().flag(kEce).flag(kCwr); }

/// A client that asked for ECN and got it, ten segments in flight at 20 ms.
Script flight_of_ten(const EndpointConfig& config) {
  Script host = endpoint_script(config);
  host.connect().expect(Want().flag(kSyn).flag(kEce).flag(kCwr));
  host.at(20ms).inject(syn_ack().flag(kEce)).expect(ack(1)).write(500'000);
  for (Sequence i = 0; i < 10; ++i)
    host.expect(sent(segment(i), kFull).ecn(Ecn::ect0).without(kCwr));
  return host;
}

Packet acknowledge(Sequence n) { return empty(1).acknowledges(segment(n)).window(1'000'000); }

TEST_CASE("RFC 3168 6.1.1: a SYN asks with ECE and CWR, a SYN-ACK agrees with ECE", "[ecn]") {
  SECTION("a host that accepts agrees when asked") {
    Script host = endpoint_script(stack_with(EcnUse::accept));
    host.listen().inject(asking_syn());
    host.expect(Want().flag(kSyn).flag(kEce).without(kCwr).ecn(Ecn::not_ect));
  }
  SECTION("and does not offer it to one that does not ask") {
    Script host = endpoint_script(stack_with(EcnUse::accept));
    host.listen().inject(syn()).expect(Want().flag(kSyn).without(kEce).without(kCwr));
  }
  SECTION("a host without ECN does not agree") {
    Script host = endpoint_script(stack_with(EcnUse::off));
    host.listen().inject(asking_syn()).expect(Want().flag(kSyn).without(kEce));
  }
  SECTION("a client that only accepts does not ask") {
    Script host = endpoint_script(stack_with(EcnUse::accept));
    host.connect().expect(Want().flag(kSyn).without(kEce).without(kCwr));
  }
  SECTION("an answer without ECE, or one that repeats both flags, means no") {
    for (const bool reflected : {false, true}) {
      Script host = endpoint_script(stack_with(EcnUse::on));
      host.connect().expect(Want().flag(kSyn).flag(kEce).flag(kCwr));
      host.at(20ms).inject(reflected ? syn_ack().flag(kEce).flag(kCwr) : syn_ack());
      host.expect(ack(1)).write(1000).expect(sent(1, 1000).ecn(Ecn::not_ect));
    }
  }
}

TEST_CASE("a SYN that is not answered is repeated without ECN", "[ecn]") {
  Script host = endpoint_script(stack_with(EcnUse::on));
  host.connect().expect(Want().flag(kSyn).flag(kEce).flag(kCwr));
  host.at(1100ms).expect(Want().flag(kSyn).without(kEce).without(kCwr));
}

TEST_CASE("RFC 3168 6.1.4, 6.1.5: new data is capable, ACKs and repairs are not", "[ecn]") {
  Script host = flight_of_ten(stack_with(EcnUse::on));
  host.at(40ms);
  for (Sequence i = 4; i <= 6; ++i) host.inject(acknowledge(0).sack({segment(1), segment(i)}));
  host.expect(sent(segment(0), kFull).ecn(Ecn::not_ect));
}

TEST_CASE("RFC 3168 6.1.3: a mark is echoed on every ACK until CWR comes", "[ecn]") {
  Script host = endpoint_script(stack_with(EcnUse::accept));
  host.accept(asking_syn());
  host.at(20ms).inject(data(1, kFull).ecn(Ecn::ect0)).expect(ack(segment(1)).without(kEce));
  host.inject(data(segment(1), kFull).ecn(Ecn::ce)).expect(ack(segment(2)).flag(kEce));
  host.inject(data(segment(2), kFull).ecn(Ecn::ect0)).expect(ack(segment(3)).flag(kEce));
  host.inject(data(segment(3), kFull).ecn(Ecn::ect0).flag(kCwr));
  host.expect(ack(segment(4)).without(kEce).ecn(Ecn::not_ect));
  SECTION("a CWR on a packet that is marked itself starts the echo anew") {
    host.inject(data(segment(4), kFull).ecn(Ecn::ce)).expect(ack(segment(5)).flag(kEce));
    host.inject(data(segment(5), kFull).ecn(Ecn::ce).flag(kCwr)).expect(ack(segment(6)).flag(kEce));
  }
}

TEST_CASE("RFC 3168 6.1.2: echoes reduce the window once a round trip, and say so", "[ecn]") {
  // Reno without PRR, so that the halved window shows at once.
  EndpointConfig config = plain_sender(Recovery::newreno);
  config.stack.ecn = EcnUse::on;
  config.send_buffer = Bytes(2'000'000);
  Script host = endpoint_script(config);
  host.connect().expect(Want().flag(kSyn));
  host.at(20ms).inject(syn_ack().no_timestamps().no_sack().flag(kEce)).expect(ack(1));
  host.write(500'000);
  CHECK(host.drain() == 10);
  const auto acknowledged = [](Sequence n) {
    return empty(1).acknowledges(1 + n * 1460).window(64240).flag(kEce);
  };
  // Five of ten acknowledged with ECE: 5 in flight, window 10 / 2 = 5, nothing may leave.
  host.at(40ms).inject(acknowledged(5)).expect_none();
  // More echoes of the same round trip change nothing: for each ACK one segment leaves, the first
  // with CWR.
  host.inject(acknowledged(6)).expect(sent(1 + 10 * 1460, 1460).flag(kCwr).ecn(Ecn::ect0));
  host.inject(acknowledged(7)).expect(sent(1 + 11 * 1460, 1460).without(kCwr)).expect_none();
}

TEST_CASE("RFC 6937: a reduction for marks is spread over the round trip by PRR", "[ecn]") {
  Script host = flight_of_ten(stack_with(EcnUse::on));
  host.at(40ms).inject(acknowledge(2).flag(kEce));
  std::size_t sent_count = host.drain();
  for (Sequence i = 4; i <= 10; i += 2) {
    host.inject(acknowledge(i).flag(kEce));
    sent_count += host.drain();
  }
  // CUBIC: 7 of 10.
  CHECK(sent_count == 7);
}

TEST_CASE("RFC 8257 3.2: every change of marks is acknowledged at once and exactly", "[ecn]") {
  EndpointConfig config = every_second();  // no quick ACKs beside those under test
  config.congestion = "dctcp";
  Script host = endpoint_script(config);
  host.listen().inject(asking_syn());
  host.expect(Want().flag(kSyn).flag(kEce).ecn(Ecn::ect0));
  host.inject(empty(1));
  host.at(20ms).inject(data(1, kFull).ecn(Ecn::ect0)).expect_none();  // delayed
  // The first marked one: what came before is acknowledged without ECE, then it with ECE.
  host.inject(data(segment(1), kFull).ecn(Ecn::ce));
  host.expect(ack(segment(1)).without(kEce)).expect(ack(segment(2)).flag(kEce)).expect_none();
  host.inject(data(segment(2), kFull).ecn(Ecn::ce)).expect_none();
  host.inject(data(segment(3), kFull).ecn(Ecn::ect0));
  host.expect(ack(segment(3)).flag(kEce)).expect(ack(segment(4)).without(kEce));
}

TEST_CASE("DCTCP asks for ECN whatever the stack's default, and all its packets are capable",
          "[ecn]") {
  Script host = endpoint_script(stack_with(EcnUse::off, "dctcp"));
  host.connect().expect(Want().flag(kSyn).flag(kEce).flag(kCwr).ecn(Ecn::ect0));
  host.at(20ms).inject(syn_ack().flag(kEce)).expect(ack(1).ecn(Ecn::ect0));
}

TEST_CASE("RFC 8257 3.3: alpha follows the fraction marked with gain 1/16", "[ecn]") {
  models::tcp::MarkedFraction marks;
  CHECK(marks.fraction() == 1.0);
  CHECK(marks.reduced(100) == 50);  // all marked: as a loss in Reno
  Sequence una = 0;
  const auto windows = [&](int count, std::int64_t marked_of_100) {
    for (int i = 0; i < count; ++i) {
      marks.on_ack(una + 1, una + 101, 100 - marked_of_100, false);
      if (marked_of_100 > 0) marks.on_ack(una + 2, una + 101, marked_of_100, true);
      una += 101;
    }
  };
  windows(16, 0);
  // (1 - 1/16)^16 = 0.356
  CHECK(marks.fraction() == Approx(0.356).margin(0.02));
  windows(200, 30);
  CHECK(marks.fraction() == Approx(0.30).margin(0.02));
  CHECK(marks.reduced(100) == Approx(85).margin(1));
  windows(400, 0);
  CHECK(marks.fraction() == 0.0);
  CHECK(marks.reduced(100) == 100);
  CHECK(marks.reduced(1) == 2);
}

}  // namespace
}  // namespace linerate::tests
