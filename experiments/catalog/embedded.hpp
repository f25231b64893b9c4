// The catalog and the library experiments, compiled in.
#pragma once

#include <map>
#include <string_view>

namespace linerate::experiments {

/// Text by path relative to the source tree: "experiments/catalog/stacks/linux-6.yaml".
const std::map<std::string_view, std::string_view>& embedded_files();

}  // namespace linerate::experiments
