// The seam between the engines that keep time and count, and what carries their datagrams: UDP
// sockets or an interface. One virtual call a batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "realnet/report.hpp"
#include "realnet/traffic/stream_pattern.hpp"
#include "realnet/transfer.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// Most that are handed over at once.
inline constexpr std::size_t kDatagramBatch = 64;

/// What a datagram carries at its head: the flow in the uppermost byte and the ordinal, from 1,
/// then when it was sent. Little endian, as all machines that run this are.
struct DatagramStamp {
  std::uint64_t identity = 0;
  std::int64_t sent = 0;  ///< ns of CLOCK_MONOTONIC

  static constexpr int kFlowShift = 56;
  static DatagramStamp of(int flow, std::int64_t ordinal, Time sent) {
    return {static_cast<std::uint64_t>(flow) << kFlowShift | static_cast<std::uint64_t>(ordinal),
            sent.picoseconds() / 1'000};
  }
  int flow() const { return static_cast<int>(identity >> kFlowShift); }
  std::int64_t ordinal() const {
    return static_cast<std::int64_t>(identity & ((std::uint64_t{1} << kFlowShift) - 1));
  }
};
static_assert(sizeof(DatagramStamp) == 16);

/// Writes what a datagram of `size` bytes carries behind its stamp, if it is to be verified.
inline void fill_payload(char* datagram, std::int64_t size, const DatagramStamp& stamp) {
  constexpr auto kStamp = static_cast<std::int64_t>(sizeof(DatagramStamp));
  StreamPattern(stamp.flow()).fill(datagram + kStamp, size - kStamp, stamp.ordinal() << 16);
}
/// Whether it still does.
inline bool payload_intact(const char* datagram, std::int64_t size, const DatagramStamp& stamp) {
  constexpr auto kStamp = static_cast<std::int64_t>(sizeof(DatagramStamp));
  return !StreamPattern(stamp.flow())
              .first_difference(datagram + kStamp, size - kStamp, stamp.ordinal() << 16);
}

struct Datagram {
  int flow = 0;
  std::int64_t ordinal = 0;
  Bytes size;  ///< payload of UDP, or frame with FCS
};

class Transmitter {
 public:
  virtual ~Transmitter() = default;
  /// Stamps and hands over some of `batch`, at most kDatagramBatch, from its front; returns how
  /// many are done with. 0: nothing can be taken now. Throws std::system_error.
  virtual std::size_t send(std::span<const Datagram> batch) = 0;
  /// Hands over what send() has taken and not passed on yet, and waits for it, at most a second.
  virtual void flush() {}
  /// "sendmmsg", "AF_XDP", …
  virtual std::string method() const = 0;
  std::int64_t calls() const { return calls_; }
  /// How many of those done with found the host's own queue full and were dropped there.
  std::int64_t refused() const { return refused_; }

 protected:
  std::int64_t calls_ = 0, refused_ = 0;
};

struct Arrival {
  DatagramStamp stamp;
  Time at;  ///< the kernel had it
  Bytes size;
  bool intact = true;  ///< with `verify`: its payload is what was sent
};

class Collector {
 public:
  virtual ~Collector() = default;
  /// What has come, waiting at most some milliseconds; valid until the next call.
  virtual std::span<const Arrival> receive() = 0;
  /// What came but found no room here.
  virtual std::int64_t overflows() = 0;
  virtual std::string method() const = 0;
  std::int64_t calls() const { return calls_; }

 protected:
  std::int64_t calls_ = 0;
};

/// Opens the receiving end and writes where it can be reached into `report`.
std::unique_ptr<Collector> collect_udp(const TransferEnd& end, TransferReport& report);
std::unique_ptr<Transmitter> transmit_udp(const TransferEnd& end, const TransferReport& report);
std::unique_ptr<Collector> collect_frames(const TransferEnd& end, TransferReport& report);
std::unique_ptr<Transmitter> transmit_frames(const TransferEnd& end, const TransferReport& report);

/// Lets a socket have so much under way that queues in the network do not hold it back: over
/// virtual links a packet counts against its sender's buffer until it has left the last queue,
/// which no real device's queue could bring about.
void unbind_from_queues(const FileDescriptor& socket);

/// From the clock of kernel timestamps (CLOCK_REALTIME) to CLOCK_MONOTONIC.
class TimestampClock {
 public:
  TimestampClock() { follow(); }
  /// Measures anew what the clocks differ by, if a second has passed since.
  void follow();
  Time monotonic(Time real) const { return real - offset_; }

 private:
  Time offset_, measured_ = Time::never();
};

}  // namespace linerate::realnet
