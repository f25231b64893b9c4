// Raw Ethernet frames from and to an interface.
//
// Sending: AF_XDP where nothing shapes the port (it goes to the driver directly, past every
// queueing discipline), else sendmmsg on a packet socket. Measured on a veth pair of the
// development machine, ns of the sending thread a 64-byte frame: AF_XDP 1253, sendmmsg 1701,
// TX_RING 1693 to 1930; so a TX_RING has no place between them. Receiving: a TPACKET_V3 ring, whose
// blocks cost one wake-up for many frames and whose stamps are the kernel's.
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "realnet/traffic/datagram_io.hpp"
#include "realnet/traffic/frame_addressing.hpp"
#include "realnet/traffic/xdp_ring.hpp"

namespace linerate::realnet {
namespace {

constexpr Bytes kFcs{4};

FileDescriptor packet_socket(std::uint16_t protocol) {
  return FileDescriptor(
      checked(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(protocol)), "socket AF_PACKET"));
}

int index_of(const std::string& interface) {
  if (interface.empty()) throw std::runtime_error("raw frames need an interface of the experiment");
  const unsigned index = ::if_nametoindex(interface.c_str());
  if (index == 0) throw_errno("find interface " + interface);
  return static_cast<int>(index);
}

HardwareAddress address_of(const FileDescriptor& socket, const std::string& interface) {
  ifreq request{};
  interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
  checked(::ioctl(socket.number(), SIOCGIFHWADDR, &request), "address of " + interface);
  HardwareAddress address;
  std::memcpy(address.data(), request.ifr_hwaddr.sa_data, address.size());
  return address;
}

void bind_to(const FileDescriptor& socket, int interface, std::uint16_t protocol) {
  sockaddr_ll local{};
  local.sll_family = AF_PACKET;
  local.sll_protocol = htons(protocol);
  local.sll_ifindex = interface;
  checked(::bind(socket.number(), reinterpret_cast<sockaddr*>(&local), sizeof local),
          "bind to interface");
}

/// How frames of `end` find their receiver.
FrameAddressing addressing_of(const TransferEnd& end, const TransferReport& report) {
  const HardwareAddress own = address_of(packet_socket(0), end.place.interface);
  const std::string hop = next_hop(end);
  if (hop.empty()) return FrameAddressing(report.hardware_address, own);
  return FrameAddressing(end, hop, own);
}

/// What stays of a frame when hardware adds the check sequence.
std::size_t given_size(const Datagram& datagram) {
  return static_cast<std::size_t>((datagram.size - kFcs).count());
}

/// Writes frames as they go to an interface.
class FrameWriter {
 public:
  FrameWriter(const TransferEnd& end, const TransferReport& report)
      : addressing_(addressing_of(end, report)), verify_(end.options.test->verify) {}

  void write(std::uint8_t* frame, const Datagram& datagram) const {
    const std::size_t size = given_size(datagram), header = addressing_.header_size();
    addressing_.write_header(frame, size);
    const DatagramStamp stamp = DatagramStamp::of(datagram.flow, datagram.ordinal, monotonic_now());
    std::memcpy(frame + header, &stamp, sizeof stamp);
    if (!verify_) return;
    fill_payload(reinterpret_cast<char*>(frame + header), static_cast<std::int64_t>(size - header),
                 stamp);
  }

 private:
  FrameAddressing addressing_;
  bool verify_;
};

class PacketTransmitter : public Transmitter {
 public:
  PacketTransmitter(const TransferEnd& end, const TransferReport& report)
      : socket_(packet_socket(0)), buffer_(kDatagramBatch * kMostFrame), writer_(end, report) {
    const int interface = index_of(end.place.interface);
    bind_to(socket_, interface, 0);
    unbind_from_queues(socket_);
    // Nothing to pass by on a port without a shaper, and a shaper must not be passed by.
    const int bypass = end.place.device.empty() ? 1 : 0;
    bypasses_ = bypass != 0 && ::setsockopt(socket_.number(), SOL_PACKET, PACKET_QDISC_BYPASS,
                                            &bypass, sizeof bypass) == 0;
    for (std::size_t i = 0; i < kDatagramBatch; ++i) {
      messages_[i].msg_hdr.msg_iov = &parts_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  std::size_t send(std::span<const Datagram> batch) override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::uint8_t* frame = &buffer_[i * kMostFrame];
      writer_.write(frame, batch[i]);
      parts_[i] = {frame, given_size(batch[i])};
    }
    ++calls_;
    const int sent =
        ::sendmmsg(socket_.number(), messages_.data(), static_cast<unsigned>(batch.size()), 0);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN || errno == EINTR) return 0;
    if (errno != ENOBUFS) throw_errno("sendmmsg");
    ++refused_;
    return 1;
  }

