#include "realnet/remote/plausible.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace linerate::realnet {
namespace {

/// Sums and differences of a few moments or counts must stay within 64 bits. 26 days in ps.
constexpr std::int64_t kLargest = std::int64_t{1} << 61;

/// What may stand in the parts of a report.
struct ReportCheck {
  static bool counts(std::initializer_list<std::int64_t> values) {
    return std::all_of(values.begin(), values.end(),
                       [](std::int64_t value) { return value >= 0 && value <= kLargest; });
  }

  static bool moment(Time time) {
    // What has not happened may be "never".
    return time == Time::never() ||
           (time.picoseconds() >= -kLargest && time.picoseconds() <= kLargest);
  }

  static bool moments(std::initializer_list<Time> times) {
    return std::all_of(times.begin(), times.end(), moment);
  }

  template <class Numbers>
  static bool amounts(const Numbers& values) {
    return std::all_of(values.begin(), values.end(),
                       [](double value) { return std::isfinite(value) && value >= 0; });
  }

  static bool amounts(std::initializer_list<double> values) {
    return amounts<std::initializer_list<double>>(values);
  }

  template <std::size_t size>
  static bool text(const std::array<char, size>& letters) {
    return std::all_of(letters.begin(), letters.end(),
                       [](char c) { return c == 0 || (c >= 0x20 && c < 0x7f); }) &&
           letters.back() == 0;
  }

  static bool table(Time step, int intervals) {
    return intervals >= 0 && intervals <= kMostIntervals && step >= Time{} && moment(step) &&
           (intervals == 0 || step > Time{});
  }

  static bool use(const ProcessUse& use) {
    return amounts({use.user, use.system}) && counts({use.waits, use.preemptions});
  }

  static bool sample(const SenderSample& s) {
    return amounts({s.cwnd, s.srtt, s.retransmits, s.delivery_rate, s.busy,
                    s.receive_window_limited, s.send_buffer_limited});
  }

  static bool consistent(std::initializer_list<const LatencyHistogram*> all) {
    return std::all_of(all.begin(), all.end(), [](const auto* one) { return one->consistent(); });
  }

  static bool datagrams(const DatagramsSent& sent) {
    return counts({sent.due, sent.sent, sent.refused}) && sent.lateness.consistent() &&
           text(sent.method);
  }

  static bool datagrams(const DatagramsReceived& seen) {
    return counts({seen.received, seen.duplicates, seen.reordered, seen.window_frames,
                   seen.window_bytes, seen.window_wire_bytes, seen.overflows}) &&
           moments({seen.jitter, seen.growth}) && seen.latency.consistent() && text(seen.method);
  }

  static bool requests(const RequestsServed& served) {
    return counts({served.transactions}) && amounts({served.rate}) &&
           moment(served.last_response) && served.latency.consistent();
  }

  static bool flows(const FlowsCompleted& done) {
    return counts({done.flows, done.bytes}) && moment(done.last_read) &&
           consistent({&done.elapsed, &done.small, &done.medium, &done.large, &done.lateness});
  }

  static bool report(const SenderReport& r) {
    return moments({r.connecting, r.ended, r.closed, r.counted}) &&
           amounts(
               {r.cpu, r.busy, r.receive_window_limited, r.send_buffer_limited, r.file_seconds}) &&
           counts({r.calls, r.bytes, r.retransmits, r.wire_bytes, r.segment_size, r.send_buffer,
                   r.zero_copied, r.copied}) &&
           table(r.step, r.intervals) &&
           std::all_of(r.samples.begin(), r.samples.begin() + r.intervals, sample) && use(r.use) &&
           datagrams(r.datagrams) && requests(r.requests) && flows(r.flows);
  }

  static bool report(const ReceiverReport& r) {
    return moments({r.first_byte, r.last_byte, r.ended}) && amounts({r.cpu, r.file_seconds}) &&
           counts({r.calls, r.bytes, r.receive_buffer}) &&
           std::all_of(r.flow_ended.begin(), r.flow_ended.end(), moment) &&
           amounts(r.window_bytes) && table(r.step, r.intervals) && amounts(r.interval_bytes) &&
           use(r.use) && datagrams(r.datagrams);
  }
};

}  // namespace

bool plausible(const SenderReport& report) { return ReportCheck::report(report); }
bool plausible(const ReceiverReport& report) { return ReportCheck::report(report); }

}  // namespace linerate::realnet
