#include "realnet/transfer.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

#include "realnet/greeting.hpp"
#include "realnet/traffic/cpu_quota.hpp"

namespace linerate::realnet {

sim::RandomStream stream_of(const TransferEnd& end, int flow, std::string_view purpose) {
  const std::uint64_t entity = end.entity + 2 * static_cast<std::uint64_t>(flow);
  return sim::RandomStream({.seed = end.seed, .entity = entity, .name = purpose});
}

void send_transfer(const TransferEnd& end, const ParentLine& parent, TransferReport& report) {
  switch (end.options.test->type) {
    case experiments::TestType::udp_stream:
    case experiments::TestType::raw_frames:
      return send_datagrams(end, parent, report);
    case experiments::TestType::request_response:
      return send_requests(end, parent, report);
    default:
      if (end.options.test->arrivals) return send_flows(end, parent, report);
      return send_stream(end, parent, report);
  }
}

void receive_transfer(const TransferEnd& end, const ParentLine& parent, TransferReport& report) {
  switch (end.options.test->type) {
    case experiments::TestType::udp_stream:
    case experiments::TestType::raw_frames:
      return receive_datagrams(end, parent, report);
    case experiments::TestType::request_response:
      return serve_requests(end, parent, report);
    default:
      if (end.options.test->arrivals) return receive_flows(end, parent, report);
      return receive_stream(end, parent, report);
  }
}

void report_intervals(std::span<const double> by_interval, Time step, ReceiverReport& report) {
  const std::size_t count = by_interval.size();
  // Too long for the table: keep every n-th.
  const std::size_t stride = 1 + (count - std::min<std::size_t>(count, 1)) / kMostIntervals;
  report.step = step * static_cast<std::int64_t>(stride);
  report.intervals = static_cast<int>(count / stride);
  for (int i = 0; i < report.intervals; ++i)
    report.interval_bytes[i] = by_interval[(i + 1) * stride - 1];
}

bool ends_by_time(const experiments::Test& test) {
  const bool by_volume = test.bytes || test.type == experiments::TestType::file_transfer ||
                         (test.sizes && test.type == experiments::TestType::tcp_stream);
  return (!by_volume || test.arrivals) && !test.transactions && test.writes.empty() &&
         !test.background;
}

Window window_of(const experiments::Test& test, Time start, bool disturbed) {
  Window window{start, start + test.omit, Time::never(), Time{}};
  if (ends_by_time(test)) window.to = start + test.duration;
  // About ten points; a point a second is what people expect of longer runs.
  const Time tenth =
      !ends_by_time(test) && test.bytes ? Time::milliseconds(100) : test.duration / 10;
  window.step = disturbed ? std::max(tenth / 50, Time::milliseconds(5))
                          : std::clamp(tenth, Time::milliseconds(100), Time::seconds(1));
  return window;
}

void settle(const TransferEnd& end) {
  if (end.place.namespace_descriptor >= 0) {
    checked(::setns(end.place.namespace_descriptor, CLONE_NEWNET), "setns");
  }
  if (end.options.test->core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(*end.options.test->core, &cores);
    checked(::sched_setaffinity(0, sizeof cores, &cores),
            "run on core " + std::to_string(*end.options.test->core));
  }
  // Linux lets a program that wakes up take the core at once, or not, by what both have used
  // lately; batch programs leave it to the slices (sched(7)).
  if (end.keeps_core) {
    const sched_param none{};
    checked(::sched_setscheduler(0, SCHED_BATCH, &none), "sched_setscheduler");
  }
  if (end.options.test->cpu_quota) join_quota(*end.options.test->cpu_quota);
}

void settle_sender(const TransferEnd& end) {
  settle(end);
  if (end.place.namespace_descriptor >= 0) greet(end.peer_address, end.options);
}

ProcessUse process_use() {
  rusage use{};
  checked(::getrusage(RUSAGE_SELF, &use), "getrusage");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {seconds(use.ru_utime), seconds(use.ru_stime), use.ru_nvcsw, use.ru_nivcsw};
}

}  // namespace linerate::realnet
