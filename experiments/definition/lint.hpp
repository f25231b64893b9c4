// Physics lint: what is legal but cannot perform as it looks, each with its figures.
#pragma once

#include <vector>

#include "experiments/definition/parse.hpp"

namespace linerate::experiments {

/// Warnings about an experiment that parses: MTU or duplex mismatch along a path, a bus narrower
/// than its NIC, a socket buffer below bandwidth x delay, a buffer smaller than a frame, …
std::vector<Diagnostic> lint(const Experiment& experiment);

}  // namespace linerate::experiments
