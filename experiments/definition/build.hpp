// From the file as written to the experiment: looks names up and checks everything that concerns
// more than one field. Private to the parser.
#pragma once

#include <map>
#include <string>

#include "experiments/definition/field_reader.hpp"

namespace linerate::experiments {

/// What the builders of links, tests and judgements share.
struct BuildContext {
  ReadContext& read;
  ExperimentSpec& spec;  ///< ends chosen by the build are written back for the resolved file
  Experiment& experiment;
  std::map<std::string, int> hosts{}, switches{}, hubs{}, tests{};

  /// Reports against `path`, at the place that set it or the nearest above it.
  void error(const std::string& path, std::string message, std::string remedy = {});
  /// Whether the file (or a preset) says anything about `path`.
  bool given(const std::string& path) const { return read.places.contains(path); }
};

/// Fills `experiment` from `spec`; errors go to the diagnostics of `read`.
void build_experiment(ReadContext& read, ExperimentSpec& spec, Experiment& experiment);

/// Refuses a congestion control nobody knows.
void check_congestion(BuildContext& context, const std::string& path, const std::string& name);
/// Refuses one that this stack cannot run.
void check_congestion_fits(BuildContext& context, const std::string& path, const std::string& name,
                           const Stack& stack);

void build_hubs(BuildContext& context);
/// Checks a queue and fills in what it leaves open.
void build_queue(BuildContext& context, const std::string& path, QueueSpec& queue);
/// What stands in front of the ports of a switch; nothing if neither queue nor classes are given.
std::optional<EgressSpec> build_egress(BuildContext& context, SwitchSpec& spec);
void build_links(BuildContext& context);
/// What must hold of hubs and shared links together, once all are known.
void check_shared_media(BuildContext& context);
void build_tests(BuildContext& context);
void build_events(BuildContext& context);
void build_judgements(BuildContext& context);
/// Takes the lab; checks that real hosts can be reached for every test.
void build_lab(BuildContext& context);

/// Whether the keys of a test that say when and how much is sent (arrivals, sizes, outstanding,
/// barrier, imix) fit each other and its type. `test` has its pairs; `path` is its path.
void check_load(BuildContext& context, const std::string& path, const Test& test);

/// Index of the NIC of `host` called `name`, or -1.
int find_nic(const Host& host, const std::string& name);
/// "eth0, eth1" for messages.
std::string nic_list(const Host& host);

}  // namespace linerate::experiments
