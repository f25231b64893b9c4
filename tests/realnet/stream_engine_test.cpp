// The TCP engine beyond one flow that lasts: verified payload, zero copy, drawn sizes, flows that
// arrive, and what the ends cost.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "realnet/measure.hpp"
#include "realnet/traffic/stream_pattern.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

TEST_CASE("a pattern is one stream, however it is cut into writes and reads") {
  const StreamPattern pattern(3);
  std::vector<char> whole(1000), pieces(1000);
  pattern.fill(whole.data(), 1000, 5000);
  for (std::int64_t at = 0; at < 1000;) {
    const std::int64_t size = std::min<std::int64_t>(1000 - at, 1 + at % 37);
    pattern.fill(pieces.data() + at, size, 5000 + at);
    at += size;
  }
  CHECK(whole == pieces);
  CHECK_FALSE(pattern.first_difference(whole.data() + 13, 987, 5013));
}

TEST_CASE("a byte altered, lost or repeated, and another flow's data, show where they begin") {
  const StreamPattern pattern(0);
  std::vector<char> data(1000);
  pattern.fill(data.data(), 1000, 0);
  auto altered = data;
  altered[501] = static_cast<char>(altered[501] ^ 0x10);
  CHECK(pattern.first_difference(altered.data(), 1000, 0) == 501);
  auto lost = data;
  lost.erase(lost.begin() + 300, lost.begin() + 308);  // a whole word: no luck of alignment
  CHECK(pattern.first_difference(lost.data(), 992, 0).value_or(0) >= 300);
  auto repeated = data;
  repeated.insert(repeated.begin() + 104, data.begin() + 96, data.begin() + 104);
  CHECK(pattern.first_difference(repeated.data(), 1000, 0).value_or(0) >= 104);
  CHECK(StreamPattern(1).first_difference(data.data(), 1000, 0).has_value());
}

TEST_CASE("loopback: verified payload arrives as it was written") {
  auto test = stream("t", Time::seconds(1), Time{});
  test.bytes = Bytes(3'000'001);
  test.write = Bytes(7'777);
  test.read = Bytes(10'001);
  test.flows = 2;
  test.verify = true;
  CHECK(measure(over_loopback(test)).complete);
  test.type = experiments::TestType::udp_stream;
  test.bytes = Bytes(100'000);
  test.datagram = Bytes(1000);
  test.rate = BitRate::bits_per_second(8'000'000);
  CHECK(figure(measure(over_loopback(test)), "loss") == 0);
}

TEST_CASE("loopback: writes without a copy bring every byte, and say what the kernel copied") {
  auto test = stream("t", Time::seconds(1), Time{});
  test.bytes = Bytes(4'000'000);
  test.zero_copy = true;
  test.verify = true;
  const auto result = measure(over_loopback(test));
  const auto& notes = result.tests[0].notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("zero_copy") == 0;  // the loopback interface copies
  }));
}

TEST_CASE("loopback: a receiver on its sender's core reads in handfuls") {
  auto test = stream("t", Time::milliseconds(400), Time{});
  test.core = 0;
  test.write = Bytes(512);
  const auto result = measure(over_loopback(test));
  // Woken as soon as data has come, it reads after every few writes (7 of them on Linux 6.18).
  CHECK(figure(result, "receiver.calls") < figure(result, "sender.calls") / 30);
}

TEST_CASE("loopback: flows of drawn sizes end by themselves") {
  auto test = stream("t", Time::seconds(10), Time{});
  test.sizes = experiments::Sizes{};
  test.sizes->exponential = Bytes(50'000);
  test.flows = 4;
  const auto result = measure(over_loopback(test));
  CHECK(figure(result, "flow_elapsed.p99") < 5);
  CHECK_FALSE(result.tests[0].figures.contains("fairness"));  // of like flows alone
}

TEST_CASE("what the ends cost is the sum of its causes, and no core works longer than it lasts") {
  auto test = stream("t", Time::milliseconds(500), Time{});
  const auto result = measure(over_loopback(test));
  const auto& hosts = result.tests[0].hosts;
  const auto& sender = hosts.at("a").figures;
  CHECK(sender.at("process.user") + sender.at("process.system") ==
        Approx(figure(result, "sender.cpu")).margin(1e-6));
  CHECK(sender.at("process.calls") == figure(result, "sender.calls"));
  const auto& machine = hosts.at("machine").figures;
  // Ticks of 10 ms, read at both ends.
  CHECK(machine.at("core0.user") + machine.at("core0.system") + machine.at("core0.softirq") <= 1.0);
}

}  // namespace
}  // namespace linerate::realnet
