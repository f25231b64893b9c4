// The cases of experiments/library/queues under ns-3: TCP flows from one host to another over a
// bottleneck whose queue is RED, CoDel, FQ-CoDel or PIE. Prints mean and 99th percentile of the
// queueing delay, goodput and drops. Built by the command in bench/ns3/README.md, not by CMake.
//
//     a -- 1 Gbit/s -- left router == bottleneck, delay == right router -- 1 Gbit/s -- b
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
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
using bottleneck::kFrameRatio;

namespace {

struct Options {
  std::string discipline = "codel";
  uint32_t flows = 10;
  double rate_mbps = 50;
  double delay_ms = 20;
  double duration_s = 30;
  double omit_s = 10;
  double spread_s = 1;
  std::string congestion = "TcpLinuxReno";
  bool ecn = false;
  uint32_t seed = 1;
};

/// Waits from entering the discipline to the first bit on the line, the packet that waits in the
/// device below the discipline included.
struct Waits {
  Time from;
  std::vector<double> samples;
  std::deque<Time> below;  ///< when the packets between discipline and line were queued

  void Dequeued(Ptr<const QueueDiscItem> item) { below.push_back(item->GetTimeStamp()); }
  void DroppedAfterDequeue(Ptr<const QueueDiscItem>, const char*) { below.pop_back(); }
  void Begins(Ptr<const Packet>) {
    if (Simulator::Now() >= from)
      samples.push_back((Simulator::Now() - below.front()).GetSeconds());
    below.pop_front();
  }
  double Mean() const {
    double sum = 0;
    for (const double sample : samples) sum += sample;
    return samples.empty() ? 0 : sum / double(samples.size());
  }
  double Quantile(double q) {
    if (samples.empty()) return 0;
    std::sort(samples.begin(), samples.end());
    return samples[std::min(samples.size() - 1, size_t(q * double(samples.size())))];
  }
};

void SetTcp(const Options& o) {
  bottleneck::SetTcp(8 << 20);
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + o.congestion));
  Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(o.ecn ? "On" : "Off"));
}

