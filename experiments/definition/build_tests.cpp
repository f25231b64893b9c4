// Tests: which NICs they run between, and whether their keys fit their type and each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "experiments/definition/build.hpp"
#include "experiments/definition/encapsulated_path.hpp"
#include "experiments/definition/nearest.hpp"
#include "experiments/definition/pattern.hpp"
#include "experiments/definition/topology.hpp"

namespace linerate::experiments {

const char* name_of(TestType type) {
  for (const Word& word : kTestTypeWords) {
    if (word.value == static_cast<int>(type)) return word.text;
  }
  return "?";
}

namespace {

// RFC 2544 9.1, for Ethernet.
constexpr std::int64_t kStandardSizes[] = {64, 128, 256, 512, 1024, 1280, 1518};

// A thousand hosts sending to each other at once is more than any run finishes.
constexpr std::int64_t kMostFlows = 1'000'000;
constexpr std::int64_t kMostPairs = 100'000;

struct End {
  int host = -1;
  int nic = -1;  ///< -1: whichever reaches the other end
};

class TestBuilder {
 public:
  explicit TestBuilder(BuildContext& context) : context_(context) {
    // Routes exist only between links that were all understood.
    const Diagnostics& diagnostics = context.read.diagnostics;
    if (!diagnostics.touched("links") && !diagnostics.touched("hosts") &&
        !diagnostics.touched("switches")) {
      topology_.emplace(context.experiment);
    }
  }

  void build(TestSpec& spec) {
    spec_ = &spec;
    test_ = spec.value;
    path_ = test_.name.empty() ? fmt::format("tests[{}]", context_.experiment.tests.size())
                               : "tests." + test_.name;
    test_.send_buffer = spec.socket_buffer.send;
    test_.receive_buffer = spec.socket_buffer.receive;
    const int index = static_cast<int>(context_.experiment.tests.size());
    if (!context_.tests.emplace(test_.name, index).second && !test_.name.empty()) {
      context_.error(path_ + ".name", fmt::format("two tests are called `{}`", test_.name),
                     "rename one of them");
    }
    if (!context_.read.diagnostics.touched(path_)) {
      check_keys();
      check_length();
      check_writes();
      resolve_pairs();
      check_frames();
      check_load(context_, path_, test_);
      check_search();
    }
    context_.experiment.tests.push_back(test_);
  }

  /// Background load ends with the tests it disturbs, so there must be one.
  void check_groups() {
    std::map<std::string, bool> judged;
    for (const Test& test : context_.experiment.tests) {
      if (!test.background) judged[test.group] = true;
    }
    for (const Test& test : context_.experiment.tests) {
      path_ = "tests." + test.name;
      if (!test.background || context_.read.diagnostics.touched(path_)) continue;
      if (test.group.empty() || !judged[test.group]) {
        error("background", "nothing runs beside this background test",
              "put it and another test in one `group`");
      }
    }
  }

 private:
  void error(const std::string& key, std::string message, std::string remedy = {}) {
    context_.error(path_ + "." + key, std::move(message), std::move(remedy));
  }
  bool given(const std::string& key) const { return context_.given(path_ + "." + key); }
  bool is(unsigned types) const { return (types >> unsigned(test_.type) & 1u) != 0; }

  void exclusive(const char* one, const char* other) {
    if (!given(one) || !given(other)) return;
    error(other, fmt::format("`{}` and `{}` exclude each other", one, other), "remove one");
  }

  void check_keys() {
    for (const KeyOfTypes& key : kKeysOfTypes) {
      if (is(key.types) || !given(std::string(key.key))) continue;
      std::string types;
      for (const Word& word : kTestTypeWords) {
        if (word.later || (key.types >> word.value & 1u) == 0) continue;
        types += (types.empty() ? "" : ", ") + std::string(word.text);
      }
      const bool pacing = key.key == "rate" && is(kTcp);
      error(std::string(key.key),
            fmt::format("a {} test has no `{}`; it is for {}", experiments::name_of(test_.type),
                        key.key, types),
            pacing ? "write `pacing` to limit a TCP sender" : "");
    }
    if (test_.ip == 5) error("ip", "there is no IP version 5 here", "write 4 or 6");
    if (test_.congestion) check_congestion(context_, path_ + ".congestion", *test_.congestion);
    if (!test_.group.empty() && !is_name(test_.group)) {
      error("group", fmt::format("`{}` is not a name", test_.group),
            "a name is lower-case letters, digits and hyphens, a letter first");
    }
  }

