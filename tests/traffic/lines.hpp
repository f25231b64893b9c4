// What the tests of this folder share: they measure this machine, so nothing else may run beside
// them, and each is as short as its claim allows.
#pragma once

#include <catch2/catch.hpp>

#include "realnet/measure.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {

/// Whether virtual links can be made here; where not, the reason is in the test's output.
inline bool lines_possible() {
  if (!is_root()) WARN("not root: no virtual links to measure");
  return is_root();
}

/// A stream whose window of half a second opens when the first burst of a token bucket (10 ms of
/// the line at most) has long gone.
inline experiments::Test steady(const std::string& name) {
  return stream(name, Time::milliseconds(700), Time::milliseconds(200));
}

/// Measures up to three times until `good` says so: other work on the machine may disturb a run,
/// a wrong line is wrong every time.
template <class Good>
experiments::Result measured_until(const experiments::Experiment& experiment, Good good) {
  experiments::Result result;
  for (int attempt = 0; attempt < 3; ++attempt) {
    result = measure(experiment);
    if (good(result)) break;
  }
  return result;
}

}  // namespace linerate::realnet
