// Reads a text file whole, within the size an experiment may have.
#pragma once

#include <optional>
#include <string>

#include "experiments/definition/diagnostics.hpp"

namespace linerate::experiments {

/// The file's text; nothing if it cannot be opened, is a directory or is too large, which is
/// reported against `source`.
std::optional<std::string> read_text_file(const std::string& path, int source,
                                          Diagnostics& diagnostics);

}  // namespace linerate::experiments
