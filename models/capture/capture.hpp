// Captures of ports: what passed each of them, in order of time, as pcapng. Frames are handed in
// when they are put on a wire, with the times at which their last bits will have passed the ports
// at its two ends, so each port sorts what it saw until that time has come.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "models/capture/capture_options.hpp"
#include "models/capture/frame_layout.hpp"
#include "models/capture/pcapng.hpp"
#include "models/link/wire_tap.hpp"
#include "sim/ring.hpp"

namespace linerate::models {

class Network;

class Capture : public WireTap {
 public:
  /// Captures of the run `job` ("bulk") of `network`, which owns it.
  Capture(const CaptureOptions& options, const experiments::Experiment& experiment,
          const std::vector<const experiments::Test*>& tests, const std::string& job,
          const Network& network);

  /// The wires at the captured ports.
  const std::vector<std::uint32_t>& wires() const { return wires_; }

  void sent(Time now, std::uint32_t wire, Time at, const Packet& packet) override;
  void received(Time now, std::uint32_t wire, Time at, const Packet& packet) override;
  /// What is on this wire at `now` never arrives.
  void cut(Time now, std::uint32_t wire);
  /// Writes what has passed by `now`.
  void finish(Time now);

 private:
  struct Frame {
    Time at;
    HeaderBytes bytes;
    std::uint32_t length;  ///< on the wire, without FCS
  };
  struct Port {
    std::string name;
    PcapngWriter file;
    sim::Ring<Frame> sent, received;  ///< each in order of time
    bool full = false;
  };

  void write_until(Time now, Port& port);
  void write(Port& port, const Frame& frame, CaptureDirection direction);
  Frame frame_of(Time at, std::uint32_t wire, WireEnd end, const Packet& packet);
  const experiments::PortRef& from(std::uint32_t wire) const;

  const CaptureOptions& options_;
  const experiments::Experiment& experiment_;
  FrameLayout layout_;
  std::vector<std::unique_ptr<Port>> ports_;  // by the wire it sends on; nullptr: not captured
  std::vector<std::uint32_t> wires_;
};

}  // namespace linerate::models
