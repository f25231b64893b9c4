#include "realnet/session.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "realnet/end_process.hpp"
#include "realnet/traffic/round_barrier.hpp"
#include "sim/random.hpp"

namespace linerate::realnet {
namespace {

using experiments::Experiment;
using experiments::Test;

/// Between "go" and the first write, so that every process has woken up by then.
constexpr Time kLead = Time::milliseconds(30);
/// A transfer bounded by its bytes fails when nothing arrives for this long: longer than any
/// retransmission timeout a usable path reaches.
constexpr Time kStall = Time::seconds(60);
/// What a transfer bounded by time may take beyond it (the rest of a socket buffer at a low rate).
constexpr Time kGrace = Time::seconds(60);

/// Since the machine started, from /proc/stat (proc(5)): user, nice, system, idle, iowait, irq,
/// softirq, in ticks.
std::vector<CoreUse> core_use() {
  const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::vector<CoreUse> cores;
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("cpu", 0) != 0 || line.size() < 4 || line[3] == ' ') continue;
    std::istringstream words(line.substr(line.find(' ')));
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupt = 0, softirq = 0;
    words >> user >> nice >> system >> idle >> waiting >> interrupt >> softirq;
    cores.push_back({(user + nice) * tick, system * tick, softirq * tick, interrupt * tick,
                     (idle + waiting) * tick});
  }
  return cores;
}

struct Stopped {};

/// A transfer with its two processes. The report outlives them.
class RunningTransfer {
 public:
  struct Which {
    int test_index = 0, pair = 0;
    bool reverse = false;
    RoundBarrier* rounds = nullptr;
  };
  RunningTransfer(const Test& test, const Which& which)
      : test_(test), test_index_(which.test_index), pair_(which.pair), reverse_(which.reverse) {
    sender_end_.rounds = which.rounds;
  }

  /// `seed` is this repeat's; `may_spin` as in TransferEnd.
  void start_receiver(const Experiment& experiment, const Lab& lab, std::uint64_t seed,
                      bool may_spin) {
    const auto& pair = test_.pairs[pair_];
    const Place from = lab.place(pair.from_host, pair.from_nic, test_.ip);
    const Place to = lab.place(pair.to_host, pair.to_nic, test_.ip);
    const auto options = [&](int host) {
      return SocketOptions{&test_, &experiment.hosts[host].stack, from.namespace_descriptor >= 0};
    };
    sender_end_.place = from;
    sender_end_.peer_address = to.address;
    sender_end_.options = options(pair.from_host);
    receiver_end_.place = to;
    receiver_end_.peer_address = from.address;
    receiver_end_.options = options(pair.to_host);
    sender_end_.keeps_core = experiment.hosts[pair.from_host].cpu.slice > Time{};
    receiver_end_.keeps_core = experiment.hosts[pair.to_host].cpu.slice > Time{};
    if (reverse_) {
      std::swap(sender_end_, receiver_end_);
    }
    // On the sender's core a stream's receiver that is woken would take the core at once, for a
    // segment at a time: half of the core goes into changing between the two.
    if (test_.core && test_.type == experiments::TestType::tcp_stream)
      receiver_end_.keeps_core = true;
    describe_ends(experiment, seed, may_spin);
    const int to_host = reverse_ ? pair.from_host : pair.to_host;
    receiver_ = start_end({experiment, receiver_end_, to_host, Role::receiver, *report_, limit()});
  }
  void start_sender(const Experiment& experiment) {
    const auto& pair = test_.pairs[pair_];
    const int from_host = reverse_ ? pair.to_host : pair.from_host;
    sender_ = start_end({experiment, sender_end_, from_host, Role::sender, *report_, limit()});
  }

  void go(Time start) {
    report_->start = (start + test_.start).picoseconds();
    receiver_->go();
    sender_->go();
  }
  void stop() {
    report_->stop = true;
    receiver_->stop();
    sender_->stop();
  }

