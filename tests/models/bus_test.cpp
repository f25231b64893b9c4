// Buses, DMA engines and cores that forward, without a network around them: worked numbers of their
// standards and laws of their queues.
#include <catch2/catch.hpp>
#include <cmath>

#include "experiments/definition/bus_capacity.hpp"
#include "models/host/forwarder.hpp"
#include "models/nic/dma.hpp"

using namespace linerate;
using namespace linerate::models;
using experiments::Bus;
using experiments::BusType;
using experiments::dma_time;
using experiments::DmaDirection;
using experiments::DmaTime;
using experiments::Nic;

namespace {

constexpr auto kIn = DmaDirection::to_memory;
constexpr auto kOut = DmaDirection::to_nic;

Bus pci(int width, std::int64_t clock, int burst) {
  Bus bus;
  bus.type = BusType::pci;
  bus.width = width;
  bus.clock = clock;
  bus.burst = Bytes(burst);
  return bus;
}

Bus pcie(int generation, int lanes, int payload) {
  Bus bus;
  bus.type = BusType::pcie;
  bus.generation = generation;
  bus.lanes = lanes;
  bus.max_payload = Bytes(payload);
  return bus;
}

// What `more` bytes behind `size` cost: descriptors and doorbells are the same.
DmaTime added(const Bus& bus, DmaDirection direction, int size, int more) {
  const DmaTime less = dma_time(bus, Nic{}, direction, Bytes(size));
  const DmaTime all = dma_time(bus, Nic{}, direction, Bytes(size + more));
  return {all.up - less.up, all.down - less.down, all.memory - less.memory,
          all.engine - less.engine, all.latency - less.latency};
}

double nanoseconds(Time time) { return time.seconds() * 1e9; }

}  // namespace

TEST_CASE("conventional PCI: clocks of a burst, worked by hand") {
  // Arbitration 2, address 1, wait 2 or 12, data, turn-around 1; a clock of 30 ns.
  const std::int64_t clock = 33'333'333;
  CHECK(nanoseconds(added(pci(32, clock, 64), kIn, 64, 64).up) == Approx(22 * 30).epsilon(1e-4));
  CHECK(nanoseconds(added(pci(32, clock, 32), kOut, 64, 32).down) == Approx(24 * 30).epsilon(1e-4));
  CHECK(nanoseconds(added(pci(32, clock, 256), kOut, 256, 256).down) ==
        Approx(80 * 30).epsilon(1e-4));
  // Twice the width halves the data clocks, twice the clock halves all.
  CHECK(nanoseconds(added(pci(64, clock, 64), kIn, 64, 64).up) == Approx(14 * 30).epsilon(1e-4));
  CHECK(nanoseconds(added(pci(64, 2 * clock, 64), kIn, 64, 64).up) ==
        Approx(14 * 15).epsilon(1e-4));
}

TEST_CASE("32-bit 33 MHz PCI takes about 97 MB/s of writes, as disks on one have shown") {
  // kernel 2.6.5, two SATA disks behind a Silicon Image 3114: 97 MB/s with large requests.
  const Time line = added(pci(32, 33'333'333, 64), kIn, 6400, 64).up;
  CHECK(64 / line.seconds() / 1e6 == Approx(97).epsilon(0.01));
}

TEST_CASE("a second master makes bursts end when the latency timer does") {
  Bus bus = pci(32, 33'333'333, 256);
  bus.latency_timer = 16;  // 64 B
  const Time alone = dma_time(bus, Nic{}, kIn, Bytes(1514)).up;
  const Time others = dma_time(bus, Nic{}, kIn, Bytes(1514), true).up;
  bus.burst = Bytes(64);
  CHECK(others == dma_time(bus, Nic{}, kIn, Bytes(1514)).up);
  CHECK(others > alone);
}

TEST_CASE("PCI Express: a packet more, worked by hand") {
  // Generation 3, eight lanes: 8 GT/s x 128/130 x 8, less 0.3 % for skips: 7.853 B/ns.
  const double rate = 8 * 128.0 / 130 / 1.003;
  const Bus bus = pcie(3, 8, 256);
  // Written: 256 B behind a header of 24 B; an Ack and an UpdateFC of 8 B each for 2.5 packets of
  // that size come back.
  const DmaTime written = added(bus, kIn, 512, 256);
  CHECK(nanoseconds(written.up) == Approx(280 / rate).epsilon(1e-3));
  CHECK(nanoseconds(written.down) == Approx(16 / 2.5 / rate).margin(0.002));
  // Read: a request of 24 B for 512 B, which come in two completions of 256 + 20 B.
  const DmaTime read = added(bus, kOut, 512, 512);
  CHECK(nanoseconds(read.up) == Approx((24 + 552 * 16 / 700.0) / rate).epsilon(2e-3));
  CHECK(nanoseconds(read.down) == Approx((552 + 24 * 16 / 700.0) / rate).epsilon(1e-3));
}

