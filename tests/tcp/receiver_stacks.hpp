// The receiving parameters of the stacks under test, by value, so that these tests judge the
// mechanisms and not the catalog.
#pragma once

#include "models/tcp/endpoint.hpp"

namespace linerate::tests {

/// Linux 6.18 as the kernel traces had it: HZ 250, tcp_rmem 4096 131072 33554432.
inline models::tcp::EndpointConfig linux_6() {
  models::tcp::EndpointConfig config;
  config.stack.packet_overhead = Bytes(256);  // a received 1514 B frame counts 2304 B
  config.stack.packet_data_unit = Bytes(2048);
  return config;
}

inline models::tcp::EndpointConfig linux_2_2() {
  models::tcp::EndpointConfig config = linux_6();
  experiments::Stack& stack = config.stack;
  stack.receive_buffer = Bytes(65535);
  stack.autotune_receive = false;
  stack.window_rule = experiments::WindowRule::half_space;
  stack.ack_rule = experiments::AckRule::linux_2_2;
  stack.delayed_ack_min = Time::milliseconds(20);
  stack.delayed_ack_max = Time::milliseconds(500);
  stack.timer_tick = Time::milliseconds(10);
  stack.coarse_timers = false;
  stack.sack_compression = stack.duplicate_sack = false;
  stack.answer_interval = Time{};
  return config;
}

inline models::tcp::EndpointConfig linux_2_4() {
  models::tcp::EndpointConfig config = linux_6();
  experiments::Stack& stack = config.stack;
  stack.receive_buffer = Bytes(87380);
  stack.receive_buffer_max = Bytes(174760);
  stack.autotune_receive = false;
  stack.window_rule = experiments::WindowRule::adv_win_scale;
  stack.adv_win_scale = 2;
  stack.initial_offer = 4;
  stack.timer_tick = Time::milliseconds(10);
  stack.coarse_timers = false;
  stack.sack_compression = false;
  stack.answer_interval = Time{};
  return config;
}

inline models::tcp::EndpointConfig bsd_4_4() {
  models::tcp::EndpointConfig config;
  experiments::Stack& stack = config.stack;
  stack.sack = stack.duplicate_sack = stack.sack_compression = false;
  stack.buffer_accounting = experiments::BufferAccounting::payload;
  stack.buffer_factor = 1;
  stack.round_buffers_to_segment = true;
  stack.receive_buffer = Bytes(16384);
  stack.socket_buffer_limit = Bytes(262144);
  stack.autotune_receive = false;
  stack.packet_overhead = Bytes(128);
  stack.packet_data_unit = Bytes(2048);
  stack.window_rule = experiments::WindowRule::bsd_space;
  stack.ack_rule = experiments::AckRule::window_update;
  stack.ack_threshold_without_options = true;
  stack.quick_acks = 0;
  stack.delayed_ack_clock = experiments::DelayedAckClock::shared_grid;
  stack.answer_interval = Time{};
  return config;
}

/// BSD with an ACK for every second segment (FreeBSD 2, VxWorks).
inline models::tcp::EndpointConfig every_second() {
  models::tcp::EndpointConfig config = bsd_4_4();
  config.stack.ack_rule = experiments::AckRule::every_second;
  return config;
}

}  // namespace linerate::tests
