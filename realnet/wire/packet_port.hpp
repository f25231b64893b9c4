// One end of a wire: a device whose frames are taken as they arrive, with the kernel's time, and
// on which frames are put.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "realnet/system.hpp"
#include "realnet/wire/frame_store.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// What frames of a device look like in memory shared with the kernel (AF_PACKET, TPACKET_V2).
class PacketPort {
 public:
  /// Opens `device`, whose frames have at most `largest` bytes, in the namespace of the caller.
  /// Throws std::system_error.
  PacketPort(const std::string& device, Bytes largest);
  PacketPort(const PacketPort&) = delete;
  PacketPort& operator=(const PacketPort&) = delete;
  ~PacketPort();

  struct Arrival {
    Time stamp;  ///< real_time() when the kernel had the frame
    std::span<const std::byte> bytes;
  };
  /// The oldest frame not yet taken, or nothing (no bytes). Stays until release().
  Arrival front() const;
  void release();

  /// Sends the first `count` frames of `store`; returns how many the kernel took.
  std::size_t send(const FrameStore& store, std::size_t count);

  /// Becomes readable when a frame arrives.
  int descriptor() const { return receiver_.number(); }
  /// Frames that found the ring full since the last call: a fault of the lab.
  std::int64_t overruns();

  static constexpr std::size_t kLargestBatch = 64;

 private:
  std::byte* slot() const;

  FileDescriptor receiver_, sender_;
  std::byte* ring_ = nullptr;
  std::size_t frame_size_, frames_per_block_, slots_, next_ = 0;
};

}  // namespace linerate::realnet
