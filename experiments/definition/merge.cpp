#include "experiments/definition/merge.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "experiments/definition/nearest.hpp"

namespace linerate::experiments {

namespace {

// A 1,024-host fat tree with its switches and cables is about 5,000 entries.
constexpr std::size_t kMaxEntries = 20'000;
constexpr std::size_t kMaxNodes = 2'000'000;
constexpr std::size_t kMaxBytes = 64u << 20;

void count(const Node& node, std::size_t& nodes, std::size_t& bytes) {
  ++nodes;
  bytes += node.text.size();
  for (const Node::Key& key : node.keys) bytes += key.text.size();
  for (const Node& item : node.items) count(item, nodes, bytes);
}

/// `stack: linux-6` is `stack: {preset: linux-6}`, so that fields can be laid over it.
void promote_stack(const std::string& key, Node& base, const Node& over) {
  if (key != "stack" || !base.is_scalar() || base.is_null() || !over.is_mapping()) return;
  Node preset = mapping_node(base.place);
  preset.add({"preset", base.place}, base);
  base = std::move(preset);
}

/// The hosts, switches, links or tests of the file under their names.
class Entries {
 public:
  Entries(Node& container, std::string path, Budget& budget, Diagnostics& diagnostics)
      : container_(container), path_(std::move(path)), budget_(budget), diagnostics_(diagnostics) {
    for (std::size_t i = 0; i < container.items.size(); ++i) {
      if (const std::string* name = name_of(i)) by_name_.emplace(*name, i);
    }
    state_.resize(container.items.size(), State::untouched);
  }

  void resolve_all() {
    for (std::size_t i = 0; i < container_.items.size(); ++i) resolve(i);
  }

 private:
  enum class State : char { untouched, open, done };

  const std::string* name_of(std::size_t i) const {
    if (container_.is_mapping()) return &container_.keys[i].text;
    const Node* name = container_.items[i].find("name");
    return name && name->is_scalar() ? &name->text : nullptr;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, index] : by_name_) result.push_back(name);
    return result;
  }

  /// Follows a chain of `like:` to its end and then copies back along it, without recursion: a
  /// pattern may chain thousands of hosts.
  void resolve(std::size_t start) {
    std::vector<std::size_t> chain;
    for (std::size_t i = start; state_[i] == State::untouched;) {
      chain.push_back(i);
      state_[i] = State::open;
      const Node* like = container_.items[i].find("like");
      if (!like || like->is_null()) break;
      const auto found = like->is_scalar() ? by_name_.find(like->text) : by_name_.end();
      if (found == by_name_.end()) {
        diagnostics_.error(
            like->place, path_,
            fmt::format("`like` names `{}`, which is not there", like->text.substr(0, 80)),
            diagnostics_.crowded() ? "" : suggest(like->text, names()));
        break;
      }
      i = found->second;
      if (state_[i] == State::open) {
        diagnostics_.error(like->place, path_,
                           fmt::format("`like` goes round in a circle through `{}`", like->text),
                           "let one of them say what it is");
        break;
      }
    }
    for (; !chain.empty(); chain.pop_back()) copy_into(chain.back());
  }

  void copy_into(std::size_t i) {
    state_[i] = State::done;
    Node& entry = container_.items[i];
    const Node* like = entry.find("like");
    if (!like) return;
    const auto found = like->is_scalar() ? by_name_.find(like->text) : by_name_.end();
    const bool usable =
        found != by_name_.end() && state_[found->second] == State::done && found->second != i;
    entry.remove("like");
    if (!usable) return;
    const Node& original = container_.items[found->second];
    if (!budget_.spend(original, diagnostics_)) return;
    Node copy = original;
    copy.place = entry.place;
    if (container_.is_sequence()) copy.remove("name");
    merge(copy, entry);
    entry = std::move(copy);
  }

  Node& container_;
  std::string path_;
  Budget& budget_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::vector<State> state_;
};

bool is_section(std::string_view key) {
  return key == "hosts" || key == "switches" || key == "hubs" || key == "links" || key == "tests";
}

