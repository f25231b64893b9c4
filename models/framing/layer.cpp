#include "models/framing/layer.hpp"

#include <string>
#include <utility>
#include <vector>

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

namespace {

Layer layer(std::string name, Level level, std::vector<Part> headers,
            std::vector<Part> trailers = {}) {
  Layer result;
  result.name = std::move(name);
  result.level = level;
  result.headers = std::move(headers);
  result.trailers = std::move(trailers);
  return result;
}

}  // namespace

Layer tcp_layer(Bytes options) {
  LINERATE_CHECK(options >= Bytes(0) && options <= Bytes(40) && options.count() % 4 == 0,
                 "TCP options are whole words, at most ten");
  Layer tcp = layer("TCP", Level::transport, {{"TCP header", Bytes(20)}});
  if (options > Bytes(0)) tcp.headers.push_back({"TCP options", options});
  return tcp;
}

Layer udp_layer() { return layer("UDP", Level::transport, {{"UDP header", Bytes(8)}}); }

Layer ip_layer(int version) {
  LINERATE_CHECK(version == 4 || version == 6, "IP is version 4 or 6");
  const std::string name = version == 4 ? "IPv4" : "IPv6";
  return layer(name, Level::network, {{name + " header", Bytes(version == 4 ? 20 : 40)}});
}

Layer vlan_layer() {
  Layer tag = layer("802.1Q", Level::link, {{"802.1Q tag", Bytes(4)}});
  tag.outside_mtu = true;
  return tag;
}

Layer ethernet_layer() {
  Layer ethernet =
      layer("Ethernet", Level::link, {{"Ethernet header", Bytes(14)}}, {{"FCS", Bytes(4)}});
  ethernet.minimum = kMinimumFrame;
  ethernet.outside_mtu = true;
  return ethernet;
}

Layer raw_frame_layer() {
  Layer frame = layer("raw frame", Level::link, {});
  frame.minimum = kMinimumFrame;
  frame.outside_mtu = true;
  return frame;
}

Layer wire_layer() {
  Layer wire =
      layer("wire", Level::wire, {{"preamble", kPreamble}}, {{"inter-frame gap", kInterFrameGap}});
  wire.outside_mtu = true;
  return wire;
}

}  // namespace linerate::models
