// The transmitting half of an AF_XDP socket (Linux, Documentation/networking/af_xdp.rst). Only what
// sending takes: no program is loaded, so neither libbpf nor libxdp is needed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "realnet/system.hpp"

namespace linerate::realnet {

/// Frames in memory that the kernel reads, and two rings: what is to be sent, and what has been. In
/// copy mode, which every driver has.
class XdpTransmitRing {
 public:
  static constexpr std::uint32_t kFrames = 2048;
  static constexpr std::size_t kFrameSize = 2048;

  /// Throws std::system_error where the kernel or the driver has no AF_XDP.
  explicit XdpTransmitRing(int interface);
  XdpTransmitRing(const XdpTransmitRing&) = delete;
  XdpTransmitRing& operator=(const XdpTransmitRing&) = delete;
  ~XdpTransmitRing();

  std::uint8_t* frame(std::uint32_t number) { return frames_ + number * kFrameSize; }
  /// How many frames may be pushed now.
  std::uint32_t room();
  /// The frame that push() sends.
  std::uint8_t* next_frame() { return frame(produced_ % kFrames); }
  void push(std::size_t size);
  /// Makes the kernel send what has been pushed. Throws std::system_error.
  void kick();

 private:
  /// A ring as the kernel maps it.
  struct Ring {
    std::uint32_t* producer = nullptr;
    std::uint32_t* consumer = nullptr;
    void* entries = nullptr;
    void* memory = nullptr;
    std::size_t size = 0;
  };
  struct Offsets;
  void map(Ring& ring, const Offsets& offsets);
  void set_up(int interface);
  void release();

  FileDescriptor socket_;
  std::uint8_t* frames_ = nullptr;
  Ring transmit_, completion_;
  std::uint32_t produced_ = 0, completed_ = 0;
};

}  // namespace linerate::realnet
