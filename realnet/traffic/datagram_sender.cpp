// Sends datagrams or frames when their schedule says.
#include <algorithm>
#include <array>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "realnet/traffic/datagram_io.hpp"
#include "realnet/traffic/datagram_schedule.hpp"
#include "realnet/traffic/pacer.hpp"
#include "realnet/traffic/wire_meter.hpp"

namespace linerate::realnet {
namespace {

using experiments::TestType;

/// Looks at the clock of the test at least so often.
constexpr Time kLongestWait = Time::milliseconds(20);

DatagramFraming framing_of(const TransferEnd& end) {
  const experiments::Test& test = *end.options.test;
  return {test.type == TestType::raw_frames, test.ip, end.mtu};
}

/// Frames or payloads that the sender's port takes.
Bytes room_at(const TransferEnd& end) {
  const experiments::Test& test = *end.options.test;
  if (test.type == TestType::raw_frames) return end.mtu + Bytes(18);
  return end.mtu - Bytes(test.ip == 6 ? 48 : 28);
}

class DatagramSender {
 public:
  DatagramSender(const TransferEnd& end, TransferReport& report, Transmitter& transmitter)
      : test_(*end.options.test),
        report_(report),
        transmitter_(transmitter),
        pacer_(end.may_spin),
        meter_(end.place.device) {
    for (int flow = 0; flow < test_.flows; ++flow) {
      spreads_.push_back(test_.start_spread.scaled(stream_of(end, flow, "start").uniform01()));
      flows_.emplace_back(DatagramSchedule::Setup{test_, end.line, framing_of(end), room_at(end),
                                                  stream_of(end, flow, "arrivals"),
                                                  stream_of(end, flow, "sizes")});
    }
  }

  void run(const Window& window) {
    window_ = window;
    for (std::size_t i = 0; i < flows_.size(); ++i) flows_[i].start(window.start + spreads_[i]);
    // A test by volume goes on until all is sent.
    end_ = test_.bytes ? Time::never() : window.start + test_.duration;
    for (;;) {
      const Time now = monotonic_now();
      keep_meter(now);
      if (report_.stop || now >= end_) break;
      if (send_due(now)) continue;
      const Time next = next_due();
      if (next == Time::never()) break;
      pacer_.wait_until(std::min(next, now + kLongestWait));
    }
    transmitter_.flush();
    finish();
  }

 private:
  /// Hands over what is due now; false when nothing is.
  bool send_due(Time now) {
    std::size_t count = 0;
    for (std::size_t flow = 0; flow < flows_.size() && count < kDatagramBatch; ++flow) {
      if (flows_[flow].due() > now) continue;
      count = gather(static_cast<int>(flow), now, count);
    }
    if (count == 0) return false;
    std::size_t sent = 0;
    while (sent < count && !report_.stop && monotonic_now() < end_) {
      sent += transmitter_.send(std::span(batch_).subspan(sent, count - sent));
    }
    for (std::size_t i = 0; i < sent; ++i) sent_.bytes += batch_[i].size.count();
    sent_.datagrams.sent += static_cast<std::int64_t>(sent);
    return true;
  }

  std::size_t gather(int flow, Time now, std::size_t count) {
    DatagramSchedule& schedule = flows_[flow];
    while (count < kDatagramBatch && schedule.due() <= now) {
      sent_.datagrams.lateness.record(now - schedule.due());
      batch_[count++] = {flow, schedule.passed() + 1, schedule.size()};
      schedule.advance();
    }
    return count;
  }

  Time next_due() const {
    Time next = Time::never();
    for (const DatagramSchedule& flow : flows_) next = earlier(next, flow.due());
    return next;
  }

  void keep_meter(Time now) {
    if (now >= window_.from && !meter_.started()) meter_.start();
    if (now >= window_.to) meter_.stop(report_.sender);
  }

  void finish() {
    meter_.stop(report_.sender);
    // What was due and not come to counts as well: the sender fell short.
    for (DatagramSchedule& flow : flows_) {
      while (end_ != Time::never() && !report_.stop && flow.due() < end_) flow.advance();
      sent_.datagrams.due += flow.passed();
    }
    SenderReport& sender = report_.sender;
    sender.datagrams = sent_.datagrams;
    sender.datagrams.refused = transmitter_.refused();
    sender.bytes = sent_.bytes;
    sender.calls = transmitter_.calls();
    sender.ended = sender.closed = monotonic_now();
    const std::string method = transmitter_.method();
    std::copy_n(method.data(), std::min(method.size(), sender.datagrams.method.size() - 1),
                sender.datagrams.method.data());
  }

  const experiments::Test& test_;
  TransferReport& report_;
  Transmitter& transmitter_;
  Pacer pacer_;
  WireMeter meter_;
  Window window_;
  Time end_;
  std::vector<DatagramSchedule> flows_;
  std::vector<Time> spreads_;
  std::array<Datagram, kDatagramBatch> batch_;
  struct {
    DatagramsSent datagrams{};
    std::int64_t bytes = 0;
  } sent_;
};

}  // namespace

void send_datagrams(const TransferEnd& end, const ParentLine& parent, TransferReport& report) {
  const bool raw = end.options.test->type == TestType::raw_frames;
  raw ? settle(end) : settle_sender(end);
  const auto transmitter = raw ? transmit_frames(end, report) : transmit_udp(end, report);
  const auto sender = std::make_unique<DatagramSender>(end, report, *transmitter);
  parent.say(kConnected);
  parent.wait_for_go();
  const Window window =
      window_of(*end.options.test, Time::picoseconds(report.start), end.disturbed);
  const ProcessUse before = process_use();
  sleep_until(window.start - Time::milliseconds(1));
  sender->run(window);
  charge(before, report.sender);
  report.sent = report.sender.datagrams.sent;
  parent.say(kDone);
}

}  // namespace linerate::realnet
