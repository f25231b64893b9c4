// The bus of a host, which the DMA engines of all its NICs share. Passive: it is asked for one
// transfer at a time by each engine and says when that ends; since an engine asks again only then,
// serving in the order of asking is what a round-robin arbiter does.
#pragma once

#include "experiments/definition/bus_capacity.hpp"
#include "models/host/station.hpp"
#include "sim/units.hpp"

namespace linerate::models {

class HostBus {
 public:
  explicit HostBus(bool half_duplex = false) : half_duplex_(half_duplex) {}

  struct Moved {
    Time begun;  ///< first byte
    Time done;   ///< last byte has left; the engine may go on
  };
  /// Moves one frame from `now` on. What of its overhead goes the other way takes its time there,
  /// but nobody waits for it: descriptors are fetched and written back beside the frames.
  Moved move(Time now, experiments::DmaDirection direction, const experiments::DmaTime& time) {
    const bool reads = direction == experiments::DmaDirection::to_nic;
    Time main = reads ? time.down : time.up;
    const Time other = reads ? time.up : time.down;
    if (half_duplex_)
      main += other;
    else
      (reads ? up_ : down_).serve(now, other);
    const Time crossed = (reads && !half_duplex_ ? down_ : up_).serve(now, main);
    if (time.memory == Time{}) return {crossed - main, crossed};
    // Bus and memory work on the lines of a frame side by side.
    const Time done =
        later(crossed, (reads ? memory_reads_ : memory_writes_).serve(now, time.memory));
    return {done - later(main, time.memory), done};
  }

  bool half_duplex() const { return half_duplex_; }
  /// How long each direction has been busy; of a half-duplex bus both are in `busy_up`.
  Time busy_up() const { return up_.busy(); }
  Time busy_down() const { return down_.busy(); }
  /// How long a memory that takes frames line by line has been busy.
  Time memory_writes() const { return memory_writes_.busy(); }
  Time memory_reads() const { return memory_reads_.busy(); }

 private:
  bool half_duplex_;
  Station up_, down_;
  Station memory_writes_, memory_reads_;
};

}  // namespace linerate::models
