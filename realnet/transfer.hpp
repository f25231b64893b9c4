// The two ends of a TCP transfer, each the whole life of a child process.
#pragma once

#include "experiments/definition/experiment.hpp"
#include "realnet/child.hpp"
#include "realnet/lab.hpp"
#include "realnet/read_clock.hpp"
#include "realnet/report.hpp"
#include "realnet/socket.hpp"

namespace linerate::realnet {

/// One end of a transfer: `test.flows` connections between two places.
struct TransferEnd {
  Place place;
  std::string peer_address;  ///< of the receiver, for the sender
  SocketOptions options;
};

/// Messages from the ends to the parent.
inline constexpr char kListening = 'l', kConnected = 'c', kDone = 'd';

/// Longest wait for all connections of a transfer.
inline constexpr Time kConnectPatience = Time::seconds(30);

/// Whether the sender stops because its time is up, rather than because all is written.
bool ends_by_time(const experiments::Test& test);

/// When a transfer that starts at `start` is counted.
Window window_of(const experiments::Test& test, Time start);

/// Writes as the test says and reports. Throws std::exception on any failed call.
void send_transfer(const TransferEnd& end, const ParentLine& parent, TransferReport& report);

/// Reads until the window or the stream ends and reports. Throws std::exception.
void receive_transfer(const TransferEnd& end, const ParentLine& parent, TransferReport& report);

/// Moves this process to where `end` is: its namespace and its core.
void settle(const TransferEnd& end);

/// CPU time of this process so far, user and system, s.
double processor_seconds();

}  // namespace linerate::realnet
