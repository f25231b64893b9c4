#include "experiments/definition/topology.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <set>
#include <string>

using namespace linerate;
using namespace linerate::experiments;

namespace {

// A network in words: hosts with so many NICs, switches, and cables between named ends.
class Network {
 public:
  Network& host(const std::string& name, int nics = 1, Forwarding forwarding = Forwarding::none) {
    Host host;
    host.name = name;
    host.forwarding = forwarding;
    for (int i = 0; i < nics; ++i) host.nics.emplace_back().name = "eth" + std::to_string(i);
    hosts_[name] = static_cast<int>(experiment_.hosts.size());
    experiment_.hosts.push_back(host);
    return *this;
  }
  Network& switch_(const std::string& name) {
    switches_[name] = static_cast<int>(experiment_.switches.size());
    experiment_.switches.emplace_back().name = name;
    return *this;
  }
  /// Ends are "a" (its first NIC), "a:1" (its second) or a switch, which takes its next free port.
  Network& cable(const std::string& one, const std::string& other) {
    Link& link = experiment_.links.emplace_back();
    link.ends[0] = end(one);
    link.ends[1] = end(other);
    return *this;
  }
  Topology topology() const { return Topology(experiment_); }
  int index(const std::string& name) const { return hosts_.at(name); }

  /// The nodes a packet visits, "a s1 b"; checks on the way that hops join.
  std::string walk(const Topology& topology, const std::string& from, const std::string& to,
                   std::uint64_t hash = 0, int from_nic = 0, int to_nic = 0) const {
    const auto hops = topology.path(index(from), from_nic, index(to), to_nic, {hash, 0});
    std::string visited = hops.empty() ? "" : from;
    PortRef here{NodeKind::host, index(from), from_nic};
    for (const Hop& hop : hops) {
      const Link& link = experiment_.links[static_cast<std::size_t>(hop.link)];
      const PortRef& leaves = link.ends[hop.from_end];
      CHECK(leaves.kind == here.kind);
      CHECK(leaves.node == here.node);
      here = link.ends[1 - hop.from_end];
      visited += " " + name(here);
    }
    if (!hops.empty()) {
      const Link& first = experiment_.links[static_cast<std::size_t>(hops.front().link)];
      CHECK(first.ends[hops.front().from_end].port == from_nic);
      CHECK(here == PortRef{NodeKind::host, index(to), to_nic});
    }
    return visited;
  }

 private:
  PortRef end(const std::string& text) {
    const std::string node = text.substr(0, text.find(':'));
    if (const auto found = switches_.find(node); found != switches_.end())
      return {NodeKind::switch_, found->second, ports_[node]++};
    const bool has_nic = text.find(':') != std::string::npos;
    return {NodeKind::host, hosts_.at(node),
            has_nic ? std::stoi(text.substr(text.find(':') + 1)) : 0};
  }
  std::string name(const PortRef& at) const {
    const auto node = static_cast<std::size_t>(at.node);
    return at.kind == NodeKind::host ? experiment_.hosts[node].name
                                     : experiment_.switches[node].name;
  }

  Experiment experiment_;
  std::map<std::string, int> hosts_, switches_, ports_;
};

// A fat tree of k-port switches (Al-Fares et al. 2008): k^3/4 hosts, (k/2)^2 core switches.
Network fat_tree(int k) {
  Network net;
  const int half = k / 2;
  for (int core = 0; core < half * half; ++core) net.switch_("core" + std::to_string(core));
  int hosts = 0;
  for (int pod = 0; pod < k; ++pod) {
    const std::string p = std::to_string(pod) + ".";
    for (int i = 0; i < half; ++i) {
      net.switch_("agg" + p + std::to_string(i)).switch_("edge" + p + std::to_string(i));
      for (int up = 0; up < half; ++up)
        net.cable("agg" + p + std::to_string(i), "core" + std::to_string(i * half + up));
    }
    for (int edge = 0; edge < half; ++edge) {
      for (int agg = 0; agg < half; ++agg)
        net.cable("edge" + p + std::to_string(edge), "agg" + p + std::to_string(agg));
      for (int port = 0; port < half; ++port) {
        const std::string host = "h" + std::to_string(hosts++);
        net.host(host).cable(host, "edge" + p + std::to_string(edge));
      }
    }
  }
  return net;
}

}  // namespace

TEST_CASE("a cable between two hosts is one hop each way") {
  Network net;
  net.host("a").host("b").cable("a", "b");
  const Topology topology = net.topology();
  CHECK(topology.path(0, 0, 1, 0) == std::vector<Hop>{{0, 0}});
  CHECK(topology.path(1, 0, 0, 0) == std::vector<Hop>{{0, 1}});
  CHECK(topology.path_count(0, 0, 1, 0) == 1);
}

TEST_CASE("a path takes the fewest hops") {
  Network net;
  net.host("a").host("b").switch_("s1").switch_("s2").switch_("s3");
  net.cable("a", "s1").cable("s1", "s2").cable("s2", "s3").cable("s1", "s3").cable("s3", "b");
  const Topology topology = net.topology();
  for (std::uint64_t hash = 0; hash < 100; ++hash)
    CHECK(net.walk(topology, "a", "b", hash) == "a s1 s3 b");
  CHECK(topology.path_count(0, 0, 1, 0) == 1);
}