TEST_CASE("what PCI Express leaves for frames that are sent and received at once") {
  // Of 63.0 Gbit/s behind the line code the model of Neugebauer et al. (2018) leaves 57.9 for packets
  // of the transaction layer; headers of 24 B on 256 B and descriptors come off that.
  const Bus bus = pcie(3, 8, 256);
  const double large = static_cast<double>(bus_capacity(bus, Bytes(1514)).usable.bits_per_second());
  CHECK(large / 1e9 < 57.9);
  CHECK(large / 1e9 > 57.9 * 0.8);
  // A minimum frame has the same overhead for a twenty-fifth of the bytes.
  const double small = static_cast<double>(bus_capacity(bus, Bytes(60)).usable.bits_per_second());
  CHECK(small < 0.5 * large);
}

TEST_CASE("reads are bounded by those under way (Little's law), writes by their credits") {
  Bus bus = pcie(3, 8, 256);
  bus.outstanding_reads = 4;
  bus.read_latency = Time::nanoseconds(1000);
  Nic nic;
  nic.dma.batch = 1024;
  // 1514 B are three reads of 512 B: three quarters of the time of one.
  CHECK(nanoseconds(dma_time(bus, nic, kOut, Bytes(1514)).engine) == Approx(750).epsilon(1e-3));
  CHECK(nanoseconds(dma_time(bus, nic, kOut, Bytes(1514)).latency) == Approx(1000));
  CHECK(dma_time(bus, nic, kIn, Bytes(1514)).engine == Time{});
  bus.posted_credits = Bytes(757);
  bus.credit_return = Time::nanoseconds(300);
  CHECK(nanoseconds(dma_time(bus, nic, kIn, Bytes(1514)).engine) == Approx(600));
}

TEST_CASE("memory by lines: steps behind 64 and 128 bytes, none between 65 and 66") {
  Bus bus = pcie(2, 8, 128);
  bus.lines = {Time::nanoseconds(50), Time::nanoseconds(165), Bytes(64)};
  const auto memory = [&](int size) {
    return nanoseconds(dma_time(bus, Nic{}, kIn, Bytes(size)).memory);
  };
  CHECK(memory(64) == Approx(50 + 165));
  CHECK(memory(65) == Approx(50 + 2 * 165));
  CHECK(memory(66) == memory(65));
  CHECK(memory(128) == memory(65));
  CHECK(memory(129) == Approx(50 + 3 * 165));
  CHECK(memory(1518) == Approx(50 + 24 * 165));
}

TEST_CASE("USB bulk transfers fill packets and microframes") {
  Bus bus;
  bus.type = BusType::usb;
  bus.generation = 2;
  Nic nic;
  nic.dma.aggregate = true;
  // 13 packets of 512 B in 125 us: 53.248 MB/s (USB 2.0, table 5-10).
  const Time megabyte = dma_time(bus, nic, kIn, Bytes(1'000'000)).up;
  CHECK(1 / megabyte.seconds() == Approx(53.248).epsilon(1e-6));
  // A frame that fills its packets ends with an empty one.
  nic.dma.aggregate = false;
  const double packet = 125e3 / 13;
  CHECK(nanoseconds(dma_time(bus, nic, kIn, Bytes(511)).up) == Approx(packet).epsilon(1e-6));
  CHECK(nanoseconds(dma_time(bus, nic, kIn, Bytes(512)).up) == Approx(2 * packet).epsilon(1e-6));
  nic.dma.header = Bytes(24);
  CHECK(nanoseconds(dma_time(bus, nic, kIn, Bytes(500)).up) == Approx(2 * packet).epsilon(1e-6));
}

