// experiments/library/applications/incast.yaml under ns-3: a client asks N servers for a block each,
// waits for all, and asks again. Prints the goodput over all rounds.
//   ./ns3-incast --servers=16 --buffer=65536 --minRto=200ms --rate=1e9
#include <cstdio>
#include <map>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

constexpr uint32_t kRequest = 128;
// A full frame of ns-3's point-to-point links is 1502 B, on Ethernet it takes the time of 1538 B.
constexpr double kFrameShare = 1502.0 / 1538.0;

// Sends `block` bytes for every request that has come whole.
class Server {
 public:
  Server(Ptr<Node> node, uint16_t port, uint32_t block) : block_(block) {
    listener_ = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
    listener_->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
    listener_->Listen();
    listener_->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                 MakeCallback(&Server::Accept, this));
  }

 private:
  void Accept(Ptr<Socket> socket, const Address&) {
    socket->SetRecvCallback(MakeCallback(&Server::Receive, this));
    socket->SetSendCallback(MakeCallback(&Server::Send, this));
  }
  void Receive(Ptr<Socket> socket) {
    while (Ptr<Packet> packet = socket->Recv()) got_ += packet->GetSize();
    while (got_ >= kRequest) {
      got_ -= kRequest;
      left_ += block_;
    }
    Send(socket, 0);
  }
  void Send(Ptr<Socket> socket, uint32_t) {
    while (left_ > 0) {
      const uint32_t size = std::min({left_, socket->GetTxAvailable(), 65536u});
      if (size == 0) return;
      const int sent = socket->Send(Create<Packet>(size));
      if (sent <= 0) return;
      left_ -= static_cast<uint32_t>(sent);
    }
  }

  Ptr<Socket> listener_;
  uint32_t block_, got_ = 0, left_ = 0;
};

class Client {
 public:
  Client(uint32_t rounds, uint32_t block) : rounds_(rounds), block_(block) {}

  void Connect(Ptr<Node> node, Ipv4Address server, uint16_t port) {
    Ptr<Socket> socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
    socket->SetConnectCallback(MakeCallback(&Client::Connected, this),
                               MakeNullCallback<void, Ptr<Socket>>());
    socket->SetRecvCallback(MakeCallback(&Client::Receive, this));
    socket->Connect(InetSocketAddress(server, port));
    sockets_.push_back(socket);
  }
  Time span() const { return end_ - begin_; }
  uint32_t done() const { return round_; }

 private:
  void Connected(Ptr<Socket>) {
    if (++connected_ == sockets_.size()) Ask();
  }
  void Ask() {
    if (round_ == 0) begin_ = Simulator::Now();
    unread_ = block_ * static_cast<uint64_t>(sockets_.size());
    for (const Ptr<Socket>& socket : sockets_) socket->Send(Create<Packet>(kRequest));
  }
  void Receive(Ptr<Socket> socket) {
    while (Ptr<Packet> packet = socket->Recv()) unread_ -= packet->GetSize();
    if (unread_ > 0) return;
    end_ = Simulator::Now();
    if (++round_ == rounds_) return Simulator::Stop();
    Ask();
  }

  uint32_t rounds_, block_, round_ = 0;
  uint64_t unread_ = 0;
  std::size_t connected_ = 0;
  std::vector<Ptr<Socket>> sockets_;
  Time begin_, end_;
};

}  // namespace

int main(int argc, char** argv) {
  uint32_t servers = 8, buffer = 65536, rounds = 20, block = 262144;
  double rate = 1e9;
  std::string minRto = "200ms";
  CommandLine line;
  line.AddValue("servers", "servers", servers);
  line.AddValue("buffer", "bytes of each port's queue, on the wire", buffer);
  line.AddValue("minRto", "least retransmission timeout", minRto);
  line.AddValue("rate", "bit/s of every link", rate);
  line.AddValue("rounds", "rounds", rounds);
  line.AddValue("block", "bytes of each answer", block);
  line.Parse(argc, argv);

  Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
  Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
  Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue(minRto));
  Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));

  NodeContainer hosts, hub;
  hosts.Create(servers + 1);
  hub.Create(1);
  InternetStackHelper stack;
  stack.Install(hosts);
  stack.Install(hub);
  PointToPointHelper cable;
  cable.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate * kFrameShare))));
  cable.SetChannelAttribute("Delay", TimeValue(MicroSeconds(5)));
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
  std::vector<Ipv4Address> of;
  for (uint32_t i = 0; i <= servers; ++i) {
    NetDeviceContainer ends = cable.Install(hosts.Get(i), hub.Get(0));
    const auto queue = [&](uint32_t end, const std::string& size) {
      auto drop_tail = CreateObject<DropTailQueue<Packet>>();
      drop_tail->SetMaxSize(QueueSize(size));
      DynamicCast<PointToPointNetDevice>(ends.Get(end))->SetQueue(drop_tail);
    };
    queue(0, "100000p");
    queue(1, std::to_string(uint32_t(buffer * kFrameShare)) + "B");
    of.push_back(addresses.Assign(ends).GetAddress(0));
    TrafficControlHelper().Uninstall(ends);
    addresses.NewNetwork();
  }
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  std::vector<std::unique_ptr<Server>> all;
  Client client(rounds, block);
  for (uint32_t i = 1; i <= servers; ++i) {
    all.push_back(std::make_unique<Server>(hosts.Get(i), 5000, block));
    client.Connect(hosts.Get(0), of[i], 5000);
  }
  Simulator::Stop(Seconds(600));
  Simulator::Run();
  const double bits = 8.0 * block * servers * client.done();
  std::printf("servers %u buffer %u minRto %s rounds %u goodput %.1f Mbit/s\n", servers, buffer,
              minRto.c_str(), client.done(), bits / client.span().GetSeconds() / 1e6);
  Simulator::Destroy();
}
