// What the cores of a host that costs something have to do: frames between the NIC and the stack,
// programs that want to run, and what it was spent on. The network moves it along (host_work.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/apps/file_transfer.hpp"
#include "models/host/core.hpp"
#include "models/network/packet.hpp"
#include "sim/ring.hpp"
#include "sim/timer.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// What CPU time goes to.
enum class Cause : std::uint8_t {
  call,
  copy,
  checksum,
  segment,
  ack,
  frame,
  interrupt,
  completion,
  poll,
  block,
  wake,
  turn,
  connection,
  file,     ///< copies to and from the page cache
  program,  ///< in user space
  cipher,   ///< of tunnels and of programs
};
inline constexpr std::size_t kCauses = 16;
inline constexpr const char* kCauseNames[kCauses] = {
    "call", "copy",  "checksum", "segment", "ack",        "frame", "interrupt", "completion",
    "poll", "block", "wake",     "turn",    "connection", "file",  "program",   "cipher"};

/// One core and what waits for it.
struct CoreWork {
  static constexpr std::uint32_t kNobody = ~0u;

  Core core;
  std::uint32_t host = 0;
  bool interrupted = false;  ///< a NIC's interrupts go here
  sim::LazyTimer softirq_due, process_due;
  sim::Ring<PacketHandle> backlog;  ///< handed over by interrupt handlers
  sim::Ring<std::uint32_t> polls;   ///< NICs whose interrupts are masked until they are empty
  std::vector<PacketHandle> batch;  ///< what the poll under way has found
  std::size_t next_of_batch = 0;
  std::int64_t polled = 0;            ///< frames of the polled NIC since its turn began
  PacketHandle in_service{};          ///< being processed in softirq
  bool serving = false;               ///< `in_service` is one
  bool in_softirq = false;            ///< the end of a piece is being acted on
  sim::Ring<std::uint32_t> ready;     ///< TCP ends whose program can run
  std::uint32_t running = kNobody;    ///< whose program has the core
  std::uint32_t current = kNobody;    ///< whose program had it last …
  Time turn_began{};                  ///< … and since when
  Time softirq_charged{};             ///< softirq work that programs were charged for so far
  std::array<Time, kCauses> spent{};  ///< by cause
  std::int64_t backlog_drops = 0;
  std::int64_t interrupts = 0;

  /// Nothing runs here, and nothing waits.
  bool idle(Time now) const {
    return running == kNobody && ready.empty() && !serving && !in_softirq && core.idle(now);
  }

  void spend(Cause cause, Time time) { spent[static_cast<std::size_t>(cause)] += time; }
};

/// What a host's driver knows of one NIC.
struct NicWork {
  static constexpr std::uint32_t kNone = ~0u;
  std::uint32_t core = kNone;  ///< that its interrupts go to
  bool on_core() const { return core != kNone; }
  bool by_sender = false;        ///< virtual: its packets come to the core that sends them
  bool told = false;             ///< interrupts masked while polled, or a handler runs
  std::size_t counted = 0;       ///< frames the running handler has seen
  sim::Ring<Time> transmitting;  ///< departures of frames whose completion is not yet told
  bool completion_due = false;   ///< an event is pending for it
};

/// The program at one TCP end. It does one thing after the other: a call with its copy, whose
/// effect on a reading end comes when it is done and on a writing end when it begins (segments
/// follow when they have been copied); then what its effect has cost.
struct Process {
  enum class State : std::uint8_t { asleep, ready, calling, following, blocking, throttled };

  std::uint32_t core = 0;
  bool pinned = false;    ///< to that core; else it wakes up on an idle one
  std::uint32_t nic = 0;  ///< that its segments leave by
  State state = State::asleep;
  bool again = false;                 ///< there was news while it ran
  bool goes_on = false;               ///< the call under way is not the last it can make
  Bytes reading{};                    ///< by the call under way
  Time owed{};                        ///< work that comes with its next call
  Time work{};                        ///< its own, so far
  Time current{};                     ///< its own and what interrupted it
  Time allowance = Time::never();     ///< in each period of its quota
  Time used{};                        ///< of the allowance …
  std::int64_t period = 0;            ///< … in this period
  Time not_before{};                  ///< waits for its disk until then
  std::unique_ptr<FileProgram> file;  ///< of a file transfer
  std::int64_t blocks = 0, throttles = 0;
};

/// Of a CPU quota (Linux cpu.max: 100 ms unless set).
inline constexpr Time kQuotaPeriod = Time::milliseconds(100);

}  // namespace linerate::models
