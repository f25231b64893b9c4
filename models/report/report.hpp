// From a finished network to a TestResult: figures by the chosen clock, layers, counters, limits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/results/result.hpp"
#include "models/network/network.hpp"

namespace linerate::models {

/// Figures of one repeat of one test, by name, in base units.
using FigureValues = std::map<std::string, double>;

/// What to report on: test `test` of the group that `network` ran.
struct Subject {
  const experiments::Experiment& experiment;
  const experiments::Test& test;
  std::uint32_t index;
  const Network& network;
};

FigureValues figures_of(const Subject& subject);

/// Seconds from the end of a link's disturbance until payload came 90 % as fast as it had on the
/// average before, to one sampling interval; the longest of several, unknown if it never did.
std::optional<double> recovery_of(const Subject& subject);

/// How long flows of a given size took, and how much longer than alone, for tests whose flows are
/// many and end: mean and percentiles, of all and by size. Those that began before `omit` or did
/// not finish are left out.
void flow_figures(const Subject& subject, FigureValues& out);

/// The wires that the test's payload crosses, each once.
std::vector<std::uint32_t> data_wires(const Subject& subject);

/// Waits in the queues that decide on the way of the test's data: of the queue where they are
/// longest on the average.
void queue_figures(const Subject& subject, FigureValues& out);

/// Adds what the queue in front of a port has done.
void add_queue_use(const EgressQueue& queue, experiments::PortCounters& port);

/// How much of the window [omit, duration] of a flow that began at `begun` was simulated:
/// background load ends with its group, and a run can be stopped.
Time window_of(const Subject& subject, Time begun);

/// Unit and direction of a figure by its name.
experiments::Figure figure_from(const std::string& name, std::vector<double> samples);

/// Rates at every layer and the bytes of a full frame, where the test has such a frame.
void report_layers(const Subject& subject, double goodput, experiments::TestResult& result);
std::map<std::string, experiments::HostUse> hosts_of(const Subject& subject);
/// Counters by port: of all ports, but of a test of a group those of the links on its ways.
std::map<std::string, experiments::PortCounters> ports_of(const Subject& subject);
std::vector<experiments::Interval> intervals_of(const Subject& subject);

/// Every resource on the test's way and every cause that kept its senders waiting, with how far it
/// is used; the one that binds first.
std::vector<experiments::Limit> limits_of(const Subject& subject, double goodput);

/// Span in which the test's flows were active: first start to last acknowledgment.
struct Active {
  Time from{}, to{};
  Time span() const { return to - from; }
};
Active active_span(const Subject& subject);

}  // namespace linerate::models
