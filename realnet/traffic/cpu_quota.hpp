// A share of a core that a process may use, through the cpu controller of control groups.
#pragma once

#include <sys/types.h>

namespace linerate::realnet {

/// Lets this process use `share` of a core in every 100 ms, in a group of its own named after it.
/// Throws std::system_error, or std::runtime_error where no cpu controller can be written.
void join_quota(double share);

/// Removes the group of `process`, which has ended; groups of processes that no longer live go with
/// it.
void remove_quotas(pid_t process);

}  // namespace linerate::realnet