  /// Takes what the processes have said; throws if one has failed.
  void listen() {
    take(*receiver_, receiver_said_, report_->receiver_failure, "receiver");
    if (sender_) take(*sender_, sender_said_, report_->sender_failure, "sender");
  }
  bool receiver_said(char message) const { return receiver_said_ >= message; }
  bool both_said(char message) const {
    return receiver_said_ >= message && sender_said_ >= message;
  }
  bool done() const { return both_said(kDone); }
  void add_lines(std::vector<pollfd>& lines) const {
    lines.push_back({receiver_->line(), POLLIN, 0});
    if (sender_) lines.push_back({sender_->line(), POLLIN, 0});
  }

  std::int64_t received() const { return report_->received; }
  const Test& test() const { return test_; }
  int test_index() const { return test_index_; }
  TransferOutcome outcome() const {
    return {pair_, reverse_, Time::picoseconds(report_->start), report_->sender, report_->receiver};
  }

 private:
  /// What both ends know of the sender's port, and the entity of a flow's random streams: the test,
  /// the ordinal of the flow and the direction, as in a prediction.
  void describe_ends(const Experiment& experiment, std::uint64_t seed, bool may_spin) {
    const auto& pair = test_.pairs[pair_];
    const experiments::PortRef port{experiments::NodeKind::host,
                                    reverse_ ? pair.to_host : pair.from_host,
                                    reverse_ ? pair.to_nic : pair.from_nic};
    const std::uint64_t ordinal = static_cast<std::uint64_t>(pair_) * test_.flows;
    for (TransferEnd* end : {&sender_end_, &receiver_end_}) {
      end->seed = seed;
      end->entity =
          static_cast<std::uint64_t>(test_index_) << 48 ^ (ordinal << 1 | (reverse_ ? 1u : 0u));
      end->may_spin = may_spin;
      end->disturbed = !experiment.events.empty();
      end->mtu = experiment.hosts[port.node].nics[port.port].mtu;
      for (const auto& link : experiment.links) {
        if (link.ends[0] == port || link.ends[1] == port) end->line = link.rate;
      }
    }
  }

  /// Last resort against a process that hangs; stalls are noticed long before.
  Time limit() const {
    return ends_by_time(test_) ? kConnectPatience * 2 + test_.start + test_.duration + kGrace
                               : Time::seconds(24 * 3600);
  }

  void take(EndProcess& end, char& said, const std::array<char, 256>& failure,
            const char* role) const {
    for (int message = end.message(); message != 0; message = end.message()) {
      if (message > 0) {
        said = static_cast<char>(message);
        continue;
      }
      if (said == kDone) return;
      const std::string reason = failure.front() ? failure.data() : "it was killed";
      throw std::runtime_error(fmt::format("test {}: the {} failed: {}", test_.name, role, reason));
    }
  }

  const Test& test_;
  int test_index_, pair_;
  bool reverse_;
  TransferEnd sender_end_, receiver_end_;
  Shared<TransferReport> report_;
  std::unique_ptr<EndProcess> receiver_, sender_;
  char receiver_said_ = 0, sender_said_ = 0;
};

class Session {
 public:
  Session(const Experiment& experiment, const Lab& lab, const std::vector<const Test*>& tests,
          int repeat, const std::atomic<bool>* stop)
      : experiment_(experiment),
        lab_(lab),
        tests_(tests),
        seed_(sim::RandomStream({.seed = experiment.seed,
                                 .entity = static_cast<std::uint64_t>(repeat),
                                 .name = "repeat"})
                  .bits()),
        stop_(stop) {}

  RunOutcome run() {
    lab_.settle();
    make_transfers();
    connect();
    lab_.drain();
    const Time start = monotonic_now() + kLead;
    lab_.begin(start);
    for (const auto& transfer : transfers_) transfer->go(start);
    RunOutcome outcome;
    outcome.use = await_end(start);
    outcome.transfers.resize(tests_.size());
    for (const auto& transfer : transfers_) {
      outcome.transfers[transfer->test_index()].push_back(transfer->outcome());
    }
    return outcome;
  }

