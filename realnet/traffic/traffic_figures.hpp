// Figures of tests without a stream: datagrams, raw frames, requests and responses.
#pragma once

#include "realnet/figures.hpp"
#include "realnet/samples.hpp"

namespace linerate::realnet {

/// goodput (of UDP), frame_rate, throughput (on the wire), loss, reordered, duplicates, jitter,
/// latency.*, and how late the sender was. There is one repeat at least.
experiments::TestResult datagram_result(const experiments::Experiment& experiment,
                                        const LabPlan& plan, const experiments::Test& test,
                                        const std::vector<Repeat>& repeats);

/// goodput, flow_elapsed.* (also by class of size) of flows that arrive. One repeat at least.
experiments::TestResult flows_result(const experiments::Experiment& experiment, const LabPlan& plan,
                                     const experiments::Test& test,
                                     const std::vector<Repeat>& repeats);

/// mean, p50 and p99 of `spans` as figures `name`.mean …; nothing where there are none.
void add_spans(const std::string& name, const LatencyHistogram& spans, Samples& samples);

/// transaction_rate, goodput (of requests), latency.*, calls, retransmits. One repeat at least.
experiments::TestResult request_result(const experiments::Experiment& experiment,
                                       const LabPlan& plan, const experiments::Test& test,
                                       const std::vector<Repeat>& repeats);

}  // namespace linerate::realnet
