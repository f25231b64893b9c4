// The layers every frame has; those of tunnels and tags come with the experiment.
#pragma once

#include "experiments/definition/encapsulation.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// IEEE 802.3: minFrameSize is 512 bits from destination address to FCS, the preamble 7 bytes and
/// the start delimiter 1, the inter-frame gap 96 bit times.
constexpr Bytes kMinimumFrame{64};
constexpr Bytes kPreamble{8};
constexpr Bytes kInterFrameGap{12};

using experiments::Layer;
using experiments::Level;
using experiments::Part;

/// TCP options that are on every segment of one kind.
struct TcpOptions {
  bool timestamps = false;        ///< RFC 7323
  int sack_blocks = 0;            ///< RFC 2018, 0 to 4
  bool connection_count = false;  ///< CC of T/TCP, RFC 1644
};

/// Bytes these options take in a TCP header, each padded to four bytes with NOPs as stacks send
/// them: timestamps 10 -> 12, CC 6 -> 8, SACK 2 + 8 n -> 4 + 8 n. More than the 40 bytes a TCP
/// header has room for (RFC 9293, 3.1) is a bug of the caller.
Bytes tcp_option_bytes(const TcpOptions& options);

/// TCP header (RFC 9293) with `options` bytes of options, a multiple of 4 up to 40.
Layer tcp_layer(Bytes options);
/// UDP header, RFC 768.
Layer udp_layer();
/// IPv4 (RFC 791, no options) or IPv6 (RFC 8200) header; `version` is 4 or 6.
Layer ip_layer(int version);
/// One IEEE 802.1Q tag. It is part of the frame, so the MTU stays and the frame grows; the minimum
/// frame is 64 bytes with or without it.
Layer vlan_layer();
/// Ethernet header and FCS, IEEE 802.3; at least 64 bytes.
Layer ethernet_layer();
/// An Ethernet frame that is itself the payload, FCS included; at least 64 bytes.
Layer raw_frame_layer();
/// Preamble with start delimiter and inter-frame gap, IEEE 802.3.
Layer wire_layer();

}  // namespace linerate::models
