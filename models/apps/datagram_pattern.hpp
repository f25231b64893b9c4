// Datagrams that differ in size or do not come at one interval: drawn sizes, mixes, open arrivals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "models/apps/arrivals.hpp"
#include "models/framing/framing.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// Size of the next datagram and moment of the one after it.
class DatagramPattern {
 public:
  struct Parts {
    std::vector<Bytes> round;                ///< payloads sent in turn …
    std::optional<SizeSource> sizes;         ///< … or drawn
    std::optional<ArrivalProcess> arrivals;  ///< decide when; else the rate does
    BitRate rate;
    bool rate_on_wire = true;  ///< else of the payload
  };
  struct Frame {
    std::uint32_t payload, wire;  ///< bytes
  };

  DatagramPattern(Parts parts, Framing framing)
      : parts_(std::move(parts)), framing_(std::move(framing)) {}

  void start(Time now) {
    due_ = now;
    if (!parts_.arrivals) return;
    parts_.arrivals->start(now);
    due_ = parts_.arrivals->due();
  }
  Time due() const { return due_; }
  /// The frame to send now; due() moves on to the next.
  Frame next();

 private:
  void wait_for(Bytes size);

  Parts parts_;
  Framing framing_;
  std::size_t place_ = 0;  // in the round
  Time due_ = Time::never();
  std::int64_t fraction_ = 0;  // of a picosecond that due_ leaves out, over the rate
};

}  // namespace linerate::models
