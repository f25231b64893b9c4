#include "realnet/transfer.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

namespace linerate::realnet {

bool ends_by_time(const experiments::Test& test) {
  return !test.bytes && test.writes.empty() && !test.background;
}

Window window_of(const experiments::Test& test, Time start) {
  Window window{start, start + test.omit, Time::never(), Time{}};
  if (ends_by_time(test)) window.to = start + test.duration;
  // About ten points; a point a second is what people expect of longer runs.
  const Time tenth = test.bytes ? Time::milliseconds(100) : test.duration / 10;
  window.step = std::clamp(tenth, Time::milliseconds(100), Time::seconds(1));
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
}

double processor_seconds() {
  rusage use{};
  checked(::getrusage(RUSAGE_SELF, &use), "getrusage");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace linerate::realnet
