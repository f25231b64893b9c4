// A result with something in every field, for the tests of this folder.
#pragma once

#include "experiments/results/result.hpp"

namespace linerate::experiments {

/// Seven measured runs of one TCP stream over 1000BASE-T and a request-response test.
inline Result measured_result() {
  Result result;
  result.backend = Backend::measured;
  result.provenance = {
      R"({"schema_version":1,"name":"two-hosts"})", {"tests.bulk.write=64KiB"}, 7, "0.1.0"};
  result.environment = {{"kernel", "Linux 6.1.0"}, {"cpu", "8 cores"}};
  result.realisation = {{"links.a-b.rate", "approximated", "tbf shapes in bursts of 2 frames"}};
  TestResult bulk;
  bulk.name = "bulk";
  bulk.type = "tcp-stream";
  bulk.figures["goodput"] = make_figure(
      "bit/s", Better::higher, {941.2e6, 941.4e6, 941.5e6, 941.5e6, 941.6e6, 941.3e6, 941.5e6});
  bulk.figures["retransmits"] = make_figure("count", Better::lower, {0, 0, 0, 0, 0, 3, 0});
  bulk.figures["sender.cpu"] = make_figure("s", Better::lower, {0.74});
  bulk.figures["goodput"].model95 = {930e6, 949e6};
  bulk.layers = {{"payload", 941.5e6, 1448},
                 {"l4", 962.3e6, 1480},
                 {"l3", 975.3e6, 1500},
                 {"l2", 987e6, 1518},
                 {"wire", 999.9e6, 1538}};
  bulk.hosts["a"].figures = {{"segments_sent", 812345}, {"busy", 0.125}};
  bulk.ports["a:eth0"] = {812345, 1249386610, {{"ring", 0}, {"tail", 12}}, 65536, {}, {}};
  bulk.intervals = {{0, 1, {{"goodput", 941.1e6}}}, {1, 2, {{"goodput", 941.6e6}}}};
  bulk.limits = {
      {"link a-b", 0.9999, true, "1 Gbit/s x 1448 / 1538", "links.a-b.medium", "exp.yaml:9", 1e9},
      {"receive window", 0.031, false, "", "hosts.b.stack.receive_buffer", ""}};
  bulk.notes = {"the generator was not the limit"};
  TestResult rpc;
  rpc.name = "rpc";
  rpc.type = "request-response";
  rpc.figures["latency.p50"] = make_figure("s", Better::lower, {41.3e-6});
  rpc.figures["transaction_rate"] = make_figure("1/s", Better::higher, {24093});
  result.tests = {bulk, rpc};
  result.notes = {"measured in a namespace"};
  return result;
}

/// The simulated twin: one exact run of the same tests.
inline Result simulated_result() {
  Result result;
  result.provenance = {R"({"schema_version":1,"name":"two-hosts"})", {}, 7, "0.1.0"};
  TestResult bulk;
  bulk.name = "bulk";
  bulk.type = "tcp-stream";
  bulk.figures["goodput"] = make_figure("bit/s", Better::higher, {941.4e6});
  bulk.figures["retransmits"] = make_figure("count", Better::lower, {0});
  bulk.layers = {{"payload", 941.4e6, 1448}, {"wire", 999.9e6, 1538}};
  bulk.limits = {{"link a-b", 0.9999, true, "", "", "", 1e9}};
  TestResult rpc;
  rpc.name = "rpc";
  rpc.type = "request-response";
  rpc.figures["latency.p50"] = make_figure("s", Better::lower, {30e-6});
  result.tests = {bulk, rpc};
  return result;
}

}  // namespace linerate::experiments
