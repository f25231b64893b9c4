// A peer that has iperf3 and not linerate: the tests of an experiment through the iperf3 program.
#pragma once

#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"
#include "realnet/measure.hpp"

namespace linerate::realnet {

/// Where an iperf3 server listens.
struct Iperf3Server {
  std::string address;
  int port = 5201;
};

/// Reads "192.0.2.1", "192.0.2.1:5201", "host" or "[2001:db8::1]:5201". Throws EnvironmentError.
Iperf3Server parse_iperf3_server(const std::string& text);

/// The command line that runs `test` against `server`, or an empty one with why iperf3 cannot in
/// `obstacle`.
std::vector<std::string> iperf3_command(const experiments::Test& test, const Iperf3Server& server,
                                        std::string& obstacle);

/// Runs every test that iperf3 can run as often as it has repeats, one after the other; the others
/// are inconclusive. The network is the one there is: nothing of the experiment is set up. Throws
/// EnvironmentError when the program is missing or a run fails.
experiments::Result measure_with_iperf3(const experiments::Experiment& experiment,
                                        const Iperf3Server& server,
                                        const MeasurementOptions& options = {});

}  // namespace linerate::realnet
