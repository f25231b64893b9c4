// A resource that serves one thing after another: a core, a direction of a bus. What serving takes
// comes from whoever asks (host_bus.hpp, forwarder.hpp, core.hpp).
#pragma once

#include "sim/units.hpp"

namespace linerate::models {

class Station {
 public:
  /// Serves a request that arrives at `now` and costs `cost`; returns when it is done.
  Time serve(Time now, Time cost) {
    free_at_ = later(now, free_at_) + cost;
    busy_ += cost;
    return free_at_;
  }
  /// Takes back the last request served: there was nothing to do after all.
  void refund(Time cost) {
    free_at_ -= cost;
    busy_ -= cost;
  }
  /// It is busy until then with what is accounted elsewhere.
  void set_free_at(Time at) { free_at_ = at; }
  Time busy() const { return busy_; }

 private:
  Time free_at_{};
  Time busy_{};
};

/// The core of a host in whose order everything leaves and comes up, where its work costs nothing.
/// Buses have engines of their own (nic/dma.hpp).
struct HostStations {
  Station cpu;

  Time transmit(Time now) { return cpu.serve(now, Time{}); }
  Time receive(Time now) { return cpu.serve(now, Time{}); }
};

}  // namespace linerate::models
