// One run of the tests of a group: starts the processes, keeps time, collects what they report.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "realnet/lab.hpp"
#include "realnet/report.hpp"

namespace linerate::realnet {

/// What one transfer (one pair of NICs, one direction) of one run left behind.
struct TransferOutcome {
  int pair = 0;          ///< in test.pairs
  bool reverse = false;  ///< from the pair's `to` to its `from`
  Time start;
  SenderReport sender;
  ReceiverReport receiver;
};

/// Where the time of one processor of this machine went, s.
struct CoreUse {
  double user = 0, system = 0, softirq = 0, interrupt = 0, idle = 0;
};

/// What the ports did during the window of the group's first foreground test.
struct PortUse {
  double seconds = 0;
  bool in_time = false;  ///< read close enough to the window's ends to make rates of
  std::map<std::string, experiments::PortCounters> ports;  ///< by label; differences
  std::vector<CoreUse> cores;                              ///< the same time, by core
};

struct RunOutcome {
  std::vector<std::vector<TransferOutcome>> transfers;  ///< by test, in the order given
  PortUse use;
};

/// Runs `tests` together once; what is random in them is that of this `repeat`. Nothing when `stop`
/// was set before they ended. Throws std::runtime_error when an end fails, with what failed.
std::optional<RunOutcome> run_together(const experiments::Experiment& experiment, const Lab& lab,
                                       const std::vector<const experiments::Test*>& tests,
                                       int repeat, const std::atomic<bool>* stop);

}  // namespace linerate::realnet
