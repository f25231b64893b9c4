// A YAML text as a tree of nodes that know their place. Knows YAML, knows no key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/definition/diagnostics.hpp"

namespace linerate::experiments {

/// A scalar, a sequence or a mapping. Mappings keep the order of the file.
struct Node {
  enum class Kind : std::uint8_t { scalar, sequence, mapping };
  struct Key {
    std::string text;
    Place place;
  };

  Kind kind = Kind::scalar;
  bool quoted = false;  ///< a scalar in quotes: never null, a number or a switch
  Place place;
  std::string text;         ///< of a scalar
  std::vector<Node> items;  ///< elements, or values parallel to `keys`
  std::vector<Key> keys;    ///< of a mapping

  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_null() const;

  /// The value of `key` in a mapping; nullptr if there is none. Linear.
  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  /// The value of `key`, added to the mapping (as a null scalar at `at`) if there is none.
  Node& at_or_add(std::string_view key, Place at);
  void add(Key key, Node value);
  void remove(std::string_view key);
};

Node scalar_node(std::string text, Place place);
Node mapping_node(Place place);

/// Reads one YAML document. Anchors, aliases and merge keys are expanded within a budget; tags,
/// several documents, duplicate keys and anything too large or too deep are errors. Nothing if the
/// text could not be read, which `diagnostics` then says.
std::optional<Node> read_yaml(std::string_view text, int source, Diagnostics& diagnostics);

}  // namespace linerate::experiments
