// What a NIC sends while its test is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "realnet/netlink.hpp"
#include "realnet/report.hpp"
#include "realnet/system.hpp"

namespace linerate::realnet {

/// Counts what a NIC sends between two calls. Read by the sender itself, which wakes up in time;
/// the process that started it need not.
class WireMeter {
 public:
  explicit WireMeter(const std::string& device) : device_(device) {
    if (!device.empty()) devices_.emplace();
  }
  bool started() const { return at_ != Time{}; }
  void start() {
    at_ = monotonic_now();
    if (devices_) bytes_ = sent();
  }
  void stop(SenderReport& report) {
    if (stopped_ || !started()) return;
    stopped_ = true;
    report.counted = monotonic_now() - at_;
    if (devices_) report.wire_bytes = sent() - bytes_;
  }

 private:
  std::int64_t sent() const { return devices_->counters(device_).wire_bytes_sent; }
  std::string device_;
  std::optional<Devices> devices_;
  Time at_;
  std::int64_t bytes_ = 0;
  bool stopped_ = false;
};

}  // namespace linerate::realnet
