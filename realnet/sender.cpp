#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "experiments/definition/load.hpp"
#include "realnet/traffic/stream_pattern.hpp"
#include "realnet/traffic/tcp_state.hpp"
#include "realnet/traffic/transfer_file.hpp"
#include "realnet/traffic/wire_meter.hpp"
#include "realnet/traffic/zero_copy.hpp"
#include "realnet/transfer.hpp"

namespace linerate::realnet {
namespace {

/// How often a waiting sender looks for the end of its flows.
constexpr Time kPatience = Time::milliseconds(5);
/// How often one that drains looks for what is not acknowledged: fine beside any round trip that a
/// process can tell.
constexpr Time kDrainPoll = Time::microseconds(100);

/// One connection and the thread that writes to it.
class FlowWriter {
 public:
  /// A flow with the number `flow`.
  FlowWriter(FileDescriptor socket, const TransferEnd& end, int flow)
      : socket_(std::move(socket)),
        test_(*end.options.test),
        spread_(test_.start_spread.scaled(stream_of(end, flow, "start").uniform01())),
        volume_(volume_of(end, flow)),
        pattern_(flow),
        buffer_(largest_write(test_, volume_), 'x') {
    if (test_.zero_copy) completions_.emplace(socket_);
    if (test_.type == experiments::TestType::file_transfer)
      file_ = TransferFile::to_read(volume_.value_or(Bytes(0)));
  }

  void start(const Window& window) {
    window_ = window;
    window_.start += spread_;
    thread_ = std::thread([this] {
      sleep_until(window_.start);
      test_.writes.empty() ? write_back_to_back() : write_on_schedule();
      ended_ = monotonic_now();
      close_stream();
      done_.store(true, std::memory_order_release);
    });
  }
  /// No further write; the one that waits is completed.
  void stop() { stop_ = true; }
  /// Breaks the connection off.
  void cut() {
    stop_ = cut_ = true;
    ::shutdown(socket_.number(), SHUT_RDWR);
  }
  void join() { thread_.join(); }

  const FileDescriptor& socket() const { return socket_; }
  std::int64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  bool done() const { return done_.load(std::memory_order_acquire); }
  Time ended() const { return ended_; }  ///< last write returned
  Time closed() const {
    return closed_;
  }  ///< the peer had everything: it closed, or all is acknowledged
  int failure() const { return failure_; }  ///< errno, or 0
  const std::optional<ZeroCopy>& completions() const { return completions_; }
  const std::optional<TransferFile>& file() const { return file_; }

 private:
  static std::optional<Bytes> volume_of(const TransferEnd& end, int flow) {
    const experiments::Test& test = *end.options.test;
    if (!test.sizes) return test.bytes;
    return experiments::SizeSource(*test.sizes, {}, stream_of(end, flow, "sizes")).next();
  }

  /// Filled before the clock runs: the kernel maps a gigabyte in no less than a tenth of a second.
  static std::size_t largest_write(const experiments::Test& test, std::optional<Bytes> volume) {
    Bytes largest = volume ? std::min(test.write, *volume) : test.write;
    if (!test.writes.empty()) largest = Bytes(0);
    for (const auto& group : test.writes) largest = std::max(largest, group.size);
    return static_cast<std::size_t>(largest.count());
  }

  /// One write(); false when the connection takes no more.
  bool write(std::int64_t size) {
    if (file_ && !read_file(size)) return false;
    // What the kernel still reads must not change under it.
    while (test_.verify && completions_ && completions_->pending() > 0 && !stop_)
      completions_->wait();
    if (test_.verify) pattern_.fill(buffer_.data(), size, bytes());
    const int flags = MSG_NOSIGNAL | (completions_ ? MSG_ZEROCOPY : 0);
    ssize_t taken = ::send(socket_.number(), buffer_.data(), size, flags);
    // Too many are under way without a copy: they must be taken back first.
    while (taken < 0 && errno == ENOBUFS && completions_ && !stop_) {
      completions_->wait();
      taken = ::send(socket_.number(), buffer_.data(), size, flags);
    }
    if (completions_) {
      if (taken >= 0) completions_->lend();
      completions_->take();
    }
    if (taken < 0) {
      if (!cut_) failure_ = errno;
      return false;
    }
    // Single writer: loads and stores suffice.
    calls_.store(calls() + 1, std::memory_order_relaxed);
    bytes_.store(bytes() + taken, std::memory_order_relaxed);
    return true;
  }

