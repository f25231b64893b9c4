// Datagrams over UDP sockets.
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "realnet/traffic/datagram_io.hpp"

namespace linerate::realnet {
namespace {

/// Holds what a receiver that is not run for some 50 ms at 1 Gbit/s would miss.
constexpr int kReceiveBuffer = 8 << 20;
/// Most payload in one call with segmentation offload, and most segments (linux/udp.h).
constexpr std::int64_t kMostSegmented = 65'000;

class UdpTransmitter : public Transmitter {
 public:
  UdpTransmitter(const TransferEnd& end, const TransferReport& report) : test_(*end.options.test) {
    for (int flow = 0; flow < test_.flows; ++flow) {
      sockets_.push_back(connect_udp({end.peer_address, report.port}, end.options));
      if (!test_.send_buffer) unbind_from_queues(sockets_.back());
    }
    // The kernel segments after the queueing discipline, which would then count one frame for many.
    const bool alike = !test_.sizes && !test_.imix;
    const Bytes headers(test_.ip == 6 ? 48 : 28);
    if (alike && end.place.device.empty() && test_.datagram + headers <= end.mtu) segment();
    buffer_.resize(kDatagramBatch * kMostPayload);
  }

  std::size_t send(std::span<const Datagram> batch) override {
    // Messages of one socket go together.
    std::size_t count = 1;
    while (count < batch.size() && batch[count].flow == batch[0].flow) ++count;
    const auto group = batch.first(count);
    ++calls_;
    return segments_ ? send_segmented(group) : send_messages(group);
  }

  std::string method() const override { return segments_ ? "UDP segmentation" : "sendmmsg"; }

 private:
  static constexpr std::size_t kMostPayload = 65'536;

  void segment() {
    const int size = static_cast<int>(test_.datagram.count());
    segments_ = true;
    for (const FileDescriptor& socket : sockets_) {
      segments_ = segments_ &&
                  ::setsockopt(socket.number(), IPPROTO_UDP, UDP_SEGMENT, &size, sizeof size) == 0;
    }
  }

  char* place(const Datagram& datagram, std::size_t offset) {
    const DatagramStamp stamp = DatagramStamp::of(datagram.flow, datagram.ordinal, monotonic_now());
    std::memcpy(&buffer_[offset], &stamp, sizeof stamp);
    if (test_.verify) fill_payload(&buffer_[offset], datagram.size.count(), stamp);
    return &buffer_[offset];
  }

