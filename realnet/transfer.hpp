// The two ends of a transfer, each the whole life of a child process.
#pragma once

#include <span>
#include <string_view>

#include "experiments/definition/experiment.hpp"
#include "realnet/child.hpp"
#include "realnet/lab.hpp"
#include "realnet/read_clock.hpp"
#include "realnet/report.hpp"
#include "realnet/socket.hpp"
#include "sim/random.hpp"

namespace linerate::realnet {

class RoundBarrier;

/// One end of a transfer: `test.flows` connections between two places.
struct TransferEnd {
  Place place;
  std::string peer_address;  ///< of the receiver, for the sender
  SocketOptions options;
  BitRate line;              ///< of the sender's port
  Bytes mtu{1500};           ///< of the sender's port
  std::uint64_t seed = 0;    ///< of this repeat
  std::uint64_t entity = 0;  ///< of the first flow; that of flow n is 2n more, as in a prediction
  bool keeps_core = false;   ///< wake-ups of others do not take its core away (`cpu.slice`)
  bool may_spin = false;     ///< there is a processor to spare
  RoundBarrier* rounds = nullptr;  ///< of a test with `barrier`: where its clients wait
  bool disturbed = false;          ///< something happens to a link: intervals are short
};

/// The random stream of a flow for one purpose, the same at both ends.
sim::RandomStream stream_of(const TransferEnd& end, int flow, std::string_view purpose);

/// Messages from the ends to the parent, in this order.
inline constexpr char kListening = '1', kConnected = '2', kDone = '3';

/// Longest wait for all connections of a transfer.
inline constexpr Time kConnectPatience = Time::seconds(30);

/// Whether the sender stops because its time is up, rather than because all is written.
bool ends_by_time(const experiments::Test& test);

/// When a transfer that starts at `start` is counted. About ten intervals; five hundred where
/// something happens to a link, so that its traces show.
Window window_of(const experiments::Test& test, Time start, bool disturbed = false);

/// Sends as the test says and reports. Throws std::exception on any failed call.
void send_transfer(const TransferEnd& end, const ParentLine& parent, TransferReport& report);

/// Reads until the window or the stream ends and reports. Throws std::exception.
void receive_transfer(const TransferEnd& end, const ParentLine& parent, TransferReport& report);

/// The same by type of test: those above choose among them.
void send_stream(const TransferEnd& end, const ParentLine& parent, TransferReport& report);
void receive_stream(const TransferEnd& end, const ParentLine& parent, TransferReport& report);
void send_flows(const TransferEnd& end, const ParentLine& parent, TransferReport& report);
void receive_flows(const TransferEnd& end, const ParentLine& parent, TransferReport& report);
void send_datagrams(const TransferEnd& end, const ParentLine& parent, TransferReport& report);
void receive_datagrams(const TransferEnd& end, const ParentLine& parent, TransferReport& report);
void send_requests(const TransferEnd& end, const ParentLine& parent, TransferReport& report);
void serve_requests(const TransferEnd& end, const ParentLine& parent, TransferReport& report);

/// Copies cumulative counts by interval into a table of kMostIntervals, every n-th if there are
/// more.
void report_intervals(std::span<const double> by_interval, Time step, ReceiverReport& report);

/// Moves this process to where `end` is: its namespace and its core.
void settle(const TransferEnd& end);

/// The same for a sender, which also greets its peer in a lab of namespaces.
void settle_sender(const TransferEnd& end);

/// What this process has used so far.
ProcessUse process_use();

/// Notes what an end has used since `before`.
template <class EndReport>
void charge(const ProcessUse& before, EndReport& report) {
  report.use = process_use() - before;
  report.cpu = report.use.user + report.use.system;
}

}  // namespace linerate::realnet
