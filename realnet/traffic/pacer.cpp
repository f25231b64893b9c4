#include "realnet/traffic/pacer.hpp"

#include "realnet/system.hpp"

namespace linerate::realnet {
namespace {

/// Covers what a sleep with a slack of 1 ns is late by, nine times in ten.
constexpr Time kSpun = Time::microseconds(80);

}  // namespace

void Pacer::wait_until(Time deadline) const {
  if (!may_spin_) return sleep_until(deadline);
  if (monotonic_now() < deadline - kSpun) sleep_until(deadline - kSpun);
  while (monotonic_now() < deadline) {
  }
}

}  // namespace linerate::realnet
