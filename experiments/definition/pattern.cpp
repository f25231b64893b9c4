#include "experiments/definition/pattern.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "experiments/definition/decimal.hpp"

namespace linerate::experiments {

namespace {

constexpr std::int64_t kMostNumber = 1'000'000'000;

struct Found {
  std::size_t begin = 0, end = 0;  ///< of "[1-32]" in the text
  Range range;
};

std::optional<Found> find(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t close = text.find(']', open);
  if (close == std::string_view::npos) return std::nullopt;
  const char* end = text.data() + close;
  Found found{open, close + 1, {}};
  const auto first = std::from_chars(text.data() + open + 1, end, found.range.first);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, found.range.last);
  if (last.ec != std::errc{} || last.ptr != end) return std::nullopt;
  if (found.range.first < 0 || found.range.last < found.range.first ||
      found.range.last > kMostNumber) {
    return std::nullopt;
  }
  return found;
}

/// Whole-number arithmetic over i, by recursive descent; nothing on a syntax error, a division by
/// zero or a number beyond 10^9.
class Expression {
 public:
  Expression(std::string_view text, std::int64_t i) : text_(text), i_(i) {}

  std::optional<std::int64_t> value() {
    const std::int64_t result = sum(0);
    return ok_ && at_ == text_.size() ? std::optional(result) : std::nullopt;
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::int64_t checked(std::int64_t value) {
    if (value > kMostNumber || value < -kMostNumber) ok_ = false;
    return ok_ ? value : 0;
  }

  std::int64_t sum(int depth) {
    std::int64_t result = product(depth);
    while (ok_ && (peek() == '+' || peek() == '-')) {
      const bool plus = text_[at_++] == '+';
      const std::int64_t right = product(depth);
      result = checked(plus ? result + right : result - right);
    }
    return result;
  }

  std::int64_t product(int depth) {
    std::int64_t result = atom(depth);
    while (ok_ && (peek() == '*' || peek() == '/' || peek() == '%')) {
      const char op = text_[at_++];
      const std::int64_t right = atom(depth);
      if (op != '*' && right == 0) ok_ = false;
      if (!ok_) return 0;
      result = checked(op == '*' ? result * right : op == '/' ? result / right : result % right);
    }
    return result;
  }

  std::int64_t atom(int depth) {
    const char c = peek();
    if (c == 'i') {
      ++at_;
      return i_;
    }
    if (c == '(' && depth < 16) {
      ++at_;
      const std::int64_t result = sum(depth + 1);
      if (peek() == ')') {
        ++at_;
        return result;
      }
    } else if (is_digit(c)) {
      std::int64_t result = 0;
      while (at_ < text_.size() && is_digit(text_[at_]) && ok_) {
        result = checked(result * 10 + (text_[at_++] - '0'));
      }
      return result;
    }
    ok_ = false;
    return 0;
  }

  std::string_view text_;
  std::int64_t i_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

bool holds_variable(std::string_view text) { return text.find('{') != std::string_view::npos; }

class Expander {
 public:
  Expander(Budget& budget, Diagnostics& diagnostics) : budget_(budget), diagnostics_(diagnostics) {}

  /// "h[1-32]": {…} in hosts, switches and hubs.
  void keyed(Node& root, const char* section) {
    Node* container = root.find(section);
    if (!container || !container->is_mapping()) return;
    Node expanded = mapping_node(container->place);
    std::set<std::string> seen;
    for (std::size_t n = 0; n < container->items.size(); ++n) {
      const Node::Key key = container->keys[n];
      const std::optional<Range> range = find_range(key.text);
      if (key.text.find('[') != std::string::npos &&
          (!range || key.text.find('[') != key.text.rfind('['))) {
        diagnostics_.error(
            key.place, section, fmt::format("`{}` does not hold one range", key.text),
            fmt::format("write h[1-32], the first not above the last, at most {}", kMostNumber));
        continue;
      }
      for (std::int64_t i = range ? range->first : 0; i <= (range ? range->last : 0); ++i) {
        if (!budget_.spend_entry(container->items[n], diagnostics_)) return;
        Node::Key name = key;
        Node entry = container->items[n];
        if (range) {
          name.text = *substitute_or_report(key.text, i, key.place);
          replace(entry, i);
        }
        if (!seen.insert(name.text).second) {
          diagnostics_.error(key.place, section, fmt::format("`{}` is there twice", name.text),
                             "let the ranges not overlap");
          continue;
        }
        expanded.add(std::move(name), std::move(entry));
      }
    }
    *container = std::move(expanded);
  }

  void listed(Node& root, const char* section) {
    Node* container = root.find(section);
    if (!container || !container->is_sequence()) return;
    const bool tests = std::string_view(section) == "tests";
    std::vector<Node> expanded;
    for (Node& entry : container->items) {
      const std::optional<Range> range = bound_range(entry, section);
      const Node* name = entry.find("name");
      const bool named = name && holds_variable(name->text);
      if (!range || (tests && !named)) {
        if (!budget_.spend_entry(entry, diagnostics_)) return;
        expanded.push_back(std::move(entry));
        continue;
      }
      if (name && !named && range->last > range->first) {
        diagnostics_.error(
            name->place, section,
            fmt::format("`{}` would name {} links", name->text, range->last - range->first + 1),
            fmt::format("write {}-{{i}}, or no name", name->text));
        continue;
      }
      for (std::int64_t i = range->first; i <= range->last; ++i) {
        if (!budget_.spend_entry(entry, diagnostics_)) return;
        Node copy = entry;
        replace(copy, i);
        expanded.push_back(std::move(copy));
      }
    }
    container->items = std::move(expanded);
  }

 private:
  /// The one range of an entry's ends.
  std::optional<Range> bound_range(const Node& entry, const char* section) {
    std::optional<Range> result;
    const auto look = [&](const Node& node) {
      if (!node.is_scalar()) return;
      const std::optional<Range> range = find_range(node.text);
      if (result && range && *range != *result) {
        diagnostics_.error(node.place, section, "two different ranges in one entry",
                           "write one range, and {i} with arithmetic for the other");
      }
      if (!result) result = range;
    };
    for (const char* key : {"name", "from", "to"}) {
      if (const Node* node = entry.find(key)) look(*node);
    }
    if (const Node* endpoints = entry.find("endpoints"); endpoints && endpoints->is_sequence()) {
      for (const Node& end : endpoints->items) look(end);
    }
    return result;
  }

  std::optional<std::string> substitute_or_report(const std::string& text, std::int64_t i,
                                                  Place place) {
    std::optional<std::string> result = substitute(text, i);
    if (result) return result;
    if (!reported_) {
      diagnostics_.error(place, "", fmt::format("`{}` holds no valid expression", text),
                         "write {i}, {i+4}, {2*i-1}: whole numbers, + - * / % and parentheses");
    }
    reported_ = true;  // once is enough for a pattern of thousands
    return text;
  }

  void replace(Node& node, std::int64_t i) {
    if (node.is_scalar() && node.text.find_first_of("[{") != std::string::npos) {
      node.text = *substitute_or_report(node.text, i, node.place);
    }
    for (Node::Key& key : node.keys) {
      if (holds_variable(key.text)) key.text = *substitute_or_report(key.text, i, key.place);
    }
    for (Node& item : node.items) replace(item, i);
  }

  Budget& budget_;
  Diagnostics& diagnostics_;
  bool reported_ = false;
};

}  // namespace

std::optional<Range> find_range(std::string_view text) {
  const std::optional<Found> found = find(text);
  return found ? std::optional(found->range) : std::nullopt;
}

std::optional<std::string> substitute(std::string_view text, std::int64_t i) {
  std::string result(text);
  if (const std::optional<Found> found = find(text)) {
    result.replace(found->begin, found->end - found->begin, std::to_string(i));
  }
  std::size_t open = 0;
  while ((open = result.find('{', open)) != std::string::npos) {
    const std::size_t close = result.find('}', open);
    if (close == std::string::npos) return std::nullopt;
    const std::string_view inner = std::string_view(result).substr(open + 1, close - open - 1);
    const std::optional<std::int64_t> value = Expression(inner, i).value();
    if (!value) return std::nullopt;
    const std::string number = std::to_string(*value);
    result.replace(open, close - open + 1, number);
    open += number.size();
  }
  return result;
}

std::string_view endpoint_node(std::string_view endpoint) {
  return endpoint.substr(0, endpoint.find(':'));
}

void expand_patterns(Node& root, Budget& budget, Diagnostics& diagnostics) {
  Expander expander(budget, diagnostics);
  expander.keyed(root, "hosts");
  expander.keyed(root, "switches");
  expander.keyed(root, "hubs");
  expander.listed(root, "links");
  expander.listed(root, "tests");
}

void name_links(Node& root) {
  Node* links = root.find("links");
  if (!links || !links->is_sequence()) return;
  std::set<std::string> taken;
  for (const Node& link : links->items) {
    if (const Node* name = link.find("name")) taken.insert(name->text);
  }
  std::map<std::string, int> uses;
  for (Node& link : links->items) {
    const Node* ends = link.find("endpoints");
    if (!link.is_mapping() || link.find("name") || !ends || ends->items.size() != 2) continue;
    const std::string base = fmt::format("{}-{}", endpoint_node(ends->items[0].text),
                                         endpoint_node(ends->items[1].text));
    std::string name;
    do {
      const int use = ++uses[base];
      name = use == 1 ? base : fmt::format("{}#{}", base, use);
    } while (!taken.insert(name).second);
    link.add({"name", Place{}}, scalar_node(name, Place{}));
  }
}

}  // namespace linerate::experiments