// The parameters stand out here because ns-3's defaults differ from the RFCs' in some places.
void SetDiscipline(const Options& o, TrafficControlHelper& control) {
  const BooleanValue ecn(o.ecn);
  if (o.discipline == "red") {
    const DataRate line(uint64_t(o.rate_mbps * 1e6 * kFrameRatio));
    control.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", StringValue("1000p"), "MinTh",
                             DoubleValue(50), "MaxTh", DoubleValue(150), "LInterm", DoubleValue(10),
                             "QW", DoubleValue(0.002), "Gentle", BooleanValue(true), "Wait",
                             BooleanValue(false), "MeanPktSize", UintegerValue(1000),
                             "LinkBandwidth", DataRateValue(line), "UseEcn", ecn);
  } else if (o.discipline == "codel") {
    control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", StringValue("1000p"), "Interval",
                             StringValue("100ms"), "Target", StringValue("5ms"), "UseEcn", ecn);
  } else if (o.discipline == "fq-codel") {
    control.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", StringValue("10240p"), "Interval",
                             StringValue("100ms"), "Target", StringValue("5ms"), "Flows",
                             UintegerValue(1024), "UseEcn", ecn);
  } else if (o.discipline == "pie") {
    control.SetRootQueueDisc("ns3::PieQueueDisc", "MaxSize", StringValue("1000p"),
                             "QueueDelayReference", StringValue("15ms"), "Tupdate",
                             StringValue("15ms"), "MaxBurstAllowance", StringValue("150ms"),
                             "MeanPktSize", UintegerValue(1500), "UseEcn", ecn);
  } else if (o.discipline == "fifo") {
    control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("200p"));
  } else {
    std::fprintf(stderr, "no discipline %s\n", o.discipline.c_str());
    std::exit(2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CommandLine command;
  command.AddValue("discipline", "red, codel, fq-codel, pie or fifo", o.discipline);
  command.AddValue("flows", "TCP flows", o.flows);
  command.AddValue("rate", "of the bottleneck, Mbit/s", o.rate_mbps);
  command.AddValue("delay", "one way, ms", o.delay_ms);
  command.AddValue("duration", "s", o.duration_s);
  command.AddValue("omit", "start that is not counted, s", o.omit_s);
  command.AddValue("spread", "flows begin within so many seconds", o.spread_s);
  command.AddValue("congestion", "ns-3's name of the congestion control", o.congestion);
  command.AddValue("ecn", "marks instead of drops", o.ecn);
  command.AddValue("seed", "run of the random numbers", o.seed);
  command.Parse(argc, argv);
  RngSeedManager::SetRun(o.seed);
  SetTcp(o);

  NodeContainer nodes(4);
  InternetStackHelper().Install(nodes);
  const NetDeviceContainer access = Connect(nodes.Get(0), nodes.Get(1), 1000, 0, "100000p");
  // One packet in the device, so that the discipline above it sees the queue.
  const NetDeviceContainer bottleneck =
      Connect(nodes.Get(1), nodes.Get(2), o.rate_mbps, o.delay_ms, "1p");
  const NetDeviceContainer exit = Connect(nodes.Get(2), nodes.Get(3), 1000, 0, "100000p");

  TrafficControlHelper control;
  SetDiscipline(o, control);
  const QueueDiscContainer queues = control.Install(bottleneck.Get(0));
  Waits waits{Seconds(o.omit_s), {}, {}};
  queues.Get(0)->TraceConnectWithoutContext("Dequeue", MakeCallback(&Waits::Dequeued, &waits));
  queues.Get(0)->TraceConnectWithoutContext("DropAfterDequeue",
                                            MakeCallback(&Waits::DroppedAfterDequeue, &waits));
  bottleneck.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Waits::Begins, &waits));

  Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
  TrafficControlHelper plain;
  plain.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("100000p"));
  plain.Install(bottleneck.Get(1));
  plain.Install(access);
  plain.Install(exit);
  address.Assign(access);
  address.NewNetwork();
  address.Assign(bottleneck);
  address.NewNetwork();
  const Ipv4InterfaceContainer last = address.Assign(exit);
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  // Flows that begin at once stay in step; each begins within the first second.
  const Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
  std::vector<Ptr<PacketSink>> sinks;
  for (uint32_t flow = 0; flow < o.flows; ++flow) {
    const uint16_t port = uint16_t(5000 + flow);
    BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(last.GetAddress(1), port));
    sender.SetAttribute("SendSize", UintegerValue(131072));
    sender.Install(nodes.Get(0)).Start(Seconds(start->GetValue(0, o.spread_s)));
    PacketSinkHelper reader("ns3::TcpSocketFactory",
                            InetSocketAddress(Ipv4Address::GetAny(), port));
    sinks.push_back(DynamicCast<PacketSink>(reader.Install(nodes.Get(3)).Get(0)));
  }
  uint64_t before = 0, after = 0;
  const auto read = [&](uint64_t* sum) {
    for (const auto& sink : sinks) *sum += sink->GetTotalRx();
  };
  Simulator::Schedule(
      Seconds(o.omit_s), +[](decltype(read)* r, uint64_t* sum) { (*r)(sum); }, &read, &before);
  Simulator::Stop(Seconds(o.duration_s));
  Simulator::Run();
  read(&after);

  const QueueDisc::Stats stats = queues.Get(0)->GetStats();
  std::printf(
      "%-9s %4u flows  mean %8.3f ms  p99 %8.3f ms  goodput %8.4f Mbit/s  drops %u  marks %u\n",
      o.discipline.c_str(), o.flows, waits.Mean() * 1e3, waits.Quantile(0.99) * 1e3,
      double(after - before) * 8e-6 / (o.duration_s - o.omit_s), stats.nTotalDroppedPackets,
      stats.nTotalMarkedPackets);
  Simulator::Destroy();
  return 0;
}