  void check_length() {
    if (!test_.arrivals) exclusive("bytes", "duration");
    if (!test_.arrivals) exclusive("bytes", "omit");
    if (test_.verify) exclusive("truncate", "verify");
    exclusive("transactions", "duration");
    exclusive("transactions", "omit");
    if (is(kFile) && !test_.bytes)
      return context_.error(path_, "the key `bytes` is missing: how long is the file?",
                            "add `bytes: 100MB`");
    if (!timed(test_) || is_search(test_.type)) return;
    if (test_.duration == Time{}) {
      error("duration", "nothing is sent in no time", "write 10s");
    } else if (test_.omit >= test_.duration) {
      const auto show = [](Time t) { return format_value({.kind = Kind::time}, to_value(t)); };
      error(given("omit") ? "omit" : "duration",
            fmt::format("omit {} leaves nothing of duration {}", show(test_.omit),
                        show(test_.duration)),
            "let omit be shorter");
    }
  }

  void check_writes() {
    if (!test_.writes.empty()) {
      exclusive("write", "writes");
      std::int64_t total = 0;
      for (const TimedWrites& group : test_.writes) {
        // Both factors are bounded, so their quotient test cannot overflow.
        constexpr std::int64_t kMost = std::int64_t{1} << 52;
        if (group.size.count() > 0 && group.count > (kMost - total) / group.size.count()) {
          error("writes", "more than 4 PiB in all");
          return;
        }
        total += group.size.count() * group.count;
      }
      if (test_.bytes && test_.bytes->count() != total) {
        error("bytes", fmt::format("the writes make {} B, not {}", total, test_.bytes->count()),
              "remove `bytes`");
      }
    }
    const Reader& reader = test_.reader;
    if (reader.pause_at.has_value() != (reader.pause_for > Time{})) {
      error("reader", "a pause needs `pause_at` and `pause_for`", "add the other one");
    }
  }

  void check_frames() {
    exclusive("frame_size", "frame_sizes");
    exclusive("rate", "frame_rate");
    if (spec_->frame_size) take_frame_size(*spec_->frame_size);
    if (is(kSearch) && test_.frame_sizes.empty()) {
      for (const std::int64_t size : kStandardSizes) test_.frame_sizes.emplace_back(size);
      spec_->value.frame_sizes = test_.frame_sizes;
    }
    if (is(kRaw) && test_.frame_sizes.empty() && !test_.sizes) {
      context_.error(path_, "the key `frame_size` is missing", "add `frame_size: 64B`");
    }
    std::set<Bytes> sizes;
    for (const Bytes size : test_.frame_sizes) {
      if (sizes.insert(size).second) continue;
      error("frame_sizes", fmt::format("{} B stands here twice", size.count()), "keep one");
    }
    for (const Test::Pair& pair : test_.pairs) {
      check_mtu(pair, pair.from_host, pair.from_nic);
      check_core(pair);
      check_cipher(pair);
      if (context_.read.diagnostics.touched(path_)) continue;
      check_encapsulation(pair);
      check_encapsulation({pair.to_host, pair.to_nic, pair.from_host, pair.from_nic});
      // Nothing on the way would fragment what its NICs cannot take.
      for (const Hop& hop :
           topology_->path(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic)) {
        const Link& link = context_.experiment.links[static_cast<std::size_t>(hop.link)];
        for (const PortRef& end : link.ends)
          if (end.kind == NodeKind::host) check_mtu(pair, end.node, end.port);
      }
    }
  }

