// The engine with toy models: who schedules first never decides who runs first.
#include "sim/engine.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <utility>
#include <vector>

#include "tests/sim/stops.hpp"

using linerate::Time;
using namespace linerate::sim;

namespace {

enum class Kind : std::uint8_t { ping, pong };

// Writes down what it is given.
struct Recorder {
  void dispatch(const Event& event) {
    seen.push_back({engine->now().whole_microseconds(), event.target});
    if (react) react(event);
  }
  Engine<Recorder>* engine = nullptr;
  std::function<void(const Event&)> react;
  std::vector<std::pair<std::int64_t, std::uint32_t>> seen{};
};

}  // namespace

TEST_CASE("events of one time run by source, whatever the order of scheduling") {
  using Trace = std::vector<std::pair<std::int64_t, std::uint32_t>>;
  const auto run = [](const std::vector<std::uint32_t>& schedule_order) {
    Engine<Recorder> engine(3);
    Recorder model{.engine = &engine, .react = {}};
    for (const std::uint32_t source : schedule_order) {
      engine.schedule(source, Time::microseconds(5), Kind::ping, 10 * source);
      engine.schedule(source, Time::microseconds(5), Kind::ping, 10 * source + 1);
    }
    engine.run(model, Time::seconds(1));
    return model.seen;
  };
  const Trace expected{{5, 0}, {5, 1}, {5, 10}, {5, 11}, {5, 20}, {5, 21}};
  CHECK(run({0, 1, 2}) == expected);
  CHECK(run({2, 0, 1}) == expected);
  CHECK(run({1, 2, 0}) == expected);
}

TEST_CASE("a ping-pong over a 3 us path takes one direction every 3 us") {
  Engine<Recorder> engine(2);
  Recorder model{.engine = &engine, .react = {}};
  model.react = [&](const Event& event) {
    const Kind answer = event.kind_as<Kind>() == Kind::ping ? Kind::pong : Kind::ping;
    engine.schedule(event.target, engine.now() + Time::microseconds(3), answer, 1 - event.target);
  };
  engine.schedule(0, Time::microseconds(3), Kind::ping, 1);

  SECTION("events at the end of the run are part of it") {
    CHECK(engine.run(model, Time::microseconds(9)) == RunEnd::reached);
    CHECK(model.seen == decltype(model.seen){{3, 1}, {6, 0}, {9, 1}});
    CHECK(engine.now() == Time::microseconds(9));
  }
  SECTION("time stands at the end of the run, not at the last event") {
    engine.run(model, Time::microseconds(11));
    CHECK(engine.now() == Time::microseconds(11));
    CHECK(engine.pending() == 1);
  }
  SECTION("a run in pieces is the run in one piece") {
    for (const int end : {1, 4, 5, 12, 30}) engine.run(model, Time::microseconds(end));
    CHECK(engine.events() == 10);
    CHECK(model.seen.back() == std::pair<std::int64_t, std::uint32_t>{30, 0});
  }
  SECTION("the predicate is asked every so many events and can stop the run") {
    int asked = 0;
    const auto stop = [&] { return ++asked == 3; };
    CHECK(engine.run(model, Time::seconds(1), stop, 4) == RunEnd::stopped);
    CHECK(engine.events() == 12);
    CHECK(engine.now() == Time::microseconds(36));
    CHECK(engine.run(model, Time::microseconds(39)) == RunEnd::reached);
    CHECK(engine.events() == 13);
  }
}

TEST_CASE("a run without events ends where its last event was") {
  Engine<Recorder> engine(1);
  Recorder model{.engine = &engine, .react = {}};
  engine.schedule(0, Time::microseconds(2), Kind::ping, 0);
  CHECK(engine.run(model, Time::seconds(1)) == RunEnd::drained);
  CHECK(engine.now() == Time::microseconds(2));
  CHECK(engine.pending() == 0);
}

TEST_CASE("scheduling into the past or by an unknown source is a bug") {
  Engine<Recorder> engine(1);
  Recorder model{.engine = &engine, .react = {}};
  engine.schedule(0, Time::microseconds(2), Kind::ping, 0);
  engine.run(model, Time::seconds(1));
  CHECK(linerate::tests::stops([&] { engine.schedule(0, Time::microseconds(1), Kind::ping, 0); }));
  CHECK(linerate::tests::stops([&] { engine.schedule(1, Time::microseconds(3), Kind::ping, 0); }));
}
