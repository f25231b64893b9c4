// The controller's side of an agent: another linerate, on the host that a test's end runs on.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "realnet/remote/program.hpp"
#include "realnet/remote/wire_format.hpp"

namespace linerate::realnet {

/// Every call throws EnvironmentError, which names the host, when the agent has died, hangs, talks
/// nonsense or floods.
class AgentLink {
 public:
  /// Starts the agent as the experiment says and exchanges greetings.
  explicit AgentLink(const experiments::LabHost& host);

  /// Sends an order and waits for its answer.
  Json ask(Json order, Time patience);
  /// Sends an order that is not answered.
  void tell(const Json& order);
  /// Takes what has come, without waiting. Throws when nothing has come for too long.
  void hear();
  /// The oldest message about end `number`, or nothing.
  std::optional<Json> news_of(int number);
  /// Ends `number` there, if it still runs.
  void forget(int number);
  int new_number() { return next_number_++; }
  int descriptor() const { return program_->output().number(); }

  /// Compares the clocks and makes the agent count time as this process does. Returns by how much
  /// its times may be wrong: half the shortest answer time.
  Time synchronise();
  /// What it said of its machine.
  const Json& machine() const { return machine_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void await_line(Time deadline);
  void take(const std::string& line);

  std::string host_;
  std::optional<Program> program_;
  std::optional<LineReader> reader_;
  std::map<int, std::deque<Json>> news_;
  std::optional<Json> answer_;
  Json machine_;
  Time last_heard_;
  int next_number_ = 1;
};

}  // namespace linerate::realnet
