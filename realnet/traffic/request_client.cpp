// Clients of a request/response test: a thread and a connection a flow.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "experiments/definition/load.hpp"
#include "realnet/traffic/round_barrier.hpp"
#include "realnet/traffic/tcp_state.hpp"
#include "realnet/transfer.hpp"

namespace linerate::realnet {
namespace {

using experiments::Test;

/// Keeps a number of requests under way, or asks when they come to it. A request's latency counts
/// from the moment it came, though it may have waited to be written.
class FlowRequester {
 public:
  FlowRequester(FileDescriptor socket, const TransferEnd& end, int flow)
      : socket_(std::move(socket)),
        test_(*end.options.test),
        rounds_(end.rounds),
        outstanding_(test_.outstanding.value_or(
            test_.arrivals ? std::numeric_limits<std::int64_t>::max() : 1)),
        spread_(test_.start_spread.scaled(stream_of(end, flow, "start").uniform01())),
        output_(static_cast<std::size_t>(std::min(test_.write, test_.request).count()), 'x'),
        input_(static_cast<std::size_t>(test_.read.count())) {
    if (test_.arrivals) arrivals_.emplace(*test_.arrivals, stream_of(end, flow, "arrivals"));
    if (test_.sizes) {
      responses_.emplace(*test_.sizes, experiments::SizeSource::Range{},
                         stream_of(end, flow, "sizes"));
    }
  }

  void start(const Window& window) {
    thread_ = std::thread([this, window] {
      sleep_until(window.start + spread_);
      started_ = monotonic_now();
      counted_from_ = started_ + (window.from - window.start);
      if (arrivals_) arrivals_->start(started_);
      rounds_ ? converse_in_rounds() : converse();
      ::shutdown(socket_.number(), SHUT_WR);
      ended_ = monotonic_now();
      done_.store(true, std::memory_order_release);
    });
  }
  /// Breaks the connection off.
  void cut() {
    cut_ = true;
    ::shutdown(socket_.number(), SHUT_RDWR);
  }
  void join() { thread_.join(); }

  const FileDescriptor& socket() const { return socket_; }
  bool done() const { return done_.load(std::memory_order_acquire); }
  Time started() const { return started_; }
  Time last_response() const { return last_response_; }
  Time ended() const { return ended_; }
  std::int64_t transactions() const { return transactions_.load(std::memory_order_relaxed); }
  std::int64_t calls() const { return calls_; }
  std::int64_t bytes() const { return bytes_; }
  const LatencyHistogram& latency() const { return *latency_; }
  int failure() const { return failure_; }  ///< errno, or 0

 private:
  struct Asked {
    Time at;
    std::int64_t unread = 0;  ///< bytes of the response
  };

  /// Whether another request comes, now or later.
  bool more(Time now) const {
    if (cut_) return false;
    if (test_.transactions) return requests_ < *test_.transactions;
    if (test_.background) return true;
    return (arrivals_ ? arrivals_->due() : now) < started_ + test_.duration;
  }

  void add(Time at) {
    ++requests_;
    asked_.push_back({at, (responses_ ? responses_->next() : test_.response).count()});
  }

  /// With one request at a time there is nothing to do but wait for its response: blocking calls
  /// save a call each way.
  bool one_at_a_time() const { return !arrivals_ && outstanding_ == 1; }

  void converse() {
    const int flags = one_at_a_time() ? 0 : MSG_DONTWAIT;
    for (;;) {
      const Time now = monotonic_now();
      admit(now);
      const bool wrote = write_requests(now, flags);
      if (failure_ != 0 || (asked_.empty() && !more(now))) return;
      if (asked_.empty() || !read_responses(flags)) {
        if (failure_ != 0) return;
        if (!wrote) wait();
      }
    }
  }

  /// A request a round, which all clients begin together. A round's latency is the last one's.
  void converse_in_rounds() {
    Time opened = started_;
    for (;;) {
      add(opened);
      unwritten_ = test_.request.count();
      while (unwritten_ > 0 && failure_ == 0) write_part(0);
      while (failure_ == 0 && !asked_.empty()) read_responses(0);
      if (failure_ != 0) return;
      const RoundBarrier::Round next = rounds_->arrive(more(last_response_), cut_);
      if (next.last && last_response_ >= counted_from_) latency_->record(last_response_ - opened);
      if (!next.goes_on) return;
      opened = next.opened;
    }
  }

  void admit(Time now) {
    if (!arrivals_) return;
    for (; arrivals_->due() <= now && more(now); arrivals_->step()) {
      add(arrivals_->due());
      ++unsent_;
    }
  }

  /// Whether a request is to be written now; `unsent_` no longer counts it.
  bool begin(Time now) {
    if (static_cast<std::int64_t>(asked_.size()) - unsent_ >= outstanding_) return false;
    if (arrivals_) {
      if (unsent_ == 0) return false;
      --unsent_;
      return true;
    }
    if (!more(now)) return false;
    add(now);
    return true;
  }

  /// Writes until nothing is to be asked or the socket takes no more; whether anything went.
  bool write_requests(Time now, int flags) {
    bool any = false;
    for (;;) {
      if (unwritten_ == 0) {
        if (!begin(now)) return any;
        unwritten_ = test_.request.count();
      }
      if (!write_part(flags)) return any;
      any = true;
    }
  }

