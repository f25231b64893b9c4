// One end of a transfer as a process, wherever it runs.
#pragma once

#include <memory>

#include "experiments/definition/experiment.hpp"
#include "realnet/transfer.hpp"

namespace linerate::realnet {

enum class Role { sender, receiver };

/// A process that runs one end. Its report, shared or sent, appears in the order's.
class EndProcess {
 public:
  virtual ~EndProcess() = default;
  virtual void go() = 0;    ///< the report says when to start
  virtual void stop() = 0;  ///< background traffic is over
  /// To poll for a message or the end of the process.
  virtual int line() const = 0;
  /// The next message, 0 when there is none yet, -1 when the process has ended.
  virtual int message() = 0;
};

/// What an end is to do. The references outlive the end.
struct EndOrder {
  const experiments::Experiment& experiment;
  const TransferEnd& end;
  int host = 0;  ///< that it runs on
  Role role = Role::sender;
  TransferReport& report;
  Time limit;  ///< the kernel ends it after so long
};

/// Starts an end here, in its namespace, or through the agent of its host.
std::unique_ptr<EndProcess> start_end(const EndOrder& order);

}  // namespace linerate::realnet
