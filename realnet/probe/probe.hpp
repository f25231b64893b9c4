// This machine as a host of an experiment.
#pragma once

#include <string>
#include <vector>

#include "realnet/probe/nic_facts.hpp"

namespace linerate::realnet {

struct MachineFacts {
  std::string name;  ///< host name
  std::string kernel, cpu_model;
  int cores = 1;  ///< that may be used
  std::vector<NicFacts> nics;
  std::vector<std::pair<std::string, std::string>>
      parameters;                              ///< below /proc/sys, those that exist
  std::vector<std::string> queue_disciplines;  ///< the kernel has; empty when it cannot be asked
};

/// Asks the kernel. Changes nothing, but that asking for a queueing discipline makes the kernel
/// load its module where it has one (only with CAP_NET_ADMIN and CAP_SYS_ADMIN).
MachineFacts probe_machine();

/// A `hosts:` block for an experiment or an overlay, YAML, with what has no key as comments.
/// `name`: of the host; empty: the machine's, as far as it is a legal name.
std::string host_block(const MachineFacts& facts, const std::string& name = {});

}  // namespace linerate::realnet