  void take_frame_size(const FrameSize& size) {
    exclusive("frame_size", "datagram");
    test_.imix = size.imix;
    const std::vector<Bytes> sizes = size.imix
                                         ? std::vector(std::begin(kImixSizes), std::end(kImixSizes))
                                         : std::vector{size.size};
    if (is(kRaw | kSearch)) {
      test_.frame_sizes = sizes;
      return;
    }
    // Headers and FCS of the frame around a datagram (IEEE 802.3, RFC 791, 8200, 768).
    const Bytes around{test_.ip == 6 ? 66 : 46};
    test_.datagram = sizes.back() - around;
    if (sizes.front() > around) return;
    error("frame_size",
          fmt::format("a frame of {} B has no room for a datagram over IPv{}",
                      sizes.front().count(), test_.ip),
          fmt::format("at least {}B", around.count() + 1));
  }

  void check_search() {
    if (!is(kSearch)) return;
    if (test_.imix) {
      error("frame_size", "a search takes one frame size after the other, not a mix",
            "list them: frame_sizes: [64B, 1518B]");
    }
    if (test_.partial_loss && *test_.partial_loss <= test_.allowed_loss) {
      error("partial_loss", "is the larger of two losses, and allowed_loss is not smaller",
            "write a partial_loss above it, such as 0.5%");
    }
    if (test_.device.empty() || context_.read.diagnostics.touched(path_)) return;
    std::vector<std::string> nodes;
    for (const Test::Pair& pair : test_.pairs) {
      nodes = nodes_between(pair);
      if (std::find(nodes.begin(), nodes.end(), test_.device) != nodes.end()) continue;
      error("device",
            fmt::format("`{}` does not lie between {} and {}", test_.device,
                        name_of(pair.from_host, pair.from_nic), name_of(pair.to_host, pair.to_nic)),
            nodes.empty() ? "remove `device`: there is none" : suggest(test_.device, nodes));
      return;
    }
  }

  /// The switches and routers that the first flow of a pair passes, in order.
  std::vector<std::string> nodes_between(const Test::Pair& pair) const {
    std::vector<std::string> nodes;
    for (const Hop& hop :
         topology_->path(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic)) {
      const Link& link = context_.experiment.links[static_cast<std::size_t>(hop.link)];
      const PortRef& to = link.ends[1 - hop.from_end];
      const auto node = static_cast<std::size_t>(to.node);
      nodes.push_back(to.kind == NodeKind::host  ? context_.experiment.hosts[node].name
                      : to.kind == NodeKind::hub ? context_.experiment.hubs[node].name
                                                 : context_.experiment.switches[node].name);
    }
    if (!nodes.empty()) nodes.pop_back();  // the receiver
    return nodes;
  }

  void check_core(const Test::Pair& pair) {
    if (!test_.core) return;
    for (const int index : {pair.from_host, pair.to_host}) {
      const Host& host = context_.experiment.hosts[static_cast<std::size_t>(index)];
      if (*test_.core < host.cpu.cores) continue;
      error("cpu.core", fmt::format("`{}` has no core {}", host.name, *test_.core),
            fmt::format("write 0 to {}", host.cpu.cores - 1));
      return;
    }
  }

  /// An end that costs nothing may stand for any peer, but one of both must know the cipher.
  void check_cipher(const Test::Pair& pair) {
    if (test_.cipher == Cipher::none) return;
    for (const int index : {pair.from_host, pair.to_host})
      if (context_.experiment.hosts[static_cast<std::size_t>(index)].cpu.ciphers.rate(test_.cipher))
        return;
    const std::string& host =
        context_.experiment.hosts[static_cast<std::size_t>(pair.from_host)].name;
    error("cipher", "neither host says how fast it encrypts so, and nothing would come of it",
          fmt::format("add hosts.{}.cpu.ciphers, or a profile that has it", host));
  }

  const Nic& nic(int host, int index) const {
    return context_.experiment.hosts[static_cast<std::size_t>(host)]
        .nics[static_cast<std::size_t>(index)];
  }

