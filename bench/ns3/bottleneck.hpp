// What the ns-3 programs have in common: TCP as experiments/library sets it, and links whose full
// frames take as long as on Ethernet.
#pragma once

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <string>

namespace bottleneck {

// A packet of 1500 bytes takes 1538 bytes of Ethernet's line time; ns-3's point-to-point frame is
// 1502 bytes. Rates are scaled so that it takes as long.
constexpr double kFrameRatio = 1502.0 / 1538.0;

/// SACK with proportional rate reduction, every second segment acknowledged after at most 40 ms,
/// RTO minimum 200 ms; `buffer` bytes at either end, beyond any window.
inline void SetTcp(uint32_t buffer) {
  using namespace ns3;
  Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpPrrRecovery"));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
  Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
  Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
  Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
}

inline ns3::NetDeviceContainer Connect(ns3::Ptr<ns3::Node> from, ns3::Ptr<ns3::Node> to,
                                       double rate_mbps, double delay_ms,
                                       const std::string& device_queue) {
  using namespace ns3;
  PointToPointHelper link;
  link.SetDeviceAttribute("DataRate",
                          DataRateValue(DataRate(uint64_t(rate_mbps * 1e6 * kFrameRatio))));
  link.SetChannelAttribute("Delay", TimeValue(Seconds(delay_ms * 1e-3)));
  link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(device_queue));
  return link.Install(from, to);
}

}  // namespace bottleneck
