// Two endpoints and the path between them, as the kernel traces had it: in each direction a
// drop-tail queue in bytes, serialization at a rate, a loss rule, a fixed delay; it may also mark
// above a threshold, and take only packets up to some size. Host links are infinitely fast,
// programs take no time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <vector>

#include "models/tcp/endpoint.hpp"
#include "sim/units.hpp"

namespace linerate::tests {

struct PathSetup {
  BitRate rate = BitRate::bits_per_second(100'000'000);
  Time delay = Time::milliseconds(10);
  Bytes queue{4'000'000};
  std::set<std::int64_t> lost_data{};  ///< ordinals of first transmissions, from 1
  std::int64_t lose_every = 0;         ///< every so manieth first transmission; 0: none
  std::optional<Bytes> mark_above{};   ///< ECT packets get CE above this backlog
  Bytes mtu{65535};                    ///< larger IP packets vanish
  Time black_from = Time::never(), black_to = Time::never();  ///< both directions lose all
};

struct Job {
  std::optional<Bytes> total{};  ///< written back to back; else until `stop_writing`
  Time stop_writing = Time::never();
  Bytes write{65536};
  std::optional<Time> period{};  ///< one write each period instead, `writes` of them
  Time first_write{};
  std::int64_t writes = 0;
  Time pause_from = Time::never(), pause_to = Time::never();  ///< the reader sleeps
  bool close = false;                                         ///< FIN after the last byte
};

/// One segment as it reached the path.
struct Sighting {
  Time at{};
  int direction = 0;  ///< 0: from the sender
  models::tcp::Segment segment;
  bool dropped = false;
};

class TwoHosts {
 public:
  TwoHosts(const models::tcp::EndpointConfig& sender, const models::tcp::EndpointConfig& receiver,
           const PathSetup& path, const Job& job);

  /// Runs to `end` or until nothing is left to happen.
  void run(Time end = Time::seconds(100));

  models::tcp::Endpoint& sender() { return hosts_[0]; }
  models::tcp::Endpoint& receiver() { return hosts_[1]; }
  const std::vector<Sighting>& log() const { return log_; }
  /// Called at every sighting, for state beside the packets.
  std::function<void(Time)> watch;

  /// When the ACK of the last data byte reached the sender; Time::never() if it did not.
  Time completion() const { return completion_; }
  Bytes delivered() const { return read_; }
  std::int64_t marks() const { return marks_; }
  void forget_peak() { peak_ = 0; }
  Bytes peak_queue() const { return Bytes(static_cast<std::int64_t>(peak_)); }
  std::int64_t drops() const { return drops_; }
  std::vector<Sighting> data() const { return filter(0, true); }
  std::vector<Sighting> acks() const { return filter(1, false); }

 private:
  struct Event {
    Time at{};
    std::uint64_t order = 0;
    int kind = 0;  ///< 0 arrival, 1 timer, 2 program
    int host = 0;
    std::size_t index = 0;  ///< of the segment in log_
    bool operator<(const Event& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  void schedule(Event event);
  void flush(int host);
  void program(int host);
  void write_more();
  std::vector<Sighting> filter(int direction, bool with_data) const;

  PathSetup path_;
  Job job_;
  int header_bytes_;
  Time now_{};
  std::uint64_t order_ = 0;
  std::priority_queue<Event> events_;
  std::vector<models::tcp::Endpoint> hosts_;
  std::vector<Sighting> log_;
  Time busy_until_[2] = {};
  Time timer_at_[2] = {Time::never(), Time::never()};
  models::tcp::Sequence highest_ = 0;
  std::int64_t ordinal_ = 0, drops_ = 0, marks_ = 0;
  double peak_ = 0;
  bool connected_ = false, refused_ = false, closed_ = false;
  Bytes pending_{}, written_{}, read_{};
  std::int64_t writes_done_ = 0;
  Time completion_ = Time::never();
};

}  // namespace linerate::tests