  /// Whether what the pair sends fits one NIC on its way.
  void check_mtu(const Test::Pair& pair, int host, int index) {
    const std::int64_t mtu = nic(host, index).mtu.count();
    const std::string taker = name_of(host, index);
    // Ethernet header 14 and FCS 4 around the largest IP packet, and a tag's 4 (IEEE 802.3,
    // 802.1Q).
    const std::int64_t largest = mtu + 18 + (nic(pair.from_host, pair.from_nic).vlan ? 4 : 0);
    for (const Bytes size : test_.frame_sizes) {
      if (size.count() <= largest) continue;
      error(given("frame_size") ? "frame_size" : "frame_sizes",
            fmt::format("a frame of {} B does not fit the MTU of {} B of {}", size.count(), mtu,
                        taker),
            fmt::format("at most {}B, or raise the NIC's mtu", largest));
      return;
    }
  }

  /// Whether what is put around the pair's packets is taken off again, and leaves them room.
  void check_encapsulation(const Test::Pair& pair) {
    if (is(kRaw)) return;  // a tester's frames pass as they are
    const EncapsulatedPath around = encapsulated_path(
        context_.experiment,
        topology_->path(pair.from_host, pair.from_nic, pair.to_host, pair.to_nic), test_.ip);
    if (around.mismatch) {
      const PortRef& end = around.mismatch->nic;
      const Host& host = context_.experiment.hosts[static_cast<std::size_t>(end.node)];
      context_.error(
          fmt::format("hosts.{}.nics.{}.encapsulation", host.name, nic(end.node, end.port).name),
          fmt::format("{} (test `{}`)", around.mismatch->message, test_.name),
          "give both ends of a tunnel, tag or session the same list");
      return;
    }
    // RFC 8200 section 5.
    if (test_.ip == 6 && around.mtu < Bytes(1280))
      error("ip", fmt::format("IPv6 needs an MTU of 1280 B, {} to {} has room for packets of {} B",
                              name_of(pair.from_host, pair.from_nic),
                              name_of(pair.to_host, pair.to_nic), around.mtu.count()));
  }

  /// "a", "a:eth0", or with a pattern; for each number of the pattern one pair.
  void resolve_pairs() {
    const std::optional<Range> from = find_range(spec_->from), to = find_range(spec_->to);
    const std::optional<Range> range = from ? from : to;
    const std::int64_t first = range ? range->first : 0, last = range ? range->last : 0;
    pairs_ += last - first + 1;
    if (pairs_ > kMostPairs) {
      return error("from", fmt::format("more than {} pairs of hosts", kMostPairs),
                   "make the range smaller");
    }
    flows_ += (last - first + 1) * test_.flows;
    if (flows_ > kMostFlows) {
      return error("flows", fmt::format("more than {} flows in all", kMostFlows), "use fewer");
    }
    for (std::int64_t i = first; i <= last; ++i) {
      const std::optional<std::string> sender = substitute(spec_->from, i);
      const std::optional<std::string> receiver = substitute(spec_->to, i);
      if (!sender || !receiver) {
        return error(sender ? "to" : "from", "holds no valid expression", "write {i} or {i+4}");
      }
      const std::optional<End> a = find_end("from", *sender), b = find_end("to", *receiver);
      if (!a || !b || !add_pair(*a, *b)) return;
    }
    if (test_.pairs.empty()) return;
    if (test_.congestion) {
      for (const int host : {test_.pairs.front().from_host, test_.pairs.front().to_host})
        check_congestion_fits(context_, path_ + ".congestion", *test_.congestion,
                              context_.experiment.hosts[static_cast<std::size_t>(host)].stack);
    }
    if (range) return;
    const Test::Pair& pair = test_.pairs.front();
    spec_->from = name_of(pair.from_host, pair.from_nic);
    spec_->to = name_of(pair.to_host, pair.to_nic);
  }

  std::string name_of(int host, int nic_index) const {
    return context_.experiment.hosts[static_cast<std::size_t>(host)].name + ":" +
           nic(host, nic_index).name;
  }

