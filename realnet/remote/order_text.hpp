// Orders to an agent, as messages.
#pragma once

#include "realnet/end_process.hpp"
#include "realnet/remote/host_setup.hpp"
#include "realnet/remote/wire_format.hpp"

namespace linerate::realnet {

/// What an agent needs to run the end as it would be run here. Both know the experiment.
Json to_message(const EndOrder& order);

/// An order as an agent reads it.
struct RemoteOrder {
  TransferEnd end;  ///< refers to the experiment
  Role role = Role::sender;
  int host = 0;
  std::uint16_t port = 0;  ///< of the receiver
  std::array<std::uint8_t, 6> hardware_address{};
  Time limit;
};
/// Throws std::exception for a message that is no order of this experiment.
RemoteOrder order_from(const Json& message, const experiments::Experiment& experiment);

/// The order to be what the tests need.
Json to_message(const HostSetup& setup);
/// Throws std::exception for a message that is none, or names a parameter that is not the
/// network's.
HostSetup setup_from(const Json& message);

}  // namespace linerate::realnet
