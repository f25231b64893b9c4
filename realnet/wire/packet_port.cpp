#include "realnet/wire/packet_port.hpp"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace linerate::realnet {
namespace {

/// Blocks of 64 KiB are found in any memory; 128 of them hold a fifth of a second at 100 Mbit/s.
constexpr std::size_t kBlockSize = 65536, kBlocks = 128;
/// Header, addresses, alignment and a tag in front of a frame in its slot.
constexpr std::size_t kSlotHeader = 128;
/// What may be on its way into the peer; a send beyond it is tried again.
constexpr int kSendMemory = 4 << 20;

template <class T>
void set(const FileDescriptor& socket, int level, int option, const T& value, const char* name) {
  checked(::setsockopt(socket.number(), level, option, &value, sizeof value),
          std::string("setsockopt ") + name);
}

FileDescriptor packet_socket() {
  return FileDescriptor(
      checked(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), "socket AF_PACKET"));
}

int index_of(const FileDescriptor& socket, const std::string& device) {
  ifreq request{};
  std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
  checked(::ioctl(socket.number(), SIOCGIFINDEX, &request), "look up " + device);
  return request.ifr_ifindex;
}

void bind_to(const FileDescriptor& socket, const std::string& device, std::uint16_t protocol) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(protocol);
  address.sll_ifindex = index_of(socket, device);
  checked(::bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address),
          "bind to " + device);
}

/// Frames for other stations are taken too.
void hear_everything(const FileDescriptor& socket, const std::string& device) {
  packet_mreq membership{};
  membership.mr_ifindex = index_of(socket, device);
  membership.mr_type = PACKET_MR_PROMISC;
  set(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, membership, "PACKET_ADD_MEMBERSHIP");
}

}  // namespace

PacketPort::PacketPort(const std::string& device, Bytes largest)
    : receiver_(packet_socket()), sender_(packet_socket()) {
  const std::size_t needed = static_cast<std::size_t>(largest.count()) + kSlotHeader;
  frame_size_ = (needed + TPACKET_ALIGNMENT - 1) / TPACKET_ALIGNMENT * TPACKET_ALIGNMENT;
  frames_per_block_ = kBlockSize / frame_size_;
  slots_ = frames_per_block_ * kBlocks;

  set(receiver_, SOL_PACKET, PACKET_VERSION, int{TPACKET_V2}, "PACKET_VERSION");
  // What this end sends itself is not to come back.
  set(receiver_, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
  const tpacket_req request{kBlockSize, kBlocks, static_cast<unsigned>(frame_size_),
                            static_cast<unsigned>(slots_)};
  set(receiver_, SOL_PACKET, PACKET_RX_RING, request, "PACKET_RX_RING");
  void* memory = ::mmap(nullptr, kBlockSize * kBlocks, PROT_READ | PROT_WRITE, MAP_SHARED,
                        receiver_.number(), 0);
  if (memory == MAP_FAILED) throw_errno("mmap of a packet ring");
  ring_ = static_cast<std::byte*>(memory);
  bind_to(receiver_, device, ETH_P_ALL);
  hear_everything(receiver_, device);

  set(sender_, SOL_PACKET, PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS");
  set(sender_, SOL_SOCKET, SO_SNDBUFFORCE, kSendMemory, "SO_SNDBUFFORCE");
  bind_to(sender_, device, 0);  // receives nothing
}

PacketPort::~PacketPort() { ::munmap(ring_, kBlockSize * kBlocks); }

std::byte* PacketPort::slot() const {
  return ring_ + next_ / frames_per_block_ * kBlockSize + next_ % frames_per_block_ * frame_size_;
}

PacketPort::Arrival PacketPort::front() const {
  auto* header = reinterpret_cast<tpacket2_hdr*>(slot());
  const std::atomic_ref<std::uint32_t> status(header->tp_status);
  if ((status.load(std::memory_order_acquire) & TP_STATUS_USER) == 0) return {};
  return {real_time(header->tp_sec, header->tp_nsec),
          {slot() + header->tp_mac, header->tp_snaplen}};
}

void PacketPort::release() {
  auto* header = reinterpret_cast<tpacket2_hdr*>(slot());
  std::atomic_ref<std::uint32_t>(header->tp_status)
      .store(TP_STATUS_KERNEL, std::memory_order_release);
  next_ = (next_ + 1) % slots_;
}

std::size_t PacketPort::send(const FrameStore& store, std::size_t count) {
  std::array<mmsghdr, kLargestBatch> messages{};
  std::array<iovec, kLargestBatch> parts{};
  for (std::size_t i = 0; i < count; ++i) {
    parts[i] = {store[i].bytes.data(), store[i].bytes.size()};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int sent =
      ::sendmmsg(sender_.number(), messages.data(), static_cast<unsigned>(count), MSG_DONTWAIT);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  // The peer's queue or this socket's memory is full for a moment.
  if (errno == ENOBUFS || errno == EAGAIN || errno == EINTR) return 0;
  throw_errno("sendmmsg on a wire");
}

std::int64_t PacketPort::overruns() {
  tpacket_stats statistics{};
  socklen_t size = sizeof statistics;
  checked(::getsockopt(receiver_.number(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size),
          "getsockopt PACKET_STATISTICS");
  return statistics.tp_drops;
}

}  // namespace linerate::realnet
