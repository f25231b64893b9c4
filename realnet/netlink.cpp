#include "realnet/netlink.hpp"

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/bridge.h>
#include <netlink/route/link/veth.h>
#include <netlink/route/qdisc.h>
#include <netlink/route/qdisc/tbf.h>
#include <netlink/route/route.h>
#include <netlink/route/tc.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "realnet/measure.hpp"

namespace linerate::realnet {
namespace {

struct Release {
  void operator()(rtnl_link* link) const { rtnl_link_put(link); }
  void operator()(rtnl_addr* address) const { rtnl_addr_put(address); }
  void operator()(nl_addr* address) const { nl_addr_put(address); }
  void operator()(rtnl_qdisc* qdisc) const { rtnl_qdisc_put(qdisc); }
  void operator()(rtnl_route* route) const { rtnl_route_put(route); }
  void operator()(nl_cache* cache) const { nl_cache_free(cache); }
  void operator()(nl_msg* message) const { nlmsg_free(message); }
};
template <class T>
using Owned = std::unique_ptr<T, Release>;

void accepted(int answer, const std::string& what) {
  if (answer < 0) throw std::runtime_error(what + ": " + nl_geterror(answer));
}

/// What frame bytes do not include of the wire: 8 B preamble and start delimiter, 12 B gap, 4 B FCS
/// (IEEE 802.3 clauses 3.1.1, 4.4.2).
constexpr std::int64_t kNotCountedBytes = 24;

}  // namespace

void Devices::SocketFree::operator()(nl_sock* socket) const { nl_socket_free(socket); }

Devices::Devices()
    : socket_(nl_socket_alloc()),
      control_(checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket for ethtool")) {
  if (!socket_) throw std::bad_alloc();
  accepted(nl_connect(socket_.get(), NETLINK_ROUTE), "routing socket");
}

int Devices::index(const std::string& device) const {
  rtnl_link* found = nullptr;
  accepted(rtnl_link_get_kernel(socket_.get(), 0, device.c_str(), &found), "look up " + device);
  return rtnl_link_get_ifindex(Owned<rtnl_link>(found).get());
}

void Devices::add_veth(const VethEnd& near, const VethEnd& far, int far_namespace) {
  const Owned<rtnl_link> link(rtnl_link_veth_alloc());
  const Owned<rtnl_link> peer(rtnl_link_veth_get_peer(link.get()));
  rtnl_link_set_name(link.get(), near.device.c_str());
  rtnl_link_set_ifindex(link.get(), near.index);
  rtnl_link_set_name(peer.get(), far.device.c_str());
  rtnl_link_set_ifindex(peer.get(), far.index);
  rtnl_link_set_ns_fd(peer.get(), far_namespace);
  accepted(rtnl_link_add(socket_.get(), link.get(), NLM_F_CREATE | NLM_F_EXCL),
           "make virtual Ethernet pair " + near.device + " - " + far.device);
}

void Devices::add_bridge(const std::string& device) {
  accepted(rtnl_link_bridge_add(socket_.get(), device.c_str()), "make bridge " + device);
}

void Devices::set_master(const std::string& device, const std::string& bridge) {
  accepted(rtnl_link_enslave_ifindex(socket_.get(), index(bridge), index(device)),
           "add port " + device + " to bridge " + bridge);
}

void Devices::set_mtu(const std::string& device, Bytes mtu) {
  const Owned<rtnl_link> original(rtnl_link_alloc()), change(rtnl_link_alloc());
  rtnl_link_set_ifindex(original.get(), index(device));
  rtnl_link_set_mtu(change.get(), static_cast<unsigned>(mtu.count()));
  accepted(rtnl_link_change(socket_.get(), original.get(), change.get(), 0),
           "set MTU " + std::to_string(mtu.count()) + " B of " + device);
}

void Devices::set_up(const std::string& device) {
  const Owned<rtnl_link> original(rtnl_link_alloc()), change(rtnl_link_alloc());
  rtnl_link_set_ifindex(original.get(), index(device));
  rtnl_link_set_flags(change.get(), IFF_UP);
  accepted(rtnl_link_change(socket_.get(), original.get(), change.get(), 0), "start " + device);
}

void Devices::add_address(const std::string& device, const std::string& address) {
  nl_addr* parsed = nullptr;
  accepted(nl_addr_parse(address.c_str(), AF_UNSPEC, &parsed), "parse address " + address);
  const Owned<nl_addr> local(parsed);
  const Owned<rtnl_addr> entry(rtnl_addr_alloc());
  rtnl_addr_set_ifindex(entry.get(), index(device));
  rtnl_addr_set_local(entry.get(), local.get());
  // No duplicate address detection: it would keep an IPv6 address unusable for its first second.
  if (nl_addr_get_family(local.get()) == AF_INET6) {
    rtnl_addr_set_flags(entry.get(), IFA_F_NODAD);
  }
  accepted(rtnl_addr_add(socket_.get(), entry.get(), NLM_F_EXCL),
           "give " + device + " the address " + address);
}

void Devices::add_route(const PlannedRoute& route) {
  const auto parse = [](const std::string& address) {
    nl_addr* parsed = nullptr;
    accepted(nl_addr_parse(address.c_str(), AF_UNSPEC, &parsed), "parse address " + address);
    return Owned<nl_addr>(parsed);
  };
  const auto destination = parse(route.destination), gateway = parse(route.gateway);
  const Owned<rtnl_route> entry(rtnl_route_alloc());
  rtnl_route_set_family(entry.get(),
                        static_cast<std::uint8_t>(nl_addr_get_family(destination.get())));
  accepted(rtnl_route_set_dst(entry.get(), destination.get()), "prepare a route");
  rtnl_nexthop* next = rtnl_route_nh_alloc();  // goes with the route
  rtnl_route_nh_set_ifindex(next, index(route.device));
  rtnl_route_nh_set_gateway(next, gateway.get());
  rtnl_route_add_nexthop(entry.get(), next);
  accepted(rtnl_route_add(socket_.get(), entry.get(), NLM_F_EXCL),
           "route to " + route.destination + " by " + route.gateway);
}

void Devices::set_largest_burst(const std::string& device, int segments) {
  // libnl reads this attribute but has no setter, so the change request is completed by hand.
  const Owned<rtnl_link> original(rtnl_link_alloc()), change(rtnl_link_alloc());
  rtnl_link_set_ifindex(original.get(), index(device));
  nl_msg* request = nullptr;
  accepted(rtnl_link_build_change_request(original.get(), change.get(), 0, &request),
           "prepare a change of " + device);
  nlmsg_hdr(request)->nlmsg_flags |= NLM_F_ACK;
  accepted(nla_put_u32(request, IFLA_GSO_MAX_SEGS, static_cast<std::uint32_t>(segments)),
           "prepare a change of " + device);
  accepted(nl_send_sync(socket_.get(), request),  // which also frees the request
           "limit bursts of " + device + " to " + std::to_string(segments) + " segments");
}

void Devices::shape(const std::string& device, const Shaper& shaper) {
  const Owned<rtnl_qdisc> qdisc(rtnl_qdisc_alloc());
  rtnl_tc* tc = TC_CAST(qdisc.get());
  rtnl_tc_set_ifindex(tc, index(device));
  rtnl_tc_set_parent(tc, TC_H_ROOT);
  rtnl_tc_set_handle(tc, TC_HANDLE(1, 0));
  accepted(rtnl_tc_set_kind(tc, "tbf"), "prepare a token bucket");
  rtnl_tc_set_overhead(tc, static_cast<std::uint32_t>(shaper.overhead.count()));
  rtnl_tc_set_mpu(tc, static_cast<std::uint32_t>(shaper.minimum.count()));
  rtnl_qdisc_tbf_set_limit(qdisc.get(), static_cast<int>(shaper.limit.count()));
  rtnl_qdisc_tbf_set_rate(qdisc.get(), static_cast<int>(shaper.rate.bits_per_second() / 8),
                          static_cast<int>(shaper.burst.count()), 0);
  const int answer = rtnl_qdisc_add(socket_.get(), qdisc.get(), NLM_F_CREATE | NLM_F_REPLACE);
  if (answer == -NLE_OBJ_NOTFOUND) {
    throw EnvironmentError(
        "the kernel has no token bucket filter, which gives virtual links their rate; load it with "
        "`modprobe sch_tbf` or use a kernel with CONFIG_NET_SCH_TBF");
  }
  accepted(answer, "shape " + device);
}

void Devices::switch_off(const std::string& device, std::uint32_t command) {
  ethtool_value value{command, 0};
  ifreq request{};
  std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
  request.ifr_data = reinterpret_cast<char*>(&value);
  checked(::ioctl(control_.number(), SIOCETHTOOL, &request), "ethtool: offloads of " + device);
}

void Devices::disable_offloads(const std::string& device, bool checksums) {
  for (const std::uint32_t command : {ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO})
    switch_off(device, command);
  if (checksums) switch_off(device, ETHTOOL_STXCSUM);
}

void Devices::disable_segmentation(const std::string& device) {
  for (const std::uint32_t command : {ETHTOOL_STSO, ETHTOOL_SGSO}) switch_off(device, command);
}

experiments::PortCounters Devices::sent_by_device(const std::string& device) const {
  rtnl_link* found = nullptr;
  accepted(rtnl_link_get_kernel(socket_.get(), 0, device.c_str(), &found), "look up " + device);
  const Owned<rtnl_link> link(found);
  experiments::PortCounters counters;
  counters.frames_sent =
      static_cast<std::int64_t>(rtnl_link_get_stat(link.get(), RTNL_LINK_TX_PACKETS));
  counters.wire_bytes_sent =
      static_cast<std::int64_t>(rtnl_link_get_stat(link.get(), RTNL_LINK_TX_BYTES)) +
      counters.frames_sent * kNotCountedBytes;
  return counters;
}

experiments::PortCounters Devices::counters(const std::string& device) const {
  nl_cache* all = nullptr;
  accepted(rtnl_qdisc_alloc_cache(socket_.get(), &all), "list queueing disciplines");
  const Owned<nl_cache> cache(all);
  const Owned<rtnl_qdisc> qdisc(rtnl_qdisc_get_by_parent(cache.get(), index(device), TC_H_ROOT));
  if (!qdisc || std::string(rtnl_tc_get_kind(TC_CAST(qdisc.get()))) != "tbf") {
    return sent_by_device(device);
  }
  const auto count = [&](rtnl_tc_stat what) {
    return static_cast<std::int64_t>(rtnl_tc_get_stat(TC_CAST(qdisc.get()), what));
  };
  // Where TCP hands over many segments as one packet, the device counts the packet and its one
  // header; a queueing discipline counts what the segments would be (qdisc_pkt_len, gso_segs).
  // Neither counts FCS, preamble and gap.
  experiments::PortCounters counters;
  counters.frames_sent = count(RTNL_TC_PACKETS);
  counters.wire_bytes_sent = count(RTNL_TC_BYTES) + counters.frames_sent * kNotCountedBytes;
  counters.drops["transmit queue"] = count(RTNL_TC_DROPS);
  return counters;
}

bool Devices::operational(const std::string& device) const {
  rtnl_link* found = nullptr;
  accepted(rtnl_link_get_kernel(socket_.get(), 0, device.c_str(), &found), "look up " + device);
  const Owned<rtnl_link> link(found);
  return rtnl_link_get_operstate(link.get()) == IF_OPER_UP;
}

Bytes Devices::backlog(const std::string& device) const {
  nl_cache* all = nullptr;
  accepted(rtnl_qdisc_alloc_cache(socket_.get(), &all), "list queueing disciplines");
  const Owned<nl_cache> cache(all);
  const Owned<rtnl_qdisc> qdisc(rtnl_qdisc_get_by_parent(cache.get(), index(device), TC_H_ROOT));
  if (!qdisc) return Bytes(0);
  return Bytes(static_cast<std::int64_t>(rtnl_tc_get_stat(TC_CAST(qdisc.get()), RTNL_TC_BACKLOG)));
}

}  // namespace linerate::realnet