  bool read_file(std::int64_t size) {
    try {
      file_->read(buffer_.data(), static_cast<std::size_t>(size));
      return true;
    } catch (const std::system_error& error) {  // this is a thread
      failure_ = error.code().value();
      return false;
    }
  }

  void write_back_to_back() {
    while (!stop_) {
      std::int64_t size = test_.write.count();
      if (volume_) size = std::min(size, volume_->count() - bytes());
      if (size == 0 || !write(size)) return;
    }
  }

  void write_on_schedule() {
    Time base = window_.start;
    for (const auto& group : test_.writes) {
      base += group.after;
      for (std::int64_t i = 0; i < group.count; ++i) {
        sleep_until(base + group.interval * i);
        if (stop_ || !write(group.size.count())) return;
      }
      base += group.interval * std::max<std::int64_t>(group.count - 1, 0);
    }
  }

  /// Says that no more comes, with `close: drained` not before everything is acknowledged, and
  /// waits until the peer has read it all and closed, so that the last retransmission is counted.
  void close_stream() {
    if (test_.close == experiments::Closing::drained) {
      while (!cut_ && !all_acknowledged(socket_)) sleep_until(monotonic_now() + kDrainPoll);
      closed_ = monotonic_now();
    }
    ::shutdown(socket_.number(), SHUT_WR);
    char nothing = 0;
    ssize_t size = 0;
    do {
      size = ::recv(socket_.number(), &nothing, 1, 0);
    } while (size > 0 || (size < 0 && errno == EINTR));
    if (closed_ == Time{}) closed_ = monotonic_now();
  }

  FileDescriptor socket_;
  const experiments::Test& test_;
  Time spread_;
  std::optional<Bytes> volume_;
  StreamPattern pattern_;
  std::vector<char> buffer_;
  std::optional<ZeroCopy> completions_;
  std::optional<TransferFile> file_;
  Window window_;
  std::thread thread_;
  std::atomic<bool> stop_{false}, cut_{false}, done_{false};
  std::atomic<std::int64_t> calls_{0}, bytes_{0};
  Time ended_, closed_;
  int failure_ = 0;
};

using Writers = std::vector<std::unique_ptr<FlowWriter>>;

template <class Measure>
std::int64_t sum(const Writers& writers, Measure measure) {
  std::int64_t total = 0;
  for (const auto& writer : writers) total += ((*writer).*measure)();
  return total;
}

SenderSample sample(const Writers& writers) {
  SenderSample sample;
  const auto flows = static_cast<double>(writers.size());
  for (const auto& writer : writers) {
    const TcpState state = tcp_state(writer->socket());
    sample.cwnd += state.cwnd / flows;
    sample.srtt += state.srtt / flows;
    sample.retransmits += state.retransmits;
    sample.delivery_rate += state.delivery_rate;
    sample.busy += state.busy / flows;
    sample.receive_window_limited += state.receive_window_limited / flows;
    sample.send_buffer_limited += state.send_buffer_limited / flows;
  }
  return sample;
}

/// Keeps the flows company: samples them at every interval and ends them when it is time.
class SenderWatch {
 public:
  SenderWatch(const Writers& writers, const experiments::Test& test, const Window& window,
              TransferReport& report, WireMeter& meter)
      : writers_(writers),
        test_(test),
        window_(window),
        report_(report),
        meter_(meter),
        step_(window.step) {
    samples_.reserve(2 * kMostIntervals);
  }

  void run() {
    while (!all_done()) {
      const Time now = monotonic_now();
      if (now >= next_sample()) take_sample();
      if (now >= window_.from && !meter_.started()) meter_.start();
      if (now >= window_.to) meter_.stop(report_.sender);
      if (!stopped_ && now >= end_of_writing()) {
        stopped_ = true;
        for (const auto& writer : writers_) writer->stop();
      }
      if (report_.stop) {
        for (const auto& writer : writers_) writer->cut();
      }
      sleep_until(std::min(now + kPatience, std::max(now, next_deadline())));
    }
    meter_.stop(report_.sender);
  }

