// A line in user space: laws that hold without a kernel, and then the wire between two namespaces.
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>

#include "realnet/measure.hpp"
#include "realnet/wire/frame_store.hpp"
#include "realnet/wire/lateness.hpp"
#include "realnet/wire/line.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

constexpr Bytes kFull{1514};  // a full frame as the kernel holds it
const BitRate kHundred = BitRate::bits_per_second(100'000'000);

LineConfig plain(Time latency = {}) {
  LineConfig config;
  config.rate = kHundred;
  config.latency = latency;
  config.queue = Bytes(1'000'000'000);
  return config;
}

TEST_CASE("line: a frame takes its wire bytes and then the latency") {
  Line line(plain(Time::milliseconds(5)));
  const Time arrival = Time::seconds(1);
  // 1538 B at 100 Mbit/s are 123.04 us; 64 B and less are 84 B, 6.72 us (IEEE 802.3).
  CHECK(line.take(arrival, kFull).due == arrival + Time::nanoseconds(123'040 + 5'000'000));
  CHECK(line.take(arrival, Bytes(42)).due ==
        arrival + Time::nanoseconds(123'040 + 6'720 + 5'000'000));
  CHECK(line.wire_bytes() == 1538 + 84);
}

TEST_CASE("line: without a path's queue the last bit arrives before the gap is over") {
  LineConfig config = plain();
  config.queue = std::nullopt;
  Line line(config);
  CHECK(line.take(Time{}, kFull).due == Time::nanoseconds(123'040 - 960));
  CHECK(line.take(Time{}, kFull).due == Time::nanoseconds(2 * 123'040 - 960));
}

TEST_CASE("line: departures follow from arrivals, whenever they are looked at") {
  Line early(plain()), late(plain());
  for (int i = 0; i < 100; ++i) {
    const Time arrival = Time::microseconds(100 * i);
    const Time due = early.take(arrival, kFull).due;
    CHECK(due == Time::nanoseconds(123'040) * (i + 1));  // faster than the line: it never idles
    CHECK(late.take(arrival, kFull).due == due);
  }
}

TEST_CASE("line: a queue takes whole frames up to its wire bytes, the one in service included") {
  LineConfig config = plain();
  config.queue = Bytes(10 * 1538 + 1000);
  Line line(config);
  int taken = 0;
  for (int i = 0; i < 20; ++i) taken += line.take(Time{}, kFull).drop == LineDrop::none;
  CHECK(taken == 10);
  CHECK(line.drops(LineDrop::queue) == 10);
  // When one has been sent, one more fits.
  CHECK(line.take(Time::nanoseconds(123'040), kFull).drop == LineDrop::none);
  CHECK(line.take(Time::nanoseconds(123'040), kFull).drop == LineDrop::queue);
}

TEST_CASE("line: losses are random, seeded and take their time on the line") {
  constexpr int kFrames = 100'000;
  constexpr double kLoss = 0.01;
  const auto lost = [&](std::uint64_t entity) {
    LineConfig config = plain();
    config.loss = kLoss;
    config.entity = entity;
    Line line(config);
    std::vector<int> which;
    for (int i = 0; i < kFrames; ++i) {
      const auto fate = line.take(Time{}, kFull);
      if (fate.drop == LineDrop::loss) which.push_back(i);
      if (fate.drop == LineDrop::none) CHECK(fate.due == Time::nanoseconds(123'040) * (i + 1));
    }
    return which;
  };
  const auto first = lost(1);
  // Five standard deviations of a binomial distribution.
  const double deviation = std::sqrt(kFrames * kLoss * (1 - kLoss));
  CHECK(std::abs(static_cast<double>(first.size()) - kFrames * kLoss) < 5 * deviation);
  CHECK(lost(1) == first);
  CHECK(lost(2) != first);
}

TEST_CASE("line: jitter keeps the order and stays within its bound") {
  LineConfig config = plain(Time::milliseconds(1));
  config.jitter = Time::milliseconds(3);
  Line line(config);
  Time last;
  for (int i = 0; i < 1000; ++i) {
    const Time arrival = Time::milliseconds(1) * i;
    const Time due = line.take(arrival, kFull).due;
    const Time alone = arrival + Time::nanoseconds(123'040 + 1'000'000);
    CHECK(due >= last);
    CHECK(due >= alone);
    CHECK(due <= std::max(alone + config.jitter, last));
    last = due;
  }
}

TEST_CASE("line: a blackhole counts from the start of the tests") {
  LineConfig config = plain();
  config.blackholes = {{Time::milliseconds(10), Time::milliseconds(20)}};
  Line line(config);
  CHECK(line.take(Time::milliseconds(15), kFull).drop == LineDrop::none);  // no test has begun
  line.begin(Time::milliseconds(100));
  CHECK(line.take(Time::milliseconds(109), kFull).drop == LineDrop::none);
  CHECK(line.take(Time::milliseconds(110), kFull).drop == LineDrop::blackhole);
  CHECK(line.take(Time::milliseconds(120), kFull).drop == LineDrop::none);
}

LineConfig changing(std::vector<std::pair<Time, LineState>> changes) {
  LineConfig config = plain(Time::milliseconds(5));
  config.changes = std::move(changes);
  return config;
}

LineState state_of(const LineState& config, bool down) {
  LineState state = config;
  state.down = down;
  return state;
}

TEST_CASE("line: one that goes down loses what is on it and in its queue, and what comes") {
  const LineState up = state_of(plain(Time::milliseconds(5)), false);
  const LineState down = state_of(up, true);
  Line line(changing({{Time::milliseconds(1), down}, {Time::milliseconds(2), up}}));
  const Time start = Time::seconds(1);
  line.begin(start);
  for (int i = 0; i < 10; ++i) CHECK(line.take(start, kFull).due == Time::never());
  // 123.04 us each: the turns of nine have come when the link goes down.
  for (int i = 0; i < 9; ++i) {
    const auto news = line.settle(start + Time::milliseconds(3));
    REQUIRE(news.kind == Line::News::Kind::frame);
    CHECK(news.fate.due == start + Time::nanoseconds(123'040) * (i + 1) + Time::milliseconds(5));
  }
  const auto news = line.settle(start + Time::microseconds(1500));
  REQUIRE(news.kind == Line::News::Kind::cut);
  CHECK(news.fate.due == start + Time::milliseconds(1));
  CHECK(line.drops(LineDrop::down) == 1);  // the one that waited
  CHECK(line.settle(start + Time::microseconds(1500)).kind == Line::News::Kind::none);
  CHECK(line.take(start + Time::microseconds(1500), kFull).drop == LineDrop::down);
  CHECK(line.settle(start + Time::milliseconds(2)).kind == Line::News::Kind::none);
  CHECK(line.take(start + Time::milliseconds(2), kFull).drop == LineDrop::none);
  // The next group of tests begins with a link that is up, and has it all before it.
  line.begin(Time::seconds(2));
  CHECK(line.take(Time::seconds(2), kFull).drop == LineDrop::none);
}

TEST_CASE("line: rate and delay that change hold for frames whose turn comes after") {
  LineState slow = state_of(plain(), false);
  slow.rate = BitRate::bits_per_second(10'000'000);
  slow.latency = Time::milliseconds(1);
  Line line(changing({{Time::microseconds(200), slow}}));
  line.begin(Time{});
  for (int i = 0; i < 3; ++i) line.take(Time{}, kFull);
  std::vector<Time> due;
  for (;;) {
    const auto news = line.settle(Time::milliseconds(10));
    if (news.kind == Line::News::Kind::none) break;
    due.push_back(news.fate.due);
  }
  REQUIRE(due.size() == 3);
  CHECK(due[0] == Time::nanoseconds(123'040) + Time::milliseconds(5));
  CHECK(due[1] == Time::nanoseconds(2 * 123'040) + Time::milliseconds(5));  // under way already
  // 1.2304 ms at a tenth of the rate; what is on its way is not overtaken.
  CHECK(due[2] == due[1]);
  CHECK(line.free_at() == Time::nanoseconds(2 * 123'040 + 1'230'400));
}

TEST_CASE("line: without a change, deciding late decides the same") {
  LineConfig config = plain(Time::microseconds(300));
  config.queue = Bytes(20'000);
  config.loss = 0.1;
  Line early(config);
  config.changes = {{Time::seconds(1), config}};
  Line late(config);
  sim::RandomStream random({5, 0, "sizes"});
  std::vector<Line::Fate> expected, found;
  const auto settle = [&](Time now) {
    for (auto news = late.settle(now); news.kind == Line::News::Kind::frame;
         news = late.settle(now))
      found.push_back(news.fate);
  };
  for (int i = 0; i < 5000; ++i) {
    const Time now = Time::microseconds(60) * i;
    const Bytes size(60 + static_cast<std::int64_t>(random.below(1455)));
    const auto fate = early.take(now, size);
    settle(now);
    const bool queued = late.take(now, size).drop == LineDrop::none;
    CHECK(queued == (fate.drop != LineDrop::queue));
    if (queued) expected.push_back(fate);
  }
  settle(Time::seconds(1));
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].drop == expected[i].drop);
    CHECK(found[i].due == expected[i].due);
  }
}

TEST_CASE("frame store: what goes in comes out in order, and never more than fits") {
  FrameStore store(Bytes(10'000));
  std::deque<std::vector<std::byte>> expected;
  sim::RandomStream random({7, 0, "frames"});
  std::size_t held = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random.below(2) == 0 && !store.empty()) {
      REQUIRE(store[0].bytes.size() == expected.front().size());
      REQUIRE(std::equal(store[0].bytes.begin(), store[0].bytes.end(), expected.front().begin()));
      held -= expected.front().size();
      expected.pop_front();
      store.remove(1);
      continue;
    }
    std::vector<std::byte> frame(60 + random.below(1500),
                                 static_cast<std::byte>(random.below(256)));
    if (store.fits(frame.size())) {
      store.add(Time{}, frame);
      held += frame.size();
      expected.push_back(std::move(frame));
    } else {
      // Less than the longest frame is wasted at each end of the memory.
      CHECK(held + frame.size() + 2 * 1560 > 10'000);
    }
    REQUIRE(store.count() == expected.size());
    REQUIRE(held <= 10'000);
  }
}

TEST_CASE("lateness: quantiles within a bin's width") {
  Lateness late;
  for (int i = 1; i <= 10'000; ++i) late.add(Time::nanoseconds(i * 100));  // up to 1 ms
  for (const double q : {0.1, 0.5, 0.9, 0.99}) {
    CHECK(late.quantile(q).seconds() == Approx(q * 1e-3).epsilon(1.0 / 16));
  }
  CHECK(late.largest() == Time::milliseconds(1));
  CHECK(late.quantile(1) == late.largest());
}

bool wires_possible() {
  if (!is_root()) WARN("not root: no user-space wire between namespaces");
  return is_root();
}

/// Two hosts on an emulated path.
experiments::Experiment path(Time delay, double loss) {
  auto experiment = two_hosts(100);
  experiment.links[0].delay = delay;
  experiment.links[0].loss[0] = loss;
  experiment.links[0].queue = Bytes(200'000);
  return experiment;
}

TEST_CASE("wire: random loss is within its binomial interval, and TCP repairs all of it") {
  if (!wires_possible()) return;
  auto experiment = path(Time::milliseconds(1), 0.02);
  experiment.tests = {stream("lossy", Time::milliseconds(1500), Time{})};
  const auto result = measure(experiment);
  const auto& sent = result.tests.at(0).ports.at("a:eth0");
  const auto frames = static_cast<double>(sent.frames_sent);
  const auto lost = static_cast<double>(sent.drops.at("loss"));
  REQUIRE(frames > 500);
  CHECK(std::abs(lost - 0.02 * frames) < 5 * std::sqrt(frames * 0.02 * 0.98));
  CHECK(result.tests[0].ports.at("b:eth0").drops.at("loss") == 0);
  CHECK(result.tests[0].figures.at("retransmits").median() > 0);
}

TEST_CASE("wire: a link that goes down and comes up carries again when TCP's timer says so") {
  if (!wires_possible()) return;
  auto experiment = two_hosts(20);
  experiments::LinkEvent down;
  down.at = Time::milliseconds(600);
  down.lasts = Time::milliseconds(300);
  experiment.events = {down};
  experiment.tests = {stream("bulk", Time::milliseconds(2000), Time{})};
  const auto result = measure(experiment);
  CHECK(result.tests[0].ports.at("a:eth0").drops.at("down") > 0);
  for (const auto& interval : result.tests[0].intervals) {
    // The read that ends the silence is spread over it: one segment in 0.3 s and more.
    if (interval.from > 0.65 && interval.to < 0.9)
      CHECK(interval.figures.at("goodput") <= 1448 * 8 / 0.3);
  }
  // RFC 6298 5.5: timers of about 200 and 400 ms run out at 0.8 and 1.2 s.
  CHECK(figure(result, "recovery") > 0);
  CHECK(figure(result, "recovery") < 0.7);
  CHECK(figure(result, "goodput") < 20e6 * 1448 / 1538 * 1.7 / 2);
}

}  // namespace
}  // namespace linerate::realnet
