// A link in user space: a process between two devices that gives every frame the time and the fate
// a line would. It works from the kernel's time of arrival and the line's own arithmetic, never
// from the time at which it happens to look, so being late once delays nothing that follows.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "experiments/results/result.hpp"
#include "realnet/child.hpp"
#include "realnet/report.hpp"
#include "realnet/wire/lateness.hpp"
#include "realnet/wire/wire_plan.hpp"

namespace linerate::realnet {

/// What one direction has done so far, in memory that the process shares with its parent.
struct LineReport {
  std::atomic<std::int64_t> frames{0}, wire_bytes{0}, peak_queue{0}, waiting{0}, marks{0};
  std::atomic<std::int64_t> free_at{0};  ///< ps: then the line has sent what is counted so far
  std::array<std::atomic<std::int64_t>, kLineDrops> drops{};
  Lateness late;  ///< of departures
};

class Wire {
 public:
  /// Starts the process in the namespace `place`, between its devices `near` and `far`; it carries
  /// frames when this returns. Throws std::runtime_error with what failed.
  Wire(const WirePlan& plan, const std::array<std::string, 2>& devices, int place, Time limit);

  /// Throws std::runtime_error if the process has ended.
  void check() const;
  /// What one direction has put on the line by now, drops by cause, and how late frames left.
  experiments::PortCounters counters(int direction) const;
  const LineReport& line(int direction) const { return report_->lines[direction]; }
  /// Frames on their way.
  bool idle() const;
  /// The tests begin at `start`: what the plan has for certain times counts from here.
  void begin(Time start) const { report_->start = start.picoseconds(); }
  /// "median 0.012 ms, …": how late frames left in both directions, in words.
  std::string lateness() const;

 private:
  struct Report {
    std::atomic<std::int64_t> start{Time::never().picoseconds()};
    std::array<LineReport, 2> lines;
    std::array<char, 256> failure;
  };
  static void run(const WirePlan& plan, const std::array<std::string, 2>& devices, Report& report,
                  const ParentLine& parent);

  std::string name_;
  std::array<BitRate, 2> rates_;
  std::array<bool, 2> disciplined_;  ///< a queue that decides is in front
  Shared<Report> report_;
  Child process_;
};

}  // namespace linerate::realnet
