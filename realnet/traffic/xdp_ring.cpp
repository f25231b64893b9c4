#include "realnet/traffic/xdp_ring.hpp"

#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>

namespace linerate::realnet {

struct XdpTransmitRing::Offsets {
  xdp_ring_offset ring;
  std::uint64_t page = 0;  ///< where the ring is mapped from
  std::size_t entry_size = 0;
};

XdpTransmitRing::XdpTransmitRing(int interface)
    : socket_(checked(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0), "socket AF_XDP")) {
  try {
    set_up(interface);
  } catch (...) {
    release();
    throw;
  }
}

XdpTransmitRing::~XdpTransmitRing() { release(); }

void XdpTransmitRing::release() {
  for (const Ring* ring : {&transmit_, &completion_}) {
    if (ring->memory) ::munmap(ring->memory, ring->size);
  }
  if (frames_) ::munmap(frames_, kFrames * kFrameSize);
}

void XdpTransmitRing::set_up(int interface) {
  const auto set = [&](int option, const auto& value, const char* name) {
    checked(::setsockopt(socket_.number(), SOL_XDP, option, &value, sizeof value), name);
  };
  void* memory = ::mmap(nullptr, kFrames * kFrameSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw_errno("mmap of frames");
  frames_ = static_cast<std::uint8_t*>(memory);
  xdp_umem_reg region{};
  region.addr = reinterpret_cast<std::uintptr_t>(memory);
  region.len = kFrames * kFrameSize;
  region.chunk_size = kFrameSize;
  set(XDP_UMEM_REG, region, "setsockopt XDP_UMEM_REG");
  const int ring_size = kFrames;
  // The kernel wants a fill ring with every region, though nothing is received.
  set(XDP_UMEM_FILL_RING, ring_size, "setsockopt XDP_UMEM_FILL_RING");
  set(XDP_UMEM_COMPLETION_RING, ring_size, "setsockopt XDP_UMEM_COMPLETION_RING");
  set(XDP_TX_RING, ring_size, "setsockopt XDP_TX_RING");
  xdp_mmap_offsets offsets{};
  socklen_t size = sizeof offsets;
  checked(::getsockopt(socket_.number(), SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &size),
          "getsockopt XDP_MMAP_OFFSETS");
  map(transmit_, {offsets.tx, XDP_PGOFF_TX_RING, sizeof(xdp_desc)});
  map(completion_, {offsets.cr, XDP_UMEM_PGOFF_COMPLETION_RING, sizeof(std::uint64_t)});
  sockaddr_xdp local{};
  local.sxdp_family = AF_XDP;
  local.sxdp_flags = XDP_COPY;
  local.sxdp_ifindex = static_cast<std::uint32_t>(interface);
  checked(::bind(socket_.number(), reinterpret_cast<const sockaddr*>(&local), sizeof local),
          "bind AF_XDP");
}

void XdpTransmitRing::map(Ring& ring, const Offsets& offsets) {
  ring.size = offsets.ring.desc + kFrames * offsets.entry_size;
  void* memory = ::mmap(nullptr, ring.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                        socket_.number(), static_cast<off_t>(offsets.page));
  if (memory == MAP_FAILED) throw_errno("mmap of an AF_XDP ring");
  ring.memory = memory;
  auto* base = static_cast<std::uint8_t*>(memory);
  ring.producer = reinterpret_cast<std::uint32_t*>(base + offsets.ring.producer);
  ring.consumer = reinterpret_cast<std::uint32_t*>(base + offsets.ring.consumer);
  ring.entries = base + offsets.ring.desc;
}

std::uint32_t XdpTransmitRing::room() {
  // Frames are used in turn and come back in turn: how many have is all there is to know.
  completed_ = __atomic_load_n(completion_.producer, __ATOMIC_ACQUIRE);
  __atomic_store_n(completion_.consumer, completed_, __ATOMIC_RELEASE);
  return kFrames - (produced_ - completed_);
}

void XdpTransmitRing::push(std::size_t size) {
  const std::uint32_t slot = produced_ % kFrames;
  static_cast<xdp_desc*>(transmit_.entries)[slot] = {slot * kFrameSize,
                                                     static_cast<std::uint32_t>(size), 0};
  ++produced_;
}

void XdpTransmitRing::kick() {
  __atomic_store_n(transmit_.producer, produced_, __ATOMIC_RELEASE);
  if (::sendto(socket_.number(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) >= 0) return;
  // Busy: some are still under way and go with the next call.
  if (errno != EAGAIN && errno != EBUSY && errno != ENOBUFS && errno != EINTR) {
    throw_errno("send AF_XDP");
  }
}

}  // namespace linerate::realnet
