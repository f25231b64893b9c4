// Devices on their own: wires, shared buffers and receive queues, given the time and asked what
// leaves. Every expected value is arithmetic of the standard or a published law.
#include <catch2/catch.hpp>
#include <cmath>

#include "models/link/wire.hpp"
#include "models/nic/receive_queue.hpp"
#include "models/switch/shared_buffer.hpp"

using namespace linerate;
using namespace linerate::models;

namespace {

constexpr BitRate kGigabit = BitRate::bits_per_second(1'000'000'000);

sim::RandomStream stream(const char* name) {
  return sim::RandomStream({.seed = 1, .entity = 0, .name = name});
}

Wire plain_wire(WireConfig config) {
  return Wire(config, Impairment(experiments::Link{}, 0, stream("test")));
}

Packet frame(std::uint32_t wire_bytes) {
  Packet packet;
  packet.wire_bytes = wire_bytes;
  return packet;
}

}  // namespace

TEST_CASE("a frame arrives when its last bit does, and the gap keeps the line busy") {
  Wire wire = plain_wire({.rate = kGigabit, .latency = Time::microseconds(1)});
  Packet first = frame(84), second = frame(84);
  wire.send(Time{}, {1, 1}, first);
  wire.send(Time{}, {2, 1}, second);
  // 8 B preamble + 64 B frame = 72 B x 8 ns; the next frame starts 12 B later (IEEE 802.3 4.4.2).
  CHECK(wire.next_arrival() == Time::microseconds(1) + Time::nanoseconds(72 * 8));
  wire.arrive();
  CHECK(wire.next_arrival() == Time::microseconds(1) + Time::nanoseconds((84 + 72) * 8));
}

TEST_CASE("a byte at 800 Gbit/s lasts 10 ps, a 64-byte frame at 100 Gbit/s 5.12 ns") {
  CHECK(serialization_time(Bytes(1), BitRate::bits_per_second(800'000'000'000)) ==
        Time::picoseconds(10));
  CHECK(serialization_time(Bytes(64), BitRate::bits_per_second(100'000'000'000)) ==
        Time::picoseconds(5120));
}

TEST_CASE("a switch that cuts through hears of a frame when 64 bytes of it are there") {
  Wire wire = plain_wire({.rate = kGigabit, .latency = Time{}, .announce_head = true});
  Packet packet = frame(1538);
  wire.send(Time{}, {1, 1}, packet);
  CHECK(wire.next_arrival() == Time::nanoseconds((8 + 64) * 8));
  CHECK(packet.tail == Time::nanoseconds((1538 - 12) * 8));
}

TEST_CASE("an emulated path drops what does not fit, the frame in service counted by its rest") {
  Wire wire = plain_wire({.rate = kGigabit, .path_queue = 3000});
  Packet a = frame(1538), b = frame(1538), c = frame(1538);
  CHECK(wire.send(Time{}, {1, 1}, a).drop == Drop::none);
  CHECK(wire.send(Time{}, {2, 1}, b).drop == Drop::queue);  // 1538 + 1538 > 3000
  // After 76 bytes 1462 are left, and 1462 + 1538 is just 3000.
  CHECK(wire.send(Time::nanoseconds(76 * 8), {3, 1}, c).drop == Drop::none);
}

TEST_CASE("M/D/1: the mean wait at a wire is rho / (2 (1 - rho)) services") {
  // Pollaczek and Khinchine; L. Kleinrock, Queueing Systems I, 5.5.
  const double rho = GENERATE(0.5, 0.8);
  constexpr std::uint32_t kBytes = 1250;  // 10 us at 1 Gbit/s
  const Time service = Time::microseconds(10);
  Wire wire = plain_wire({.rate = kGigabit});
  sim::RandomStream random = stream("arrivals");
  Time now{};
  constexpr int kBatches = 30, kPerBatch = 40'000;
  std::vector<double> batch_means;
  for (int batch = 0; batch < kBatches; ++batch) {
    double waited = 0;
    for (int i = 0; i < kPerBatch; ++i) {
      now += random.exponential(service.scaled(1 / rho));
      while (wire.wants_event() && wire.next_arrival() <= now) wire.arrive();
      Packet packet = frame(kBytes);
      waited += (wire.send(now, {1, 1}, packet).departure - now - service).seconds();
    }
    batch_means.push_back(waited / kPerBatch / service.seconds());
  }
  double mean = 0, variance = 0;
  for (const double m : batch_means) mean += m / kBatches;
  for (const double m : batch_means) variance += (m - mean) * (m - mean) / (kBatches - 1);
  const double t99 = 2.756;  // Student t, 29 degrees of freedom, two-sided 99 %
  const double half = t99 * std::sqrt(variance / kBatches);
  const double law = rho / (2 * (1 - rho));
  INFO("mean " << mean << " +- " << half << ", law " << law);
  CHECK(std::abs(mean - law) < half);
}

TEST_CASE(
    "dynamic thresholds: one queue gets alpha B / (1 + alpha), two get alpha B / (1 + 2 alpha)") {
  // Choudhury and Hahne 1998, section III.
  const double alpha = GENERATE(0.5, 1.0, 4.0);
  constexpr std::int64_t kTotal = 1'000'000;
  constexpr std::uint32_t kFrame = 100;
  SharedBuffer one(Bytes(kTotal), alpha, 4);
  while (one.admits(Time{}, 0, kFrame)) one.store(0, Time::seconds(1), kFrame);
  CHECK(static_cast<double>(one.queue_bytes(0)) ==
        Approx(alpha * kTotal / (1 + alpha)).margin(2 * kFrame * (1 + alpha)));

  SharedBuffer two(Bytes(kTotal), alpha, 4);
  for (bool grew = true; grew;) {
    grew = false;
    for (const std::size_t port : {0u, 1u})
      if (two.admits(Time{}, port, kFrame)) {
        two.store(port, Time::seconds(1), kFrame);
        grew = true;
      }
  }
  for (const std::size_t port : {0u, 1u})
    CHECK(static_cast<double>(two.queue_bytes(port)) ==
          Approx(alpha * kTotal / (1 + 2 * alpha)).margin(2 * kFrame * (1 + alpha)));
}

TEST_CASE("buffer memory is free again when a frame has left") {
  SharedBuffer buffer(Bytes(200), 1000.0, 2);
  REQUIRE(buffer.admits(Time{}, 0, 200));
  buffer.store(0, Time::microseconds(5), 200);
  CHECK_FALSE(buffer.admits(Time::microseconds(4), 1, 100));
  CHECK(buffer.admits(Time::microseconds(5), 1, 100));
}

TEST_CASE("scripted drops count first transmissions of data only") {
  experiments::Link link;
  link.script[0].drop_data_segments = {2};
  Wire wire(WireConfig{.rate = kGigabit}, Impairment(link, 0, stream("test")));
  auto send = [&](std::uint32_t length, bool again) {
    Packet packet = frame(1538);
    packet.segment.length = length;
    packet.segment.retransmission = again;
    return wire.send(Time{}, {1, 1}, packet).drop;
  };
  CHECK(send(0, false) == Drop::none);       // an ACK is no data segment
  CHECK(send(1448, false) == Drop::none);    // the first
  CHECK(send(1448, true) == Drop::none);     // a retransmission is not counted
  CHECK(send(1448, false) == Drop::script);  // the second
  CHECK(send(1448, false) == Drop::none);
}

TEST_CASE("a scripted reordering delivers a segment after so many later ones") {
  experiments::Link link;
  link.script[0].reorder_segment = 1;
  link.script[0].reorder_positions = 2;
  Wire wire(WireConfig{.rate = kGigabit}, Impairment(link, 0, stream("test")));
  for (std::uint32_t i = 1; i <= 4; ++i) {
    Packet packet = frame(1538);
    packet.segment.length = 1448;
    wire.send(Time{}, {i, 1}, packet);
  }
  std::vector<std::uint32_t> order;
  while (wire.wants_event()) order.push_back(wire.arrive().index);
  CHECK(order == std::vector<std::uint32_t>{2, 3, 1, 4});
}

TEST_CASE("bit errors lose a frame with probability 1 - (1 - e)^bits") {
  experiments::Link link;
  link.bit_error_rate = 1e-5;
  Wire wire(WireConfig{.rate = kGigabit}, Impairment(link, 0, stream("errors")));
  constexpr int kFrames = 200'000;
  int lost = 0;
  for (int i = 0; i < kFrames; ++i) {
    Packet packet = frame(1538);
    if (wire.send(Time{}, {1, 1}, packet).drop == Drop::bit_error) ++lost;
    while (wire.wants_event()) wire.arrive();
  }
  const double p = 1 - std::pow(1 - 1e-5, 1518 * 8);
  const double sigma = std::sqrt(p * (1 - p) * kFrames);
  CHECK(std::abs(lost - p * kFrames) < 4 * sigma);
}

TEST_CASE("an interrupt comes so long after the first frame, or with the n-th") {
  experiments::Nic nic;
  nic.receive_coalescing = {.delay = Time::microseconds(8), .frames = 3};
  nic.receive_ring = 4;
  ReceiveQueue queue(nic);
  REQUIRE(queue.moderated());
  CHECK(queue.add(Time{}, {1, 1}) == ReceiveQueue::Step::arm);
  CHECK(queue.add(Time{}, {2, 1}) == ReceiveQueue::Step::wait);
  CHECK(queue.add(Time{}, {3, 1}) == ReceiveQueue::Step::poll);
}

TEST_CASE("a frame that finds no free descriptor is lost") {
  experiments::Nic nic;
  nic.receive_coalescing = {.delay = Time::microseconds(8), .frames = 0};
  nic.receive_ring = 2;
  ReceiveQueue queue(nic);
  queue.add(Time{}, {1, 1});
  queue.add(Time{}, {2, 1});
  CHECK(queue.add(Time{}, {3, 1}) == ReceiveQueue::Step::full);
  CHECK(queue.drops() == 1);
}

TEST_CASE("interrupts keep their distance, and the first after a pause comes at once") {
  experiments::Nic nic;
  nic.receive_coalescing.gap = Time::microseconds(125);
  ReceiveQueue queue(nic);
  REQUIRE(queue.moderated());
  CHECK(queue.add(Time::microseconds(10), {1, 1}) == ReceiveQueue::Step::poll);
  queue.polled(Time::microseconds(10));
  CHECK(queue.add(Time::microseconds(20), {2, 1}) == ReceiveQueue::Step::arm);
  CHECK(queue.due() == Time::microseconds(135));
  CHECK(queue.add(Time::microseconds(30), {3, 1}) == ReceiveQueue::Step::wait);
  queue.polled(queue.due());
  CHECK(queue.add(Time::microseconds(300), {4, 1}) == ReceiveQueue::Step::poll);
}

TEST_CASE("GRO merges consecutive data of one flow up to a pushed segment") {
  Packet a;
  a.kind = PacketKind::tcp;
  a.segment.sequence = 1;
  a.segment.acknowledgment = 1;
  a.segment.length = 1448;
  a.segment.flags = tcp::kAck;
  Packet b = a;
  b.segment.sequence = 1449;
  CHECK(gro_continues(a, b));
  b.segment.sequence = 1450;  // a hole
  CHECK_FALSE(gro_continues(a, b));
  b.segment.sequence = 1449;
  a.segment.flags |= tcp::kPush;  // the merge ends with a push
  CHECK_FALSE(gro_continues(a, b));
}
