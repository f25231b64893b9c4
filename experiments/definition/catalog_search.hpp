// Finding profiles of the catalog by what they are about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linerate::experiments {

/// The catalog's entries of a folder ("hosts", "nics", …; "": all) whose name or `about` has every
/// word of `text`: "x520" and "ConnectX 5" as they stand there, else "pi4" as "Pi 4".
std::vector<std::string> catalog_matches(std::string_view folder, std::string_view text);

/// A remedy from them, or that the catalog lists what there is.
std::string suggest_entry(std::string_view folder, std::string_view text,
                          const std::vector<std::string>& names);

}  // namespace linerate::experiments
