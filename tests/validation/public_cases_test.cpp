// Other people's measurements that hosts limit, predicted with the catalog as it is:
// experiments/library/cases. Bounds stand where the model is meant to hold; what it misses is in
// docs/validation/cases.md.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using experiments::Result;
using experiments::TestResult;

namespace {

Result predicted_case(const std::string& name) {
  return models::simulate(experiments::load_experiment(
      std::string(LINERATE_SOURCE_DIR) + "/experiments/library/cases/" + name + ".yaml"));
}

struct CaseRow {
  const char* test;
  const char* figure;
  double measured;
  double within;
  const char* binds = nullptr;  ///< what the source says does
};

void check_rows(const std::string& name, std::initializer_list<CaseRow> rows) {
  const Result result = predicted_case(name);
  for (const CaseRow& row : rows) {
    INFO(row.test);
    const TestResult* found = nullptr;
    for (const TestResult& test : result.tests)
      if (test.name == row.test) found = &test;
    REQUIRE(found != nullptr);
    const double value = found->figures.at(row.figure).median();
    INFO(value);
    CHECK(std::abs(value / row.measured - 1) <= row.within);
    REQUIRE(!found->limits.empty());
    if (row.binds != nullptr) CHECK(found->limits.front().resource.starts_with(row.binds));
  }
}

// Received 542-byte frames of the source, a second.
double frames_of(double mbit) { return mbit * 1e6 / (8 * 542); }

}  // namespace

TEST_CASE("public cases B: what a bus carries") {
  check_rows("bus-limited", {{"b01-three-ports", "goodput", 2.818e9, 0.01, "link"},
                             {"b01-four-ports", "goodput", 3.074e9, 0.01, "bus cm4-i340 to memory"},
                             {"b02-one-way", "goodput", 3.26e9, 0.03, "bus cm4-aqc107 from memory"},
                             {"b02-out", "goodput", 3.12e9, 0.04, "bus cm4-jumbo from memory"},
                             {"b05-receive", "goodput", 338e6, 0.13, "bus zero2"},
                             {"b05-transmit", "goodput", 311e6, 0.05, "bus zero2"},
                             {"b08-four-lanes", "goodput", 9.7e9, 0.03, "link"}});
}

TEST_CASE("public cases C: threads, clocks and virtual machines") {
  check_rows("cpu-limited", {{"c02-iperf2", "goodput", 96.4e9, 0.04},
                             {"c02-iperf3", "goodput", 35.2e9, 0.25, "cpu esnet-b"},
                             {"c02-nuttcp", "goodput", 35e9, 0.25, "cpu esnet-b"},
                             {"c05-threads", "goodput", 9.7e9, 0.03, "link"},
                             {"c06-in-same-core", "goodput", 1.3e9, 0.1, "cpu rock-one core 0"},
                             {"c15-metal", "goodput", 23.5e9, 0.01},
                             {"c15-qemu", "goodput", 9.6e9, 0.05},
                             {"c15-firecracker", "goodput", 10.6e9, 0.05},
                             {"b05-in-600", "goodput", 328e6, 0.12, "bus zero2-600"},
                             {"b05-out-600", "goodput", 305e6, 0.04, "bus zero2-600"},
                             {"a01-one-way", "goodput", 94.2e6, 0.002, "link"},
                             {"a01-both-ways", "goodput", 183.2e6, 0.005, "link"}});
}

TEST_CASE("public cases C: gateways and tunnels") {
  check_rows("tunnels", {{"c10-wireguard", "frame_rate", frames_of(483), 0.3, "cpu c10-wireguard"},
                         {"c10-gcm", "frame_rate", frames_of(560), 0.3, "cpu c10-gcm"},
                         {"c13-gcm", "frame_rate", frames_of(865.5), 0.01, "link"},
                         {"c13-null", "frame_rate", frames_of(907), 0.03, "link"},
                         {"c08-bcm2711", "goodput", 881e6, 0.3, "cpu c08-bcm2711"}});
}

TEST_CASE("public cases G: files over 10 Gbit/s") {
  check_rows("file-transfers", {{"g09-iperf", "goodput", 9.9e9, 0.01, "link"},
                                {"g09-nfs", "goodput", 9.76e9, 0.03, "link"},
                                {"g10-iperf", "goodput", 9.9e9, 0.01, "link"},
                                {"g01-samba", "goodput", 640e6, 0.3, "cpu mbl"}});
}

TEST_CASE("public cases H: a round trip wakes four sleeping cores") {
  // The source gives half of it.
  check_rows("latency", {{"h05-metal", "latency.p50", 2 * 32.9e-6, 0.15},
                         {"h05-vhost", "latency.p50", 2 * 48.4e-6, 0.2},
                         {"h05-qemu", "latency.p50", 2 * 65.3e-6, 0.15}});
}

TEST_CASE("public cases E: more cores forward more, 2002 and 2018") {
  check_rows("forwarding", {{"e10-linux-2", "frame_rate", 3.371e6, 0.05, "cpu linux-2"},
                            {"e10-xdp-6", "frame_rate", 30.42e6, 0.07, "cpu xdp-6"},
                            {"e11-drop", "frame_rate", 86.8e6, 0.1, "bus drops to memory"},
                            {"e19-transmit", "frame_rate", 99e6, 0.05, "bus generates from memory"},
                            {"e14-128", "frame_rate", 758150 * 0.464364, 0.05, "cpu napi"},
                            {"e14-256", "frame_rate", 445632 * 0.774646, 0.07, "cpu napi"},
                            {"e14-1024", "frame_rate", 119061, 0.01}});
}
