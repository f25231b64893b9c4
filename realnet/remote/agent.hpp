// The agent: runs ends of transfers for a controller at the other end of its standard input and
// output, and ends with it.
#pragma once

#include "realnet/remote/wire_format.hpp"

namespace linerate::realnet {

/// What an agent says first: what it is, its version, and the layout of its reports.
Json agent_greeting();

/// Serves until the input ends. Returns the exit code of the process.
int run_agent(int input, int output);

}  // namespace linerate::realnet