  std::string method() const override { return bypasses_ ? "sendmmsg past the qdisc" : "sendmmsg"; }

 private:
  static constexpr std::size_t kMostFrame = 65'536;

  FileDescriptor socket_;
  std::vector<std::uint8_t> buffer_;
  std::array<mmsghdr, kDatagramBatch> messages_{};
  std::array<iovec, kDatagramBatch> parts_{};
  FrameWriter writer_;
  bool bypasses_ = false;
};

/// Hands frames to the driver through a ring in shared memory (AF_XDP, copy mode).
class XdpTransmitter : public Transmitter {
 public:
  XdpTransmitter(const TransferEnd& end, const TransferReport& report)
      : ring_(index_of(end.place.interface)), writer_(end, report) {}

  std::size_t send(std::span<const Datagram> batch) override {
    const std::size_t count = std::min<std::size_t>(batch.size(), ring_.room());
    for (std::size_t i = 0; i < count; ++i) {
      writer_.write(ring_.next_frame(), batch[i]);
      ring_.push(given_size(batch[i]));
    }
    ++calls_;
    ring_.kick();
    return count;
  }

  void flush() override {
    const Time give_up = monotonic_now() + Time::seconds(1);
    while (ring_.room() < XdpTransmitRing::kFrames && monotonic_now() < give_up) ring_.kick();
  }

  std::string method() const override { return "AF_XDP"; }

 private:
  XdpTransmitRing ring_;
  FrameWriter writer_;
};

/// A ring of blocks that the kernel fills with frames of our type.
class RingCollector : public Collector {
 public:
  RingCollector(const TransferEnd& end, TransferReport& report)
      : socket_(packet_socket(0)),
        verify_(end.options.test->verify),
        header_(next_hop(end).empty() ? FrameAddressing::kHeader : FrameAddressing::kRoutedHeader) {
    const int interface = index_of(end.place.interface);
    report.hardware_address = address_of(socket_, end.place.interface);
    const int version = TPACKET_V3;
    checked(::setsockopt(socket_.number(), SOL_PACKET, PACKET_VERSION, &version, sizeof version),
            "setsockopt PACKET_VERSION");
    tpacket_req3 request{};
    request.tp_block_size = kBlockSize;
    request.tp_block_nr = kBlocks;
    request.tp_frame_size = 2048;
    request.tp_frame_nr = kBlockSize / 2048 * kBlocks;
    request.tp_retire_blk_tov = 2;  // ms
    checked(::setsockopt(socket_.number(), SOL_PACKET, PACKET_RX_RING, &request, sizeof request),
            "setsockopt PACKET_RX_RING");
    void* memory = ::mmap(nullptr, std::size_t{kBlockSize} * kBlocks, PROT_READ | PROT_WRITE,
                          MAP_SHARED, socket_.number(), 0);
    if (memory == MAP_FAILED) throw_errno("mmap of a receive ring");
    ring_ = static_cast<std::uint8_t*>(memory);
    if (header_ == FrameAddressing::kHeader) {
      bind_to(socket_, interface, kExperimentalType);
      announce(interface);
    } else {
      keep_discarded();
      bind_to(socket_, interface, ETH_P_IP);
    }
  }
  RingCollector(const RingCollector&) = delete;
  ~RingCollector() override { ::munmap(ring_, std::size_t{kBlockSize} * kBlocks); }

