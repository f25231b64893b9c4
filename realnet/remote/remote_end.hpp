// One end of a transfer that runs on another host, through its agent.
#pragma once

#include "realnet/end_process.hpp"
#include "realnet/remote/agent_link.hpp"

namespace linerate::realnet {

class RemoteEnd : public EndProcess {
 public:
  RemoteEnd(AgentLink& agent, const EndOrder& order);
  ~RemoteEnd() override;

  void go() override;
  void stop() override;
  int line() const override { return agent_.descriptor(); }
  int message() override;

 private:
  /// The word it brings, as from message().
  int take(const Json& news);
  void take_report(const std::string& text);
  void take_failure(const std::string& text);

  AgentLink& agent_;
  TransferReport& report_;
  Role role_;
  int number_;
  std::int64_t sent_ = -1;  ///< as last told
  char said_ = 0;           ///< the last of its words
};

}  // namespace linerate::realnet
