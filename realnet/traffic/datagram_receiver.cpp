// Receives datagrams or frames until all have come, or nothing more does.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "realnet/traffic/datagram_io.hpp"
#include "realnet/traffic/datagram_tally.hpp"

namespace linerate::realnet {
namespace {

using experiments::TestType;

class DatagramReceiver {
 public:
  DatagramReceiver(const TransferEnd& end, TransferReport& report, Collector& collector)
      : test_(*end.options.test),
        report_(report),
        collector_(collector),
        tally_(test_.flows, {test_.type == TestType::raw_frames, test_.ip, end.mtu}) {}

  void run(const Window& window) {
    tally_.start(window);
    // RFC 2544 23: residual frames get two seconds, unless the test says otherwise.
    const Time patience = test_.trial.settle;
    Time quiet_since = monotonic_now();
    for (;;) {
      const auto arrivals = collector_.receive();
      for (const Arrival& arrival : arrivals) tally_.add(arrival);
      const Time now = monotonic_now();
      const std::int64_t sent = report_.sent;
      if (!arrivals.empty() || sent < 0) quiet_since = now;
      report_.received.store(tally_.bytes(), std::memory_order_relaxed);
      if (sent >= 0 && (tally_.received() >= sent || now - quiet_since > patience)) break;
    }
    if (tally_.altered() > 0) {
      throw std::runtime_error(
          fmt::format("verify: {} of {} that arrived had been altered on the way", tally_.altered(),
                      tally_.received()));
    }
    fill(window);
  }

 private:
  void fill(const Window& window) {
    ReceiverReport& out = report_.receiver;
    out.datagrams = tally_.counts();
    out.datagrams.overflows = collector_.overflows();
    const std::string method = collector_.method();
    std::copy_n(method.data(), std::min(method.size(), out.datagrams.method.size() - 1),
                out.datagrams.method.data());
    out.bytes = tally_.bytes();
    out.calls = collector_.calls();
    out.first_byte = tally_.first();
    out.last_byte = out.ended = tally_.last();
    const Time until = std::min(window.to, monotonic_now());
    report_intervals(tally_.by_interval(until), window.step, out);
  }

  const experiments::Test& test_;
  TransferReport& report_;
  Collector& collector_;
  DatagramTally tally_;
};

}  // namespace

void receive_datagrams(const TransferEnd& end, const ParentLine& parent, TransferReport& report) {
  settle(end);
  const bool raw = end.options.test->type == TestType::raw_frames;
  const auto collector = raw ? collect_frames(end, report) : collect_udp(end, report);
  const auto receiver = std::make_unique<DatagramReceiver>(end, report, *collector);
  parent.say(kListening);
  parent.say(kConnected);
  parent.wait_for_go();
  const Window window =
      window_of(*end.options.test, Time::picoseconds(report.start), end.disturbed);
  const ProcessUse before = process_use();
  receiver->run(window);
  charge(before, report.receiver);
  parent.say(kDone);
}

}  // namespace linerate::realnet
