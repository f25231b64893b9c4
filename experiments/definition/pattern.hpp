// "h[1-32]" for many names, `{i}`, `{i+4}` for the number of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/definition/merge.hpp"

namespace linerate::experiments {

/// The range a text binds; `first` <= `last`.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool operator==(const Range&) const = default;
};

/// The range of the first "[1-32]" in `text`; nothing if there is none. A malformed one is nothing
/// too, and then refused as a name.
std::optional<Range> find_range(std::string_view text);

/// `text` with its range and every `{expression in i}` replaced by numbers. Expressions know + - *
/// / % and parentheses over whole numbers. Nothing if an expression is malformed.
std::optional<std::string> substitute(std::string_view text, std::int64_t i);

/// Replaces every host, switch and link over a pattern by its entries, and every test whose name
/// holds `{i}`. A test over a pattern without that stays one test: its `from` and `to` are expanded
/// by the build.
void expand_patterns(Node& root, Budget& budget, Diagnostics& diagnostics);

/// Gives every link without a name the name of its ends, "a-s1", with "#2" for a second one.
void name_links(Node& root);

/// The node of an endpoint: "a" of "a:eth0".
std::string_view endpoint_node(std::string_view endpoint);

}  // namespace linerate::experiments
