// TCP flows that arrive whether earlier ones have ended or not: one connection for each. The first
// eight bytes of a flow's payload say how long it is, and its receiver answers with the time at
// which it had everything, so that neither end waits for the other's closing.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "experiments/definition/load.hpp"
#include "realnet/transfer.hpp"

namespace linerate::realnet {
namespace {

using experiments::Test;

/// Flows under way at once, at most; more wait, which the lateness tells.
constexpr int kWorkers = 96;
constexpr std::int64_t kHeader = 8;
/// By which completion times are usually told apart (as in predictions).
constexpr std::int64_t kSmallFlow = 100'000, kMediumFlow = 10'000'000;

struct PlannedFlow {
  Time due;  ///< since the start
  std::int64_t size = 0;
};

std::vector<PlannedFlow> plan_flows(const TransferEnd& end) {
  const Test& test = *end.options.test;
  std::vector<PlannedFlow> flows;
  for (int source = 0; source < test.flows; ++source) {
    const Time spread = test.start_spread.scaled(stream_of(end, source, "start").uniform01());
    experiments::ArrivalProcess arrivals(*test.arrivals, stream_of(end, source, "arrivals"));
    std::optional<experiments::SizeSource> sizes;
    if (test.sizes) {
      sizes.emplace(*test.sizes, experiments::SizeSource::Range{}, stream_of(end, source, "sizes"));
    }
    for (arrivals.start(spread); arrivals.due() < spread + test.duration; arrivals.step()) {
      const Bytes size = sizes ? sizes->next() : *test.bytes;
      flows.push_back({arrivals.due(), std::max(size.count(), kHeader)});
    }
  }
  std::stable_sort(flows.begin(), flows.end(),
                   [](const auto& a, const auto& b) { return a.due < b.due; });
  return flows;
}

/// Runs `work` in kWorkers threads and hands on the first exception of any.
template <class Work>
void in_threads(Work work) {
  std::vector<std::thread> threads;
  std::mutex guard;
  std::exception_ptr failure;
  for (int i = 0; i < kWorkers; ++i) {
    threads.emplace_back([&] {
      try {
        work();
      } catch (...) {
        const std::lock_guard<std::mutex> lock(guard);
        if (!failure) failure = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

class FlowSender {
 public:
  FlowSender(const TransferEnd& end, TransferReport& report)
      : end_(end), report_(report), plan_(plan_flows(end)) {}

  void run(Time start) {
    start_ = start;
    in_threads([this] { work(); });
    report_.sender.flows = *done_;
    report_.sender.bytes = done_->bytes;
    report_.sender.calls = calls_;
    report_.sender.ended = monotonic_now();
    report_.sender.closed = done_->last_read;
  }

 private:
  void work() {
    std::vector<char> buffer(static_cast<std::size_t>(
        std::max<std::int64_t>(end_.options.test->write.count(), kHeader)));
    for (std::size_t i = next_++; i < plan_.size() && !report_.stop; i = next_++) {
      sleep_until(start_ + plan_[i].due);
      send_flow(plan_[i], buffer);
    }
  }

  void send_flow(const PlannedFlow& flow, std::vector<char>& buffer) {
    const Time late = monotonic_now() - (start_ + flow.due);
    const FileDescriptor socket = connect_tcp({end_.peer_address, report_.port}, end_.options);
    std::memcpy(buffer.data(), &flow.size, sizeof flow.size);
    std::int64_t calls = 0;
    for (std::int64_t left = flow.size; left > 0;) {
      const auto size = std::min<std::int64_t>(left, static_cast<std::int64_t>(buffer.size()));
      const ssize_t taken =
          ::send(socket.number(), buffer.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL);
      if (taken < 0) throw_errno("send");
      left -= taken;
      ++calls;
    }
    std::int64_t stamp = 0;
    if (::recv(socket.number(), &stamp, sizeof stamp, MSG_WAITALL) != sizeof stamp) {
      throw_errno("recv of a flow's end");
    }
    count(flow, late, Time::nanoseconds(stamp), calls);
  }

  void count(const PlannedFlow& flow, Time late, Time last_read, std::int64_t calls) {
    const std::lock_guard<std::mutex> lock(guard_);
    calls_ += calls;
    ++done_->flows;
    done_->bytes += flow.size;
    done_->last_read = later(done_->last_read, last_read);
    done_->lateness.record(late);
    report_.received.store(done_->bytes, std::memory_order_relaxed);
    if (flow.due < end_.options.test->omit) return;
    const Time elapsed = last_read - (start_ + flow.due);
    done_->elapsed.record(elapsed);
    (flow.size <= kSmallFlow    ? done_->small
     : flow.size <= kMediumFlow ? done_->medium
                                : done_->large)
        .record(elapsed);
  }

  const TransferEnd& end_;
  TransferReport& report_;
  std::vector<PlannedFlow> plan_;
  Time start_;
  std::atomic<std::size_t> next_{0};
  std::mutex guard_;
  std::unique_ptr<FlowsCompleted> done_ = std::make_unique<FlowsCompleted>();
  std::int64_t calls_ = 0;
};

/// Reads one flow to its end and tells when that was.
void take_flow(const FileDescriptor& socket, std::vector<char>& buffer,
               std::atomic<std::int64_t>& calls) {
  std::int64_t size = kHeader, got = 0;
  while (got < size) {
    // The header alone first: it says how much to read.
    const auto room = got < kHeader ? kHeader - got : static_cast<std::int64_t>(buffer.size());
    const auto wanted = std::min<std::int64_t>(room, size - got);
    const std::int64_t place = got < kHeader ? got : 0;
    const ssize_t came =
        ::recv(socket.number(), buffer.data() + place, static_cast<std::size_t>(wanted), 0);
    ++calls;
    if (came <= 0) {
      if (came < 0 && errno == EINTR) continue;
      return;  // broken off: its sender says so
    }
    got += came;
    if (got == kHeader) std::memcpy(&size, buffer.data(), sizeof size);
  }
  const std::int64_t stamp = monotonic_now().picoseconds() / 1'000;
  static_cast<void>(::send(socket.number(), &stamp, sizeof stamp, MSG_NOSIGNAL));
}

}  // namespace

void send_flows(const TransferEnd& end, const ParentLine& parent, TransferReport& report) {
  settle_sender(end);
  FlowSender sender(end, report);
  parent.say(kConnected);
  parent.wait_for_go();
  const ProcessUse before = process_use();
  sender.run(Time::picoseconds(report.start));
  charge(before, report.sender);
  report.sent = report.sender.flows.flows;
  parent.say(kDone);
}

void receive_flows(const TransferEnd& end, const ParentLine& parent, TransferReport& report) {
  settle(end);
  const FileDescriptor listener = listen_tcp(end.place.address, end.options);
  report.port = local_port(listener);
  checked(::fcntl(listener.number(), F_SETFL, O_NONBLOCK), "fcntl O_NONBLOCK");
  parent.say(kListening);
  parent.say(kConnected);
  parent.wait_for_go();
  const ProcessUse before = process_use();
  std::atomic<std::int64_t> calls{0};
  in_threads([&] {
    std::vector<char> buffer(
        static_cast<std::size_t>(std::max<std::int64_t>(end.options.test->read.count(), kHeader)));
    while (report.sent < 0) {
      pollfd waiting{listener.number(), POLLIN, 0};
      if (::poll(&waiting, 1, 50) <= 0) continue;
      const FileDescriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
      if (socket.number() < 0) continue;  // another thread was faster
      take_flow(socket, buffer, calls);
    }
  });
  charge(before, report.receiver);
  report.receiver.calls = calls;
  report.receiver.ended = report.sender.flows.last_read;
  parent.say(kDone);
}

}  // namespace linerate::realnet
