// Servers of a request/response test: a thread a connection.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "experiments/definition/load.hpp"
#include "realnet/transfer.hpp"

namespace linerate::realnet {
namespace {

/// Answers every request with the response its client expects: both draw the same sizes.
class FlowResponder {
 public:
  FlowResponder(FileDescriptor socket, const TransferEnd& end, int flow)
      : socket_(std::move(socket)),
        test_(*end.options.test),
        input_(static_cast<std::size_t>(std::min(test_.read, test_.request).count())),
        output_(static_cast<std::size_t>(test_.write.count()), 'x') {
    if (test_.sizes) {
      responses_.emplace(*test_.sizes, experiments::SizeSource::Range{},
                         stream_of(end, flow, "sizes"));
    }
    thread_ = std::thread([this] {
      while (read_request()) {
        if (!write_response((responses_ ? responses_->next() : test_.response).count())) return;
      }
    });
  }
  void join() { thread_.join(); }
  std::int64_t calls() const { return calls_; }
  std::int64_t bytes() const { return bytes_; }  ///< of requests
  int failure() const { return failure_; }       ///< errno, or 0

 private:
  bool read_request() {
    for (std::int64_t left = test_.request.count(); left > 0;) {
      const auto wanted = std::min<std::int64_t>(left, static_cast<std::int64_t>(input_.size()));
      const ssize_t size =
          ::recv(socket_.number(), input_.data(), static_cast<std::size_t>(wanted), 0);
      ++calls_;
      if (size == 0) return false;
      if (size < 0) {
        if (errno == EINTR) continue;
        failure_ = errno;
        return false;
      }
      left -= size;
      bytes_ += size;
    }
    return true;
  }

  bool write_response(std::int64_t left) {
    while (left > 0) {
      const auto size = std::min<std::int64_t>(left, static_cast<std::int64_t>(output_.size()));
      const ssize_t taken =
          ::send(socket_.number(), output_.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL);
      ++calls_;
      if (taken < 0) {
        failure_ = errno;
        return false;
      }
      left -= taken;
    }
    return true;
  }

  FileDescriptor socket_;
  const experiments::Test& test_;
  std::vector<char> input_, output_;
  std::optional<experiments::SizeSource> responses_;
  std::int64_t calls_ = 0, bytes_ = 0;
  int failure_ = 0;
  std::thread thread_;
};

}  // namespace

void serve_requests(const TransferEnd& end, const ParentLine& parent, TransferReport& report) {
  settle(end);
  const FileDescriptor listener = listen_tcp(end.place.address, end.options);
  report.port = local_port(listener);
  parent.say(kListening);
  std::vector<FileDescriptor> sockets;
  for (int flow = 0; flow < end.options.test->flows; ++flow) {
    sockets.push_back(accept_tcp(listener, kConnectPatience));
  }
  parent.say(kConnected);
  parent.wait_for_go();
  const ProcessUse before = process_use();
  std::vector<std::unique_ptr<FlowResponder>> responders;
  for (int flow = 0; flow < end.options.test->flows; ++flow) {
    responders.push_back(std::make_unique<FlowResponder>(std::move(sockets[flow]), end, flow));
  }
  for (const auto& responder : responders) responder->join();
  charge(before, report.receiver);
  for (const auto& responder : responders) {
    report.receiver.calls += responder->calls();
    report.receiver.bytes += responder->bytes();
    // Background traffic is cut off; a reset is then how it ends.
    if (responder->failure() == 0 || report.stop) continue;
    errno = responder->failure();
    throw_errno("serve requests");
  }
  report.receiver.ended = monotonic_now();
  parent.say(kDone);
}

}  // namespace linerate::realnet
