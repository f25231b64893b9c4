// A packet script: segments and calls go into one end of a connection at given times, and what
// comes out must match. On failure the test shows the transcript up to there.
//
//   Script host = endpoint_script(config);
//   host.listen().inject(syn()).expect(ack(1).window(65160));
//   host.at(10ms).inject(data(1, 1448)).expect_at(50ms, ack(1449));
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/tcp/endpoint.hpp"
#include "models/tcp/segment.hpp"
#include "sim/units.hpp"

namespace linerate::tests {

using models::tcp::EndpointConfig;
using models::tcp::SackBlock;
using models::tcp::Segment;
using models::tcp::Sequence;

/// Script times are written as 10ms, 250us.
using Moment = std::chrono::microseconds;

/// A segment to inject; without more words it carries ACK 1 and timestamp options of its own.
class Packet {
 public:
  explicit Packet(const Segment& segment) : segment_(segment) {}
  Packet& acknowledges(Sequence upto) {
    segment_.acknowledgment = upto;
    return *this;
  }
  Packet& window(std::uint32_t bytes) {
    segment_.window = bytes;
    return *this;
  }
  Packet& push() {
    segment_.flags |= models::tcp::kPush;
    return *this;
  }
  Packet& flag(models::tcp::Flag one) {
    segment_.flags |= one;
    return *this;
  }
  Packet& ecn(models::tcp::Ecn field) {
    segment_.ecn = field;
    return *this;
  }
  Packet& fin() {
    segment_.flags |= models::tcp::kFin;
    return *this;
  }
  Packet& merged(std::uint8_t frames) {
    segment_.frames = frames;
    return *this;
  }
  Packet& stamp(std::uint32_t value, std::uint32_t echo = 0) {
    segment_.timestamp = value;
    segment_.timestamp_echo = echo;
    return *this;
  }
  Packet& sack(SackBlock block) {
    segment_.sack[segment_.sack_count++] = block;
    return *this;
  }
  Packet& max_segment(std::uint16_t bytes) {
    segment_.syn.max_segment = bytes;
    return *this;
  }
  Packet& no_timestamps() {
    segment_.syn.timestamps = false;
    return *this;
  }
  Packet& no_sack() {
    segment_.syn.sack_permitted = false;
    return *this;
  }
  Packet& no_scaling() {
    segment_.syn.window_scaling = false;
    return *this;
  }
  const Segment& segment() const { return segment_; }

 private:
  Segment segment_;
};

/// A SYN that offers every option and an MSS of 1460.
Packet syn();
/// The SYN-ACK that answers ours.
Packet syn_ack();
/// A data segment; `sequence` counts from 1.
Packet data(Sequence sequence, std::uint32_t length);
/// An empty segment at `sequence`.
Packet empty(Sequence sequence);

/// What an emitted segment must show; what is not named is free.
class Want {
 public:
  Want& sequence(Sequence first) {
    sequence_ = first;
    return *this;
  }
  Want& length(std::uint32_t bytes) {
    length_ = bytes;
    return *this;
  }
  Want& acknowledges(Sequence upto) {
    acknowledgment_ = upto;
    return *this;
  }
  Want& window(std::uint32_t bytes) {
    window_ = bytes;
    return *this;
  }
  Want& echo(std::uint32_t stamp) {
    echo_ = stamp;
    return *this;
  }
  Want& flag(models::tcp::Flag one) {
    flags_ |= one;
    return *this;
  }
  Want& without(models::tcp::Flag one) {
    absent_ |= one;
    return *this;
  }
  Want& ecn(models::tcp::Ecn field) {
    ecn_ = field;
    return *this;
  }
  Want& sack(std::vector<SackBlock> blocks) {
    sack_ = std::move(blocks);
    return *this;
  }
  Want& no_sack() { return sack({}); }
  Want& window_scale(std::uint8_t shift) {
    scale_ = shift;
    return *this;
  }
  /// The first difference in words; empty when the segment matches.
  std::string difference(const Segment& segment) const;

 private:
  std::optional<Sequence> sequence_, acknowledgment_;
  std::optional<std::uint32_t> length_, window_, echo_;
  std::optional<std::vector<SackBlock>> sack_;
  std::optional<std::uint8_t> scale_;
  std::optional<models::tcp::Ecn> ecn_;
  std::uint8_t flags_ = 0, absent_ = 0;
};

/// A segment without payload that acknowledges all before `upto`.
Want ack(Sequence upto);
/// A data segment.
Want sent(Sequence sequence, std::uint32_t length);

std::string describe(const Segment& segment);

/// What a script drives: an Endpoint, or the receiving half alone.
class Device {
 public:
  virtual ~Device() = default;
  virtual void listen() = 0;
  virtual void connect(Time now) = 0;
  virtual void packet(Time now, const Segment& segment) = 0;
  virtual void timer(Time now) = 0;
  virtual Time next_timer() const = 0;
  virtual Bytes write(Time now, Bytes size) = 0;
  virtual Bytes read(Time now, Bytes size) = 0;
  virtual void shutdown(Time now) = 0;
  virtual std::vector<Segment> take_output(Time now) = 0;
};

class Script {
 public:
  explicit Script(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  /// Moves the clock on; timers due before expire at their times.
  Script& at(Moment moment);
  Script& listen();
  Script& connect();
  Script& inject(const Packet& packet);
  /// SYN, SYN-ACK and ACK of a passive open at the present moment.
  Script& accept(const Packet& first = syn());
  Script& write(std::int64_t size);
  Script& read(std::int64_t size = 1 << 30);
  Script& shutdown();
  /// The next segment that came out must match.
  Script& expect(const Want& want);
  /// The next segment that comes out must do so at `moment`, and match.
  Script& expect_at(Moment moment, const Want& want);
  /// Nothing more has come out, or comes out up to and including `moment`.
  Script& expect_none();
  Script& expect_none_until(Moment moment);
  /// Forgets what has come out; returns how many segments that were.
  std::size_t drain();
  /// What the last read() took.
  std::int64_t taken() const { return taken_; }

 private:
  struct Emission {
    Time at{};
    Segment segment;
  };
  void collect();
  void note(const std::string& line);
  [[noreturn]] void fail(const std::string& reason);

  std::unique_ptr<Device> device_;
  Time now_{};
  std::vector<Emission> pending_;
  std::size_t next_ = 0;
  std::int64_t taken_ = 0;
  std::string transcript_;
};

Script endpoint_script(const EndpointConfig& config);
/// The receiving half alone; its peer's path has the given RTT. Sends nothing but ACKs.
Script receiver_script(const EndpointConfig& config, Moment rtt = Moment(10000));

}  // namespace linerate::tests
