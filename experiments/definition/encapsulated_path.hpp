// Which encapsulations are around a packet on each hop of its way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/definition/encapsulation.hpp"
#include "experiments/definition/experiment.hpp"
#include "experiments/definition/topology.hpp"

namespace linerate::experiments {

/// What is around an IP packet on one hop, from the packet outwards.
struct EncapsulatedHop {
  std::vector<Encapsulation> encapsulations;
  std::vector<Layer> layers;  ///< of the same
};

/// A NIC puts its encapsulations around what it sends and takes the same off what it receives.
/// Tags, labels and sessions end at the next host; a tunnel passes hosts whose NICs have none.
struct EncapsulatedPath {
  /// At which NIC what arrives does not end as it began.
  struct Mismatch {
    PortRef nic;
    std::string message;
  };
  std::vector<EncapsulatedHop> hops;
  /// Largest IP packet that every NIC on the way takes as it is there. Path MTU discovery (RFC
  /// 1191, 8201) finds it.
  Bytes mtu;
  Bytes narrowest;  ///< the same of the links, which may take less than the NICs believe
  std::optional<Mismatch> mismatch;
};

/// Follows a packet of IP version `ip` over `path`, which is not empty. After a mismatch it goes on
/// as if the ends fitted.
EncapsulatedPath encapsulated_path(const Experiment& experiment, const std::vector<Hop>& path,
                                   int ip);

}  // namespace linerate::experiments