 private:
  void make_transfers() {
    for (int i = 0; i < static_cast<int>(tests_.size()); ++i) {
      const Test& test = *tests_[i];
      RoundBarrier* rounds = nullptr;
      if (test.barrier) {
        rounds = &*barriers_.emplace_back();
        rounds->expect(static_cast<int>(test.pairs.size()) * test.flows);
      }
      for (int pair = 0; pair < static_cast<int>(test.pairs.size()); ++pair) {
        for (const bool reverse : {false, true}) {
          const auto direction = test.direction;
          if (direction == experiments::Direction::both ||
              (direction == experiments::Direction::reverse) == reverse) {
            transfers_.push_back(std::make_unique<RunningTransfer>(
                test, RunningTransfer::Which{i, pair, reverse, rounds}));
          }
        }
      }
    }
  }

  /// Receivers first, then senders, then every connection stands.
  void connect() {
    // Everyone who spins takes a processor from the kernel and the receivers.
    const bool may_spin = transfers_.size() < std::thread::hardware_concurrency();
    for (const auto& transfer : transfers_) {
      transfer->start_receiver(experiment_, lab_, seed_, may_spin);
    }
    wait_until([](const RunningTransfer& transfer) { return transfer.receiver_said(kListening); });
    for (const auto& transfer : transfers_) transfer->start_sender(experiment_);
    wait_until([](const RunningTransfer& transfer) { return transfer.both_said(kConnected); });
  }

  template <class Condition>
  bool all(Condition condition) const {
    return std::all_of(transfers_.begin(), transfers_.end(),
                       [&](const auto& transfer) { return condition(*transfer); });
  }

  template <class Condition>
  void wait_until(Condition condition) {
    const Time give_up = monotonic_now() + kConnectPatience + Time::seconds(5);
    while (!all(condition)) {
      if (monotonic_now() > give_up) {
        throw std::runtime_error("the ends of a test did not connect in time");
      }
      hear(Time::milliseconds(100));
    }
  }

