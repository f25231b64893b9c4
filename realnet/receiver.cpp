#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "realnet/traffic/stream_pattern.hpp"
#include "realnet/traffic/transfer_file.hpp"
#include "realnet/transfer.hpp"

namespace linerate::realnet {
namespace {

/// One connection and the thread that reads it.
class FlowReader {
 public:
  FlowReader(FileDescriptor socket, const experiments::Test& test, int flow)
      : socket_(std::move(socket)), test_(test), pattern_(flow), buffer_(test.read.count()) {
    if (test_.type == experiments::TestType::file_transfer) file_ = TransferFile::to_write();
  }

  void start(const Window& window) {
    clock_.emplace(window);
    window_ = window;
    thread_ = std::thread([this] { read_all(); });
  }
  void join() { thread_.join(); }

  const ReadClock& clock() const { return *clock_; }
  const FileDescriptor& socket() const { return socket_; }
  std::int64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  bool done() const { return done_.load(std::memory_order_acquire); }
  Time ended() const { return ended_; }
  int failure() const { return failure_; }  ///< errno, or 0
  const std::optional<TransferFile>& file() const { return file_; }
  /// The first byte that was not what had been written; with `verify` alone.
  std::optional<std::int64_t> wrong_at() const { return wrong_at_; }

 private:
  void read_all() {
    // MSG_TRUNC on TCP discards instead of copying.
    const int flags = test_.truncate ? MSG_TRUNC : 0;
    bool paused = false;
    for (;;) {
      const ssize_t size = ::recv(socket_.number(), buffer_.data(), buffer_.size(), flags);
      const Time now = monotonic_now();
      if (size > 0) {
        clock_->on_read(now, Bytes(size));
        if (test_.verify && !wrong_at_) {
          wrong_at_ = pattern_.first_difference(buffer_.data(), size, bytes());
        }
        count(size);
        if (file_ && !write_file(size)) break;
      } else if (size == 0) {
        break;
      } else if (errno != EINTR) {
        failure_ = errno;
        break;
      }
      rest(now, paused);
    }
    ended_ = monotonic_now();
    ::shutdown(socket_.number(), SHUT_WR);  // the sender waits for it
    clock_->finish(ended_);
    done_.store(true, std::memory_order_release);
  }

  bool write_file(ssize_t size) {
    try {
      file_->write(buffer_.data(), static_cast<std::size_t>(size));
      return true;
    } catch (const std::system_error& error) {  // this is a thread
      failure_ = error.code().value();
      return false;
    }
  }

  /// Single writer: loads and stores suffice.
  void count(ssize_t size) {
    calls_.store(calls() + 1, std::memory_order_relaxed);
    bytes_.store(bytes() + size, std::memory_order_relaxed);
  }

  /// A receiving application that has something else to do.
  void rest(Time now, bool& paused) const {
    const auto& reader = test_.reader;
    if (reader.pause_at && !paused && now >= window_.start + *reader.pause_at) {
      paused = true;
      sleep_until(window_.start + *reader.pause_at + reader.pause_for);
    }
    if (reader.interval > Time{}) sleep_until(now + reader.interval);
  }

  FileDescriptor socket_;
  const experiments::Test& test_;
  StreamPattern pattern_;
  std::optional<std::int64_t> wrong_at_;
  std::optional<TransferFile> file_;
  std::vector<char> buffer_;  // here, so that it is mapped before the clock runs
  Window window_;
  std::optional<ReadClock> clock_;
  std::thread thread_;
  std::atomic<std::int64_t> calls_{0}, bytes_{0};
  std::atomic<bool> done_{false};
  Time ended_;
  int failure_ = 0;
};

using Readers = std::vector<std::unique_ptr<FlowReader>>;

template <class Measure>
std::int64_t sum(const Readers& readers, Measure measure) {
  std::int64_t total = 0;
  for (const auto& reader : readers) total += ((*reader).*measure)();
  return total;
}

/// Tells the parent how much has come until all flows have ended.
void watch(const Readers& readers, TransferReport& report) {
  while (!std::all_of(readers.begin(), readers.end(),
                      [](const auto& reader) { return reader->done(); })) {
    report.received.store(sum(readers, &FlowReader::bytes), std::memory_order_relaxed);
    sleep_until(monotonic_now() + Time::milliseconds(5));
  }
}

/// Read by all flows together by the end of each interval. A flow that has ended keeps its total.
std::vector<double> sum_by_interval(const Readers& readers) {
  std::size_t count = 0;
  for (const auto& reader : readers) count = std::max(count, reader->clock().by_interval().size());
  std::vector<double> sums(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto& reader : readers) {
      const auto& bytes = reader->clock().by_interval();
      sums[i] += i < bytes.size() ? bytes[i] : static_cast<double>(reader->clock().total().count());
    }
  }
  return sums;
}

void report_flows(const Readers& readers, ReceiverReport& report) {
  report.first_byte = Time::never();
  report.last_byte = report.ended = Time{};
  for (std::size_t i = 0; i < readers.size(); ++i) {
    report.window_bytes[i] = readers[i]->clock().window_bytes();
    report.first_byte = std::min(report.first_byte, readers[i]->clock().first_read());
    report.last_byte = std::max(report.last_byte, readers[i]->clock().last_read());
    report.ended = std::max(report.ended, readers[i]->ended());
    if (const auto& file = readers[i]->file())
      report.file_seconds += file->seconds() / static_cast<double>(readers.size());
    report.flow_ended[i] = readers[i]->clock().last_read();
  }
  report.calls = sum(readers, &FlowReader::calls);
  report.bytes = sum(readers, &FlowReader::bytes);
  report.receive_buffer = stored_option(readers[0]->socket(), SOL_SOCKET, SO_RCVBUF);
}

void check_payload(const Readers& readers) {
  for (std::size_t flow = 0; flow < readers.size(); ++flow) {
    if (const auto at = readers[flow]->wrong_at()) {
      throw std::runtime_error(fmt::format(
          "verify: byte {} of flow {} is not what was written: it was lost, repeated or "
          "altered on the way",
          *at, flow));
    }
  }
}

}  // namespace

void receive_stream(const TransferEnd& end, const ParentLine& parent, TransferReport& report) {
  const auto& test = *end.options.test;
  settle(end);
  const FileDescriptor listener = listen_tcp(end.place.address, end.options);
  report.port = local_port(listener);
  parent.say(kListening);
  Readers readers;
  for (int i = 0; i < test.flows; ++i) {
    readers.push_back(
        std::make_unique<FlowReader>(accept_tcp(listener, kConnectPatience), test, i));
  }
  parent.say(kConnected);
  parent.wait_for_go();
  const Window window = window_of(test, Time::picoseconds(report.start), end.disturbed);
  const ProcessUse before = process_use();
  for (const auto& reader : readers) reader->start(window);
  watch(readers, report);
  for (const auto& reader : readers) reader->join();
  charge(before, report.receiver);
  for (const auto& reader : readers) {
    // Background traffic is cut off; a reset is then how it ends.
    if (reader->failure() != 0 && !report.stop) {
      errno = reader->failure();
      throw_errno("recv");
    }
  }
  if (test.verify) check_payload(readers);
  report_flows(readers, report.receiver);
  report_intervals(sum_by_interval(readers), window.step, report.receiver);
  parent.say(kDone);
}

}  // namespace linerate::realnet
