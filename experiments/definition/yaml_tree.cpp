#include "experiments/definition/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

namespace linerate::experiments {

namespace {

// Far above any experiment people write, far below what hurts a machine.
constexpr std::size_t kMaxText = 16u << 20;
constexpr std::size_t kMaxExpandedText = 64u << 20;
constexpr std::size_t kMaxNodes = 1'000'000;
constexpr int kMaxDepth = 64;

/// Thrown inside this file to leave the parse; already reported.
struct Stop {};

struct Event {
  yaml_event_t raw{};
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&raw); }
};

struct Anchored {
  Node node;
  std::size_t nodes = 0, text = 0;
  int height = 0;
};

/// A sequence or mapping whose end has not been seen.
struct Frame {
  Node node;
  std::string anchor;
  std::unordered_set<std::string> seen;
  std::optional<Node::Key> key;  ///< read, its value still to come
  std::vector<Node> merges;      ///< values of `<<`
  bool merge_next = false;
};

void measure(const Node& node, int depth, Anchored& total) {
  ++total.nodes;
  total.text += node.text.size();
  total.height = std::max(total.height, depth);
  for (const Node::Key& key : node.keys) total.text += key.text.size();
  for (const Node& item : node.items) measure(item, depth + 1, total);
}

class TreeReader {
 public:
  TreeReader(std::string_view text, int source, Diagnostics& diagnostics)
      : text_(text), source_(source), diagnostics_(diagnostics) {
    if (!yaml_parser_initialize(&parser_)) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  TreeReader(const TreeReader&) = delete;
  TreeReader& operator=(const TreeReader&) = delete;
  ~TreeReader() { yaml_parser_delete(&parser_); }

  std::optional<Node> read() {
    int documents = 0;
    while (true) {
      Event event;
      if (!yaml_parser_parse(&parser_, &event.raw)) syntax_error();
      const Place at = place(event.raw.start_mark);
      switch (event.raw.type) {
        case YAML_STREAM_END_EVENT:
          return std::move(root_);
        case YAML_DOCUMENT_START_EVENT:
          if (++documents > 1) {
            fail(at, "a second document starts here", "one file holds one document: remove `---`");
          }
          break;
        case YAML_SCALAR_EVENT:
          scalar(event.raw, at);
          break;
        case YAML_ALIAS_EVENT:
          alias(reinterpret_cast<const char*>(event.raw.data.alias.anchor), at);
          break;
        case YAML_SEQUENCE_START_EVENT:
          refuse_tag(event.raw.data.sequence_start.tag, at);
          open(Node::Kind::sequence, event.raw.data.sequence_start.anchor, at);
          break;
        case YAML_MAPPING_START_EVENT:
          refuse_tag(event.raw.data.mapping_start.tag, at);
          open(Node::Kind::mapping, event.raw.data.mapping_start.anchor, at);
          break;
        case YAML_SEQUENCE_END_EVENT:
        case YAML_MAPPING_END_EVENT:
          close();
          break;
        default:
          break;
      }
    }
  }

 private:
  [[noreturn]] void fail(Place at, std::string message, std::string remedy = {}) {
    diagnostics_.error(at, "", std::move(message), std::move(remedy));
    throw Stop{};
  }

  Place place(const yaml_mark_t& mark) const {
    return {source_, static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
  }

  [[noreturn]] void syntax_error() {
    const std::string problem = parser_.problem ? parser_.problem : "cannot be read";
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    if (parser_.error == YAML_READER_ERROR) {
      // The reader knows a byte offset only (bad UTF-8, a NUL or another control character).
      const std::size_t offset = std::min(parser_.problem_offset, text_.size());
      const std::string_view before = text_.substr(0, offset);
      const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
      fail({source_, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(offset - line_start) + 1},
           "not readable as text: " + problem, "save the file as UTF-8");
    }
    const bool at_tab =
        parser_.problem_mark.index < text_.size() && text_[parser_.problem_mark.index] == '\t';
    std::string message = "YAML syntax: " + problem;
    if (parser_.context) {
      message += fmt::format(" ({} at line {})", parser_.context, parser_.context_mark.line + 1);
    }
    fail(place(parser_.problem_mark), message, at_tab ? "indent with spaces, not tabs" : "");
  }

  void refuse_tag(const yaml_char_t* tag, Place at) {
    if (tag) fail(at, "YAML tags are not supported", "remove the `!` tag");
  }

  void spend(std::size_t nodes, std::size_t text, Place at) {
    nodes_ += nodes;
    bytes_ += text;
    if (nodes_ > kMaxNodes || bytes_ > kMaxExpandedText) {
      fail(at, fmt::format("the file grows past {} values or {} MiB here, aliases expanded",
                           kMaxNodes, kMaxExpandedText >> 20));
    }
  }

  void scalar(const yaml_event_t& event, Place at) {
    const auto& data = event.data.scalar;
    if (data.tag && !data.plain_implicit && !data.quoted_implicit) refuse_tag(data.tag, at);
    std::string text(reinterpret_cast<const char*>(data.value), data.length);
    const bool quoted = data.style != YAML_PLAIN_SCALAR_STYLE;
    // "\e[31m" would act on the terminal that a message quotes it on.
    const auto acts = [](unsigned char c) {
      return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    };
    if (std::any_of(text.begin(), text.end(), acts))
      fail(at, "control characters are not allowed, escaped or not");
    if (expects_key()) {
      key(std::move(text), quoted, at);
      return;
    }
    spend(1, text.size(), at);
    Node node = scalar_node(std::move(text), at);
    node.quoted = quoted;
    if (data.anchor) {
      anchors_[reinterpret_cast<const char*>(data.anchor)] = {node, 1, node.text.size(), 0};
    }
    attach(std::move(node));
  }

  bool expects_key() const {
    return !stack_.empty() && stack_.back().node.is_mapping() && !stack_.back().key &&
           !stack_.back().merge_next;
  }

  void key(std::string text, bool quoted, Place at) {
    Frame& frame = stack_.back();
    spend(0, text.size(), at);
    if (text == "<<" && !quoted) {
      frame.merge_next = true;
      return;
    }
    if (!frame.seen.insert(text).second) {
      diagnostics_.error(at, "", fmt::format("the key `{}` stands here a second time", text),
                         "keep one of the two");
    }
    frame.key = Node::Key{std::move(text), at};
  }

  void alias(const std::string& name, Place at) {
    if (expects_key()) fail(at, "an alias cannot be a key", "write the key out");
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      fail(at, fmt::format("the alias `*{}` has no complete anchor before it", name));
    }
    if (static_cast<int>(stack_.size()) + found->second.height > kMaxDepth) too_deep(at);
    spend(found->second.nodes, found->second.text, at);
    attach(found->second.node);
  }

  [[noreturn]] void too_deep(Place at) {
    fail(at, fmt::format("nested deeper than {} levels", kMaxDepth));
  }

  void open(Node::Kind kind, const yaml_char_t* anchor, Place at) {
    if (expects_key()) fail(at, "a key must be a plain word", "put the key in quotes");
    if (static_cast<int>(stack_.size()) >= kMaxDepth) too_deep(at);
    spend(1, 0, at);
    Frame frame;
    frame.node.kind = kind;
    frame.node.place = at;
    if (anchor) frame.anchor = reinterpret_cast<const char*>(anchor);
    stack_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    for (Node& merge : frame.merges) merge_keys(frame, merge);
    if (!frame.anchor.empty()) {
      Anchored anchored;
      measure(frame.node, 0, anchored);
      spend(anchored.nodes, anchored.text, frame.node.place);  // the kept copy costs memory too
      anchored.node = frame.node;
      anchors_[frame.anchor] = std::move(anchored);
    }
    attach(std::move(frame.node));
  }

  /// YAML 1.1 merge key: what the mapping says itself wins, then the earlier merge.
  void merge_keys(Frame& frame, Node& merge) {
    if (merge.is_sequence()) {
      for (Node& item : merge.items) {
        if (!item.is_mapping()) fail(item.place, "`<<` merges mappings only");
        merge_keys(frame, item);
      }
      return;
    }
    if (!merge.is_mapping()) fail(merge.place, "`<<` merges mappings only");
    for (std::size_t i = 0; i < merge.keys.size(); ++i) {
      if (!frame.seen.insert(merge.keys[i].text).second) continue;
      frame.node.add(std::move(merge.keys[i]), std::move(merge.items[i]));
    }
  }

  void attach(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.is_sequence()) {
      frame.node.items.push_back(std::move(node));
    } else if (frame.merge_next) {
      frame.merge_next = false;
      frame.merges.push_back(std::move(node));
    } else {
      frame.node.add(std::move(*frame.key), std::move(node));
      frame.key.reset();
    }
  }

