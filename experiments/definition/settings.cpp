#include "experiments/definition/settings.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/definition/nearest.hpp"

namespace linerate::experiments {

namespace {

constexpr std::size_t kDeepestPath = 32;

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    // "*.goodput" and "rpc.latency.p50" are keys of `tolerance` whole.
    const bool rest = parts.size() == 1 && parts[0] == "tolerance";
    const std::size_t dot = rest ? std::string::npos : path.find('.', start);
    parts.push_back(path.substr(start, dot - start));
    if (dot == std::string::npos) return parts;
    start = dot + 1;
  }
}

/// Everything without a line: a --set has no file.
void place_at(Node& node, Place place) {
  node.place = place;
  for (Node::Key& key : node.keys) key.place = place;
  for (Node& item : node.items) place_at(item, place);
}

class Setter {
 public:
  Setter(const std::string& setting, Presets& presets, Diagnostics& diagnostics)
      : presets_(presets), diagnostics_(diagnostics) {
    place_ = {diagnostics.add_source("--set " + setting), 0, 0};
  }

  void apply(Node& root, const std::string& setting) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail("no PATH=VALUE", "write --set tests.bulk.write=64KiB");
    }
    path_ = split_path(setting.substr(0, equals));
    if (path_.size() > kDeepestPath) return fail("the path is too deep");
    std::string text = setting.substr(equals + 1);
    if (text.empty()) text = "''";
    if (!read_value(text)) return;
    descend(root, 0);
  }

 private:
  void fail(std::string message, std::string remedy = {}) {
    diagnostics_.error(place_, "", std::move(message), std::move(remedy));
  }

  bool read_value(const std::string& text) {
    value_ = scalar_node("null", place_);
    if (text == "~" || text == "null") return true;
    Diagnostics own;  // lines and columns inside a --set help nobody
    std::optional<Node> value = read_yaml(text, 0, own);
    if (!value) {
      try {
        own.throw_if_any();
      } catch (const DefinitionError& error) {
        fail(error.diagnostics().front().message);
      }
      return false;
    }
    value_ = std::move(*value);
    place_at(value_, place_);
    return true;
  }

  std::string prefix(std::size_t depth) const {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += path_[i] + ".";
    return text;
  }

  /// Whether the children of the node at `depth` are named entries, which a --set cannot invent.
  bool named_entries(std::size_t depth) const {
    if (depth == 1) {
      return path_[0] == "hosts" || path_[0] == "switches" || path_[0] == "hubs" ||
             path_[0] == "links" || path_[0] == "tests";
    }
    return depth == 3 && path_[0] == "hosts" && path_[2] == "nics";
  }

  void descend(Node& node, std::size_t depth) {
    if (node.is_sequence()) return into_list(node, depth);
    if (!node.is_mapping() && !open_short_form(node, depth)) return;
    if (path_[depth] == "*") return into_all(node, depth);
    if (!node.find(path_[depth]) && named_entries(depth) && !preset_has(node, depth)) {
      return no_match(depth, names_of(node));
    }
    step(node.at_or_add(path_[depth], place_), depth, [&] { node.remove(path_[depth]); });
  }

  /// `stack: linux-6` holds `stack.timestamps` all the same; null holds anything.
  bool open_short_form(Node& node, std::size_t depth) {
    Node mapping = mapping_node(node.place);
    const std::string key = depth > 0 ? path_[depth - 1] : "";
    if (!node.is_null() && key == "stack") {
      mapping.add({"preset", node.place}, node);
    } else if (!node.is_null() && key == "socket_buffer") {
      mapping.add({"send", node.place}, node);
      mapping.add({"receive", node.place}, node);
    } else if (!node.is_null()) {
      const std::string path = prefix(depth);
      fail(fmt::format("`{}` holds a single value", path.substr(0, path.size() - 1)),
           "end the path there");
      return false;
    }
    node = std::move(mapping);
    return true;
  }

  void into_all(Node& node, std::size_t depth) {
    if (node.keys.empty()) return no_match(depth, {});
    for (const Node::Key& key : std::vector<Node::Key>(node.keys)) {
      Node& child = *node.find(key.text);
      step(child, depth, [&] { node.remove(key.text); });
    }
  }

  void into_list(Node& node, std::size_t depth) {
    std::vector<std::string> names;
    bool matched = false;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const Node* name = node.items[i].find("name");
      if (name) names.push_back(name->text);
      if (path_[depth] != "*" && (!name || name->text != path_[depth])) continue;
      matched = true;
      bool removed = false;
      step(node.items[i], depth, [&] { removed = true; });
      if (removed) node.items.erase(node.items.begin() + static_cast<std::ptrdiff_t>(i--));
    }
    if (!matched) no_match(depth, names);
  }

  /// Sets the child here if the path ends with it, else goes on into it.
  template <class Remove>
  void step(Node& child, std::size_t depth, Remove&& remove) {
    if (depth + 1 < path_.size()) {
      if (depth == 1) host_ = &child;
      descend(child, depth + 1);
    } else if (value_.is_null()) {
      remove();
    } else if (named_entries(depth)) {
      fail(fmt::format("`{}{}` is a whole entry", prefix(depth), path_[depth]),
           "set one of its values, or use --overlay");
    } else {
      child = value_;
    }
  }

  /// A NIC that the host's profile has, though the file does not mention it.
  bool preset_has(const Node&, std::size_t depth) {
    if (depth != 3 || !host_) return false;
    const Node* profile = host_->find("profile");
    const Node* tree =
        profile && profile->is_scalar() ? presets_.find("hosts", profile->text) : nullptr;
    const Node* nics = tree ? tree->find("nics") : nullptr;
    return nics && nics->find(path_[depth]);
  }

  static std::vector<std::string> names_of(const Node& node) {
    std::vector<std::string> names;
    for (const Node::Key& key : node.keys) names.push_back(key.text);
    return names;
  }

  void no_match(std::size_t depth, const std::vector<std::string>& names) {
    const std::string nearest = nearest_name(path_[depth], names);
    std::string remedy;
    if (!nearest.empty()) {
      remedy = fmt::format("did you mean `{}{}`?", prefix(depth), nearest);
    } else if (!names.empty()) {
      remedy = suggest(path_[depth], names);
    }
    fail(fmt::format("`{}{}` matches nothing", prefix(depth), path_[depth]), remedy);
  }

  Presets& presets_;
  Diagnostics& diagnostics_;
  Place place_;
  std::vector<std::string> path_;
  Node value_;
  const Node* host_ = nullptr;  ///< passed through on the way to a NIC
};

}  // namespace

void apply_setting(Node& root, const std::string& setting, Presets& presets,
                   Diagnostics& diagnostics) {
  Setter(setting, presets, diagnostics).apply(root, setting);
}

}  // namespace linerate::experiments