  void fill(SenderReport& report) const {
    report.step = step_;
    report.intervals = static_cast<int>(std::min<std::size_t>(samples_.size(), kMostIntervals));
    std::copy_n(samples_.begin(), report.intervals, report.samples.begin());
  }

 private:
  bool all_done() const {
    return std::all_of(writers_.begin(), writers_.end(),
                       [](const auto& writer) { return writer->done(); });
  }
  Time next_sample() const {
    return window_.start + step_ * (static_cast<std::int64_t>(samples_.size()) + 1);
  }
  Time next_deadline() const {
    const Time next = stopped_ ? next_sample() : std::min(next_sample(), end_of_writing());
    return meter_.started() ? next : std::min(next, window_.from);
  }
  /// When a test that is not bounded by its bytes stops writing.
  Time end_of_writing() const {
    return ends_by_time(test_) ? window_.start + test_.duration : Time::never();
  }

  void take_sample() {
    samples_.push_back(sample(writers_));
    if (samples_.size() < 2 * kMostIntervals) return;
    // Too long for the table: keep every second and go on at half the pace.
    for (std::size_t i = 0; i < kMostIntervals; ++i) samples_[i] = samples_[2 * i + 1];
    samples_.resize(kMostIntervals);
    step_ = step_ * 2;
  }

  const Writers& writers_;
  const experiments::Test& test_;
  const Window& window_;
  TransferReport& report_;
  WireMeter& meter_;
  Time step_;
  std::vector<SenderSample> samples_;
  bool stopped_ = false;
};

void report_flows(const Writers& writers, SenderReport& report) {
  const auto flows = static_cast<double>(writers.size());
  for (const auto& writer : writers) {
    const TcpState state = tcp_state(writer->socket());
    report.retransmits += static_cast<std::int64_t>(state.retransmits);
    report.busy += state.busy / flows;
    report.receive_window_limited += state.receive_window_limited / flows;
    report.send_buffer_limited += state.send_buffer_limited / flows;
    report.segment_size = state.segment_size;
    report.timestamps = state.timestamps;
    report.ended = std::max(report.ended, writer->ended());
    report.closed = std::max(report.closed, writer->closed());
    if (writer->file()) report.file_seconds += writer->file()->seconds() / flows;
    if (writer->completions()) {
      report.zero_copied += writer->completions()->zero_copied();
      report.copied += writer->completions()->copied();
    }
  }
  report.calls = sum(writers, &FlowWriter::calls);
  report.bytes = sum(writers, &FlowWriter::bytes);
  report.send_buffer = stored_option(writers[0]->socket(), SOL_SOCKET, SO_SNDBUF);
}

}  // namespace

void send_stream(const TransferEnd& end, const ParentLine& parent, TransferReport& report) {
  const auto& test = *end.options.test;
  settle_sender(end);
  Writers writers;
  for (int i = 0; i < test.flows; ++i) {
    const Time before = monotonic_now();
    FileDescriptor socket = connect_tcp({end.peer_address, report.port}, end.options);
    report.sender.connecting = std::max(report.sender.connecting, monotonic_now() - before);
    writers.push_back(std::make_unique<FlowWriter>(std::move(socket), end, i));
  }
  parent.say(kConnected);
  parent.wait_for_go();
  const Window window = window_of(test, Time::picoseconds(report.start), end.disturbed);
  const ProcessUse before = process_use();
  WireMeter meter(end.place.device);
  SenderWatch watch(writers, test, window, report, meter);
  for (const auto& writer : writers) writer->start(window);
  watch.run();
  for (const auto& writer : writers) writer->join();
  charge(before, report.sender);
  for (const auto& writer : writers) {
    if (writer->failure() != 0 && !report.stop) {
      errno = writer->failure();
      throw_errno("send");
    }
  }
  watch.fill(report.sender);
  report_flows(writers, report.sender);
  parent.say(kDone);
}

}  // namespace linerate::realnet
