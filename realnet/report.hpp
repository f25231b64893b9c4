// What the two processes of a transfer leave in shared memory for the process that started them.
// Trivially copyable throughout; no pointers.
#pragma once

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "realnet/system.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

inline constexpr int kMostFlows = 256;  ///< of one pair of NICs
inline constexpr int kMostIntervals = 512;

/// The state of all flows of a transfer at the end of one interval, from TCP_INFO.
struct SenderSample {
  double cwnd = 0;           ///< segments, mean over flows
  double srtt = 0;           ///< s, mean over flows
  double retransmits = 0;    ///< segments sent again so far, all flows
  double delivery_rate = 0;  ///< bit/s, all flows
};

struct SenderReport {
  Time connecting;               ///< longest handshake, a span
  Time ended;                    ///< the last write returned
  Time closed;                   ///< the receivers had read everything and closed
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
};

struct ReceiverReport {
  Time first_byte, last_byte;  ///< earliest first and latest last read
  Time ended;                  ///< end of the last stream was read
  double cpu = 0;              ///< s, user and system, of the whole transfer
  std::int64_t calls = 0;      ///< reads that brought data
  std::int64_t bytes = 0;      ///< read, all flows
  std::int64_t receive_buffer = 0;
  /// Read in [omit, duration] by flow; all of it where nothing but the bytes ends the transfer.
  std::array<double, kMostFlows> window_bytes;
  Time step;
  int intervals = 0;
  std::array<double, kMostIntervals> interval_bytes;  ///< read by the end of each, all flows
};

struct TransferReport {
  std::uint16_t port = 0;                 ///< the receiver listens on
  std::atomic<std::int64_t> start{0};     ///< common start, ps of CLOCK_MONOTONIC
  std::atomic<bool> stop{false};          ///< background traffic ends when this is set
  std::atomic<std::int64_t> received{0};  ///< bytes so far, to notice a transfer that stalls
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
