// A medium that stations share: a hub, a coaxial segment, or a cable whose ends do not agree on the
// duplex mode. Every station sees signals after its distance from their sender, and a half-duplex
// one follows CSMA/CD (IEEE 802.3 clause 4): it defers, detects collisions, jams, backs off.
//
// A passive device: offer() hands a station a frame, next() tells one after the other what has
// happened until now, deadline() when something will.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/network/packet.hpp"
#include "sim/random.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// The times of a half-duplex MAC at one rate (IEEE 802.3 table 4-2).
struct MacTiming {
  explicit MacTiming(BitRate rate);

  Time bits(std::int64_t count) const;

  BitRate rate;
  bool gigabit;     ///< extends short frames to the slot, and may send bursts (4.2.3.4, 4.2.3.2.7)
  Time slot;        ///< 512 bit times, 4096 at 1 Gbit/s
  Time gap;         ///< 96 bit times between frames
  Time gap_part_1;  ///< its first two thirds, in which a new carrier restarts it (4.2.3.2.1)
  Time preamble;    ///< with the start delimiter: 64 bit times, sent whole even if they collide
  Time jam;         ///< 32 bit times
  Time burst;       ///< 65536 bit times, after which a burst begins no further frame
};

/// One port at the medium.
struct DomainStation {
  bool half_duplex;          ///< false: heeds neither carrier nor collisions
  sim::RandomStream random;  ///< draws its back-off
};

struct DomainConfig {
  BitRate rate;
  std::optional<Time> slot{};  ///< instead of the standard's
  /// A cable with a pair each way and nothing between: what a full-duplex station sends does not
  /// disturb what it receives. False where a hub or the coaxial cable itself mixes the signals.
  bool separate_pairs = false;
  std::vector<DomainStation> stations;
  std::vector<Time> delays;  ///< from station i to j at i * stations + j
};

/// A frame as its station's MAC holds it, from offer() to the report of its end.
struct MacFrame {
  PacketHandle packet;
  std::uint32_t wire_bytes = 0;   ///< with preamble and gap
  std::uint32_t destination = 0;  ///< station
};

/// What has become of a frame.
struct MacReport {
  enum class Kind : std::uint8_t {
    sent,                  ///< the last bit has left `station`, whose MAC is ready for the next
    late_collision,        ///< given up by `station`: it collided beyond the slot
    excessive_collisions,  ///< given up by `station`: sixteen attempts collided
    delivered,             ///< a frame sent before has arrived at `station`
    destroyed,             ///< a frame sent before has arrived at `station` mixed with another
  };
  Kind kind;
  std::uint32_t station;
  PacketHandle packet;
};

/// Counters of a station (IEEE 802.3 5.2.2).
struct MacCounters {
  std::int64_t frames = 0;                ///< sent whole
  std::int64_t wire_bytes = 0;            ///< of those
  Time sending{};                         ///< carrier of frames, extension and fragments
  std::int64_t deferred = 0;              ///< frames whose first attempt found the medium busy
  std::int64_t collisions = 0;            ///< attempts that collided
  std::int64_t late_collisions = 0;       ///< of those, beyond the slot
  std::int64_t excessive_collisions = 0;  ///< frames given up after sixteen attempts
  std::int64_t destroyed = 0;             ///< frames that arrived here mixed with another
};

class CollisionDomain {
 public:
  explicit CollisionDomain(DomainConfig config);

  std::size_t stations() const { return stations_.size(); }
  /// Whether the station's MAC holds no frame and takes one.
  bool ready(std::uint32_t station) const { return !stations_[station].frame; }
  /// Hands a ready station a frame; times never go back. After a report `sent` the next frame comes
  /// before next() is called again, or a burst ends.
  void offer(Time now, std::uint32_t station, const MacFrame& frame);
  /// The next thing that has happened by `now`, or nothing.
  std::optional<MacReport> next(Time now);
  /// When next() must be called again; Time::never() while nothing is under way.
  Time deadline() const { return steps_.empty() ? Time::never() : steps_.front().at; }

  const MacCounters& counters(std::uint32_t station) const { return stations_[station].counters; }
  const MacTiming& timing() const { return timing_; }
  Time delay(std::uint32_t from, std::uint32_t to) const {
    return delays_[from * stations_.size() + to];
  }
  /// Time until `now` in which at least one station was sending …
  Time carrying(Time now) const { return carrying_.until(now); }
  /// … or had a frame to send: what the medium was busy with, gaps and back-off included.
  Time wanted(Time now) const { return wanted_.until(now); }
  /// Frames that stations hold or that have left and not arrived.
  std::int64_t holds() const { return held_; }

 private:
  struct Station {
    bool half_duplex;
    sim::RandomStream random;
    std::optional<MacFrame> frame{};
    bool sending = false;
    bool colliding = false;
    bool late = false;
    int attempts = 0;
    int carriers = 0;       // signals of others that reach it now
    Time burst_from{};      // first bit of the frame or burst it sends
    Time frame_from{};      // first bit of the frame it sends
    Time clear_at{};        // end of deference; never() while a carrier holds it off
    bool own_last = false;  // the gap until clear_at follows a frame of its own
    Time backoff_until{};
    Time overlap_from{};      // when the signals that mix here now began to
    Time disturbed_until{};   // when signals last ceased to mix here
    std::uint32_t timer = 0;  // generation of its one pending attempt, end or abort
    MacCounters counters{};
  };
  /// Sums the time in which somebody uses something.
  struct UseClock {
    int users = 0;
    Time from{}, sum{};
    void begin(Time now) {
      if (users++ == 0) from = now;
    }
    void end(Time now) {
      if (--users == 0) sum += now - from;
    }
    Time until(Time now) const { return users > 0 ? sum + (now - from) : sum; }
  };
  enum class What : std::uint8_t { attempt, frame_end, carrier_end, abort, rise, fall, arrival };
  struct Step {
    Time at;
    std::uint64_t order;
    std::uint32_t station;
    std::uint32_t timer;
    What what;
    PacketHandle packet;  // of an arrival
    Time frame_from;      // of an arrival: when its first bit arrived
  };
  static bool later_step(const Step& a, const Step& b);

  void push(Step step);
  void set_timer(std::uint32_t station, What what, Time at);
  std::optional<MacReport> perform(const Step& step);
  void note_carrier(Time now, Station& s) const;
  void aim(Time now, std::uint32_t station);
  void attempt(Time now, std::uint32_t station);
  void send_frame(Time first_bit, std::uint32_t station);
  bool continues_burst(Time now, const Station& s) const;
  void collide(Time now, std::uint32_t station);
  MacReport end_frame(Time now, std::uint32_t station);
  void end_carrier(Time now, std::uint32_t station);
  std::optional<MacReport> end_collision(Time now, std::uint32_t station);
  void rise(Time now, std::uint32_t station);
  void fall(Time now, std::uint32_t station);
  MacReport arrive(const Step& step);
  void signal(Time now, std::uint32_t from, What edge);
  int mixing(const Station& s) const;
  void note_mixing(Time now, Station& s, int before) const;

  MacTiming timing_;
  bool separate_pairs_;
  std::vector<Station> stations_;
  std::vector<Time> delays_;
  std::vector<Step> steps_;  // a heap, the next on top
  std::uint64_t order_ = 0;
  std::int64_t held_ = 0;
  UseClock carrying_, wanted_;
};

}  // namespace linerate::models