TEST_CASE("a host passes packets on only if it forwards") {
  const auto through = [](Forwarding forwarding) {
    Network net;
    net.host("a").host("r", 2, forwarding).host("b").cable("a", "r:0").cable("r:1", "b");
    return net.walk(net.topology(), "a", "b");
  };
  CHECK(through(Forwarding::none) == "");
  CHECK(through(Forwarding::kernel) == "a r b");
  CHECK(through(Forwarding::poll_mode) == "a r b");
}

TEST_CASE("a path leaves by the NIC it is given and enters by the NIC it is given") {
  Network net;
  net.host("a", 2).host("b", 2).switch_("s1").switch_("s2").switch_("s3");
  net.cable("a:0", "s1").cable("a:1", "s2").cable("s1", "s3").cable("s2", "s3");
  net.cable("s3", "b:0").cable("s2", "b:1");
  const Topology topology = net.topology();
  CHECK(net.walk(topology, "a", "b", 1, 0, 0) == "a s1 s3 b");
  CHECK(net.walk(topology, "a", "b", 1, 1, 0) == "a s2 s3 b");
  CHECK(net.walk(topology, "a", "b", 1, 0, 1) == "a s1 s3 s2 b");
  CHECK(net.walk(topology, "a", "b", 1, 1, 1) == "a s2 b");
}

TEST_CASE("a sender that forwards does not carry its own packets in at the back") {
  Network net;
  net.host("r", 2, Forwarding::kernel).host("b").switch_("dead-end").switch_("s1");
  net.cable("r:0", "dead-end").cable("r:1", "s1").cable("s1", "b");
  const Topology topology = net.topology();
  CHECK(net.walk(topology, "r", "b", 0, 1) == "r s1 b");
  CHECK(net.walk(topology, "r", "b", 0, 0) == "");
  CHECK(topology.path_count(0, 0, 1, 0) == 0);
}

TEST_CASE("a NIC without a cable, or in another network, is unreachable") {
  Network net;
  net.host("a").host("b").host("c").host("d").cable("a", "b");
  const Topology topology = net.topology();
  CHECK(topology.path(0, 0, 2, 0).empty());
  CHECK(topology.path(2, 0, 0, 0).empty());
  CHECK(topology.path(2, 0, 3, 0).empty());
  CHECK(topology.path_count(0, 0, 2, 0) == 0);
}

TEST_CASE("parallel cables are equal choices, and a flow keeps to its own") {
  Network net;
  net.host("a").host("b").switch_("s1").switch_("s2").cable("a", "s1");
  for (int i = 0; i < 4; ++i) net.cable("s1", "s2");
  net.cable("s2", "b");
  const Topology topology = net.topology();
  CHECK(topology.path_count(0, 0, 1, 0) == 4);
  std::map<int, int> used;
  for (std::uint64_t hash = 0; hash < 4000; ++hash) {
    const auto hops = topology.path(0, 0, 1, 0, {hash, 0});
    REQUIRE(hops.size() == 3);
    CHECK(hops == topology.path(0, 0, 1, 0, {hash, 0}));
    ++used[hops[1].link];
  }
  // Each is Binomial(4000, 1/4): 1000 +- 27; six standard deviations.
  REQUIRE(used.size() == 4);
  for (const auto& [link, flows] : used) CHECK(std::abs(flows - 1000) < 165);
}

TEST_CASE("a fat tree of k-port switches has k^2/4 paths between pods, k/2 within one") {
  const int k = 8;
  const Network net = fat_tree(k);
  const Topology topology = net.topology();
  CHECK(topology.path_count(net.index("h0"), 0, net.index("h1"), 0) == 1);
  CHECK(topology.path_count(net.index("h0"), 0, net.index("h4"), 0) == k / 2);
  CHECK(topology.path_count(net.index("h0"), 0, net.index("h127"), 0) == k * k / 4);

  // Choices at successive switches are independent: enough flows see every core switch.
  std::set<std::string> cores;
  for (std::uint64_t hash = 0; hash < 500; ++hash) {
    const std::string visited = net.walk(topology, "h0", "h127", hash);
    cores.insert(visited.substr(visited.find("core"), 6));
  }
  CHECK(cores.size() == 16);
}

TEST_CASE("the number of paths is capped, not overflowed") {
  Network net;
  net.host("a").host("b");
  for (int i = 0; i <= 40; ++i) net.switch_("s" + std::to_string(i));
  net.cable("a", "s0");
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 4; ++j) net.cable("s" + std::to_string(i), "s" + std::to_string(i + 1));
  net.cable("s40", "b");
  CHECK(net.topology().path_count(0, 0, 1, 0) == 1'000'000);
}

TEST_CASE("1,024 hosts of a fat tree all reach each other, in microseconds a path") {
  const Network net = fat_tree(16);
  const Topology topology = net.topology();
  const auto start = std::chrono::steady_clock::now();
  std::int64_t paths = 0, hops = 0;
  for (int from = 0; from < 1024; ++from)
    for (int step = 1; step < 1024; step += 16) {
      const auto path = topology.path(from, 0, (from + step) % 1024, 0, {7u * from + step, 0});
      hops += static_cast<std::int64_t>(path.size());
      paths += path.empty() ? 0 : 1;
    }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(paths == 1024 * 64);
  CHECK(hops <= paths * 6);
  // Generous for a loaded machine under sanitizers: 65,536 paths at 100 us.
  INFO("microseconds a path: " << took.count() * 1e6 / static_cast<double>(paths));
  CHECK(took.count() < 6.5);
}