  yaml_parser_t parser_{};
  std::string_view text_;
  int source_;
  Diagnostics& diagnostics_;
  std::vector<Frame> stack_;
  std::map<std::string, Anchored> anchors_;
  std::optional<Node> root_;
  std::size_t nodes_ = 0, bytes_ = 0;
};

}  // namespace

bool Node::is_null() const {
  return is_scalar() && !quoted &&
         (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
}

const Node* Node::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].text == key) return &items[i];
  }
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

Node& Node::at_or_add(std::string_view key, Place at) {
  if (Node* found = find(key)) return *found;
  add({std::string(key), at}, scalar_node("", at));
  return items.back();
}

void Node::add(Key key, Node value) {
  keys.push_back(std::move(key));
  items.push_back(std::move(value));
}

void Node::remove(std::string_view key) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].text != key) continue;
    keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(i));
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

Node scalar_node(std::string text, Place place) {
  Node node;
  node.place = place;
  node.text = std::move(text);
  return node;
}

Node mapping_node(Place place) {
  Node node;
  node.kind = Node::Kind::mapping;
  node.place = place;
  return node;
}

std::optional<Node> read_yaml(std::string_view text, int source, Diagnostics& diagnostics) {
  if (text.size() > kMaxText) {
    diagnostics.error(
        {source, 1, 1}, "",
        fmt::format("is longer than the {} MiB an experiment may have", kMaxText >> 20));
    return std::nullopt;
  }
  try {
    TreeReader reader(text, source, diagnostics);
    std::optional<Node> root = reader.read();
    if (!root || root->is_null()) {
      diagnostics.error({source, 1, 1}, "", "the file is empty", "`linerate init` writes a start");
      return std::nullopt;
    }
    return root;
  } catch (const Stop&) {
    return std::nullopt;
  }
}

}  // namespace linerate::experiments
