#include "realnet/traffic/tcp_state.hpp"

// The kernel's own header: the C library's <netinet/tcp.h> ends before the rates and limits. One
// file cannot have both, so nothing else is included here that might have the other.
#include <linux/tcp.h>
#include <sys/socket.h>

namespace linerate::realnet {
namespace {

constexpr int kTcp = 6;  // IPPROTO_TCP

constexpr int kClosed = 7;  // TCP_CLOSE

tcp_info info_of(const FileDescriptor& socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  checked(::getsockopt(socket.number(), kTcp, TCP_INFO, &info, &size), "getsockopt TCP_INFO");
  return info;
}

}  // namespace

TcpState tcp_state(const FileDescriptor& socket) {
  const tcp_info info = info_of(socket);
  const auto seconds = [](auto microseconds) { return static_cast<double>(microseconds) * 1e-6; };
  TcpState state;
  state.cwnd = info.tcpi_snd_cwnd;
  state.srtt = seconds(info.tcpi_rtt);
  state.retransmits = info.tcpi_total_retrans;
  state.delivery_rate = static_cast<double>(info.tcpi_delivery_rate) * 8;
  state.busy = seconds(info.tcpi_busy_time);
  state.receive_window_limited = seconds(info.tcpi_rwnd_limited);
  state.send_buffer_limited = seconds(info.tcpi_sndbuf_limited);
  state.segment_size = info.tcpi_snd_mss;
  state.timestamps = (info.tcpi_options & 1) != 0;  // TCPI_OPT_TIMESTAMPS
  return state;
}

bool all_acknowledged(const FileDescriptor& socket) {
  const tcp_info info = info_of(socket);
  return info.tcpi_state == kClosed || (info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0);
}

}  // namespace linerate::realnet
