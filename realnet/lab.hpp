// A lab that stands: namespaces, devices and addresses, all of which go when it goes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "experiments/results/result.hpp"
#include "realnet/lab_plan.hpp"
#include "realnet/netlink.hpp"
#include "realnet/system.hpp"
#include "realnet/wire/wire.hpp"

namespace linerate::realnet {

/// Claims a run id: everything the run makes carries it, and its lock says that the run is alive.
class RunLock {
 public:
  RunLock();
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  const std::string& id() const { return id_; }

 private:
  std::string id_;
  FileDescriptor file_;
};

/// Removes the namespaces of runs that no longer live (a killed run cannot clean up after itself)
/// and returns their names. Touches only names of the form linerate-<run id>-<node>.
std::vector<std::string> remove_leftovers();

/// A network namespace with a name under /run/netns, removed with this.
class NetworkNamespace {
 public:
  /// Throws std::system_error.
  explicit NetworkNamespace(const std::string& name);
  ~NetworkNamespace();
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;

  int descriptor() const { return descriptor_.number(); }
  Devices& devices() { return *devices_; }

 private:
  std::string path_;
  FileDescriptor descriptor_;
  std::unique_ptr<Devices> devices_;
};

class AgentLink;

/// Where one end of a test's traffic runs.
struct Place {
  int namespace_descriptor = -1;  ///< -1: where we are
  std::string address;
  std::string device;  ///< of the NIC, empty where nothing counts its frames as those of a line
  std::string interface {};    ///< of the NIC, empty where it is not the experiment's own
  AgentLink* agent = nullptr;  ///< of the host; null: this machine
};

class Lab {
 public:
  ~Lab();
  /// Builds what `plan` says. Throws EnvironmentError if the machine cannot; then nothing stays.
  Lab(const experiments::Experiment& experiment, const LabPlan& plan);

  /// The place of a host's NIC; `ip` is 4 or 6.
  Place place(int host, int nic, int ip) const;
  /// Counters of every port, by its label. Empty in the loopback lab.
  std::map<std::string, experiments::PortCounters> counters() const;
  /// Waits until no frame of an earlier transfer is queued anywhere, at most two seconds. Throws
  /// std::runtime_error when a part of the lab has died.
  void drain() const;
  /// A group of tests begins at `start` (CLOCK_MONOTONIC): what happens to links counts from there.
  void begin(Time start) const;
  /// Puts links back as they are without events, until a group begins.
  void settle() const { begin(Time::never()); }
  /// Makes the changes of token buckets that are due at `now`, and returns when the next one is.
  Time follow(Time now) const;
  /// How far the clocks of real hosts may differ from this one's, by name ("clock of a").
  std::map<std::string, std::string> facts() const { return facts_; }
  /// What the lab itself has seen of how it realises the links, by element ("links.a-b.wire").
  std::vector<experiments::Realisation> observations() const;

 private:
  void build_namespaces();
  void start_agents();
  void synchronise_agents() const;
  void build_link(const PlannedLink& link);
  std::unique_ptr<Wire> build_wire(const PlannedLink& link);
  void finish_port(const PlannedPort& port);
  void await_carriers() const;
  /// Calls `action(port, devices of its namespace)`.
  template <class Action>
  void for_each_port(Action action) const;

  const experiments::Experiment& experiment_;
  const LabPlan& plan_;
  int next_index_ = 10;                                   ///< above what a new namespace has
  std::unique_ptr<RunLock> lock_;                         ///< outlives the namespaces
  std::vector<std::unique_ptr<NetworkNamespace>> nodes_;  ///< as in the plan
  std::unique_ptr<NetworkNamespace> wire_room_;           ///< where wires run, if there are any
  std::vector<std::unique_ptr<Wire>> wires_;              ///< by link; null: a plain pair
  std::vector<std::unique_ptr<AgentLink>> agents_;        ///< by host; null: not needed
  std::vector<experiments::Realisation> agent_notes_;
  mutable std::map<std::string, std::string> facts_;
  mutable Time start_ = Time::never();                          ///< of the group that runs
  mutable std::map<const PlannedPort*, std::size_t> followed_;  ///< changes made so far
};

}  // namespace linerate::realnet
