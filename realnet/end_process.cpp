#include "realnet/end_process.hpp"

#include "realnet/child.hpp"
#include "realnet/remote/remote_end.hpp"

namespace linerate::realnet {
namespace {

class LocalEnd : public EndProcess {
 public:
  explicit LocalEnd(const EndOrder& order)
      : child_(
            [order](const ParentLine& line) {
              (order.role == Role::sender ? send_transfer : receive_transfer)(order.end, line,
                                                                              order.report);
            },
            order.role == Role::sender ? order.report.sender_failure
                                       : order.report.receiver_failure,
            order.limit) {}

  void go() override { child_.go(); }
  void stop() override {}  // it sees the report
  int line() const override { return child_.line(); }
  int message() override { return child_.message(); }

 private:
  Child child_;
};

}  // namespace

std::unique_ptr<EndProcess> start_end(const EndOrder& order) {
  if (order.end.place.agent) return std::make_unique<RemoteEnd>(*order.end.place.agent, order);
  return std::make_unique<LocalEnd>(order);
}

}  // namespace linerate::realnet
