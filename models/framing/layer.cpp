#include "models/framing/layer.hpp"

#include "sim/check.hpp"

namespace linerate::models {

Bytes tcp_option_bytes(const TcpOptions& options) {
  LINERATE_CHECK(options.sack_blocks >= 0, "a number of SACK blocks");
  Bytes size;
  if (options.timestamps) size += Bytes(12);
  if (options.connection_count) size += Bytes(8);
  if (options.sack_blocks > 0) size += Bytes(4) + Bytes(8) * options.sack_blocks;
  LINERATE_CHECK(size <= Bytes(40), "TCP options fit 40 bytes");
  return size;
}

Layer tcp_layer(Bytes options) {
  LINERATE_CHECK(options >= Bytes(0) && options <= Bytes(40) && options.count() % 4 == 0,
                 "TCP options are whole words, at most ten");
  Layer layer{.name = "TCP",
              .level = Level::transport,
              .headers = {{"TCP header", Bytes(20)}},
              .trailers = {},
              .minimum = {}};
  if (options > Bytes(0)) layer.headers.push_back({"TCP options", options});
  return layer;
}

Layer udp_layer() {
  return {.name = "UDP",
          .level = Level::transport,
          .headers = {{"UDP header", Bytes(8)}},
          .trailers = {},
          .minimum = {}};
}

Layer ip_layer(int version) {
  LINERATE_CHECK(version == 4 || version == 6, "IP is version 4 or 6");
  const std::string name = version == 4 ? "IPv4" : "IPv6";
  return {.name = name,
          .level = Level::network,
          .headers = {{name + " header", Bytes(version == 4 ? 20 : 40)}},
          .trailers = {},
          .minimum = {}};
}

Layer vlan_layer() {
  return {.name = "802.1Q",
          .level = Level::link,
          .headers = {{"802.1Q tag", Bytes(4)}},
          .trailers = {},
          .minimum = {}};
}

Layer ethernet_layer() {
  return {.name = "Ethernet",
          .level = Level::link,
          .headers = {{"Ethernet header", Bytes(14)}},
          .trailers = {{"FCS", Bytes(4)}},
          .minimum = kMinimumFrame};
}

Layer raw_frame_layer() {
  return {.name = "raw frame",
          .level = Level::link,
          .headers = {},
          .trailers = {},
          .minimum = kMinimumFrame};
}

Layer wire_layer() {
  return {.name = "wire",
          .level = Level::wire,
          .headers = {{"preamble", kPreamble}},
          .trailers = {{"inter-frame gap", kInterFrameGap}},
          .minimum = {}};
}

}  // namespace linerate::models