  /// Waits for messages, at most `patience`, and takes them.
  void hear(Time patience) {
    if (stop_ && *stop_) throw Stopped{};
    std::vector<pollfd> lines;
    for (const auto& transfer : transfers_) {
      if (!transfer->done()) transfer->add_lines(lines);
    }
    ::poll(lines.data(), lines.size(),
           static_cast<int>(std::max<std::int64_t>(patience.whole_microseconds() / 1'000, 0)));
    for (const auto& transfer : transfers_) {
      if (!transfer->done()) transfer->listen();
    }
  }

  const Test& main_test() const {
    for (const Test* test : tests_) {
      if (!test->background) return *test;
    }
    return *tests_.front();
  }
  /// The foreground has ended; with nothing but background traffic, its duration has.
  bool foreground_done(Time start) const {
    const bool only_background = std::all_of(tests_.begin(), tests_.end(),
                                             [](const Test* test) { return test->background; });
    if (only_background) return monotonic_now() > start + main_test().duration;
    return all([](const RunningTransfer& transfer) {
      return transfer.test().background || transfer.done();
    });
  }

  /// When nothing is counted any more and nothing more happens: then links are put back, so that
  /// what is left can end. Never where a test ends with its bytes.
  Time last_window(Time start) const {
    Time last;
    for (const Test* test : tests_) {
      if (!test->background) last = std::max(last, window_of(*test, start + test->start).to);
    }
    // What is under way by then still meets all that happens.
    for (const auto& event : experiment_.events) {
      const Time end = start + event.at + event.lasts.value_or(Time{});
      if (last != Time::never()) last = std::max(last, end);
    }
    return last;
  }

  PortUse await_end(Time start) {
    const Window window = window_of(main_test(), start + main_test().start);
    const Time over = last_window(start);
    std::optional<PortSnapshot> before, after;
    while (!foreground_done(start)) {
      const Time now = monotonic_now();
      if (!before && now >= window.from) before = snapshot();
      if (!after && now >= window.to) after = snapshot();
      if (now >= over) lab_.settle();
      const Time next = std::min(!before  ? window.from
                                 : !after ? window.to
                                          : now + Time::seconds(1),
                                 lab_.follow(now));
      hear(std::clamp(next - now, Time::milliseconds(1), Time::milliseconds(100)));
      check_stall(now);
    }
    if (!after) after = snapshot();
    for (const auto& transfer : transfers_) {
      if (transfer->test().background) transfer->stop();
    }
    while (!all([](const RunningTransfer& transfer) { return transfer.done(); })) {
      hear(Time::milliseconds(100));
    }
    if (!before) return {};
    PortUse use = difference(*before, *after);
    use.in_time = window.to == Time::never() ||
                  std::abs(use.seconds / (window.to - window.from).seconds() - 1) < 0.01;
    return use;
  }

  struct PortSnapshot {
    Time at;
    std::map<std::string, experiments::PortCounters> ports;
    std::vector<CoreUse> cores;
  };
  PortSnapshot snapshot() const { return {monotonic_now(), lab_.counters(), core_use()}; }

  static PortUse difference(const PortSnapshot& before, const PortSnapshot& after) {
    PortUse use{(after.at - before.at).seconds(), false, after.ports, after.cores};
    for (std::size_t i = 0; i < std::min(use.cores.size(), before.cores.size()); ++i) {
      CoreUse& core = use.cores[i];
      const CoreUse& earlier = before.cores[i];
      core = {core.user - earlier.user, core.system - earlier.system,
              core.softirq - earlier.softirq, core.interrupt - earlier.interrupt,
              core.idle - earlier.idle};
    }
    for (auto& [label, port] : use.ports) {
      const auto& earlier = before.ports.at(label);
      port.frames_sent -= earlier.frames_sent;
      port.wire_bytes_sent -= earlier.wire_bytes_sent;
      for (auto& [cause, drops] : port.drops) drops -= earlier.drops.at(cause);
    }
    return use;
  }

  void check_stall(Time now) {
    std::int64_t received = 0;
    for (const auto& transfer : transfers_) received += transfer->received();
    if (received != last_received_ || last_progress_ == Time{}) {
      last_received_ = received;
      last_progress_ = now;
    }
    if (now - last_progress_ > kStall + longest_silence()) {
      throw std::runtime_error(fmt::format("test {}: nothing arrived for {} s", main_test().name,
                                           (now - last_progress_).seconds()));
    }
  }
  /// Silence a test asks for itself.
  Time longest_silence() const {
    Time silence;
    for (const Test* test : tests_) {
      Time own = test->start + test->reader.pause_for + test->reader.interval;
      if (!test->bytes) own += test->duration;
      for (const auto& group : test->writes) own += group.after + group.interval;
      silence = std::max(silence, own);
    }
    return silence;
  }

  const Experiment& experiment_;
  const Lab& lab_;
  const std::vector<const Test*>& tests_;
  std::uint64_t seed_;
  const std::atomic<bool>* stop_;
  std::deque<Shared<RoundBarrier>> barriers_;
  std::vector<std::unique_ptr<RunningTransfer>> transfers_;
  std::int64_t last_received_ = 0;
  Time last_progress_;
};

}  // namespace

std::optional<RunOutcome> run_together(const Experiment& experiment, const Lab& lab,
                                       const std::vector<const Test*>& tests, int repeat,
                                       const std::atomic<bool>* stop) {
  try {
    return Session(experiment, lab, tests, repeat, stop).run();
  } catch (const Stopped&) {
    return std::nullopt;
  }
}

}  // namespace linerate::realnet