  std::optional<End> find_end(const char* key, const std::string& text) {
    const std::string node(endpoint_node(text));
    const auto found = context_.hosts.find(node);
    if (found == context_.hosts.end()) {
      std::vector<std::string> hosts;
      for (const auto& [name, index] : context_.hosts) hosts.push_back(name);
      error(key,
            context_.switches.contains(node)
                ? fmt::format("`{}` is a switch and sends nothing", node)
            : context_.hubs.contains(node) ? fmt::format("`{}` is a hub and sends nothing", node)
                                           : fmt::format("there is no host `{}`", node),
            suggest(node, hosts));
      return std::nullopt;
    }
    End end{found->second, -1};
    if (node.size() == text.size()) return end;
    const Host& host = context_.experiment.hosts[static_cast<std::size_t>(end.host)];
    const std::string port = text.substr(node.size() + 1);
    end.nic = find_nic(host, port);
    for (const Bond& bond : host.bonds)
      if (bond.name == port && !bond.nics.empty()) end.nic = bond.nics.front();
    if (end.nic >= 0) return end;
    error(key, fmt::format("`{}` has no NIC `{}`", node, text.substr(node.size() + 1)),
          fmt::format("its NICs: {}", nic_list(host)));
    return std::nullopt;
  }

  /// The NICs an end may be, of a bond the first.
  std::vector<int> candidates(const End& end) const {
    if (end.nic >= 0) return {end.nic};
    const Host& host = context_.experiment.hosts[static_cast<std::size_t>(end.host)];
    std::vector<bool> follows(host.nics.size());
    for (const Bond& bond : host.bonds)
      for (const int nic : bond.nics)
        if (nic != bond.nics.front()) follows[static_cast<std::size_t>(nic)] = true;
    std::vector<int> result;
    for (std::size_t i = 0; i < follows.size(); ++i)
      if (!follows[i]) result.push_back(static_cast<int>(i));
    return result;
  }

  bool add_pair(const End& a, const End& b) {
    if (!topology_) return true;  // the links are wrong already, and say so
    if (a.host == b.host) {
      error("to", "sender and receiver are one host", "choose two");
      return false;
    }
    std::vector<Test::Pair> found;
    for (const int from : candidates(a)) {
      for (const int to : candidates(b)) {
        if (!topology_->path(a.host, from, b.host, to).empty()) {
          found.push_back({a.host, from, b.host, to});
        }
      }
    }
    const std::string& from_name = context_.experiment.hosts[static_cast<std::size_t>(a.host)].name;
    const std::string& to_name = context_.experiment.hosts[static_cast<std::size_t>(b.host)].name;
    if (found.empty()) {
      error("to", fmt::format("no path leads from `{}` to `{}`", from_name, to_name),
            "link them, or let a host between them forward");
      return false;
    }
    if (found.size() > 1) {
      std::string ways;
      for (std::size_t i = 0; i < found.size() && i < 6; ++i) {
        ways +=
            fmt::format("{}{} to {}", i ? ", " : "", name_of(found[i].from_host, found[i].from_nic),
                        name_of(found[i].to_host, found[i].to_nic));
      }
      error("from", fmt::format("several NICs lead from `{}` to `{}`", from_name, to_name),
            "name them: " + ways);
      return false;
    }
    test_.pairs.push_back(found.front());
    return true;
  }

  BuildContext& context_;
  std::optional<Topology> topology_;
  TestSpec* spec_ = nullptr;
  Test test_;
  std::string path_;
  std::int64_t pairs_ = 0, flows_ = 0;
};

}  // namespace

void build_tests(BuildContext& context) {
  TestBuilder builder(context);
  for (TestSpec& spec : context.spec.tests) builder.build(spec);
  builder.check_groups();
  if (context.spec.tests.empty() && !context.read.diagnostics.touched("tests") &&
      context.given("tests")) {
    context.error("tests", "there is no test", "add one");
  }
}

}  // namespace linerate::experiments
