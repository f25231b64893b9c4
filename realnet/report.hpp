// What the two processes of a transfer leave in shared memory for the process that started them.
// Trivially copyable throughout; no pointers.
#pragma once

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "realnet/system.hpp"
#include "realnet/traffic/latency_histogram.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

inline constexpr int kMostFlows = 256;  ///< of one pair of NICs
inline constexpr int kMostIntervals = 512;

/// What a process has used.
struct ProcessUse {
  double user = 0, system = 0;   ///< s
  std::int64_t waits = 0;        ///< voluntary context switches
  std::int64_t preemptions = 0;  ///< involuntary ones

  ProcessUse operator-(const ProcessUse& earlier) const {
    return {user - earlier.user, system - earlier.system, waits - earlier.waits,
            preemptions - earlier.preemptions};
  }
};

/// The state of all flows of a transfer at the end of one interval, from TCP_INFO.
struct SenderSample {
  double cwnd = 0;           ///< segments, mean over flows
  double srtt = 0;           ///< s, mean over flows
  double retransmits = 0;    ///< segments sent again so far, all flows
  double delivery_rate = 0;  ///< bit/s, all flows
  /// Since the connections began to send, s, mean over flows.
  double busy = 0, receive_window_limited = 0, send_buffer_limited = 0;
};

/// What the sender of datagrams or frames did beyond what every sender does.
struct DatagramsSent {
  std::int64_t due = 0;         ///< by the schedule
  std::int64_t sent = 0;        ///< handed to the kernel …
  std::int64_t refused = 0;     ///< … of which the host's own queue had no room for so many
  LatencyHistogram lateness;    ///< behind the schedule, at hand-over
  std::array<char, 32> method;  ///< what carried them
};

/// What the receiver of datagrams or frames saw; the window is [omit, duration].
struct DatagramsReceived {
  std::int64_t received = 0, duplicates = 0, reordered = 0;
  std::int64_t window_frames = 0, window_bytes = 0, window_wire_bytes = 0;
  std::int64_t overflows = 0;  ///< reached this host and found no room
  Time jitter;                 ///< RFC 3550 appendix A.8, mean over flows
  /// By how much the least delay of the window's last quarter exceeds that of its first: how much
  /// longer the queues on the way have become.
  Time growth;
  LatencyHistogram latency;  ///< from `omit` on
  std::array<char, 32> method;
};

/// What the clients of a request/response test saw.
struct RequestsServed {
  std::int64_t transactions = 0;
  double rate = 0;  ///< transactions a second, sum over flows
  Time last_response;
  LatencyHistogram latency;  ///< from `omit` on
};

/// What became of flows that arrive and end.
struct FlowsCompleted {
  std::int64_t flows = 0, bytes = 0;
  Time last_read;            ///< of the last one
  LatencyHistogram elapsed;  ///< from a flow's arrival until its receiver had everything
  LatencyHistogram small, medium, large;  ///< the same by size: up to 100 kB, up to 10 MB, above
  LatencyHistogram lateness;              ///< of a flow's start behind its arrival
};

struct SenderReport {
  Time connecting;               ///< longest handshake, a span
  Time ended;                    ///< the last write returned
  Time closed;                   ///< the receivers had everything (and, unless it drains, closed)
  double cpu = 0;                ///< s, user and system, of the whole transfer
  std::int64_t calls = 0;        ///< writes
  std::int64_t bytes = 0;        ///< accepted by the socket, all flows
  std::int64_t retransmits = 0;  ///< segments sent again
  /// Mean over flows, since the connections began to send.
  double busy = 0, receive_window_limited = 0, send_buffer_limited = 0;  ///< s
  /// What the sender's NIC sent on the wire in `counted`, about the window; unknown where it is 0.
  std::int64_t wire_bytes = 0;
  Time counted;
  std::int64_t segment_size = 0;
  bool timestamps = false;
  std::int64_t send_buffer = 0;  ///< as the kernel stores it
  Time step;
  int intervals = 0;
  std::array<SenderSample, kMostIntervals> samples;
  ProcessUse use;
  double file_seconds = 0;       ///< in calls on the file that is sent, mean over flows
  std::int64_t zero_copied = 0;  ///< writes that were sent without a copy …
  std::int64_t copied = 0;       ///< … and those the kernel copied though it was asked not to
  DatagramsSent datagrams;
  RequestsServed requests;
  FlowsCompleted flows;
};

struct ReceiverReport {
  Time first_byte, last_byte;  ///< earliest first and latest last read
  Time ended;                  ///< end of the last stream was read
  double cpu = 0;              ///< s, user and system, of the whole transfer
  std::int64_t calls = 0;      ///< reads that brought data
  std::int64_t bytes = 0;      ///< read, all flows
  std::int64_t receive_buffer = 0;
  /// When each flow had everything, by flow.
  std::array<Time, kMostFlows> flow_ended;
  /// Read in [omit, duration] by flow; all of it where nothing but the bytes ends the transfer.
  std::array<double, kMostFlows> window_bytes;
  Time step;
  int intervals = 0;
  std::array<double, kMostIntervals> interval_bytes;  ///< read by the end of each, all flows
  ProcessUse use;
  double file_seconds = 0;  ///< in calls on the file that is written, mean over flows
  DatagramsReceived datagrams;
};

struct TransferReport {
  std::uint16_t port = 0;                          ///< the receiver listens on
  std::array<std::uint8_t, 6> hardware_address{};  ///< of the receiver's interface, for raw frames
  std::atomic<std::int64_t> start{0};              ///< common start, ps of CLOCK_MONOTONIC
  std::atomic<bool> stop{false};                   ///< background traffic ends when this is set
  std::atomic<std::int64_t> received{0};  ///< bytes so far, to notice a transfer that stalls
  std::atomic<std::int64_t> sent{-1};     ///< datagrams or frames in all, when no more will come
  SenderReport sender;
  ReceiverReport receiver;
  std::array<char, 256> sender_failure, receiver_failure;  ///< text, empty if none
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "atomics must work across processes");

/// One `T` in memory that child processes share.
template <class T>
class Shared {
 public:
  Shared() {
    void* memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw_errno("mmap of shared memory");
    value_ = new (memory) T();
  }
  Shared(Shared&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Shared& operator=(Shared&&) = delete;
  ~Shared() {
    if (value_) ::munmap(value_, sizeof(T));
  }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  static_assert(std::is_trivially_destructible_v<T>);
  T* value_;
};

}  // namespace linerate::realnet
