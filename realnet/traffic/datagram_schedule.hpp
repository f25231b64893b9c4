// When a flow of datagrams or frames sends, and how much: the load a test offers, whoever carries
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/definition/load.hpp"
#include "sim/random.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// Sizes of what a test sends on the wire.
struct DatagramFraming {
  bool raw = false;  ///< sizes are frames with FCS; else payloads of UDP
  int ip = 4;
  Bytes mtu{1500};

  /// Preamble, frames and gaps of one datagram (IEEE 802.3; fragments by RFC 791 and 8200).
  Bytes wire_size(Bytes size) const;
  /// Frames that carry it.
  std::int64_t frames(Bytes size) const;
};

class DatagramSchedule {
 public:
  struct Setup {
    const experiments::Test& test;
    BitRate line;  ///< of the sending port: the rate where the test gives none
    DatagramFraming framing;
    Bytes room;  ///< largest datagram or frame
    sim::RandomStream arrivals, sizes;
  };
  explicit DatagramSchedule(const Setup& setup);

  /// The first one may be sent at `now`.
  void start(Time now);
  /// When the next one is due; Time::never() after the last.
  Time due() const { return over() ? Time::never() : due_; }
  Bytes size() const { return size_; }  ///< of the one that is due
  /// It has been taken care of.
  void advance();
  /// How many have been due before `now`, the one at `due()` not counted.
  std::int64_t passed() const { return passed_; }

 private:
  bool over() const { return due_ >= end_ || (limit_ && passed_ >= *limit_); }
  void draw();

  DatagramFraming framing_;
  BitRate rate_;
  bool rate_on_wire_;
  Time duration_;
  std::optional<std::int64_t> limit_;             ///< datagrams, of a test by volume
  std::vector<Bytes> round_;                      ///< sizes sent in turn …
  std::optional<experiments::SizeSource> drawn_;  ///< … or drawn
  std::optional<experiments::ArrivalProcess> arrivals_;
  std::size_t place_ = 0;
  Bytes size_;
  Time due_ = Time::never(), end_;
  std::int64_t fraction_ = 0;  ///< of a picosecond that due_ leaves out, over the rate
  std::int64_t passed_ = 0;
};

}  // namespace linerate::realnet
