// What a receiver of datagrams makes of what comes: loss, order, duplicates, delay.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "realnet/read_clock.hpp"
#include "realnet/report.hpp"
#include "realnet/traffic/datagram_io.hpp"
#include "realnet/traffic/datagram_schedule.hpp"
#include "sim/units.hpp"

namespace linerate::realnet {

/// Which of the last 65536 ordinals of a flow have been seen. What is older counts as new.
class SeenOrdinals {
 public:
  /// Whether `ordinal` comes for the first time.
  bool first(std::int64_t ordinal) {
    if (ordinal > highest_) advance(ordinal);
    if (ordinal + kWindow <= highest_) return true;
    std::uint64_t& word = words_[static_cast<std::size_t>(ordinal % kWindow) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (ordinal % 64);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }
  std::int64_t highest() const { return highest_; }

 private:
  static constexpr std::int64_t kWindow = 65'536;

  void advance(std::int64_t ordinal) {
    if (ordinal - highest_ >= kWindow) {
      words_.assign(words_.size(), 0);
    } else {
      for (std::int64_t i = highest_ + 1; i <= ordinal; ++i)
        words_[static_cast<std::size_t>(i % kWindow) / 64] &= ~(std::uint64_t{1} << (i % 64));
    }
    highest_ = ordinal;
  }

  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(kWindow / 64);
  std::int64_t highest_ = 0;
};

/// Counts the arrivals of all flows of a transfer.
class DatagramTally {
 public:
  DatagramTally(int flows, const DatagramFraming& framing)
      : framing_(framing), flows_(static_cast<std::size_t>(flows)) {}

  void start(const Window& window) { window_ = window; }

  /// Arrivals of other flows than it knows are none of this test.
  void add(const Arrival& arrival) {
    const auto index = static_cast<std::size_t>(arrival.stamp.flow());
    if (index >= flows_.size() || arrival.stamp.ordinal() <= 0) return;
    Flow& flow = flows_[index];
    const std::int64_t ordinal = arrival.stamp.ordinal();
    // Less than the next one expected: reordered (RFC 4737 section 3.3); the same again is neither.
    const bool behind = ordinal < flow.seen.highest();
    if (!flow.seen.first(ordinal)) {
      ++counts_.duplicates;
      return;
    }
    if (behind) ++counts_.reordered;
    if (!arrival.intact) ++altered_;
    ++counts_.received;
    bytes_ += arrival.size.count();
    const Time transit = arrival.at - Time::nanoseconds(arrival.stamp.sent);
    if (arrival.at >= window_.from) {
      counts_.latency.record(transit);
      if (arrival.at <= window_.to) {
        count_in_window(arrival.size);
        follow_queue(arrival.at, transit);
      }
    }
    follow_jitter(flow, transit);
    count_interval(arrival);
    if (first_ == Time::never()) first_ = arrival.at;
    last_ = later(last_, arrival.at);
  }

  std::int64_t received() const { return counts_.received; }
  std::int64_t bytes() const { return bytes_; }
  /// Datagrams whose payload is not what was sent; with `verify` alone.
  std::int64_t altered() const { return altered_; }
  Time first() const { return first_; }
  Time last() const { return last_; }
  /// Everything but `overflows` and `method`.
  DatagramsReceived counts() const {
    DatagramsReceived counts = counts_;
    for (const Flow& flow : flows_) counts.jitter += flow.jitter / 16;
    if (early_least_ != Time::never() && late_least_ != Time::never())
      counts.growth = later(late_least_ - early_least_, Time{});
    counts.jitter = counts.jitter / static_cast<std::int64_t>(flows_.size());
    return counts;
  }
  /// Bytes received by the end of each interval that `until` has passed.
  std::vector<double> by_interval(Time until) const {
    std::vector<double> sums;
    double sum = 0;
    for (std::size_t i = 0;
         window_.start + window_.step * static_cast<std::int64_t>(i + 1) <= until; ++i) {
      if (i < interval_bytes_.size()) sum += interval_bytes_[i];
      sums.push_back(sum);
    }
    return sums;
  }

 private:
  struct Flow {
    SeenOrdinals seen;
    Time transit, jitter;  ///< the jitter in sixteenths (RFC 3550 appendix A.8)
    bool any = false;
  };

  void count_in_window(Bytes size) {
    counts_.window_frames += framing_.frames(size);
    counts_.window_bytes += size.count();
    counts_.window_wire_bytes += framing_.wire_size(size).count();
  }

  /// The least delay of a stretch is that of a frame which met least of everything but the queues.
  void follow_queue(Time at, Time transit) {
    const Time quarter = (window_.to - window_.from) / 4;
    if (at < window_.from + quarter) early_least_ = earlier(early_least_, transit);
    if (at > window_.to - quarter) late_least_ = earlier(late_least_, transit);
  }

  static void follow_jitter(Flow& flow, Time transit) {
    if (flow.any) {
      const Time change = later(transit, flow.transit) - earlier(transit, flow.transit);
      flow.jitter += change - Time::picoseconds((flow.jitter.picoseconds() + 8) >> 4);
    }
    flow.any = true;
    flow.transit = transit;
  }

  void count_interval(const Arrival& arrival) {
    if (arrival.at < window_.start || window_.step == Time{}) return;
    const auto index = static_cast<std::size_t>((arrival.at - window_.start) / window_.step);
    if (index >= interval_bytes_.size()) interval_bytes_.resize(index + 1);
    interval_bytes_[index] += static_cast<double>(arrival.size.count());
  }

  DatagramFraming framing_;
  Window window_;
  std::vector<Flow> flows_;
  DatagramsReceived counts_{};
  std::vector<double> interval_bytes_;
  std::int64_t bytes_ = 0, altered_ = 0;
  Time first_ = Time::never(), last_;
  Time early_least_ = Time::never(), late_least_ = Time::never();
};

}  // namespace linerate::realnet
