// How often this test program has allocated: allocations.cpp replaces the global operator new.
#pragma once

#include <cstddef>

namespace linerate::tests {

/// Calls of any operator new since the program started.
std::size_t allocations();

}  // namespace linerate::tests
