// A resource that serves one thing after another: a core, a bus. Service costs are zero until hosts
// are modelled, but the stations stand on the path, so that a cost is all they lack.
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

/// The stations of one host that every frame passes, in the order of transmission: core, bus.
struct HostStations {
  Station cpu;
  Station bus;

  Time transmit(Time now) { return bus.serve(cpu.serve(now, Time{}), Time{}); }
  Time receive(Time now) { return cpu.serve(bus.serve(now, Time{}), Time{}); }
};

}  // namespace linerate::models
