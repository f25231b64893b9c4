// Figures of tests without a stream: datagrams, raw frames, requests and responses.
#pragma once

#include "realnet/figures.hpp"

namespace linerate::realnet {

/// goodput (of UDP), frame_rate, throughput (on the wire), loss, reordered, duplicates, jitter,
/// latency.*, and how late the sender was. There is one repeat at least.
experiments::TestResult datagram_result(const experiments::Experiment& experiment,
                                        const LabPlan& plan, const experiments::Test& test,
                                        const std::vector<Repeat>& repeats);

/// transaction_rate, goodput (of requests), latency.*, calls, retransmits. One repeat at least.
experiments::TestResult request_result(const experiments::Experiment& experiment,
                                       const LabPlan& plan, const experiments::Test& test,
                                       const std::vector<Repeat>& repeats);

}  // namespace linerate::realnet
