// "Did you mean": the known name nearest to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linerate::experiments {

/// Edits (insert, delete, replace, swap of neighbours) between two words; Damerau-Levenshtein in
/// its restricted form.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, or "" if none is near enough to be meant.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

/// A remedy from it: "did you mean `x`?", or else the candidates when they are few.
std::string suggest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace linerate::experiments