  std::span<const Arrival> receive() override {
    clock_.follow();
    arrivals_.clear();
    auto* block = reinterpret_cast<tpacket_block_desc*>(ring_ + std::size_t{kBlockSize} * next_);
    if ((__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) {
      ++calls_;
      pollfd waiting{socket_.number(), POLLIN, 0};
      if (::poll(&waiting, 1, 5) < 0 && errno != EINTR) throw_errno("poll");
      return {};
    }
    const auto* frame = reinterpret_cast<const tpacket3_hdr*>(
        reinterpret_cast<const std::uint8_t*>(block) + block->hdr.bh1.offset_to_first_pkt);
    for (std::uint32_t i = 0; i < block->hdr.bh1.num_pkts; ++i) {
      take(*frame);
      frame = reinterpret_cast<const tpacket3_hdr*>(reinterpret_cast<const std::uint8_t*>(frame) +
                                                    frame->tp_next_offset);
    }
    __atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    next_ = (next_ + 1) % kBlocks;
    return arrivals_;
  }

  std::int64_t overflows() override {
    tpacket_stats_v3 statistics{};  // reading resets them
    socklen_t size = sizeof statistics;
    checked(::getsockopt(socket_.number(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size),
            "getsockopt PACKET_STATISTICS");
    overflows_ += statistics.tp_drops;
    return overflows_;
  }
  std::string method() const override { return "RX_RING"; }

 private:
  static constexpr std::uint32_t kBlockSize = 1 << 18, kBlocks = 64;

  /// Of the IP packets only those to the discard port over UDP; a socket there keeps this host's
  /// stack from answering that nobody listens.
  void keep_discarded() {
    // classic BPF: protocol at byte 23, destination port at 36 (no IP options)
    sock_filter code[] = {{0x30, 0, 0, 23},           {0x15, 0, 3, 17},  {0x28, 0, 0, 36},
                          {0x15, 0, 1, kDiscardPort}, {6, 0, 0, 0xffff}, {6, 0, 0, 0}};
    const sock_fprog program{std::size(code), code};
    checked(::setsockopt(socket_.number(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program),
            "setsockopt SO_ATTACH_FILTER");
    discard_ = FileDescriptor(checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_port = htons(kDiscardPort);
    checked(::bind(discard_.number(), reinterpret_cast<const sockaddr*>(&local), sizeof local),
            "bind to the discard port");
  }

  /// A learning frame (RFC 2544 20): bridges on the way know then where this end is.
  void announce(int interface) const {
    HardwareAddress everyone;
    everyone.fill(0xff);
    const FileDescriptor socket = packet_socket(0);
    ifreq request{};
    ::if_indextoname(static_cast<unsigned>(interface), request.ifr_name);
    std::array<std::uint8_t, 60> frame{};  // ordinal 0: none of a test's
    FrameAddressing(everyone, address_of(socket, request.ifr_name))
        .write_header(frame.data(), frame.size());
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = interface;
    checked(static_cast<int>(::sendto(socket.number(), frame.data(), frame.size(), 0,
                                      reinterpret_cast<const sockaddr*>(&to), sizeof to)),
            "send a learning frame");
  }

  void take(const tpacket3_hdr& frame) {
    if (frame.tp_snaplen < header_ + sizeof(DatagramStamp)) return;
    Arrival arrival;
    std::memcpy(&arrival.stamp,
                reinterpret_cast<const std::uint8_t*>(&frame) + frame.tp_mac + header_,
                sizeof arrival.stamp);
    arrival.at = clock_.monotonic(real_time(frame.tp_sec, frame.tp_nsec));
    arrival.size = Bytes(frame.tp_len) + kFcs;
    if (verify_) {
      const auto* payload = reinterpret_cast<const char*>(&frame) + frame.tp_mac + header_;
      arrival.intact = payload_intact(
          payload, std::int64_t{frame.tp_snaplen} - static_cast<std::int64_t>(header_),
          arrival.stamp);
    }
    arrivals_.push_back(arrival);
  }

  FileDescriptor socket_;
  bool verify_;
  std::size_t header_;
  FileDescriptor discard_;
  TimestampClock clock_;
  std::uint8_t* ring_ = nullptr;
  std::uint32_t next_ = 0;
  std::vector<Arrival> arrivals_;
  std::int64_t overflows_ = 0;
};

}  // namespace

std::unique_ptr<Transmitter> transmit_frames(const TransferEnd& end, const TransferReport& report) {
  const bool fits = end.mtu + Bytes(18) <= Bytes(XdpTransmitRing::kFrameSize);
  if (end.place.device.empty() && fits) {
    try {
      return std::make_unique<XdpTransmitter>(end, report);
    } catch (const std::system_error&) {
      // No AF_XDP in this kernel or for this driver.
    }
  }
  return std::make_unique<PacketTransmitter>(end, report);
}

std::unique_ptr<Collector> collect_frames(const TransferEnd& end, TransferReport& report) {
  return std::make_unique<RingCollector>(end, report);
}

}  // namespace linerate::realnet
