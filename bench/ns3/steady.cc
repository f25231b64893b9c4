// The cases of experiments/library/steady under ns-3: one flow, or two of other congestion controls
// or round trips, over a bottleneck with a drop-tail buffer. Prints each flow's goodput.
//   ./ns3-steady --near=TcpCubic --rtt=10 --loss=0.001
//   ./ns3-steady --near=TcpLinuxReno --far=TcpLinuxReno --farRtt=80 --rtt=20 --rate=50
#include <cstdio>
#include <string>
#include <vector>

#include "bench/ns3/bottleneck.hpp"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;
using bottleneck::Connect;

namespace {

struct Options {
  std::string near = "TcpCubic", far;  ///< congestion controls; no far: one flow
  double rtt_ms = 20, far_rtt_ms = 20;
  double rate_mbps = 100;
  double loss = 0;
  double buffer_bytes = 250000;
  double duration_s = 60, omit_s = 10;
  uint32_t seed = 1;
};

struct Flow {
  Ptr<PacketSink> sink;
  uint64_t before = 0;
  void Mark() { before = sink->GetTotalRx(); }
};

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CommandLine command;
  command.AddValue("near", "congestion control of the first flow", o.near);
  command.AddValue("far", "of the second, if there is one", o.far);
  command.AddValue("rtt", "of the first flow, ms", o.rtt_ms);
  command.AddValue("farRtt", "of the second flow, ms", o.far_rtt_ms);
  command.AddValue("rate", "of the bottleneck, Mbit/s", o.rate_mbps);
  command.AddValue("loss", "chance of losing a data packet", o.loss);
  command.AddValue("buffer", "of the bottleneck, B on the wire", o.buffer_bytes);
  command.AddValue("duration", "s", o.duration_s);
  command.AddValue("omit", "start that is not counted, s", o.omit_s);
  command.AddValue("seed", "run of the random numbers", o.seed);
  command.Parse(argc, argv);
  RngSeedManager::SetRun(o.seed);
  bottleneck::SetTcp(16 << 20);

  // Nodes 0 and 1 send, 2 has the bottleneck, 3 receives; half the shorter delay is behind it.
  NodeContainer nodes(4);
  InternetStackHelper().Install(nodes);
  const double behind = std::min(o.rtt_ms, o.far_rtt_ms) / 4;
  const std::string buffer = std::to_string(uint32_t(o.buffer_bytes / 1538)) + "p";
  const std::string room = "100000p";
  const NetDeviceContainer links[] = {
      Connect(nodes.Get(0), nodes.Get(2), 1000, o.rtt_ms / 2 - behind, room),
      Connect(nodes.Get(1), nodes.Get(2), 1000, o.far_rtt_ms / 2 - behind, room),
      Connect(nodes.Get(2), nodes.Get(3), o.rate_mbps, behind, buffer)};
  const Ptr<RateErrorModel> error = CreateObject<RateErrorModel>();
  error->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
  error->SetRate(o.loss);
  links[2].Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(error));
  // The buffer is the device's; nothing waits above it.
  Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
  Ipv4Address sink_address;
  for (const NetDeviceContainer& link : links) {
    sink_address = address.Assign(link).GetAddress(1);
    address.NewNetwork();
    TrafficControlHelper().Uninstall(link);
  }
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  const Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
  std::vector<Flow> flows;
  for (uint32_t i = 0; i < (o.far.empty() ? 1u : 2u); ++i) {
    const TypeId control = TypeId::LookupByName("ns3::" + (i == 0 ? o.near : o.far));
    Config::Set("/NodeList/" + std::to_string(i) + "/$ns3::TcpL4Protocol/SocketType",
                TypeIdValue(control));
    const uint16_t port = uint16_t(5000 + i);
    BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(sink_address, port));
    sender.SetAttribute("SendSize", UintegerValue(131072));
    sender.Install(nodes.Get(i)).Start(Seconds(start->GetValue(0, o.far.empty() ? 0 : 1)));
    PacketSinkHelper reader("ns3::TcpSocketFactory",
                            InetSocketAddress(Ipv4Address::GetAny(), port));
    flows.push_back({DynamicCast<PacketSink>(reader.Install(nodes.Get(3)).Get(0))});
  }
  for (Flow& flow : flows) Simulator::Schedule(Seconds(o.omit_s), &Flow::Mark, &flow);
  Simulator::Stop(Seconds(o.duration_s));
  Simulator::Run();
  for (const Flow& flow : flows)
    std::printf("%9.4f Mbit/s  ",
                double(flow.sink->GetTotalRx() - flow.before) * 8e-6 / (o.duration_s - o.omit_s));
  std::printf("\n");
  Simulator::Destroy();
  return 0;
}
