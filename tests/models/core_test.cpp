// A core alone: who waits for whom, and what a clock tick would charge.
#include "models/host/core.hpp"

#include <catch2/catch.hpp>

using linerate::Time;
using linerate::models::Core;

namespace {
constexpr Time us(std::int64_t n) { return Time::microseconds(n); }
}  // namespace

TEST_CASE("interrupt handlers run at once and one after the other") {
  Core core;
  CHECK(core.interrupt(us(0), us(5)) == us(5));
  CHECK(core.interrupt(us(2), us(5)) == us(10));
  CHECK(core.interrupt(us(20), us(5)) == us(25));
  CHECK(core.busy() == us(15));
}

TEST_CASE("an interrupt stops softirq and process, a softirq the process, and both go on after") {
  Core core;
  core.begin_process(us(0), us(10));
  core.begin_softirq(us(2), us(4));  // process: 2 us done
  CHECK(core.softirq_end() == us(6));
  CHECK(core.process_end() == us(14));
  core.interrupt(us(3), us(1));
  CHECK(core.softirq_end() == us(7));
  CHECK(core.process_end() == us(15));
  core.finish_softirq(us(7));
  CHECK(core.finish_process(us(15)) == us(15));  // current all the time
  CHECK(core.process_busy() == us(10));
  CHECK(core.busy() == us(15));  // never idle: work is conserved
}

TEST_CASE("a process that wakes under softirq work becomes current only after it") {
  Core core;
  core.begin_softirq(us(0), us(4));
  CHECK(core.process_start(us(1)) == us(4));
  core.begin_process(us(1), us(2));
  core.interrupt(us(2), us(3));  // still before it has begun
  CHECK(core.process_end() == us(9));
  core.finish_softirq(us(7));
  CHECK(core.finish_process(us(9)) == us(2));  // what came before it is charged to nobody
}

TEST_CASE("softirq work that follows another piece keeps a waiting process waiting") {
  Core core;
  core.begin_softirq(us(0), us(2));
  core.begin_process(us(1), us(3));  // woken by it: from 2 us
  core.finish_softirq(us(2));
  core.append_softirq(us(2), us(1));
  core.begin_softirq(us(2), us(5));
  CHECK(core.softirq_end() == us(8));
  CHECK(core.process_end() == us(11));
  core.finish_softirq(us(8));
  core.extend_process(us(1));
  CHECK(core.finish_process(us(12)) == us(4));
  CHECK(core.softirq_busy() == us(8));
}
