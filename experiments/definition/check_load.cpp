// When and how much a test sends: arrivals, sizes, outstanding requests, barriers.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "experiments/definition/build.hpp"
#include "experiments/definition/fields.hpp"

namespace linerate::experiments {

double mean_size(const Sizes& sizes) {
  if (sizes.exponential) return static_cast<double>(sizes.exponential->count());
  if (sizes.distribution.empty()) return 0;
  // What the first point's share says lies at its size, the rest evenly between two points.
  SizePoint below{sizes.distribution.front().size, 0};
  double mean = 0;
  for (const SizePoint& point : sizes.distribution) {
    mean +=
        (point.share - below.share) * static_cast<double>((point.size + below.size).count()) / 2;
    below = point;
  }
  return mean;
}

namespace {

// As many flows as one test may have in all (build_tests.cpp).
constexpr double kMostArrivals = 1e6;

class LoadCheck {
 public:
  LoadCheck(BuildContext& context, const std::string& path, const Test& test)
      : context_(context), path_(path), test_(test) {}

  void arrivals() {
    if (!test_.arrivals) return;
    const Arrivals& a = *test_.arrivals;
    if (a.poisson.has_value() == a.periodic.has_value()) {
      error("arrivals", "how they arrive is one of `poisson` and `periodic`",
            "write {poisson: 1000/s}");
      return;
    }
    for (const char* key : {"rate", "frame_rate", "writes", "barrier"}) exclusive("arrivals", key);
    if (test_.type != TestType::tcp_stream) return;
    if (!test_.bytes && !test_.sizes) {
      error("arrivals", "flows that arrive must end too", "give each its `bytes` or `sizes`");
    }
    const double flows =
        a.rate() * test_.duration.seconds() * test_.flows * static_cast<double>(test_.pairs.size());
    if (flows > kMostArrivals) {
      error("arrivals", fmt::format("{:.0f} flows arrive, more than {:.0f}", flows, kMostArrivals),
            "use a lower rate or a shorter duration");
    }
  }

  void sizes() {
    if (!test_.sizes) return;
    for (const char* key :
         {"bytes", "writes", "response", "datagram", "frame_size", "frame_sizes"}) {
      exclusive("sizes", key);
    }
    if (test_.type == TestType::tcp_stream && !test_.arrivals) exclusive("sizes", "duration");
    const Sizes& s = *test_.sizes;
    if (s.distribution.empty() == !s.exponential) {
      error("sizes", "sizes have either a `distribution` or an `exponential` mean",
            "write {distribution: [[1KiB, 0.5], [1MiB, 1]]}");
      return;
    }
    if (!s.distribution.empty() && points(s.distribution)) limits(s.distribution);
  }

  void barrier() {
    if (!test_.barrier) return;
    exclusive("barrier", "outstanding");
    std::set<int> clients;
    for (const Test::Pair& pair : test_.pairs) clients.insert(pair.from_host);
    if (clients.size() > 1) {
      error("barrier", "only one client can wait for all its servers", "let `from` be one host");
    }
    if (test_.direction != Direction::forward) {
      error("direction", "a barrier has its one client in `from`", "remove `direction`");
    }
  }

 private:
  void error(const std::string& key, std::string message, std::string remedy) {
    context_.error(path_ + "." + key, std::move(message), std::move(remedy));
  }
  void exclusive(const std::string& one, const std::string& other) {
    if (!context_.given(path_ + "." + one) || !context_.given(path_ + "." + other)) return;
    error(other, fmt::format("`{}` and `{}` exclude each other", one, other), "remove one");
  }

  /// Whether the points make a cumulative distribution.
  bool points(const std::vector<SizePoint>& list) {
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (list[i].size >= list[i - 1].size && list[i].share >= list[i - 1].share) continue;
      error(fmt::format("sizes.distribution[{}]", i), "sizes and shares must not fall",
            "sort the points");
      return false;
    }
    if (list.back().share == 1) return true;
    error("sizes.distribution", fmt::format("the last share is {}, not 1", list.back().share),
          "all sizes are at most the largest");
    return false;
  }

  /// Frames and datagrams must fit; an exponential size is cut to what does.
  void limits(const std::vector<SizePoint>& list) {
    const bool raw = test_.type == TestType::raw_frames;
    if (!raw && test_.type != TestType::udp_stream) return;
    const Bytes largest = list.back().size, room = room_of(test_, context_.experiment);
    if (largest > room) {
      error("sizes", fmt::format("{} B do not fit, at most {} B do", largest.count(), room.count()),
            "end the distribution there, or raise the NIC's mtu");
    }
    if (raw && list.front().size < Bytes(64)) {
      error("sizes", fmt::format("no frame has {} B", list.front().size.count()),
            "begin the distribution at 64B (IEEE 802.3)");
    }
  }

  BuildContext& context_;
  const std::string& path_;
  const Test& test_;
};

}  // namespace

Bytes room_of(const Test& test, const Experiment& experiment) {
  Bytes smallest{std::numeric_limits<std::int64_t>::max()};
  bool tagged = false;
  for (const Test::Pair& pair : test.pairs) {
    const auto nic = [&](int host, int index) -> const Nic& {
      return experiment.hosts[static_cast<std::size_t>(host)].nics[static_cast<std::size_t>(index)];
    };
    const Nic& from = nic(pair.from_host, pair.from_nic);
    for (const Nic* end : {&from, &nic(pair.to_host, pair.to_nic)})
      smallest = std::min(
          smallest,
          test.type == TestType::raw_frames
              ? end->mtu
              : inner_mtu(encapsulation_layers(end->encapsulation, test.ip, end->mtu), end->mtu));
    tagged = tagged || from.vlan;
  }
  if (test.pairs.empty()) return smallest;
  // Ethernet header and FCS, perhaps with a tag; IP and UDP headers (RFC 791, 8200, 768).
  if (test.type == TestType::raw_frames) return smallest + Bytes(tagged ? 22 : 18);
  return smallest - Bytes(test.ip == 6 ? 48 : 28);
}

void check_load(BuildContext& context, const std::string& path, const Test& test) {
  LoadCheck check(context, path, test);
  check.arrivals();
  check.sizes();
  check.barrier();
}

}  // namespace linerate::experiments