  std::size_t send_messages(std::span<const Datagram> group) {
    std::array<mmsghdr, kDatagramBatch> messages{};
    std::array<iovec, kDatagramBatch> parts;
    for (std::size_t i = 0; i < group.size(); ++i) {
      parts[i] = {place(group[i], i * kMostPayload),
                  static_cast<std::size_t>(group[i].size.count())};
      messages[i].msg_hdr.msg_iov = &parts[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    const int sent = ::sendmmsg(sockets_[group[0].flow].number(), messages.data(),
                                static_cast<unsigned>(group.size()), 0);
    return taken(sent, 1);
  }

  std::size_t send_segmented(std::span<const Datagram> group) {
    const std::int64_t size = test_.datagram.count();
    const auto count = std::min<std::size_t>(
        group.size(), static_cast<std::size_t>(std::max<std::int64_t>(kMostSegmented / size, 1)));
    for (std::size_t i = 0; i < count; ++i) place(group[i], i * static_cast<std::size_t>(size));
    const ssize_t sent = ::send(sockets_[group[0].flow].number(), buffer_.data(),
                                count * static_cast<std::size_t>(size), 0);
    return taken(static_cast<int>(std::min<ssize_t>(sent, 1)), count);
  }

  /// How many are done with; a message is `each` of them.
  std::size_t taken(int sent, std::size_t each) {
    if (sent >= 0) return static_cast<std::size_t>(sent) * each;
    if (errno == EAGAIN || errno == EINTR) return 0;
    // The first one found a full queue, or a receiver that has ended and says so.
    if (errno != ENOBUFS && errno != ECONNREFUSED) throw_errno("sendmmsg");
    refused_ += static_cast<std::int64_t>(each);
    return each;
  }

  const experiments::Test& test_;
  std::vector<FileDescriptor> sockets_;
  std::vector<char> buffer_;
  bool segments_ = false;
};

class UdpCollector : public Collector {
 public:
  UdpCollector(const TransferEnd& end, TransferReport& report)
      : socket_(listen_udp(end.place.address, end.options)), verify_(end.options.test->verify) {
    report.port = local_port(socket_);
    const experiments::Test& test = *end.options.test;
    if (!test.receive_buffer) {
      // The experiment's network is to lose datagrams, not this socket. More than everyone is
      // allowed needs CAP_NET_ADMIN.
      for (const int option : {SO_RCVBUF, SO_RCVBUFFORCE}) {
        ::setsockopt(socket_.number(), SOL_SOCKET, option, &kReceiveBuffer, sizeof kReceiveBuffer);
      }
    }
    const int on = 1;
    checked(::setsockopt(socket_.number(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on),
            "setsockopt SO_TIMESTAMPNS");
    checked(::setsockopt(socket_.number(), SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on),
            "setsockopt SO_RXQ_OVFL");
    const timeval patience{0, 5'000};
    checked(::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience),
            "setsockopt SO_RCVTIMEO");
    buffer_.resize(kDatagramBatch * kMostPayload);
    for (std::size_t i = 0; i < kDatagramBatch; ++i) {
      parts_[i] = {&buffer_[i * kMostPayload], kMostPayload};
      messages_[i].msg_hdr.msg_iov = &parts_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
      messages_[i].msg_hdr.msg_control = controls_[i].data();
    }
  }

  std::span<const Arrival> receive() override {
    clock_.follow();
    for (auto& message : messages_) message.msg_hdr.msg_controllen = controls_[0].size();
    ++calls_;
    const int count =
        ::recvmmsg(socket_.number(), messages_.data(), kDatagramBatch, MSG_WAITFORONE, nullptr);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) throw_errno("recvmmsg");
      return {};
    }
    std::size_t kept = 0;
    for (int i = 0; i < count; ++i) {
      if (messages_[i].msg_len < sizeof(DatagramStamp)) continue;  // not one of ours
      arrivals_[kept++] = arrival(messages_[i], static_cast<std::size_t>(i));
    }
    return std::span(arrivals_).first(kept);
  }

  std::int64_t overflows() override { return overflows_; }
  std::string method() const override { return "recvmmsg"; }

 private:
  static constexpr std::size_t kMostPayload = 65'536;

  Arrival arrival(mmsghdr& message, std::size_t place) {
    Arrival arrival;
    std::memcpy(&arrival.stamp, &buffer_[place * kMostPayload], sizeof arrival.stamp);
    arrival.size = Bytes(message.msg_len);
    if (verify_) {
      arrival.intact =
          payload_intact(&buffer_[place * kMostPayload], message.msg_len, arrival.stamp);
    }
    for (cmsghdr* control = CMSG_FIRSTHDR(&message.msg_hdr); control != nullptr;
         control = CMSG_NXTHDR(&message.msg_hdr, control)) {
      if (control->cmsg_level != SOL_SOCKET) continue;
      if (control->cmsg_type == SCM_TIMESTAMPNS) {
        timespec stamp{};
        std::memcpy(&stamp, CMSG_DATA(control), sizeof stamp);
        arrival.at = clock_.monotonic(real_time(stamp.tv_sec, stamp.tv_nsec));
      } else if (control->cmsg_type == SO_RXQ_OVFL) {
        std::uint32_t lost = 0;
        std::memcpy(&lost, CMSG_DATA(control), sizeof lost);
        overflows_ = lost;
      }
    }
    return arrival;
  }

  FileDescriptor socket_;
  bool verify_;
  TimestampClock clock_;
  std::vector<char> buffer_;
  std::array<mmsghdr, kDatagramBatch> messages_{};
  std::array<iovec, kDatagramBatch> parts_{};
  alignas(cmsghdr) std::array<std::array<char, 128>, kDatagramBatch> controls_{};
  std::array<Arrival, kDatagramBatch> arrivals_;
  std::int64_t overflows_ = 0;
};

}  // namespace

std::unique_ptr<Transmitter> transmit_udp(const TransferEnd& end, const TransferReport& report) {
  return std::make_unique<UdpTransmitter>(end, report);
}

std::unique_ptr<Collector> collect_udp(const TransferEnd& end, TransferReport& report) {
  return std::make_unique<UdpCollector>(end, report);
}

}  // namespace linerate::realnet