  /// One write of a request; false when the socket takes no more.
  bool write_part(int flags) {
    const auto size = std::min(unwritten_, test_.write.count());
    const ssize_t taken = ::send(socket_.number(), output_.data(), static_cast<std::size_t>(size),
                                 flags | MSG_NOSIGNAL);
    ++calls_;
    if (taken < 0) {
      if (errno == EINTR) return true;
      if (errno != EAGAIN) fail();
      return false;
    }
    unwritten_ -= taken;
    bytes_ += taken;
    return true;
  }

  /// One read; false when nothing has come.
  bool read_responses(int flags) {
    const std::int64_t wanted = std::min(asked_.front().unread, test_.read.count());
    const ssize_t size = ::recv(socket_.number(), input_.data(), static_cast<std::size_t>(wanted),
                                flags | (test_.truncate ? MSG_TRUNC : 0));
    ++calls_;
    if (size <= 0) {
      if (size < 0 && errno == EINTR) return true;
      if (size == 0) errno = ECONNRESET;
      if (size == 0 || errno != EAGAIN) fail();
      return false;
    }
    asked_.front().unread -= size;
    if (asked_.front().unread == 0) complete(monotonic_now());
    return true;
  }

  void complete(Time now) {
    if (!rounds_ && now >= counted_from_) latency_->record(now - asked_.front().at);
    asked_.pop_front();
    transactions_.store(transactions() + 1, std::memory_order_relaxed);
    last_response_ = now;
  }

  void wait() {
    pollfd waiting{socket_.number(), POLLIN, 0};
    if (unwritten_ > 0) waiting.events |= POLLOUT;
    Time span = Time::milliseconds(100);
    if (arrivals_) span = std::clamp(arrivals_->due() - monotonic_now(), Time{}, span);
    const timespec patience{0, span.picoseconds() / 1'000};
    ++calls_;
    if (::ppoll(&waiting, 1, &patience, nullptr) < 0 && errno != EINTR) fail();
  }

  void fail() {
    if (!cut_) failure_ = errno;
    if (failure_ == 0) failure_ = ECANCELED;
  }

  FileDescriptor socket_;
  const Test& test_;
  RoundBarrier* rounds_;
  std::int64_t outstanding_;  ///< written and not answered, at most
  Time spread_;
  std::vector<char> output_, input_;
  std::optional<experiments::ArrivalProcess> arrivals_;
  std::optional<experiments::SizeSource> responses_;
  std::unique_ptr<LatencyHistogram> latency_ = std::make_unique<LatencyHistogram>();
  std::deque<Asked> asked_;  ///< in the order they came; the last `unsent_` wait to be written
  std::int64_t unsent_ = 0, unwritten_ = 0, requests_ = 0, calls_ = 0, bytes_ = 0;
  std::atomic<std::int64_t> transactions_{0};
  std::atomic<bool> done_{false}, cut_{false};
  Time started_, counted_from_, last_response_, ended_;
  int failure_ = 0;
  std::thread thread_;
};

using Requesters = std::vector<std::unique_ptr<FlowRequester>>;

/// Tells the parent how far they are and ends background ones, until all have ended.
void watch_requests(const Requesters& requesters, TransferReport& report) {
  const auto done = [&] {
    return std::all_of(requesters.begin(), requesters.end(),
                       [](const auto& requester) { return requester->done(); });
  };
  while (!done()) {
    std::int64_t transactions = 0;
    for (const auto& requester : requesters) {
      transactions += requester->transactions();
      if (report.stop) requester->cut();
    }
    report.received.store(transactions, std::memory_order_relaxed);
    sleep_until(monotonic_now() + Time::milliseconds(5));
  }
}

void report_requests(const Requesters& requesters, SenderReport& report) {
  for (const auto& requester : requesters) {
    RequestsServed& requests = report.requests;
    const Time span = requester->last_response() - requester->started();
    if (requester->transactions() > 0 && span > Time{}) {
      requests.rate += static_cast<double>(requester->transactions()) / span.seconds();
    }
    requests.transactions += requester->transactions();
    requests.last_response = later(requests.last_response, requester->last_response());
    requests.latency.add(requester->latency());
    report.calls += requester->calls();
    report.bytes += requester->bytes();
    report.retransmits += static_cast<std::int64_t>(tcp_state(requester->socket()).retransmits);
    report.ended = later(report.ended, requester->ended());
  }
  report.closed = report.requests.last_response;
}

}  // namespace

void send_requests(const TransferEnd& end, const ParentLine& parent, TransferReport& report) {
  settle_sender(end);
  Requesters requesters;
  for (int flow = 0; flow < end.options.test->flows; ++flow) {
    const Time before = monotonic_now();
    FileDescriptor socket = connect_tcp({end.peer_address, report.port}, end.options);
    report.sender.connecting = std::max(report.sender.connecting, monotonic_now() - before);
    requesters.push_back(std::make_unique<FlowRequester>(std::move(socket), end, flow));
  }
  parent.say(kConnected);
  parent.wait_for_go();
  const Window window = window_of(*end.options.test, Time::picoseconds(report.start));
  const ProcessUse before = process_use();
  for (const auto& requester : requesters) requester->start(window);
  watch_requests(requesters, report);
  for (const auto& requester : requesters) requester->join();
  charge(before, report.sender);
  for (const auto& requester : requesters) {
    if (requester->failure() == 0 || report.stop) continue;
    errno = requester->failure();
    throw_errno("request/response");
  }
  report_requests(requesters, report.sender);
  parent.say(kDone);
}

}  // namespace linerate::realnet
