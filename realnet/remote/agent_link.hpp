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
  /// That of an end to come, whose news is kept from now on.
  int new_number();
  int descriptor() const { return program_->output().number(); }

  /// Compares the clocks and makes the agent count time as this process does. Returns by how much
  /// its times may be wrong: half the shortest answer time.
  Time synchronise();
  /// What it said of its machine.
  const std::map<std::string, std::string>& machine() const { return machine_; }
  [[noreturn]] void fail(const std::string& what) const;
  /// What `read` makes of `message`. Fields that are missing or of another type are the agent's
  /// failure, whatever reads them.
  template <class Read>
  auto understand(const Json& message, Read read) const {
    try {
      return read(message);
    } catch (const Json::exception&) {
      fail("it says what makes no sense: " + message.dump(-1, ' ', true));
    }
  }

 private:
  struct News {
    std::deque<Json> messages;
    std::size_t bytes = 0;  ///< of all so far, as they came
  };
  void await_line(Time deadline);
  void take(const std::string& line);

  std::string host_;
  std::optional<Program> program_;
  std::optional<LineReader> reader_;
  std::map<int, News> news_;  ///< of ends that are wanted
  std::optional<Json> answer_;
  std::map<std::string, std::string> machine_;
  Time last_heard_;
  int next_number_ = 1;
};

}  // namespace linerate::realnet
