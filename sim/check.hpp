// CHECK: an invariant of ours, always on. A failed check is a bug in linerate, never bad input.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace linerate::sim {

/// Prints the broken invariant with its place and aborts; the command line turns the abort into
/// exit code 4.
[[noreturn]] inline void check_failed(const char* condition, const char* words, const char* file,
                                      int line) {
  std::fprintf(stderr, "linerate: bug: %s (%s) at %s:%d\n", words, condition, file, line);
  std::abort();
}

}  // namespace linerate::sim

/// States in words what must hold here, and stops the program when it does not.
#define LINERATE_CHECK(condition, words)                                    \
  do {                                                                      \
    if (!(condition)) [[unlikely]]                                          \
      ::linerate::sim::check_failed(#condition, words, __FILE__, __LINE__); \
  } while (false)