TEST_CASE("directions of PCIe work side by side, those of PCI one after the other") {
  const DmaTime in{.up = Time::nanoseconds(300), .down = Time::nanoseconds(20)};
  const DmaTime out{.up = Time::nanoseconds(20), .down = Time::nanoseconds(300)};
  HostBus wide(false), shared(true);
  Time wide_done{}, shared_done{};
  for (int i = 0; i < 100; ++i)
    for (HostBus* bus : {&wide, &shared}) {
      Time& done = bus == &wide ? wide_done : shared_done;
      done = later(done, bus->move(Time{}, kIn, in).done);
      done = later(done, bus->move(Time{}, kOut, out).done);
    }
  CHECK(wide_done == Time::nanoseconds(100 * 320));
  CHECK(shared_done == Time::nanoseconds(200 * 320));
  CHECK(wide.busy_up() == wide.busy_down());
}

namespace {

// A core that is offered a frame each `interval` for `span`; what it forwards.
double forwarded(const ForwardingRule& rule, Time cost, Time interval, Time span) {
  ForwardingCore core(rule, 1);
  for (Time now{}; now < span; now += interval) {
    while (core.end() <= now) core.finish(core.end());
    core.add(now, PacketHandle{}, cost, 0);
  }
  return static_cast<double>(core.forwarded()) / span.seconds();
}

}  // namespace

TEST_CASE("livelock with an interrupt for each frame, none with polling") {
  const Time cost = Time::microseconds(4), interrupt = Time::microseconds(3);
  const Time span = Time::milliseconds(200);
  ForwardingRule interrupts{.interrupt_per_frame = true, .interrupt = interrupt};
  ForwardingRule polling{.interrupt_per_frame = false, .interrupt = interrupt};
  // Below 1 / (interrupt + cost) = 142.9 k/s both forward all.
  CHECK(forwarded(interrupts, cost, Time::microseconds(8), span) == Approx(125e3).epsilon(0.002));
  CHECK(forwarded(polling, cost, Time::microseconds(8), span) == Approx(125e3).epsilon(0.002));
  // Beyond it interrupts leave (1 - rate x interrupt) / cost (Mogul and Ramakrishnan 1997) …
  const double rate = 1 / 4.5e-6;
  const Time interval = Time::nanoseconds(4500);
  CHECK(forwarded(interrupts, cost, interval, span) ==
        Approx((1 - rate * 3e-6) / 4e-6).epsilon(0.01));
  // … and from 1 / interrupt on nothing at all, while polling stays at 1 / cost.
  CHECK(forwarded(interrupts, cost, Time::microseconds(2), span) < 1e3);
  CHECK(forwarded(polling, cost, Time::microseconds(2), span) == Approx(250e3).epsilon(0.002));
}

TEST_CASE("poll mode overlaps as two stations with two frames do") {
  // Mean-value analysis, step by step (Reiser and Lavenberg 1980).
  for (const double work : {20.0, 126.6, 400.0})
    for (const double dma : {50.0, 216.5, 4032.0}) {
      const double one = 1 / (work + dma);
      const double at_work = one * work, at_dma = one * dma;
      const double two = 2 / (work * (1 + at_work) + dma * (1 + at_dma));
      const Time time =
          poll_mode_time(Time::from_seconds(dma * 1e-9), Time::from_seconds(work * 1e-9));
      CHECK(nanoseconds(time) == Approx(1 / two).epsilon(1e-5));
      CHECK(nanoseconds(time) >= std::max(work, dma));
      CHECK(nanoseconds(time) <= work + dma);
    }
  CHECK(poll_mode_time(Time::nanoseconds(200), Time{}) == Time::nanoseconds(200));
}

TEST_CASE("a transmit FIFO runs dry when the bus brings less than its threshold makes up for") {
  const Bus bus = pci(32, 33'333'333, 64);
  Nic nic;
  const std::uint32_t wire_bytes = 1538;
  const Time fill = dma_time(bus, nic, kOut, Bytes(1514)).down;
  // A wire as fast as that a frame takes `share` of the time in which it is fetched.
  const auto underruns = [&](std::int64_t threshold, double share) {
    HostBus host(true);
    experiments::Fifo fifo;
    fifo.threshold = Bytes(threshold);
    TransmitDma dma(host, DmaCost(bus, nic, kOut, false), fifo, 1538);
    dma.fetch(Time{}, wire_bytes, Time{}, fill.scaled(share));
    return dma.underruns();
  };
  // (frame - threshold) / bus > frame / wire: with a third of the frame there, a wire that takes
  // more than two thirds of the time never waits.
  CHECK(underruns(506, 0.70) == 0);
  CHECK(underruns(506, 0.63) == 1);
  CHECK(underruns(0, 0.01) == 0);  // whole frames
}
