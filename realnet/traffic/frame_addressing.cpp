#include "realnet/traffic/frame_addressing.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace linerate::realnet {
namespace {

constexpr std::size_t kIpStart = 14, kUdpStart = 34;

in_addr ipv4_of(const std::string& address) {
  in_addr parsed{};
  if (::inet_pton(AF_INET, address.c_str(), &parsed) != 1)
    throw std::runtime_error("raw frames cross routers by IPv4 alone, not to " + address);
  return parsed;
}

std::string text_of(in_addr address) {
  char text[INET_ADDRSTRLEN];
  return ::inet_ntop(AF_INET, &address, text, sizeof text);
}

/// The neighbour's hardware address as the kernel has it (/proc/net/arp), or nothing.
std::optional<HardwareAddress> neighbour(const std::string& address) {
  std::ifstream table("/proc/self/net/arp");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string ip, type, flags, hardware;
    words >> ip >> type >> flags >> hardware;
    unsigned bytes[6];
    // Flag 2: complete (linux/if_arp.h).
    if (ip != address || flags != "0x2" ||
        std::sscanf(hardware.c_str(), "%x:%x:%x:%x:%x:%x", &bytes[0], &bytes[1], &bytes[2],
                    &bytes[3], &bytes[4], &bytes[5]) != 6) {
      continue;
    }
    HardwareAddress found;
    std::copy_n(bytes, found.size(), found.begin());
    return found;
  }
  return std::nullopt;
}

/// Makes the kernel ask for it, at most for two seconds.
HardwareAddress resolved(const std::string& address, const SocketOptions& options) {
  const FileDescriptor socket = connect_udp({address, kDiscardPort}, options);
  const Time give_up = monotonic_now() + Time::seconds(2);
  while (monotonic_now() < give_up) {
    if (const auto found = neighbour(address)) return *found;
    static_cast<void>(::send(socket.number(), "", 0, MSG_DONTWAIT));
    sleep_until(monotonic_now() + Time::milliseconds(10));
  }
  throw std::runtime_error("the router " + address + " does not answer");
}

void put16(std::uint8_t* place, std::size_t value) {
  place[0] = static_cast<std::uint8_t>(value >> 8);
  place[1] = static_cast<std::uint8_t>(value);
}

/// The Internet checksum (RFC 1071) of an IP header.
std::uint16_t header_checksum(const std::uint8_t* header) {
  std::uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace

std::string next_hop(const TransferEnd& end) {
  in_addr peer{};
  if (::inet_pton(AF_INET, end.peer_address.c_str(), &peer) != 1) return {};
  std::ifstream table("/proc/self/net/route");
  std::string line, hop;
  std::getline(table, line);  // titles
  std::uint32_t longest = 0;
  bool any = false;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string interface, skipped;
    std::uint32_t destination = 0, gateway = 0, mask = 0;
    words >> interface >> std::hex >> destination >> gateway;
    for (int i = 0; i < 4; ++i) words >> skipped;
    words >> mask;
    // All are in network byte order; the longest prefix decides.
    if (!words || (peer.s_addr & mask) != destination) continue;
    if (any && ntohl(mask) < longest) continue;
    any = true;
    longest = ntohl(mask);
    hop = gateway == 0 ? "" : text_of(in_addr{gateway});
  }
  return hop;
}

FrameAddressing::FrameAddressing(const HardwareAddress& to, const HardwareAddress& from) {
  std::copy(to.begin(), to.end(), header_.begin());
  std::copy(from.begin(), from.end(), header_.begin() + 6);
  put16(&header_[12], kExperimentalType);
}

FrameAddressing::FrameAddressing(const TransferEnd& end, const std::string& hop,
                                 const HardwareAddress& from)
    : FrameAddressing(resolved(hop, end.options), from) {
  routed_ = true;
  put16(&header_[12], 0x0800);
  std::uint8_t* ip = &header_[kIpStart];
  ip[0] = 0x45;  // version 4, 20 bytes
  ip[6] = 0x40;  // do not fragment
  ip[8] = 64;    // hops
  ip[9] = 17;    // UDP
  const in_addr source = ipv4_of(end.place.address), destination = ipv4_of(end.peer_address);
  std::memcpy(ip + 12, &source, sizeof source);
  std::memcpy(ip + 16, &destination, sizeof destination);
  put16(&header_[kUdpStart], kDiscardPort);
  put16(&header_[kUdpStart + 2], kDiscardPort);  // no checksum: RFC 768 allows 0
}

void FrameAddressing::write_header(std::uint8_t* frame, std::size_t size) const {
  std::memcpy(frame, header_.data(), header_size());
  if (!routed_) return;
  put16(frame + kIpStart + 2, size - kIpStart);
  put16(frame + kUdpStart + 4, size - kUdpStart);
  put16(frame + kIpStart + 10, header_checksum(frame + kIpStart));
}

}  // namespace linerate::realnet
