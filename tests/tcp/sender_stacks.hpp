// The sending parameters of the stacks under test, by value, so that these tests judge the
// mechanisms and not the catalog.
#pragma once

#include "receiver_stacks.hpp"

namespace linerate::tests {

/// Linux 6.18 as the kernel traces had it.
inline models::tcp::EndpointConfig linux_6_sender() {
  models::tcp::EndpointConfig config = linux_6();
  config.stack.small_queue_limit = Bytes(4194304);
  return config;
}

/// RFC 5681 without extras: no SACK, no pacing rules, segment by segment, exact timers.
inline models::tcp::EndpointConfig plain_sender(experiments::Recovery recovery) {
  models::tcp::EndpointConfig config = linux_6();
  experiments::Stack& stack = config.stack;
  stack.recovery = recovery;
  stack.sack = recovery == experiments::Recovery::sack;
  stack.timestamps = false;
  stack.frto = recovery == experiments::Recovery::rack;
  stack.congestion = "reno";
  stack.tso_autosize = false;
  stack.timer_tick = Time{};
  stack.coarse_timers = false;
  return config;
}

inline models::tcp::EndpointConfig linux_2_4_sender() {
  models::tcp::EndpointConfig config = linux_2_4();
  experiments::Stack& stack = config.stack;
  stack.recovery = experiments::Recovery::newreno;
  stack.congestion = "reno";
  stack.initial_window = 3;
  stack.frto = false;
  stack.tso_autosize = false;
  stack.whole_segment_window = true;
  stack.send_overhead = Bytes(256);
  stack.timestamp_tick = Time::milliseconds(10);
  return config;
}

inline models::tcp::EndpointConfig bsd_4_4_sender() {
  models::tcp::EndpointConfig config = bsd_4_4();
  experiments::Stack& stack = config.stack;
  stack.recovery = experiments::Recovery::reno;
  stack.congestion = "reno";
  stack.initial_window = 1;
  stack.frto = false;
  stack.byte_counting = stack.window_validation = false;
  stack.nagle = experiments::Nagle::rfc896;
  stack.send_chunk = Bytes(2048);
  stack.writer_wake = experiments::WriterWake::low_water;
  stack.tso_autosize = stack.coarse_timers = stack.autotune_send = false;
  stack.send_buffer = Bytes(16384);
  stack.send_overhead = Bytes(0);
  stack.rto_min = Time::seconds(1);
  stack.rto_initial = Time::seconds(6);
  stack.slow_timer = stack.timestamp_tick = Time::milliseconds(500);
  stack.persist_min = Time::seconds(5);
  stack.persist_max = Time::seconds(60);
  return config;
}

}  // namespace linerate::tests