/// Lays `entry` over the defaults, so that what it says itself stands.
void fill_in(Node& entry, const Node& defaults, Budget& budget, Diagnostics& diagnostics) {
  if (!entry.is_mapping() && !entry.is_null()) return;
  if (!budget.spend(defaults, diagnostics)) return;
  Node filled = defaults;
  filled.place = entry.place;
  if (entry.is_mapping()) merge(filled, entry);
  entry = std::move(filled);
}

void apply_defaults(Node& root, Budget& budget, Diagnostics& diagnostics) {
  const Node* found = root.find("defaults");
  if (!found) return;
  const Node defaults = *found;
  root.remove("defaults");
  if (defaults.is_null()) return;
  if (!defaults.is_mapping()) {
    diagnostics.error(defaults.place, "defaults", "a mapping is expected");
    return;
  }
  // Keys outside the sections are a NIC's: `defaults: {mtu: 9000B}`.
  Node nic = mapping_node(defaults.place);
  for (std::size_t i = 0; i < defaults.keys.size(); ++i) {
    const Node::Key& key = defaults.keys[i];
    if (!is_section(key.text)) {
      nic.add(key, defaults.items[i]);
      continue;
    }
    Node* section = root.find(key.text);
    if (!defaults.items[i].is_mapping()) {
      diagnostics.error(defaults.items[i].place, "defaults." + key.text, "a mapping is expected");
      continue;
    }
    if (!section || section->is_scalar()) continue;
    for (Node& entry : section->items) fill_in(entry, defaults.items[i], budget, diagnostics);
  }
  Node* hosts = root.find("hosts");
  if (nic.keys.empty() || !hosts || !hosts->is_mapping()) return;
  for (Node& host : hosts->items) {
    Node* nics = host.find("nics");
    if (!nics || !nics->is_mapping()) continue;
    for (Node& entry : nics->items) fill_in(entry, nic, budget, diagnostics);
  }
}

}  // namespace

bool Budget::spend(const Node& node, Diagnostics& diagnostics) {
  count(node, nodes_, bytes_);
  if (nodes_ <= kMaxNodes && bytes_ <= kMaxBytes) return true;
  return fail(node, diagnostics);
}

bool Budget::spend_entry(const Node& node, Diagnostics& diagnostics) {
  return ++entries_ <= kMaxEntries ? spend(node, diagnostics) : fail(node, diagnostics);
}

bool Budget::fail(const Node& node, Diagnostics& diagnostics) {
  if (!reported_) {
    diagnostics.error(node.place, "",
                      fmt::format("patterns and copies make more than {} entries or {} values",
                                  kMaxEntries, kMaxNodes),
                      "make the ranges smaller");
  }
  reported_ = true;
  return false;
}

void merge(Node& base, const Node& over) {
  if (!base.is_mapping() || !over.is_mapping()) {
    base = over;
    return;
  }
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < base.keys.size(); ++i) index.emplace(base.keys[i].text, i);
  std::vector<bool> deleted(base.keys.size());
  for (std::size_t i = 0; i < over.keys.size(); ++i) {
    const Node::Key& key = over.keys[i];
    const auto found = index.find(key.text);
    if (found == index.end()) {
      if (!over.items[i].is_null()) base.add(key, over.items[i]);
    } else if (over.items[i].is_null()) {
      deleted[found->second] = true;
    } else {
      Node& old = base.items[found->second];
      promote_stack(key.text, old, over.items[i]);
      merge(old, over.items[i]);
      base.keys[found->second].place = key.place;
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < base.keys.size(); ++i) {
    if (i < deleted.size() && deleted[i]) continue;
    if (kept != i) {
      base.keys[kept] = std::move(base.keys[i]);
      base.items[kept] = std::move(base.items[i]);
    }
    ++kept;
  }
  base.keys.resize(kept);
  base.items.resize(kept);
}

void resolve_copies(Node& root, Budget& budget, Diagnostics& diagnostics) {
  for (const char* section : {"hosts", "switches", "hubs", "links", "tests"}) {
    Node* container = root.find(section);
    if (container && !container->is_scalar()) {
      Entries(*container, section, budget, diagnostics).resolve_all();
    }
  }
  apply_defaults(root, budget, diagnostics);
}

}  // namespace linerate::experiments
